//! The lines of a loop's journal, in words.

use assay_checks::check::CheckState;
use assay_validate::event::{EpochReason, Event};
use assay_validate::journal::Entry;
use schemars::JsonSchema;
use serde::Serialize;

use super::redacted;
use crate::wording::count;

/// The number of characters of a digest that are shown.
const SHORT_DIGEST: usize = 12;

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopEventView {
    /// The time of the event.
    pub at: String,
    /// The event, in words.
    pub text: String,
}

impl From<&Entry> for LoopEventView {
    fn from(entry: &Entry) -> LoopEventView {
        LoopEventView { at: entry.at.clone(), text: redacted(&describe(&entry.event)) }
    }
}

fn describe(event: &Event) -> String {
    match event {
        Event::EpochBegun { why, .. } => format!("counting begins: {}", reason(*why)),
        Event::RequirementsRaised { .. } => "the requirements of the spec are recorded".to_owned(),
        Event::ReviewBegun { round, tree } => {
            format!("round {round} begins on the tree {}", short(&tree.0))
        }
        Event::Checked { outcome } => {
            format!("check `{}`: {}", outcome.name, result(&outcome.state))
        }
        Event::TestsKept { .. } => "the tests of the first tree are stored".to_owned(),
        Event::SurroundingsRecorded { .. } => {
            "the surroundings of the tree are recorded".to_owned()
        }
        Event::KeptChecked { runs } => {
            format!("the checks ran with {} of the stored tests", count(runs.len(), "version"))
        }
        Event::Reviewed { review } => match review.issues.len() {
            0 => "the review found no issue that blocks".to_owned(),
            issues => format!("the review found {}", count(issues, "issue")),
        },
        Event::Failed { why } => format!("the round failed: {why}"),
        Event::FixBegun { .. } => "the fixer starts".to_owned(),
        Event::FixMade { summary, .. } => format!("the fixer finished: {}", first_line(summary)),
        Event::Fixed { tree } => format!("the fix is applied: tree {}", short(&tree.0)),
        Event::FeedbackTaken { items, .. } => {
            format!("feedback of a person: {}", count(items.len(), "item"))
        }
        Event::SignedOff { by, tree } => format!("{by} signed off the tree {}", short(&tree.0)),
        Event::Decided { decision } => {
            format!("{} decided `{}`: {}", decision.by, decision.title, decision.because)
        }
        Event::EndBegun { ending, .. } => format!("the loop ends: {}", ending.reason()),
        Event::Ended => "the documents of the loop are written".to_owned(),
    }
}

/// Returns the result of a check in words.
fn result(state: &CheckState) -> String {
    match state {
        CheckState::Passed => "passed".to_owned(),
        CheckState::Failed { why } => format!("failed, {}", first_line(why)),
        CheckState::NotRun { why } => format!("not run, {}", first_line(why)),
        CheckState::TimedOut => "timed out".to_owned(),
    }
}

fn reason(why: EpochReason) -> &'static str {
    match why {
        EpochReason::First => "first run",
        EpochReason::RequestDeleted => "a person deleted the fix request",
        EpochReason::Resumed => "a user resumed the loop",
        EpochReason::Feedback => "a person wrote feedback",
        EpochReason::Changed => "the approved tree was changed",
        EpochReason::TreeChanged => "the tree was changed while the loop waited",
        EpochReason::Elsewhere => "the earlier rounds ran on another machine",
    }
}

fn short(digest: &str) -> &str {
    digest.get(..SHORT_DIGEST).unwrap_or(digest)
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim()
}
