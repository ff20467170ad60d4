//! What a spec says about its verification: [`Verification`], read from its Markdown.
//!
//! Groups of tests with commands in back-ticks, how much must be covered, and what a person does by
//! hand:
//!
//! ```text
//! ## Verification
//!
//! **Unit Tests:**
//! - `pytest tests/test_auth.py` - All pass
//! - Coverage: >= 80%
//!
//! **E2E Tests:**
//! - Manual: Register → Verify email → Login
//! ```

use serde::{Deserialize, Serialize};

/// What a spec says about its verification.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verification {
    /// Tests of parts on their own.
    pub unit: Group,
    /// Tests of parts together.
    pub integration: Group,
    /// Tests of the whole.
    pub e2e: Group,
    /// Whether its commands may use the network.
    pub network: bool,
}

/// A group of tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    /// Its commands.
    pub commands: Vec<NamedCommand>,
    /// How much must be covered, in percent.
    pub minimum_coverage: Option<f64>,
    /// What a person does by hand.
    pub by_hand: Vec<String>,
    /// Whether the plan asks for it, whatever the risk.
    pub is_required: bool,
}

/// A command that a spec names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedCommand {
    /// The command as it stands there.
    pub command: String,
    /// What is expected of it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
}

/// Which group a line belongs to.
#[derive(Clone, Copy)]
enum Part {
    Unit,
    Integration,
    E2e,
}

impl Verification {
    /// Reads the section that a spec's Markdown has for it.
    pub fn read(markdown: &str) -> Verification {
        let mut found = Verification::default();
        // The depth of the heading that opened the section.
        let mut section: Option<usize> = None;
        let mut part: Option<Part> = None;
        let mut fence: Option<&str> = None;
        for line in markdown.lines() {
            let words = line.trim();
            if let Some(open) = fence {
                if words.starts_with(open) {
                    fence = None;
                }
                continue;
            }
            if let Some(open) = ["```", "~~~"].into_iter().find(|mark| words.starts_with(mark)) {
                fence = Some(open);
                continue;
            }
            if let Some((depth, title)) = heading(line) {
                match section {
                    Some(above) if depth > above => part = part_of(title).or(part),
                    Some(_) | None => {
                        section = is_verification(title).then_some(depth);
                        part = None;
                    }
                }
            } else if section.is_some() {
                match (item(words), part) {
                    (Some(item), Some(part)) => found.group(part).take(item),
                    (Some(_), None) => {}
                    (None, _) => part = label(words).and_then(part_of).or(part),
                }
            }
        }
        found
    }

    fn group(&mut self, part: Part) -> &mut Group {
        match part {
            Part::Unit => &mut self.unit,
            Part::Integration => &mut self.integration,
            Part::E2e => &mut self.e2e,
        }
    }

    /// Gives how much must be covered: the most that any group asks for.
    pub fn minimum_coverage(&self) -> Option<f64> {
        let groups = [&self.unit, &self.integration, &self.e2e];
        groups.iter().filter_map(|group| group.minimum_coverage).reduce(f64::max)
    }
}

impl Group {
    fn take(&mut self, item: &str) {
        if let Some(rest) = item.strip_prefix('`') {
            // A command that holds back-ticks stands between more of them.
            let more = rest.len() - rest.trim_start_matches('`').len();
            let fence = "`".repeat(more + 1);
            let Some((command, rest)) = rest[more..].split_once(fence.as_str()) else { return };
            let expect = rest.trim_start_matches([' ', '-', '–', '—', ':', '→']).trim();
            let expect = (!expect.is_empty()).then(|| expect.to_owned());
            self.commands.push(NamedCommand { command: command.trim().to_owned(), expect });
        } else if let Some(rest) = after(item, "coverage") {
            self.minimum_coverage = percent(rest).or(self.minimum_coverage);
        } else if let Some(rest) = after(item, "manual") {
            self.by_hand.push(rest.to_owned());
        }
    }
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let depth = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line[depth..].strip_prefix(' ')?;
    (1..=6).contains(&depth).then(|| (depth, title.trim().trim_end_matches('#').trim()))
}

fn is_verification(title: &str) -> bool {
    title.to_ascii_lowercase().trim_end_matches(':').ends_with("verification")
}

/// A line that names a group: `**Unit Tests:**`, or `Unit Tests:`.
fn label(line: &str) -> Option<&str> {
    let bold =
        line.strip_prefix("**").and_then(|rest| rest.split_once("**")).map(|(words, _)| words);
    bold.or_else(|| line.strip_suffix(':'))
}

fn part_of(title: &str) -> Option<Part> {
    let title = title.to_ascii_lowercase();
    let says = |word: &str| title.contains(word);
    if says("e2e") || says("end-to-end") || says("end to end") {
        Some(Part::E2e)
    } else if says("integration") {
        Some(Part::Integration)
    } else if says("unit") {
        Some(Part::Unit)
    } else {
        None
    }
}

/// Gives what an item of a list says, ticked or not.
fn item(line: &str) -> Option<&str> {
    let rest = ["- ", "* ", "+ "].into_iter().find_map(|mark| line.strip_prefix(mark))?.trim();
    let ticked = ["[ ]", "[x]", "[X]"].into_iter().find_map(|mark| rest.strip_prefix(mark));
    Some(ticked.unwrap_or(rest).trim())
}

/// Gives what follows a word and its colon, whether or not the word is bold.
fn after<'a>(item: &'a str, word: &str) -> Option<&'a str> {
    let bare = item.trim_start_matches('*');
    let start = bare.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word))?;
    let rest = bare[start.len()..].trim_start_matches('*').strip_prefix(':')?;
    Some(rest.trim_start_matches('*').trim())
}

/// Reads `>= 80%`.
fn percent(text: &str) -> Option<f64> {
    let text = text.trim_start_matches(['>', '=', '≥', ' ']);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().ok().filter(|percent| (0.0..=100.0).contains(percent))
}
