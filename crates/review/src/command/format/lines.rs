//! Lines such as `file:line:column: message`, which compilers and many linters print.
//!
//! Known forms are `file:line: message`, `file:line:column: message` and `file(line,column):
//! message`. The message may begin with a severity (`warning:`) or a code (`E501`), and may end with
//! a code in brackets. Other lines, such as quoted code, are not findings.

use assay_findings::vote::LineRange;

use super::FormatError;
use crate::command::draft::Draft;
use crate::command::report_builder::ReportBuilder;
use crate::command::severity;

/// The words before a message that are severities.
const SEVERITIES: [&str; 9] =
    ["fatal error", "error", "warning", "info", "information", "note", "hint", "style", "fatal"];

/// A line that reports a finding.
#[derive(Debug, Default, PartialEq, Eq)]
struct Diagnostic<'t> {
    path: &'t str,
    line: u32,
    severity: &'t str,
    code: Option<&'t str>,
    message: &'t str,
}

/// Parses a finding from each line. An output without any is in another format, unless it is empty:
/// most linters print nothing if they find nothing.
pub(super) fn read(text: &str, builder: &mut ReportBuilder<'_>) -> Result<(), FormatError> {
    let mut is_known = text.trim().is_empty();
    for (line, found) in text.lines().filter_map(|line| Some((line, diagnostic(line)?))) {
        is_known = true;
        if let Err(reason) = take(&found, builder) {
            builder.reject(reason, line);
        }
    }
    is_known.then_some(()).ok_or(FormatError::NotThisForm)
}

fn take(found: &Diagnostic<'_>, builder: &mut ReportBuilder<'_>) -> Result<(), String> {
    let word = if found.severity == "fatal error" { "error" } else { found.severity };
    let mut draft = Draft::new(found.message, severity::grade(word), "correctness");
    draft.code = found.code.map(str::to_owned);
    draft.file = Some(builder.checkout.path(found.path)?);
    draft.lines = LineRange::at(found.line);
    builder.take(draft);
    Ok(())
}

/// Parses a line; `None` if it reports no finding.
fn diagnostic(text: &str) -> Option<Diagnostic<'_>> {
    let (path, line, message) = by_colons(text).or_else(|| by_brackets(text))?;
    let is_path = !path.trim().is_empty() && !path.contains(": ") && !path.starts_with(' ');
    let (severity, code, message) = split_message(message.trim());
    (is_path && !message.is_empty()).then_some(Diagnostic { path, line, severity, code, message })
}

/// Parses `path:line:column: message`, where the column may be missing.
fn by_colons(text: &str) -> Option<(&str, u32, &str)> {
    text.match_indices(':').find_map(|(at, _)| {
        let (line, rest) = number(&text[at + 1..])?;
        let rest = rest.strip_prefix(':')?;
        let message = number(rest).and_then(|(_, rest)| rest.strip_prefix(':')).unwrap_or(rest);
        Some((&text[..at], line, message))
    })
}

/// Parses `path(line,column): message`, where the column may be missing.
fn by_brackets(text: &str) -> Option<(&str, u32, &str)> {
    text.match_indices('(').find_map(|(at, _)| {
        let (line, rest) = number(&text[at + 1..])?;
        let rest = rest.strip_prefix(',').and_then(number).map_or(rest, |(_, rest)| rest);
        Some((&text[..at], line, rest.strip_prefix("):")?))
    })
}

/// Splits a text after the number that it begins with.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Splits a message into its severity, its code and its text.
fn split_message(message: &str) -> (&str, Option<&str>, &str) {
    let (severity, code, text) = match message.split_once(':') {
        Some((head, rest)) => match severity_and_code(head) {
            Some((severity, code)) => (severity, code, rest.trim()),
            None => ("", None, message),
        },
        None => ("", None, message),
    };
    if code.is_some() {
        return (severity, code, text);
    }
    if let Some((first, rest)) = text.split_once(' ').filter(|(first, _)| is_code(first)) {
        return (severity, Some(first.trim_end_matches(':')), rest.trim());
    }
    let last = text.strip_suffix(']').and_then(|text| text.rsplit_once(" ["));
    match last.filter(|(_, code)| !code.is_empty() && !code.contains(' ')) {
        Some((text, code)) => (severity, Some(code), text.trim()),
        None => (severity, None, text),
    }
}

/// Parses `warning`, or a severity with a code such as `error TS2322`.
fn severity_and_code(head: &str) -> Option<(&str, Option<&str>)> {
    let is_severity = |word: &str| SEVERITIES.iter().any(|known| known.eq_ignore_ascii_case(word));
    if is_severity(head) {
        return Some((head, None));
    }
    let (word, code) = head.split_once(' ')?;
    (is_severity(word) && is_code(code)).then_some((word, Some(code)))
}

/// Returns true for capital letters before digits, such as `E501` and `SC2086:`.
fn is_code(word: &str) -> bool {
    let word = word.trim_end_matches(':');
    let digits = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    digits.len() < word.len() && !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(line: &str, expected: Expect) {
        expected.assert_eq(&match diagnostic(line) {
            Some(found) => {
                let Diagnostic { path, line, severity, code, message } = found;
                format!("{path} {line} {severity} {} | {message}", code.unwrap_or("-"))
            }
            None => "none".to_owned(),
        });
    }

    #[test]
    fn the_forms_of_compilers_and_linters_are_findings() {
        check(
            "a.c:3:5: warning: unused variable [-Wunused]",
            expect!["a.c 3 warning -Wunused | unused variable"],
        );
        check("a.py:7: error: Bad type  [arg-type]", expect!["a.py 7 error arg-type | Bad type"]);
        check("a.py:1:80: E501 line too long", expect!["a.py 1  E501 | line too long"]);
        check(
            "src/a.ts(3,5): error TS2322: Type 'x'",
            expect!["src/a.ts 3 error TS2322 | Type 'x'"],
        );
        check("C:\\a b.c:3: broken", expect!["C:\\a b.c 3  - | broken"]);
        check("a.go:3:5: x: y", expect!["a.go 3  - | x: y"]);
    }

    #[test]
    fn other_lines_are_no_findings() {
        for line in [
            "", "Found 2 errors.", "  3 | let x", "error: at 10:20: x", "a.c:x: y", "a.c:3:",
            ":3: x",
        ] {
            check(line, expect!["none"]);
        }
    }
}
