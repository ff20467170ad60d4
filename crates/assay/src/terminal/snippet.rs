//! Source code in a terminal: the lines around a finding with a caret, and a fix as a small diff.

use std::io::Write;
use std::path::PathBuf;

use anstyle::Style;
use assay_change::Change;
use assay_findings::finding::Finding;
use assay_findings::path::RepoPath;
use assay_findings::vote::Replacement;
use assay_findings::write::escape;
use assay_rules::Redaction;
use unicode_width::UnicodeWidthStr;

use super::{DIM, GREEN, MARGIN, RED, WIDTH};
use crate::hyperlink::{self, LinkPlace};

/// The number of lines shown around the line of a finding.
const CONTEXT: u32 = 1;

/// The width of the number of a line.
const NUMBER_WIDTH: usize = 5;

/// The maximum number of lines shown of each side of a fix.
const MAX_FIX_LINES: usize = 6;

/// The lines of a file: as they are, and redacted with control characters visible.
pub(crate) struct Source {
    /// The file; `None` if a finding has none.
    path: Option<PathBuf>,
    text: String,
    shown: Vec<String>,
}

impl Source {
    /// Reads a file of a change; empty if there is none, or if it cannot be read.
    pub(crate) fn open(change: &Change, file: Option<&RepoPath>) -> Source {
        let text = file.and_then(|file| change.tree().read(file).ok().flatten());
        let text = text.unwrap_or_default();
        let path = file.map(|file| change.root.join(file.as_str()));
        Source { path, shown: assay_rules::redact_lines(&text), text }
    }

    fn line(&self, number: u32) -> Option<String> {
        self.shown.get((number as usize).checked_sub(1)?).map(|line| printable(line))
    }

    /// Prints the lines around a finding.
    pub(super) fn write(
        &self,
        out: &mut impl Write,
        finding: &Finding,
        style: Style,
    ) -> anyhow::Result<()> {
        let Some(line) = finding.line else { return Ok(()) };
        for number in line.saturating_sub(CONTEXT)..=line + CONTEXT {
            let Some(text) = self.line(number) else { continue };
            if number != line {
                let text = cut(&text, 0);
                writeln!(out, "  {DIM}{number:>NUMBER_WIDTH$} |{DIM:#} {DIM}{text}{DIM:#}")?;
                continue;
            }
            let (start, length) = self.mark(finding, line, &text);
            let skipped =
                start.saturating_sub(line_width() / 2) * usize::from(start + 8 > line_width());
            let shown = cut(&text, skipped);
            let length = length.clamp(1, line_width().saturating_sub(start - skipped).max(1));
            let (indent, carets) = (" ".repeat(start - skipped), "^".repeat(length));
            let number = self.linked_number(finding, line);
            writeln!(out, "  {DIM}{number} |{DIM:#} {shown}")?;
            writeln!(out, "  {DIM}      |{DIM:#} {indent}{style}{carets}{style:#}")?;
        }
        Ok(())
    }

    /// Returns the number of the line of a finding, as a hyperlink if the terminal supports it.
    fn linked_number(&self, finding: &Finding, line: u32) -> String {
        let number = line.to_string();
        let blanks = " ".repeat(NUMBER_WIDTH.saturating_sub(number.len()));
        let Some(path) = &self.path else { return format!("{blanks}{number}") };
        let place = LinkPlace { path, line: Some(line), column: finding.column };
        format!("{blanks}{}", hyperlink::to_place(place, &number))
    }

