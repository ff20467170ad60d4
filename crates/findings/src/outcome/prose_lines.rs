//! The lines that are the reviewer's own words: [`lines`].
//!
//! Text in fences, quotes, comments, diffs or JSON is not the reviewer's and is left out.

use assay_base::text::first_chars;

use crate::read::OwnLines;
use crate::verdict_words::is_rejection;

/// The maximum number of bytes of a line that are processed at once.
const MAX_LINE_BYTES: usize = 8 << 10;

/// A line of the reviewer's own words.
pub(super) struct Line<'t> {
    /// The number of the line, from 1.
    pub(super) number: usize,
    /// The line as it is written.
    pub(super) raw: &'t str,
    /// The text of the line, without quotes and without the label of a conclusion.
    pub(super) prose: String,
    /// True if the line is the reviewer's conclusion: behind `Verdict:` or below such a heading.
    pub(super) is_conclusion: bool,
    /// True if the line has an empty check box, which is a choice that was not made.
    pub(super) is_unchecked: bool,
    /// True if the line is in a fence, where an approval does not count.
    pub(super) is_fenced: bool,
    /// The end of the sentence that the line before left open.
    pub(super) before: String,
    /// True if the next line states that there is nothing: `None.`
    pub(super) is_followed_by_none: bool,
}

impl Line<'_> {
    pub(super) fn is_heading(&self) -> bool {
        is_heading(self.raw)
    }
}

/// Returns the lines that are the reviewer's own words, one at a time.
pub(super) fn lines<'t>(own: &'t OwnLines<'_>) -> impl Iterator<Item = Line<'t>> {
    let mut spoken = prose_lines(own).into_iter().peekable();
    let mut concludes = false;
    let mut open = String::new();
    std::iter::from_fn(move || {
        let RawLine { number, raw, is_fenced } = spoken.next()?;
        let next = spoken.peek().map_or("", |next| next.raw);
        let label = Label::of(raw);
        let checkbox = checkbox(raw);
        let is_conclusion = label.is_some() || concludes || checkbox == Some(true);
        let body = label.as_ref().map_or(raw, |label| label.rest);
        let line = Line {
            number,
            raw,
            prose: without_quotes(body, label.is_some() || concludes),
            is_conclusion,
            is_unchecked: checkbox == Some(false),
            is_fenced,
            before: std::mem::take(&mut open),
            is_followed_by_none: says_nothing(next),
        };
        // A label without text behind it labels the next line.
        concludes = label.is_some_and(|label| label.rest.trim_matches(['*', '_', ' ']).is_empty());
        open = open_sentence(&line);
        Some(line)
    })
}

/// A line that is neither quoted, nor code, nor part of a diff.
struct RawLine<'t> {
    number: usize,
    raw: &'t str,
    is_fenced: bool,
}

/// Returns the lines that are the reviewer's own words.
fn prose_lines<'t>(own: &'t OwnLines<'_>) -> Vec<RawLine<'t>> {
    let mut found: Vec<RawLine<'t>> = Vec::new();
    let (mut in_comment, mut in_diff, mut after_blank) = (false, false, true);
    let last_close = own.lines.iter().rposition(|line| line.text.contains("-->"));
    let mut in_alert = false;
    for (at, own_line) in own.lines.iter().enumerate() {
        let closes_later = last_close.is_some_and(|last| last > at);
        let line: &str = &own_line.text;
        let opens = line.find("<!--");
        // A comment without an end hides no text.
        let is_closed = |from: usize| line[from..].contains("-->");
        let hidden = in_comment || opens.is_some_and(|at| is_closed(at) || closes_later);
        in_comment = closes_later
            && (in_comment && !line.contains("-->") || opens.is_some_and(|at| !is_closed(at)));
        let (line, hidden) = match (hidden, line.rfind("-->")) {
            // Text behind a comment is not part of the comment.
            (true, Some(end)) => (&line[end + 3..], false),
            (hidden, _) => (line, hidden),
        };
        let starts_diff = line.starts_with("diff --git ") || line.starts_with("@@ ");
        in_diff = starts_diff || (in_diff && line.starts_with([' ', '+', '-', '\\', '@', 'i']));
        let in_list = found.last().is_some_and(|spoken| is_list_item(spoken.raw));
        let is_code =
            after_blank && !in_list && (line.starts_with("    ") || line.starts_with('\t'));
        after_blank = line.trim().is_empty();
        // GitHub's alerts look like quotations, and are the reviewer's words.
        let quotes = line.trim_start().strip_prefix('>').map(str::trim_start);
        in_alert = quotes.is_some_and(|text| in_alert || text.starts_with("[!"));
        let line = if in_alert { quotes.unwrap_or(line) } else { line };
        let is_quoted = is_quoted(line) && !in_alert;
        if !hidden && !in_diff && !is_code && !is_quoted && !line.trim().is_empty() {
            let (number, is_fenced) = (own_line.number, own_line.is_fenced);
            found.extend(pieces(line).map(|raw| RawLine { number, raw, is_fenced }));
        }
    }
    found
}

