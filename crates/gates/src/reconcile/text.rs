//! Formats a reconciliation for agents and people: [`text`].

use assay_base::text::truncate;
use assay_findings::write::escape::one_line;

use super::{Answer, CriterionResult, DiffResult, MilestoneResult, Reconciliation};

/// Maximum length of a text in a line, in characters.
const MAX_TEXT: usize = 300;

/// Formats a reconciliation: a line for each milestone, one for each criterion below it, and the
/// result. Text from the plan and from files cannot begin a line.
pub fn text(reconciliation: &Reconciliation) -> String {
    let mut out = String::from("RECONCILIATION COMPLETE\n\n");
    for milestone in &reconciliation.milestones {
        out += &milestone_line(milestone);
        for criterion in &milestone.criteria {
            out += &criterion_line(criterion);
        }
        for diff in &milestone.diffs {
            out += &diff_line(diff);
        }
    }
    for unread in &reconciliation.unread {
        out += &format!("- NOT_READ: {}\n", short(unread));
    }
    for removed in &reconciliation.removed {
        out += &format!("- REMOVED: {}\n", short(removed));
    }
    if !reconciliation.milestones.is_empty()
        || !reconciliation.unread.is_empty()
        || !reconciliation.removed.is_empty()
    {
        out.push('\n');
    }
    out + if reconciliation.passes() { "RESULT: PASS\n" } else { "RESULT: FAIL\n" }
}

fn milestone_line(milestone: &MilestoneResult) -> String {
    let (met, all) = (milestone.met(), milestone.criteria.len());
    let name = match one_line(&milestone.title) {
        title if title.is_empty() => short(&milestone.id),
        title => format!("{} {}", short(&milestone.id), short(&title)),
    };
    let (status, action) = (milestone.status.as_str(), milestone.action.as_str());
    format!("- {name}: {status} ({met} of {all} met; {action})\n")
}

fn diff_line(diff: &DiffResult) -> String {
    let file = short(&diff.file);
    let place = diff.line.map(|line| format!(" at line {line} of the plan")).unwrap_or_default();
    match diff.missing {
        None => format!("  - diff{place}: {file} is as planned\n"),
        Some(missing) => format!(
            "  - diff{place}: {file} differs ({} of {} hunks found; hunk {missing} is missing)\n",
            diff.there, diff.hunks
        ),
    }
}

fn criterion_line(criterion: &CriterionResult) -> String {
    let text = short(&criterion.text);
    match &criterion.answer {
        Answer::Met { at: Some(at), seen } => {
            format!("  - MET: {text} ({}:{}: {})\n", short(&at.file), at.line, short(seen))
        }
        Answer::Met { at: None, seen } => format!("  - MET: {text} ({})\n", short(seen)),
        Answer::NotMet { why } => format!("  - NOT_MET: {text} ({})\n", short(why)),
        Answer::CannotTell { why } => {
            let found = criterion.evidence.iter().take(3);
            let found = found.map(|found| format!("; {}:{}", short(&found.at.file), found.at.line));
            format!("  - CANNOT_TELL: {text} ({}{})\n", short(why), found.collect::<String>())
        }
    }
}

/// Returns a text on one line, truncated.
fn short(text: &str) -> String {
    truncate(&one_line(text), MAX_TEXT)
}
