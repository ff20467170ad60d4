//! The text of Python's own `unittest`.

use super::results_builder::{ResultsBuilder, failed, say};
use super::{TestOutcome, TestReport, Totals};

/// Parses the named tests, the failures with their messages, and the counts at the end.
pub(super) fn read(text: &str) -> Option<TestReport> {
    let mut builder = ResultsBuilder::default();
    let mut before = "";
    let mut ran: Option<usize> = None;
    let mut totals = 0_usize;
    // The failure that is being parsed, with its name and its message so far.
    let mut failure: Option<(&str, String)> = None;
    for line in text.lines() {
        let is_rule = line.len() == 70 && line.bytes().all(|byte| byte == b'=' || byte == b'-');
        if let Some(name) = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: ")) {
            settle(&mut builder, failure.replace((name, String::new())));
        } else if let Some(count) = counted(line) {
            settle(&mut builder, failure.take());
            ran = Some(ran.unwrap_or(0).saturating_add(count));
            totals += 1;
            if totals > 1 {
                // Code under test prints, too.
                builder.add_contradiction("there are two totals");
            }
            builder.mark_recognized();
        } else if let Some((_, said)) = &mut failure {
            if !is_rule {
                say(said, line);
            }
        } else if let Some(outcome) = ran.and_then(|_| ended(line)) {
            claim(&mut builder, ran.take().unwrap_or(0), outcome);
        } else if let Some((name, outcome)) = test(line, before) {
            if totals > 0 {
                builder.add_contradiction("tests follow the total");
            }
            builder.add_test(name, None, outcome, None);
        }
        before = line;
    }
    if failure.is_some() || ran.is_some() {
        builder.mark_truncated();
    }
    settle(&mut builder, failure);
    builder.finish()
}

/// Adds a failure: the output names a failed test only together with its message.
fn settle(builder: &mut ResultsBuilder, failure: Option<(&str, String)>) {
    if let Some((name, said)) = failure {
        builder.add_test(name, None, failed(&said), None);
    }
}

/// Parses `test_a (unit.Shop.test_a) ... ok`. The name may be on the line before, with the
/// docstring of the test on this one.
fn test<'a>(line: &'a str, before: &'a str) -> Option<(&'a str, TestOutcome)> {
    let (name, word) = line.rsplit_once(" ... ")?;
    let outcome = match word {
        "ok" | "unexpected success" => TestOutcome::Passed,
        "expected failure" => TestOutcome::Skipped,
        word if word.starts_with("skipped") => TestOutcome::Skipped,
        _ => return None,
    };
    let is_name = |text: &str| text.ends_with(')') && text.contains(" (");
    [name, before].into_iter().find(|text| is_name(text)).map(|name| (name, outcome))
}

fn counted(line: &str) -> Option<usize> {
    let (count, rest) = line.strip_prefix("Ran ")?.split_once(' ')?;
    (rest.starts_with("test in ") || rest.starts_with("tests in ")).then_some(())?;
    count.parse().ok()
}

/// Parses `OK (skipped=1)`, `FAILED (failures=1, errors=1)` or `NO TESTS RAN`.
fn ended(line: &str) -> Option<Totals> {
    let (word, counts) = line.split_once(" (").unwrap_or((line, ""));
    matches!(word, "OK" | "FAILED" | "NO TESTS RAN").then_some(())?;
    let mut totals = Totals::default();
    for count in counts.trim_end_matches(')').split(", ") {
        let Some((what, number)) = count.split_once('=') else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        match what {
            "failures" | "errors" | "unexpected successes" => {
                totals.failed = totals.failed.saturating_add(number);
            }
            "skipped" | "expected failures" => {
                totals.skipped = totals.skipped.saturating_add(number);
            }
            _ => {}
        }
    }
    if word == "FAILED" {
        totals.failed = totals.failed.max(1);
    }
    Some(totals)
}

fn claim(builder: &mut ResultsBuilder, ran: usize, ended: Totals) {
    let others = ended.failed.saturating_add(ended.skipped);
    builder.add_totals(Totals { passed: ran.saturating_sub(others), ..ended });
}
