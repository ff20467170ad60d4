//! The text of `cargo test`.

use super::results_builder::{ResultsBuilder, failed, say};
use super::{TestOutcome, TestReport, Totals};
use std::collections::HashMap;

/// Parses the tests of all binaries, one after the other.
pub(super) fn read(text: &str) -> Option<TestReport> {
    let mut builder = ResultsBuilder::default();
    let mut said: HashMap<&str, String> = HashMap::new();
    let mut speaker: Option<&str> = None;
    let mut is_open = false;
    let (mut announced, mut before) = (0_usize, 0_usize);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" ----")) {
            speaker = name.strip_suffix(" stdout").or(Some(name));
        } else if let Some(count) = start(line) {
            // The binary before this one did not finish.
            if is_open {
                builder.mark_truncated();
            }
            (is_open, speaker) = (true, None);
            (announced, before) = (count, builder.test_count());
            builder.mark_recognized();
        } else if let Some(totals) = summary(line) {
            let counted = totals.ran().saturating_add(totals.skipped);
            if !is_open {
                builder.add_contradiction("a total follows the end of a run");
            } else if counted != announced {
                builder.add_contradiction("a total does not match the announced number of tests");
            } else if builder.test_count() - before > announced {
                builder.add_contradiction("there are more tests than were announced");
            }
            (is_open, speaker) = (false, None);
            builder.add_totals(totals);
        } else if line == "failures:" {
            speaker = None;
        } else if let Some(name) = speaker {
            say(said.entry(name).or_default(), line);
        } else if let Some((name, outcome)) = test(line) {
            let file = name.split_once(" - ").map(|(file, _)| file);
            let file = file.filter(|file| file.ends_with(".rs"));
            let name = name.strip_suffix(" - should panic").unwrap_or(name);
            builder.add_test(name, file, outcome, None);
        }
    }
    if is_open {
        builder.mark_truncated();
    }
    explain(&mut builder, &said);
    builder.finish()
}

/// Parses `running 2 tests`.
fn start(line: &str) -> Option<usize> {
    let (count, unit) = line.strip_prefix("running ")?.split_once(' ')?;
    matches!(unit, "test" | "tests").then_some(())?;
    count.parse().ok()
}

fn test(line: &str) -> Option<(&str, TestOutcome)> {
    let (name, word) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    // With `--report-time`, the time follows the word.
    let word = word.split([',', '<', ' ']).next().unwrap_or(word);
    match word {
        "ok" | "bench:" => Some((name, TestOutcome::Passed)),
        "FAILED" => Some((name, failed(""))),
        "ignored" => Some((name, TestOutcome::Skipped)),
        _ => None,
    }
}

/// Parses `test result: ok. 2 passed; 1 failed; 1 ignored; 0 measured; …`.
fn summary(line: &str) -> Option<Totals> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut totals = Totals::default();
    for count in counts.split("; ") {
        let Some((number, what)) = count.split_once(' ') else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        match what {
            "passed" | "measured" => totals.passed = totals.passed.saturating_add(number),
            "failed" => totals.failed = number,
            "ignored" => totals.skipped = number,
            _ => {}
        }
    }
    Some(totals)
}

fn explain(builder: &mut ResultsBuilder, said: &HashMap<&str, String>) {
    for test in builder.results() {
        if let TestOutcome::Failed { message } = &mut test.outcome
            && let Some(said) = said.get(test.name.as_str())
        {
            *message = said.trim().to_owned();
        }
    }
}
