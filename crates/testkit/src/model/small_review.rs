//! A small but plausible review of the change in a request.
//!
//! Only this module knows how a prompt shows a change: `### FILE path`, and below it lines with a
//! number, a sign and the text (`   12 + added`). A plain diff is supported too, by a parser that
//! shares no code with the product's.

use serde_json::{Value, json};

use super::PromptRequest;

/// Texts that make an added line doubtful.
const DOUBTFUL: [&str; 4] = ["TODO", "unwrap(", "eval(", "except:"];

/// A line that the change adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AddedLine<'a> {
    file: &'a str,
    line: u32,
    text: &'a str,
}

/// Answers as a reviewer does: with a report, or with an opinion on each finding if a second look
/// is requested.
pub(super) fn answer(asked: &PromptRequest) -> Value {
    match asked.text().contains("`confirm`") {
        true => looks(&asked.user),
        false => report(asked),
    }
}

/// Returns the answer to a second look that confirms every finding.
fn looks(text: &str) -> Value {
    let findings = text.lines().filter(|line| line.starts_with("### FINDING ")).count();
    let look = |finding| json!({ "finding": finding, "answer": "confirm", "why": "The line is there.", "quote": null });
    json!({ "looks": (1..=findings.max(1)).map(look).collect::<Vec<Value>>() })
}

/// Returns a report with the first doubtful line, or without findings.
pub(super) fn report(asked: &PromptRequest) -> Value {
    let doubtful = |added: &AddedLine<'_>| DOUBTFUL.iter().any(|word| added.text.contains(word));
    let findings: Vec<Value> =
        added_lines(&asked.user).into_iter().find(doubtful).map(finding).into_iter().collect();
    json!({
        "reviewer": reviewer(&asked.text()),
        "findings": findings,
        "residual_risks": [],
        "testing_gaps": [],
    })
}

fn finding(added: AddedLine<'_>) -> Value {
    json!({
        "title": "The added line is not finished",
        "severity": "P2",
        "file": added.file,
        "line": added.line,
        "why_it_matters": "It breaks on the first input that nobody thought of.",
        "autofix_class": "manual",
        "owner": "downstream-resolver",
        "requires_verification": true,
        "confidence": 75,
        "evidence": [added.text.trim()],
        "pre_existing": false,
    })
}

/// Returns the name of the reviewer in the request.
fn reviewer(text: &str) -> &str {
    text.split_once("You are the `")
        .and_then(|(_, rest)| rest.split_once("` reviewer"))
        .map(|(name, _)| name)
        .filter(|name| !name.is_empty() && !name.contains(['`', '\n']))
        .unwrap_or("fake")
}

fn added_lines(text: &str) -> Vec<AddedLine<'_>> {
    let mut added = Vec::new();
    let mut file = "";
    // The line number in a plain diff, whose lines have no numbers.
    let mut next = 1;
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("### FILE ").or(line.strip_prefix("+++ b/")) {
            // The path may be followed by the kind of change: `(new)`.
            let path = path.split(" (").next().unwrap_or(path);
            (file, next) = (path.trim(), 1);
            continue;
        }
        if let Some(hunk) = line.strip_prefix("@@ ") {
            next = hunk_start(hunk).unwrap_or(next);
            continue;
        }
        let (number, rest) = split_number(line);
        let number = number.unwrap_or(next);
        match rest.strip_prefix('+') {
            Some(text) => added.push(AddedLine { file, line: number, text }),
            None if rest.starts_with('-') => continue,
            None => {}
        }
        next = number + 1;
    }
    added
}

/// Splits the number from a line, with the space and the bar that may follow. A line without a
/// number begins with its sign, except for removed lines, which have a blank column for a number.
fn split_number(line: &str) -> (Option<u32>, &str) {
    let trimmed = line.trim_start();
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = trimmed.split_at(digits);
    match number.parse() {
        Ok(number) => {
            let rest = rest.strip_prefix(' ').unwrap_or(rest);
            (Some(number), rest.strip_prefix("| ").unwrap_or(rest))
        }
        Err(_) if trimmed.starts_with("- ") => (None, trimmed),
        Err(_) => (None, line),
    }
}

/// Returns the start of a hunk on the new side: 3 for `-1,2 +3,4 @@`.
fn hunk_start(hunk: &str) -> Option<u32> {
    let (_, new) = hunk.split_once('+')?;
    new.split([',', ' ']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, u32, &str)]) {
        let added = added_lines(text);
        let added: Vec<_> = added.iter().map(|it| (it.file, it.line, it.text.trim())).collect();
        assert_eq!(added, expected);
    }

    #[test]
    fn added_lines_are_found_in_a_prompt() {
        check(
            "### FILE src/a.rs\n   12 + let x = y.unwrap();\n   13   +1 kept\n      - gone\n\n\
             ### FILE b.py (new)\n  1 | + eval(x)\n",
            &[("src/a.rs", 12, "let x = y.unwrap();"), ("b.py", 1, "eval(x)")],
        );
    }

    #[test]
    fn added_lines_are_found_in_a_diff() {
        check(
            "--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +5,3 @@ fn a\n kept\n-gone\n+new\n+newer\n",
            &[("a.rs", 6, "new"), ("a.rs", 7, "newer")],
        );
    }

    #[test]
    fn the_reviewer_name_is_read_from_the_prompt_or_defaults_to_fake() {
        assert_eq!(reviewer("You are the `security` reviewer."), "security");
        assert_eq!(reviewer("You are a `security` reviewer."), "fake");
    }
}
