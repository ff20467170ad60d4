//! Renders the tables that several documents share.

use std::time::Duration;

use super::escaping::{cell, command_cell, tail};
use super::{CheckLine, CheckLineOutcome, TestCount};

/// Renders the checks as a table, and below it their notes, and the output of those that did not
/// pass.
pub(super) fn checks(checks: &[CheckLine]) -> String {
    if checks.is_empty() {
        return "No check was run.\n".to_owned();
    }
    let mut out =
        "| Check | Command | Outcome | Exit | Time | Tests |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for check in checks {
        out.push_str(&row(check));
    }
    let notes = checks.iter().flat_map(|check| check.notes.iter().map(move |it| (check, it)));
    let notes: String =
        notes.map(|(check, note)| format!("- {}: {}\n", cell(&check.name), cell(note))).collect();
    if !notes.is_empty() {
        out.push_str(&format!("\n{notes}"));
    }
    for check in checks {
        if check.outcome != CheckLineOutcome::Passed && !check.tail.trim().is_empty() {
            out.push_str(&format!("\nOutput of {}:\n\n{}\n", cell(&check.name), tail(&check.tail)));
        }
    }
    out
}

fn row(check: &CheckLine) -> String {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let outcome = match &check.outcome {
        CheckLineOutcome::Passed => "passed".to_owned(),
        CheckLineOutcome::Failed => "failed".to_owned(),
        CheckLineOutcome::NotRun { why } => format!("not run: {}", cell(why)),
    };
    format!(
        "| {} | {} | {outcome} | {} | {} | {} |\n",
        cell(&check.name),
        or_dash(check.command.as_deref().map(command_cell)),
        or_dash(check.exit.map(|code| code.to_string())),
        or_dash(check.took.map(time)),
        or_dash(check.tests.map(count)),
    )
}

fn time(took: Duration) -> String {
    match took.as_secs() {
        0..60 => format!("{:.1} s", took.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

fn count(tests: TestCount) -> String {
    let all = [(tests.passed, "passed"), (tests.failed, "failed"), (tests.skipped, "skipped")];
    let some = all.iter().filter(|(count, _)| *count > 0);
    let some: Vec<String> = some.map(|(count, what)| format!("{count} {what}")).collect();
    if some.is_empty() { "none".to_owned() } else { some.join(", ") }
}
