//! The text of `cargo nextest run`, which goes to stderr.

use super::results_builder::{ResultsBuilder, failed, in_suite, say};
use super::{TestOutcome, TestReport, Totals};

/// Parses tests up to the summary, which names failures a second time.
pub(super) fn read(text: &str) -> Option<TestReport> {
    let mut builder = ResultsBuilder::default();
    let mut is_open = false;
    let mut said = String::new();
    for line in text.lines() {
        let words = line.trim_start();
        if words.starts_with("Starting ") && words.contains(" across ") {
            is_open = true;
            builder.mark_recognized();
        } else if !is_open {
            continue;
        } else if let Some(counts) = words.strip_prefix("Summary [") {
            settle(&mut builder, &mut said);
            builder.add_totals(counted(counts));
            is_open = false;
        } else if let Some((outcome, seconds, name)) = test(words) {
            settle(&mut builder, &mut said);
            if let Some(outcome) = outcome {
                builder.add_test(&full_name(name), None, outcome, seconds);
            }
        } else {
            say(&mut said, line.strip_prefix("    ").unwrap_or(line));
        }
    }
    settle(&mut builder, &mut said);
    if is_open {
        builder.mark_truncated();
    }
    builder.finish()
}

/// Parses `3 passed (1 slow), 1 failed, 1 skipped`. Numbers in parentheses are counted already.
fn counted(counts: &str) -> Totals {
    let counts = counts.split_once("run: ").map_or("", |(_, counts)| counts);
    let mut totals = Totals::default();
    for count in counts.split([',', '(', ')']).map(str::trim) {
        let Some((number, what)) = count.split_once(' ') else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        match what {
            "passed" => totals.passed = number,
            "failed" | "timed out" | "exec failed" => {
                totals.failed = totals.failed.saturating_add(number);
            }
            "skipped" => totals.skipped = number,
            _ => {}
        }
    }
    totals
}

/// Returns the name of a test with that of its program, `shop > tests::fails`.
fn full_name(name: &str) -> String {
    name.split_once(' ').map_or_else(|| name.to_owned(), |(program, name)| in_suite(program, name))
}

/// Adds the text after a failure to its message.
fn settle(builder: &mut ResultsBuilder, said: &mut String) {
    if let Some(test) = builder.last()
        && let TestOutcome::Failed { message } = &mut test.outcome
        && message.is_empty()
    {
        *message = said.trim().to_owned();
    }
    said.clear();
}

/// Parses `FAIL [   0.284s] (4/4) shop tests::fails`. An attempt before the last, and a test that
/// is only slow so far, have no outcome yet.
fn test(line: &str) -> Option<(Option<TestOutcome>, Option<f64>, &str)> {
    let (status, rest) = line.split_once(" [")?;
    let (time, rest) = rest.split_once("] ")?;
    let seconds = time.trim_start_matches(['>', ' ']).strip_suffix('s')?;
    let seconds: f64 = seconds.parse().ok()?;
    let name = match rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
        Some((_, name)) => name,
        None => rest,
    };
    let word = match status.strip_prefix("TRY ") {
        Some(again) => match again.split_once(' ')?.1 {
            "PASS" => "PASS",
            _ => return Some((None, None, name)),
        },
        None => status,
    };
    let outcome = match word {
        "PASS" | "LEAK" => TestOutcome::Passed,
        "SKIP" => TestOutcome::Skipped,
        "SLOW" | "TERMINATING" | "SETUP" => return Some((None, None, name)),
        "FAIL" | "TIMEOUT" | "ABORT" | "LEAK-FAIL" | "FLKY-FL" => failed(""),
        word if word.starts_with("SIG") => failed(""),
        word if word.starts_with("FLAKY ") => TestOutcome::Passed,
        _ => return None,
    };
    Some((Some(outcome), Some(seconds), name.trim()))
}
