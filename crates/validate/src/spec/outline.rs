//! Which parts of a spec say what has to hold, and which how it is verified: [`read`].

use super::verification::Which;
use crate::markdown::{Block, Kind, compared, folded};

/// How deep a part is that begins with words in bold on a line of their own: deeper than any
/// heading.
const BOLD: u8 = 7;

/// How deep a group is that begins with words in bold, so that it does not end the part that it is
/// in.
const BOLD_GROUP: u8 = 8;

/// What a spec says, by what it is about.
#[derive(Default)]
pub(super) struct Outline {
    /// The items of each list of criteria.
    pub(super) criteria: Vec<Vec<Item>>,
    /// What stands in a group, or before the first.
    pub(super) verification: Vec<(Which, Item)>,
}

/// An item of a list, or a line of text.
pub(super) struct Item {
    pub(super) text: String,
    pub(super) line: u32,
    /// How deep it is; a line of text is not.
    pub(super) depth: usize,
    pub(super) has_box: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Criteria,
    Verification,
    Group(Which),
    /// Something within the verification that is no group.
    Aside,
}

/// Takes a spec apart.
pub(super) fn read(blocks: &[Block]) -> Outline {
    let mut walk = Walk { outline: Outline::default(), around: Vec::new() };
    for block in blocks {
        match block.kind {
            Kind::Heading(level) => walk.titled(&block.text, level),
            Kind::Paragraph => {
                for (line, number) in block.text.lines().zip(block.line..) {
                    walk.line(line, number);
                }
            }
            Kind::Item { depth, ticked } => {
                let (said, below) = walk.without_titles(&block.text);
                let (text, line) = (folded(said), block.line);
                walk.item(Item { text, line, depth, has_box: ticked.is_some() });
                for (line, number) in below.lines().zip(block.line..) {
                    walk.line(line, number);
                }
            }
            Kind::Code | Kind::Quote => {}
        }
    }
    walk.outline
}

struct Walk {
    outline: Outline,
    /// The parts around the next block, each with how deep it is.
    around: Vec<(u8, Part)>,
}

impl Walk {
    fn part(&self) -> Option<Part> {
        self.around.last().map(|(_, part)| *part)
    }

    fn is_verifying(&self) -> bool {
        self.part().is_some_and(|part| part != Part::Criteria)
    }

    /// Takes a heading, or what stands for one.
    fn titled(&mut self, title: &str, level: u8) {
        let title = title_words(title);
        let group = Which::named(&title);
        let is_group_within = group.is_some() && self.is_verifying();
        let level = if level == BOLD && is_group_within { BOLD_GROUP } else { level };
        while self.around.last().is_some_and(|(around, _)| *around >= level) {
            self.around.pop();
        }
        let part = match (self.part(), group) {
            _ if title.ends_with("acceptance criteria") => Part::Criteria,
            _ if is_about_verification(&title) => Part::Verification,
            (Some(Part::Verification | Part::Group(_) | Part::Aside), Some(group)) => {
                Part::Group(group)
            }
            (Some(Part::Verification | Part::Group(_)), None) => Part::Aside,
            (Some(Part::Criteria | Part::Aside) | None, _) => return,
        };
        if part == Part::Criteria {
            self.outline.criteria.push(Vec::new());
        }
        self.around.push((level, part));
    }

    fn line(&mut self, line: &str, number: u32) {
        match self.title(line) {
            Some((title, rest)) => {
                self.titled(title, BOLD);
                self.say(rest, number);
            }
            None => self.say(line, number),
        }
    }

    /// Gives what stands for a heading at the beginning of a line, and what stands behind it: words
    /// in bold, or, where something is verified, a group and a colon.
    fn title<'a>(&self, line: &'a str) -> Option<(&'a str, &'a str)> {
        let is_group = |label: &str| Which::named(&title_words(label)).is_some();
        if let Some((label, rest)) = label(line) {
            return (rest.is_empty() || is_group(label)).then_some((label, rest));
        }
        let label = line.strip_suffix(':').filter(|label| !label.contains('`'))?;
        (self.is_verifying() && is_group(label)).then_some((label, ""))
    }

    /// Cuts off what begins with a title below an item where something is verified: to Markdown it
    /// is of the item, but nobody means that.
    fn without_titles<'a>(&self, text: &'a str) -> (&'a str, &'a str) {
        let first = text.find('\n').map_or(text.len(), |end| end + 1);
        let mut at = first;
        for line in text[first..].split_inclusive('\n').take_while(|_| self.is_verifying()) {
            if self.title(line.trim_end()).is_some() {
                return text.split_at(at);
            }
            at += line.len();
        }
        (text, "")
    }

    /// Takes a line of text, which counts where it says how to verify.
    fn say(&mut self, text: &str, line: u32) {
        if let Some(group) = self.group().filter(|_| !text.is_empty()) {
            let item = Item { text: text.to_owned(), line, depth: 0, has_box: false };
            self.outline.verification.push((group, item));
        }
    }

    /// Gives the group around the next block; what stands before the first is about units.
    fn group(&self) -> Option<Which> {
        match self.part()? {
            Part::Verification => Some(Which::Unit),
            Part::Group(group) => Some(group),
            Part::Criteria | Part::Aside => None,
        }
    }

    fn item(&mut self, item: Item) {
        if self.is_verifying()
            && let Some((label, _)) = label(&item.text)
            && Which::named(&title_words(label)).is_some()
        {
            self.titled(label, BOLD);
        }
        if let Some(group) = self.group() {
            self.outline.verification.push((group, item));
        } else if self.part() == Some(Part::Criteria)
            && let Some(list) = self.outline.criteria.last_mut()
        {
            list.push(item);
        }
    }
}

/// Gives the words of a title, without marks around them.
fn title_words(title: &str) -> String {
    compared(title).trim_matches(['*', '_', ':', ' ', '`']).to_owned()
}

/// Says whether a part is about how the whole is verified, and not about verifying an e-mail.
fn is_about_verification(title: &str) -> bool {
    let mut words = title.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let usual = [
        "verification", "strategy", "steps", "plan", "commands", "test", "tests", "testing",
        "checks", "qa", "and", "feature",
    ];
    title.contains("verification") && words.all(|word| usual.contains(&word))
}

/// Gives the words in bold that a line begins with, and what stands behind them.
pub(super) fn label(line: &str) -> Option<(&str, &str)> {
    let mark = ["**", "__"].into_iter().find(|mark| line.starts_with(mark))?;
    let (label, rest) = line[2..].split_once(mark)?;
    let rest = rest.trim_start();
    let is_label = label.trim_end().ends_with(':') || rest.is_empty() || rest.starts_with(':');
    is_label.then(|| (label, rest.trim_start_matches(':').trim_start()))
}
