//! `assay gate status`: shows the status of gates as text.

use std::fmt::Write;

use assay_engine::gate_outcome::describe_outcome;
use assay_engine::gate_session::{GateLocation, OpenGate};
use assay_engine::wording::count;
use assay_gates::answer::GateAnswer;
use assay_gates::attempt::AttemptState;
use assay_gates::gate_status::{Counts, GateStatus, ItemEffect};
use assay_gates::item::ItemResult;
use assay_gates::phase::Phase;
use assay_gates::sidecar::{ChecklistSource, JournalEntry, ReleasedItem};

use serde_json::json;

use super::{Form, GateArgs, exit_of};
use crate::commands::{print_json, print_safely};
use crate::exit::Exit;
use crate::process::environment;
use crate::terminal::{TableWidth, table};

pub(super) fn status(args: &GateArgs) -> anyhow::Result<Exit> {
    match args.phase {
        Some(_) => show_one(args),
        None => show_all(args),
    }
}

fn show_one(args: &GateArgs) -> anyhow::Result<Exit> {
    let opened = OpenGate::with_list(args.options()?)?;
    let (_, standing) = opened.with_gate(|gate| gate.status())?;
    match args.format {
        Form::Json => print_json(&GateAnswer::of(opened.phase, &standing))?,
        Form::Text => print_safely(&render_status(opened.phase, &standing))?,
    }
    Ok(exit_of(&standing.outcome))
}

/// Formats the status of a gate with its items.
fn render_status(phase: Phase, standing: &GateStatus) -> String {
    let mut out = format!("{phase}: {}\n", summarize(standing));
    let rows: Vec<Vec<String>> = standing
        .lines
        .iter()
        .map(|line| {
            let status = line.item.result.word();
            let finding = match &line.item.result {
                ItemResult::Todo | ItemResult::Pass => "",
                ItemResult::Fail(finding) => finding.as_str(),
            };
            let status = match &line.effect {
                ItemEffect::Holds | ItemEffect::Open | ItemEffect::Blocks => status.to_owned(),
                ItemEffect::Waived => format!("{status} (waived)"),
                ItemEffect::Accepted { .. } => format!("{status} (accepted)"),
            };
            let what = match &line.effect {
                ItemEffect::Accepted { reason, by } => {
                    format!("{finding} accepted by {by}: {reason}")
                }
                _ if finding.is_empty() => line.item.check.clone(),
                _ => finding.to_owned(),
            };
            let severity = line.severity.word().to_owned();
            vec![line.item.id.to_string(), severity, status, line.item.scope.to_string(), what]
        })
        .collect();
    if !rows.is_empty() {
        out.push('\n');
        out.push_str(&table(
            &["item", "severity", "status", "scope", "what"],
            &rows,
            TableWidth::on_stdout(),
        ));
    }
    for altered in &standing.altered {
        let _ = writeln!(out, "altered: {altered}");
    }
    for entry in &standing.journal {
        let JournalEntry { item, by, reason, .. } = entry;
        let decision = entry.decision.word();
        let _ = writeln!(out, "on record: {item} {decision} by {by}: {reason}");
    }
    for ReleasedItem { id, check, reason, by, .. } in &standing.released {
        let _ = writeln!(out, "released: {id}: {check} (released by {by}: {reason})");
    }
    out
}

fn summarize(standing: &GateStatus) -> String {
    let outcome = describe_outcome(&standing.outcome);
    let state = match standing.attempt.state {
        AttemptState::Initial => "INITIAL",
        AttemptState::Retry => "RETRY",
        AttemptState::Complete => "COMPLETE",
    };
    let mut out = format!("{outcome} ({state}, iteration {}", standing.attempt.iteration);
    let Counts { total, pass, fail, todo, .. } = standing.counts();
    let items = count(total, "item");
    let _ = write!(out, "; {items}: {pass} PASS, {fail} FAIL, {todo} TODO");
    if standing.checklist == ChecklistSource::HandedIn {
        out.push_str("; the built-in checklist was left out");
    }
    if standing.is_unjudged {
        out.push_str("; not judged");
    }
    if !standing.released.is_empty() {
        let _ = write!(out, "; {} released", standing.released.len());
    }
    if !standing.altered.is_empty() {
        let _ = write!(out, "; {} altered", standing.altered.len());
    }
    out.push(')');
    out
}

/// Prints one line for each gate that has a list.
fn show_all(args: &GateArgs) -> anyhow::Result<Exit> {
    let mut lines = Vec::new();
    let mut answers = Vec::new();
    let mut worst = Exit::Ready;
    for phase in Phase::ALL {
        let place =
            GateLocation::of(environment(), &args.folder, phase, args.state_dir.as_deref())?;
        if !place.keep.was_made() {
            continue;
        }
        let options = super::GateArgs { phase: Some(phase), ..args.clone() };
        let opened = options.options().and_then(OpenGate::with_list);
        let standing = opened.and_then(|opened| Ok(opened.with_gate(|gate| gate.status())?.1));
        match standing {
            Ok(standing) => {
                worst = worse_exit(worst, exit_of(&standing.outcome));
                lines.push(vec![phase.to_string(), summarize(&standing)]);
                answers.push(json!(GateAnswer::of(phase, &standing)));
            }
            Err(error) => {
                worst = worse_exit(worst, Exit::Incomplete);
                answers.push(json!({ "phase": phase, "error": format!("{error:#}") }));
                lines.push(vec![phase.to_string(), format!("unknown: {error:#}")]);
            }
        }
    }
    match args.format {
        Form::Json => print_json(&answers)?,
        Form::Text if lines.is_empty() => {
            worst = Exit::Incomplete;
            print_safely("no gates found; create one with `assay gate decompose`\n")?;
        }
        Form::Text => print_safely(&table(&["phase", "status"], &lines, TableWidth::on_stdout()))?,
    }
    Ok(worst)
}

/// Returns the worse of two exit codes.
fn worse_exit(one: Exit, other: Exit) -> Exit {
    let rank = |exit: Exit| match exit {
        Exit::Ready => 0,
        Exit::NotReady => 1,
        Exit::Incomplete => 2,
        Exit::HandedOver => 3,
        Exit::Usage => 4,
        Exit::Bug => 5,
    };
    if rank(other) > rank(one) { other } else { one }
}
