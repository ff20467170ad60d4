//! Formats answers for agents: the list, the status and the instructions.
//!
//! Checks, scopes and findings are untrusted text in a channel that gives instructions. Each is put
//! on one line after its id, so that none looks like a line of the answer itself.

use std::fmt::Write;

use assay_findings::write::escape::one_line;

use crate::beside::{Checklist, JournalDecision};
use crate::guide::Instruction;
use crate::headline::headline;
use crate::item::Item;
use crate::standing::{Counts, Line, Outcome, Standing, Stands};

/// Formats the items of a list.
pub fn decomposed<'a>(items: impl Iterator<Item = &'a Item>) -> String {
    let lines: Vec<String> = items
        .map(|item| {
            let (check, scope) = (one_line(&item.check), one_line(&item.scope.to_string()));
            format!("- {}: {check} (scope: {scope})\n", item.id)
        })
        .collect();
    let next = if lines.is_empty() { NOTHING } else { "Invoke verifiers for each item." };
    let (count, lines) = (lines.len(), lines.concat());
    format!("DECOMPOSE COMPLETE\n\nItems created: {count}\n{lines}\nNEXT: {next}\n")
}

/// The action after `NEXT:` if there is nothing to verify, which is no pass.
const NOTHING: &str = "Ask a person to decide, as there is nothing to verify.";

/// Formats the status of a gate.
pub fn verified(standing: &Standing) -> String {
    let (status, counts) = (standing.status(), counts(standing));
    let mut out = format!("VERIFICATION COMPLETE\n\nStatus: {status}\n{counts}\n");
    let blocks = |line: &Line| line.stands == Stands::Blocks;
    list(&mut out, "Failed items", standing, blocks);
    list(&mut out, "Open items", standing, |line| line.stands == Stands::Open);
    list(&mut out, "Waived items", standing, |line| line.stands == Stands::Waived);
    list(&mut out, "Accepted items", standing, |line| {
        matches!(line.stands, Stands::Accepted { .. })
    });
    let released = standing.released.iter().map(|item| {
        let (check, by) = (one_line(&item.check), one_line(&item.by));
        format!("{}: {check} (let go by {by}: {})", item.id, one_line(&item.reason))
    });
    titled(&mut out, "Released items", released);
    titled(&mut out, "Altered items", standing.altered.iter().cloned());
    let journal = standing.journal.iter().map(|entry| {
        let (by, reason) = (one_line(&entry.by), one_line(&entry.reason));
        let decision = match entry.decision {
            JournalDecision::Accepted => "accepted",
            JournalDecision::Released => "released",
        };
        format!("{}: {decision} by {by}: {reason}", entry.item)
    });
    titled(&mut out, "Decisions on record", journal);
    if standing.checklist == Checklist::HandedIn {
        out.push_str("Built-in checklist: left out\n");
    }
    if standing.is_unjudged {
        out.push_str("Not judged: whether the code does what the plan asks for\n");
    }
    match &standing.outcome {
        Outcome::HandedOver(reasons) => {
            titled(&mut out, "A person decides", reasons.iter().cloned())
        }
        Outcome::Incomplete(reasons) => titled(&mut out, "Incomplete", reasons.iter().cloned()),
        Outcome::Pass | Outcome::Fail | Outcome::Open | Outcome::Empty => {}
    }
    let _ = writeln!(out, "\nNEXT: {}", next(&standing.outcome));
    out
}

fn counts(standing: &Standing) -> String {
    let Counts { total, pass, fail, todo, waived, accepted } = standing.counts();
    let mut out = format!("Items: {total} total, {pass} PASS, {fail} FAIL");
    if todo > 0 {
        let _ = write!(out, ", {todo} TODO");
    }
    if waived > 0 {
        let _ = write!(out, " ({waived} waived by iteration)");
    }
    if accepted > 0 {
        let _ = write!(out, " ({accepted} accepted)");
    }
    out
}

/// Writes lines under a title, if there are any.
fn titled(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        let _ = writeln!(out, "{title}:");
    }
    for line in lines {
        let _ = writeln!(out, "- {}", one_line(&line));
    }
}

fn list(out: &mut String, title: &str, standing: &Standing, belongs: impl Fn(&Line) -> bool) {
    let lines = standing.lines.iter().filter(|line| belongs(line)).map(|line| {
        let said = format!("{}: {}", line.item.id, headline(&line.item));
        match &line.stands {
            Stands::Accepted { reason, by } => {
                format!("{said} (accepted by {}: {})", one_line(by), one_line(reason))
            }
            Stands::Holds | Stands::Open | Stands::Blocks | Stands::Waived => said,
        }
    });
    titled(out, title, lines);
}

/// Returns the next action after an outcome.
pub fn next(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "Continue to next phase.",
        Outcome::Fail => "Invoke fixer with failed items.",
        Outcome::Open => "Invoke verifiers for open items.",
        Outcome::Empty => NOTHING,
        Outcome::Incomplete(_) => "Complete the list, or ask a person to decide.",
        Outcome::HandedOver(_) => "Ask a person to decide.",
    }
}

/// Formats the instructions to a fixer, for each failed item.
pub fn guidance(instructions: &[Instruction]) -> String {
    let mut out = "FIX GUIDANCE\n".to_owned();
    for instruction in instructions {
        let Instruction { id, title, scope, fix, include, .. } = instruction;
        let _ = write!(
            out,
            "\nItem {id}: {}\nScope: {}\nFix: {}\n",
            one_line(title),
            one_line(&scope.to_string()),
            one_line(fix),
        );
        for line in include {
            let _ = writeln!(out, "  - {line}");
        }
    }
    if instructions.is_empty() {
        out.push_str("\nNothing on the list has failed.\n");
    }
    out
}
