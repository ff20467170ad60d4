//! Formats answers for agents: the list, the status and the instructions.
//!
//! Checks, scopes and findings are untrusted text in a channel that gives instructions. Each is put
//! on one line after its id, so that none looks like a line of the answer itself.

use std::fmt::Write;

use assay_findings::write::escape::one_line;

use crate::gate_status::{Counts, GateOutcome, GateStatus, ItemEffect, ItemStatus};
use crate::guide::Instruction;
use crate::headline::headline;
use crate::item::Item;
use crate::sidecar::ChecklistSource;

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
pub fn verified(gate_status: &GateStatus) -> String {
    let (status, counts) = (gate_status.status(), counts(gate_status));
    let mut out = format!("VERIFICATION COMPLETE\n\nStatus: {status}\n{counts}\n");
    let blocks = |line: &ItemStatus| line.effect == ItemEffect::Blocks;
    list(&mut out, "Failed items", gate_status, blocks);
    list(&mut out, "Open items", gate_status, |line| line.effect == ItemEffect::Open);
    list(&mut out, "Waived items", gate_status, |line| line.effect == ItemEffect::Waived);
    list(&mut out, "Accepted items", gate_status, |line| {
        matches!(line.effect, ItemEffect::Accepted { .. })
    });
    let released = gate_status.released.iter().map(|item| {
        let (check, by) = (one_line(&item.check), one_line(&item.by));
        format!("{}: {check} (released by {by}: {})", item.id, one_line(&item.reason))
    });
    titled(&mut out, "Released items", released);
    titled(&mut out, "Altered items", gate_status.altered.iter().cloned());
    let journal = gate_status.journal.iter().map(|entry| {
        let (by, reason) = (one_line(&entry.by), one_line(&entry.reason));
        format!("{}: {} by {by}: {reason}", entry.item, entry.decision.word())
    });
    titled(&mut out, "Decisions on record", journal);
    if gate_status.checklist == ChecklistSource::HandedIn {
        out.push_str("Built-in checklist: left out\n");
    }
    if gate_status.is_unjudged {
        out.push_str("Not judged: whether the code does what the plan asks for\n");
    }
    match &gate_status.outcome {
        GateOutcome::HandedOver(reasons) => {
            titled(&mut out, "A person decides", reasons.iter().cloned())
        }
        GateOutcome::Incomplete(reasons) => titled(&mut out, "Incomplete", reasons.iter().cloned()),
        GateOutcome::Pass | GateOutcome::Fail | GateOutcome::Open | GateOutcome::Empty => {}
    }
    let _ = writeln!(out, "\nNEXT: {}", next(&gate_status.outcome));
    out
}

fn counts(gate_status: &GateStatus) -> String {
    let Counts { total, pass, fail, todo, waived, accepted } = gate_status.counts();
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

fn list(
    out: &mut String,
    title: &str,
    gate_status: &GateStatus,
    belongs: impl Fn(&ItemStatus) -> bool,
) {
    let lines = gate_status.lines.iter().filter(|line| belongs(line)).map(|line| {
        let said = format!("{}: {}", line.item.id, headline(&line.item));
        match &line.effect {
            ItemEffect::Accepted { reason, by } => {
                format!("{said} (accepted by {}: {})", one_line(by), one_line(reason))
            }
            ItemEffect::Holds | ItemEffect::Open | ItemEffect::Blocks | ItemEffect::Waived => said,
        }
    });
    titled(out, title, lines);
}

/// Returns the next action after an outcome.
pub fn next(outcome: &GateOutcome) -> &'static str {
    match outcome {
        GateOutcome::Pass => "Continue to next phase.",
        GateOutcome::Fail => "Invoke fixer with failed items.",
        GateOutcome::Open => "Invoke verifiers for open items.",
        GateOutcome::Empty => NOTHING,
        GateOutcome::Incomplete(_) => "Complete the list, or ask a person to decide.",
        GateOutcome::HandedOver(_) => "Ask a person to decide.",
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