/// Splits a line that is too long to process at once, so that no work grows with its length.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let end = rest.floor_char_boundary(MAX_LINE_BYTES);
        let end = if end < rest.len() { rest[..end].rfind(' ').unwrap_or(end).max(1) } else { end };
        let end = rest.ceil_char_boundary(end);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn is_quoted(line: &str) -> bool {
    line.trim_start().starts_with('>')
        || line.starts_with('+')
        || line.starts_with("@@")
        || (line.starts_with('-') && !line.starts_with("- ") && !line.starts_with("---"))
}

fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("- ")
        || line.starts_with("* ")
        || line.starts_with(|c: char| c.is_ascii_digit())
}

fn is_heading(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// Returns true if a line states that there is nothing.
pub(super) fn says_nothing(line: &str) -> bool {
    let start = first_chars(line, 40);
    let word = start.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
    let first = word.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    matches!(first, "none" | "no" | "nothing" | "nil" | "0" | "zero") || word == "n/a"
}

/// Returns the state of `[x]` or `[ ]` at the start of a line; `None` without a check box.
fn checkbox(line: &str) -> Option<bool> {
    let line = line.trim_start().trim_start_matches(['-', '*', '+', ' ']);
    match line.get(..3)? {
        "[x]" | "[X]" => Some(true),
        "[ ]" => Some(false),
        _ => None,
    }
}

/// The label of a conclusion, with the text behind it.
struct Label<'t> {
    rest: &'t str,
}

impl<'t> Label<'t> {
    fn of(line: &'t str) -> Option<Label<'t>> {
        let separator = line.find([':', '=']).or_else(|| line.find(" - ").map(|at| at + 1));
        let (name, rest) = match separator {
            Some(at) => (&line[..at], &line[at + 1..]),
            None if is_heading(line) || line.trim().starts_with("**") => (line, ""),
            None => return None,
        };
        names_a_conclusion(name).then_some(Label { rest })
    }
}

fn names_a_conclusion(name: &str) -> bool {
    let lower = name.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let own = ["final", "overall", "my", "review", "reviewer", "approval", "the", "1", "2", "3"];
    let Some((last, before)) = words.split_last() else { return false };
    let is_own = before.iter().all(|word| own.contains(word));
    match *last {
        "verdict" | "decision" | "conclusion" | "recommendation" | "overall" => is_own,
        "status" | "result" | "outcome" | "assessment" => is_own && !before.is_empty(),
        _ => false,
    }
}

/// Replaces text in quotation marks, in back-ticks or struck through with spaces. In a conclusion,
/// the word itself is often in quotation marks, so only the marks are replaced.
fn without_quotes(line: &str, is_conclusion: bool) -> String {
    let line = without_tags(&without_strokes(line));
    // A line that is only a rejecting word is no quotation.
    if is_conclusion || is_rejection(&line) {
        return line.replace(['"', '`', '“', '”'], " ");
    }
    let mut out = String::with_capacity(line.len());
    let mut closing: Option<char> = None;
    let mut before = ' ';
    let last_mark = |mark: char| line.rfind(mark).unwrap_or(0);
    let (last_single, last_curly) = (last_mark('\''), last_mark('’'));
    for (at, c) in line.char_indices() {
        let opens = match c {
            '"' | '`' => Some(c),
            '“' => Some('”'),
            '«' => Some('»'),
            '‘' if at < last_curly => Some('’'),
            // An apostrophe is inside a word.
            '\'' if !before.is_alphanumeric() && at < last_single => Some(c),
            _ => None,
        };
        before = c;
        match (closing, opens) {
            (Some(close), _) if c == close => closing = None,
            (Some(_), _) => {}
            (None, Some(close)) => closing = Some(close),
            (None, None) => {
                out.push(c);
                continue;
            }
        }
        out.push(' ');
    }
    // A mark that is never closed quotes nothing.
    if closing.is_some() { line.replace(['"', '`', '“'], " ") } else { out }
}

/// Replaces tags such as `<verdict>` with spaces.
fn without_tags(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('<') {
        let inside = &rest[start + 1..];
        let end = inside.find('>').filter(|end| {
            let name = inside[..*end].trim_start_matches('/');
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_- ".contains(&b))
        });
        match end {
            Some(end) => {
                out.push_str(&rest[..start]);
                out.push(' ');
                rest = &inside[end + 1..];
            }
            None => {
                out.push_str(&rest[..=start]);
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    out
}

fn without_strokes(line: &str) -> String {
    let parts: Vec<&str> = line.split("~~").collect();
    if parts.len() < 3 {
        return line.to_owned();
    }
    parts.into_iter().step_by(2).collect::<Vec<_>>().join(" ")
}

/// Returns the sentence that a line leaves open; empty if the line ends its sentence.
fn open_sentence(line: &Line<'_>) -> String {
    let said = line.prose.trim_end();
    let closed = said.ends_with(['.', '!', '?', ':', ';', '*', '|']);
    if closed || is_heading(line.raw) || is_list_item(line.raw) {
        return String::new();
    }
    let start = said.rfind(['.', '!', '?', ';']).map_or(0, |at| at + 1);
    first_chars(said[start..].trim(), 200).to_owned()
}