    /// Returns the columns of the code that a finding is about, in a shown line: start and width.
    fn mark(&self, finding: &Finding, line: u32, shown: &str) -> (usize, usize) {
        let indent = shown.len() - shown.trim_start().len();
        let whole = (indent, shown.trim().width());
        let Some(column) = finding.column else { return whole };
        let Some(raw) = self.text.lines().nth(line as usize - 1) else { return whole };
        let Some(before) = raw.get(..column as usize - 1) else { return whole };
        let from = raw.as_ptr() as usize - self.text.as_ptr() as usize;
        let before_shown = Redaction::of(&self.text).part(from..from + before.len());
        let start = printable(&before_shown).width();
        let quote = finding.evidence.first().map(|quote| quote.trim_matches('`'));
        let length = match quote {
            Some(quote) if raw[before.len()..].starts_with(quote) => printable(quote).width(),
            _ => shown.trim_end().width().saturating_sub(start),
        };
        (start, length)
    }

    /// Prints the fix of a finding as a small diff, if the fix is exact.
    pub(super) fn write_replacement(
        &self,
        out: &mut impl Write,
        finding: &Finding,
    ) -> anyhow::Result<()> {
        match &finding.replacement {
            Some(replacement) => write_change(out, &self.text, replacement),
            None => Ok(()),
        }
    }
}

/// Prints the lines before and after a replacement.
pub(super) fn write_change(
    out: &mut impl Write,
    before: &str,
    replacement: &Replacement,
) -> anyhow::Result<()> {
    let first = replacement.start_line() as usize;
    let count = replacement.end_line() as usize + 1 - first;
    // Both sides are redacted as parts of their files, since the context may identify a credential.
    let after = with_replacement(before, replacement);
    let [before, after] = [before, &after].map(assay_rules::redact_lines);
    let gone: Vec<&str> = before.iter().map(String::as_str).skip(first - 1).take(count).collect();
    let come = after.iter().map(String::as_str).skip(first - 1);
    let come: Vec<&str> = come.take(replacement.text().lines().count()).collect();
    let skipped = common_prefix(&gone, &come);
    write_side(out, RED, '-', &gone, skipped)?;
    write_side(out, GREEN, '+', &come, skipped)
}

/// Returns a text with its lines replaced.
fn with_replacement(before: &str, replacement: &Replacement) -> String {
    let (first, last) = (replacement.start_line() as usize, replacement.end_line() as usize);
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let head = lines.iter().take(first - 1).copied();
    let tail = lines.iter().skip(last).copied();
    head.chain([replacement.text()]).chain(tail).collect()
}

/// Returns the length of the common start of long lines, so that the difference can be shown.
fn common_prefix(gone: &[&str], come: &[&str]) -> usize {
    let [gone, come] = [gone, come].map(|lines| lines.first().map(|line| printable(line)));
    let (Some(gone), Some(come)) = (gone, come) else { return 0 };
    let same = gone.chars().zip(come.chars()).take_while(|(a, b)| a == b).count();
    if same > line_width() / 2 { same.saturating_sub(line_width() / 4) } else { 0 }
}

fn write_side(
    out: &mut impl Write,
    style: Style,
    sign: char,
    lines: &[&str],
    skipped: usize,
) -> anyhow::Result<()> {
    for line in lines.iter().take(MAX_FIX_LINES) {
        let line = cut(&printable(line), skipped);
        writeln!(out, "       {style}{sign} {line}{style:#}")?;
    }
    if lines.len() > MAX_FIX_LINES {
        let more = lines.len() - MAX_FIX_LINES;
        writeln!(out, "       {DIM}{sign} and {more} more lines{DIM:#}")?;
    }
    Ok(())
}

/// Returns the width for a source line.
fn line_width() -> usize {
    WIDTH.saturating_sub(MARGIN)
}

/// Makes a line printable: tabs as blanks, control characters visible.
fn printable(line: &str) -> String {
    escape::escape_hidden(&line.replace('\t', "    ")).into_owned()
}

/// Returns the part of a line that is shown, with a mark at each cut.
fn cut(line: &str, skipped: usize) -> String {
    let mut shown: String = line.chars().skip(skipped).take(line_width()).collect();
    if skipped > 0 {
        shown.replace_range(..shown.chars().next().map_or(0, char::len_utf8), "…");
    }
    if line.chars().count() > skipped + line_width() {
        shown.push('…');
    }
    shown
}
