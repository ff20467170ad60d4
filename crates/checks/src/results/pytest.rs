//! The text of pytest: a line for each test with `-v`, its short summary, and its counts.

use std::collections::HashMap;

use super::results_builder::{ResultsBuilder, failed};
use super::{TestOutcome, TestReport, Totals};

/// Parses the named tests, each once, and the counts at the end.
pub(super) fn read(text: &str) -> Option<TestReport> {
    let mut named: HashMap<&str, TestOutcome> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    let mut builder = ResultsBuilder::default();
    let (mut is_open, mut in_summary) = (false, false);
    let (mut sessions, mut ends) = (0_usize, 0_usize);
    for line in text.lines() {
        if line.starts_with("====") && line.contains(" test session starts ") {
            is_open = true;
            sessions += 1;
            builder.mark_recognized();
        } else if let Some(totals) = counted(line) {
            (is_open, in_summary) = (false, false);
            ends += 1;
            builder.add_totals(totals);
        } else if line.starts_with("====") && line.contains(" short test summary info ") {
            in_summary = true;
        } else if let Some((name, outcome)) = if in_summary { short(line) } else { verbose(line) } {
            match named.get_mut(name) {
                Some(before) => worse(before, outcome),
                None => {
                    order.push(name);
                    named.insert(name, outcome);
                }
            }
        }
    }
    for name in order {
        let file = name.split("::").next().filter(|file| *file != name);
        if let Some(outcome) = named.remove(name) {
            builder.add_test(name, file, outcome, None);
        }
    }
    if is_open {
        builder.mark_truncated();
    }
    if sessions > 0 && ends > sessions {
        builder.add_contradiction("there are more totals than sessions");
    }
    builder.finish()
}

/// Replaces an outcome by a later one. A failure stays a failure, with the first message that is
/// not empty.
fn worse(before: &mut TestOutcome, after: TestOutcome) {
    match (&mut *before, after) {
        (TestOutcome::Failed { message }, TestOutcome::Failed { message: more })
            if message.is_empty() =>
        {
            *message = more;
        }
        (TestOutcome::Failed { .. }, _) => {}
        (before, after) => *before = after,
    }
}

/// Parses `tests/test_a.py::test_x PASSED      [ 50%]`, also after the worker of xdist.
fn verbose(line: &str) -> Option<(&str, TestOutcome)> {
    if let Some(rest) = line.strip_prefix("[gw") {
        let rest = rest.split_once("] ")?.1;
        let rest = if rest.starts_with('[') { rest.split_once("] ")?.1 } else { rest };
        let (word, name) = rest.split_once(' ')?;
        return Some((node(name.trim())?, outcome(word, "")?));
    }
    let name_ends = line.find(".py::")?;
    // A parameter may contain blanks, so the last word that is an outcome counts.
    let (at, word) = WORDS
        .iter()
        .filter_map(|word| Some((line.rfind(&format!(" {word}"))?, *word)))
        .filter(|(at, word)| {
            let rest = &line[at + 1 + word.len()..];
            *at > name_ends && (rest.is_empty() || rest.starts_with(' '))
        })
        .max_by_key(|(at, _)| *at)?;
    Some((node(line[..at].trim_end())?, outcome(word, "")?))
}

const WORDS: [&str; 6] = ["PASSED", "FAILED", "SKIPPED", "XFAIL", "XPASS", "ERROR"];

/// Parses `FAILED tests/test_a.py::test_y - assert 1 == 2`. Skipped tests are listed by line and
/// not by name, so they are only counted.
fn short(line: &str) -> Option<(&str, TestOutcome)> {
    let (word, rest) = line.split_once(' ')?;
    let (name, why) = rest.split_once(" - ").unwrap_or((rest, ""));
    match word {
        "ERROR" => Some((name_of_error(name)?, failed(why))),
        "PASSED" | "FAILED" | "XFAIL" | "XPASS" => Some((node(name)?, outcome(word, why)?)),
        _ => None,
    }
}

/// Returns the name of a test or file with an error. A file that cannot be collected is an error
/// without a test.
fn name_of_error(name: &str) -> Option<&str> {
    let name = name.strip_prefix("collecting ").unwrap_or(name);
    (name.contains(".py") && !name.contains(' ')).then_some(name).or_else(|| node(name))
}

fn node(name: &str) -> Option<&str> {
    name.contains(".py::").then_some(name)
}

fn outcome(word: &str, why: &str) -> Option<TestOutcome> {
    match word {
        "PASSED" | "XPASS" => Some(TestOutcome::Passed),
        "FAILED" | "ERROR" => Some(failed(why)),
        "SKIPPED" | "XFAIL" => Some(TestOutcome::Skipped),
        _ => None,
    }
}

/// Parses `==== 1 failed, 2 passed in 0.03s ====`, also without its frame.
fn counted(line: &str) -> Option<Totals> {
    let line = line.trim_matches('=').trim();
    let (counts, time) = line.rsplit_once(" in ")?;
    let seconds = time.split(' ').next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    let mut totals = Totals::default();
    if counts == "no tests ran" || counts == "no tests collected" {
        return Some(totals);
    }
    for count in counts.split(", ") {
        let (number, what) = count.split_once(' ')?;
        let number: usize = number.parse().ok()?;
        match what {
            "passed" | "xpassed" => totals.passed = totals.passed.saturating_add(number),
            "failed" | "error" | "errors" => totals.failed = totals.failed.saturating_add(number),
            "skipped" | "xfailed" => totals.skipped = totals.skipped.saturating_add(number),
            "deselected" | "warning" | "warnings" | "rerun" | "subtests passed" => {}
            _ => return None,
        }
    }
    Some(totals)
}
