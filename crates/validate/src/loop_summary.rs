//! The summary of an ended loop, for systems that store knowledge: [`LoopSummary`].

use std::fmt::Write as _;

use assay_base::text::{first_chars, truncate};
use assay_findings::write::escape::one_line;
use assay_rules::redact_text;

use crate::ending::Ending;
use crate::issue::Issue;
use crate::loop_state::{LoopState, Round};

/// Maximum number of issues in a summary.
const MAX_ISSUES: usize = 30;

/// Maximum number of fixes in a summary; the last ones are used.
const MAX_FIXES: usize = 8;

/// Maximum length of a title or of a fixer's summary, in characters.
const MAX_TEXT_CHARS: usize = 300;

/// The redacted summary of an ended loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopSummary {
    /// The name of the summary.
    pub name: String,
    /// The text: the issues, the fixes, and the ending.
    pub text: String,
}

impl LoopSummary {
    /// Summarises the last epoch of a loop that ended.
    pub fn of(spec: &str, loop_state: &LoopState, ending: &Ending) -> LoopSummary {
        let rounds: Vec<&Round> =
            loop_state.epoch().iter().filter(|round| round.review().is_some()).collect();
        let spec = short(spec);
        let count = match rounds.len() {
            1 => "1 round".to_owned(),
            count => format!("{count} rounds"),
        };
        let reason = short(&ending.reason());
        let mut text = format!("The validation of spec {spec} ended after {count}: {reason}.\n");
        write_issues(&mut text, &rounds);
        write_fixes(&mut text, &rounds);
        LoopSummary {
            name: redact_text(&format!("validation of spec {spec}")),
            text: redact_text(&text),
        }
    }
}

/// Writes each issue with the rounds that had it.
fn write_issues(text: &mut String, rounds: &[&Round]) {
    let mut known: Vec<(&Issue, Vec<u32>)> = Vec::new();
    for round in rounds {
        for issue in round.review().into_iter().flat_map(|review| &review.issues) {
            let before = known.iter().position(|(other, _)| is_same(other, issue));
            match before {
                Some(at) => known[at].1.push(round.number),
                None if known.len() < MAX_ISSUES => known.push((issue, vec![round.number])),
                None => {}
            }
        }
    }
    let last = rounds.last().map(|round| round.number);
    for (issue, mut stood) in known {
        stood.dedup();
        let place = issue.place().map(|place| format!(" in {}", short(&place)));
        let (title, kind) = (short(&issue.title), short(issue.kind.name()));
        let became = match stood.last().copied() == last {
            true => "was still open at the end",
            false => "was resolved afterwards",
        };
        let stood = stood.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let _ = writeln!(
            text,
            "- \"{title}\" ({kind}, {}){} was open in round {stood} and {became}.",
            issue.severity.name(),
            place.unwrap_or_default(),
        );
    }
}

fn is_same(one: &Issue, other: &Issue) -> bool {
    match (&one.key, &other.key) {
        (Some(one), Some(other)) => one == other,
        _ => one.title == other.title && one.file == other.file,
    }
}

/// Writes the fixers' own summaries, which have no influence on the loop.
fn write_fixes(text: &mut String, rounds: &[&Round]) {
    let made: Vec<_> =
        rounds.iter().filter_map(|round| Some((round.number, round.fix.as_ref()?))).collect();
    for (number, fix) in made.iter().skip(made.len().saturating_sub(MAX_FIXES)) {
        let did = if fix.changed_something { "changed something" } else { "changed nothing" };
        let summary = short(&fix.summary);
        let _ = writeln!(text, "- After round {number} the fixer {did}, and reported: {summary}");
    }
}

/// Returns the beginning of a text on one line. Credentials are redacted first: a truncated one
/// would not be recognised.
fn short(text: &str) -> String {
    truncate(&one_line(&redact_text(first_chars(text, MAX_TEXT_CHARS * 20))), MAX_TEXT_CHARS)
}
