//! The text of `cargo test`.

use super::sheet::{Sheet, failed, say};
use super::{Outcome, Tests, Totals};
use std::collections::HashMap;

/// Parses the tests of all binaries, one after the other.
pub(super) fn read(text: &str) -> Option<Tests> {
    let mut sheet = Sheet::default();
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
                sheet.cut();
            }
            (is_open, speaker) = (true, None);
            (announced, before) = (count, sheet.listed());
            sheet.seen();
        } else if let Some(totals) = summary(line) {
            let counted = totals.ran().saturating_add(totals.skipped);
            if !is_open {
                sheet.doubt("a total stands behind the end of a run");
            } else if counted != announced {
                sheet.doubt("a total counts other tests than were announced");
            } else if sheet.listed() - before > announced {
                sheet.doubt("there are more tests than were announced");
            }
            (is_open, speaker) = (false, None);
            sheet.claim(totals);
        } else if line == "failures:" {
            speaker = None;
        } else if let Some(name) = speaker {
            say(said.entry(name).or_default(), line);
        } else if let Some((name, outcome)) = test(line) {
            let file = name.split_once(" - ").map(|(file, _)| file);
            let file = file.filter(|file| file.ends_with(".rs"));
            let name = name.strip_suffix(" - should panic").unwrap_or(name);
            sheet.take(name, file, outcome, None);
        }
    }
    if is_open {
        sheet.cut();
    }
    explain(&mut sheet, &said);
    sheet.finish()
}

/// Parses `running 2 tests`.
fn start(line: &str) -> Option<usize> {
    let (count, unit) = line.strip_prefix("running ")?.split_once(' ')?;
    matches!(unit, "test" | "tests").then_some(())?;
    count.parse().ok()
}

fn test(line: &str) -> Option<(&str, Outcome)> {
    let (name, word) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    // With `--report-time`, the time follows the word.
    let word = word.split([',', '<', ' ']).next().unwrap_or(word);
    match word {
        "ok" | "bench:" => Some((name, Outcome::Passed)),
        "FAILED" => Some((name, failed(""))),
        "ignored" => Some((name, Outcome::Skipped)),
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

fn explain(sheet: &mut Sheet, said: &HashMap<&str, String>) {
    for test in sheet.results() {
        if let Outcome::Failed { message } = &mut test.outcome
            && let Some(said) = said.get(test.name.as_str())
        {
            *message = said.trim().to_owned();
        }
    }
}
