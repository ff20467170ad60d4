//! The Test Anything Protocol, with subtests, as `node --test`, mocha, prove and bats print it.

use super::results_builder::{ResultsBuilder, failed, say};
use super::{TestOutcome, TestReport};

/// Parses test points at any depth. A point above its subtests counts too.
pub(super) fn read(text: &str) -> Option<TestReport> {
    let is_told = |line: &str| line.starts_with("TAP version ") || plan(line).is_some();
    if !text.lines().any(is_told) {
        return None;
    }
    let mut builder = ResultsBuilder::default();
    builder.mark_recognized();
    let (mut planned, mut points) = (None, 0_usize);
    let (mut plans, mut versions, mut is_closed) = (0_usize, 0_usize, false);
    let mut in_notes = false;
    for line in text.lines() {
        let words = line.trim_start();
        let is_top = words.len() == line.len();
        if in_notes || (words == "---" && !is_top) {
            in_notes = words != "...";
            explain(&mut builder, words);
        } else if let Some((name, outcome)) = point(words) {
            points += usize::from(is_top);
            if is_top && is_closed {
                builder.add_contradiction("tests follow the plan at the end");
            }
            builder.add_test(name, None, outcome, None);
        } else if is_top && let Some(more) = plan(words) {
            planned = Some(planned.unwrap_or(0_usize).saturating_add(more));
            (plans, is_closed) = (plans + 1, points > 0);
        } else if is_top && words.starts_with("TAP version ") {
            versions += 1;
        } else if let Some(why) = words.strip_prefix("Bail out!") {
            builder.add_test("Bail out!", None, failed(why), None);
        } else if !is_top && !words.starts_with('#') && plan(words).is_none() {
            explain(&mut builder, words);
        }
    }
    // Code under test prints, too: with two runs in one text, that of the runner is unknown.
    if plans > 1 || versions > 1 {
        builder.add_contradiction("there are two plans");
    } else if planned.is_some_and(|planned| planned < points) {
        builder.add_contradiction("there are more tests than were planned");
    }
    if in_notes || planned.is_none_or(|planned| planned > points) {
        builder.mark_truncated();
    }
    builder.finish()
}

/// Adds the indented text below a failure to its message.
fn explain(builder: &mut ResultsBuilder, line: &str) {
    if let Some(test) = builder.last()
        && let TestOutcome::Failed { message } = &mut test.outcome
        && !matches!(line, "---" | "...")
    {
        say(message, line);
    }
}

/// Parses `1..3`.
fn plan(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("1..")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Parses `not ok 2 - adds # SKIP slow`. A test that is marked as `TODO` may fail.
fn point(line: &str) -> Option<(&str, TestOutcome)> {
    let (is_ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    if !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let rest = rest.trim_start();
    let number = rest.bytes().take_while(u8::is_ascii_digit).count();
    let name = rest[number..].trim_start().trim_start_matches("- ").trim();
    let (name, directive) = name.rsplit_once(" # ").unwrap_or((name, ""));
    let (name, directive) = match name.strip_prefix("# ") {
        Some(alone) if directive.is_empty() => ("", alone),
        _ => (name, directive),
    };
    let word = directive.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
    let outcome = match (word.as_str(), is_ok) {
        ("SKIP" | "SKIPPED" | "TODO", _) => TestOutcome::Skipped,
        (_, true) => TestOutcome::Passed,
        (_, false) => failed(""),
    };
    Some((name, outcome))
}
