//! Findings in prose: lines that begin with a severity, and the places that they name.

use assay_base::text::first_chars;

use super::own_lines::OwnLines;
use super::{RejectedText, scan};
use crate::grade::{Grade, Scheme};
use crate::path::RepoPath;
use crate::vote::{LineRange, Vote};

/// A severity at the beginning of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct SeverityTag<'t> {
    /// The grade of the word.
    pub grade: Grade,
    /// The text of the line behind the word.
    pub rest: &'t str,
    /// True if the word is set off, as in `HIGH: …`, `**High** …` or `[HIGH] …`; otherwise, it may
    /// be an ordinary word.
    pub set_off: bool,
    /// True if the line begins with the word itself, without marks or indentation before it.
    pub at_margin: bool,
}

/// Parses the severity that a line begins with, behind list marks, bold marks and emoji.
pub fn severity_tag(line: &str) -> Option<SeverityTag<'_>> {
    let body = strip_decoration(line)?;
    let end = body.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(body.len());
    let end = word_with_hyphen(body, end);
    let grade = Grade::from_word(&body[..end]);
    let scheme = grade.native().map(|native| native.scheme)?;
    // `Note:` and `Error:` begin ordinary sentences; a synonym for CRITICAL does not.
    let is_ordinary = Grade::is_synonym(&body[..end]) && grade.impact().level() > 0;
    if matches!(scheme, Scheme::Unknown | Scheme::Hml) || is_ordinary {
        return None;
    }
    let after = &body[end..];
    let opened = body.as_ptr() as usize - line.as_ptr() as usize;
    let enclosed =
        line[..opened].ends_with(['[', '(', '*', '_']) && after.starts_with([']', ')', '*', '_']);
    let rest = after.trim_start_matches(['*', '_', ']', ')']).trim_start();
    let rest = strip_category(rest);
    let colon = rest.starts_with([':', '-', '–', '—', '|']);
    let shouted = body[..end].bytes().all(|b| !b.is_ascii_lowercase());
    let set_off = colon || enclosed;
    // `MUST` and `MAY` in capitals are ordinary words of a specification.
    let is_tag = set_off || (shouted && scheme != Scheme::Qr);
    if !is_tag {
        return None;
    }
    let rest = rest.trim_start_matches([':', '-', '–', '—', '|', '*', ' ', '\t']).trim();
    if is_count(rest) {
        return None;
    }
    Some(SeverityTag { grade, rest, set_off, at_margin: opened == 0 })
}

/// Returns the end of a severity word that may contain a hyphen, such as `show-stopper`.
fn word_with_hyphen(body: &str, end: usize) -> usize {
    let Some(rest) = body[end..].strip_prefix('-') else { return end };
    let more = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let whole = end + 1 + more;
    if Grade::is_synonym(&body[..whole]) { whole } else { end }
}

/// Returns true if a severity is only followed by a number of findings: `CRITICAL: 0`, `Low: none`,
/// `HIGH: 2 issues`, `Critical: no findings`.
fn is_count(rest: &str) -> bool {
    /// The maximum number of words of a count, unlike a finding such as `no input validation`.
    const MAX_WORDS: usize = 6;
    let lower = rest.to_ascii_lowercase();
    let mut words = lower
        .split(|c: char| !c.is_alphanumeric() && c != '/')
        .filter(|word| !word.is_empty() && *word != "/");
    // `Critical: 0, High: 0` counts several severities, and `| Critical | High |` heads a table of
    // counts.
    let counts = |word: &str| Grade::is_word(word) || word.bytes().all(|b| b.is_ascii_digit());
    if words.clone().count() > 0 && words.clone().all(counts) {
        return true;
    }
    let Some(first) = words.next() else { return false };
    let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number && !matches!(first, "none" | "n/a" | "nil" | "zero" | "nothing" | "no") {
        return false;
    }
    let about_issues = |word: &str| {
        ["issue", "finding", "problem", "defect", "bug", "concern"]
            .iter()
            .any(|noun| word.starts_with(noun))
            || matches!(
                word,
                "found"
                    | "identified"
                    | "detected"
                    | "reported"
                    | "none"
                    | "new"
                    | "were"
                    | "was"
                    | "open"
                    | "critical"
                    | "high"
                    | "major"
                    | "severity"
                    | "in"
                    | "this"
                    | "change"
            )
    };
    words.clone().count() < MAX_WORDS && words.all(about_issues)
}

/// Removes `(security)` from the beginning of `(security): …`.
fn strip_category(rest: &str) -> &str {
    let Some((inside, after)) = rest.strip_prefix('(').and_then(|r| r.split_once(')')) else {
        return rest;
    };
    let plain = inside.chars().all(|c| c.is_alphabetic() || c == '_' || c == ' ' || c == '-');
    if plain && after.trim_start().starts_with(':') { after.trim_start() } else { rest }
}

/// Skips the marks before a line's first word. A quoted line has no tag.
fn strip_decoration(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    if rest.starts_with(['>', '"', '`', '+', '\'']) {
        return None;
    }
    if let Some((number, after)) = rest.split_once(['.', ')']) {
        let numbered = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        if numbered && after.starts_with(' ') {
            rest = after;
        }
    }
    let rest = rest.trim_start_matches(|c: char| {
        !c.is_alphanumeric() && !matches!(c, '>' | '"' | '`' | '+' | '\'')
    });
    let rest = rest.strip_prefix("x] ").or_else(|| rest.strip_prefix("X] ")).unwrap_or(rest);
    let rest = numbered_heading(rest)
        .trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '>' | '"' | '`'));
    (!rest.is_empty()).then_some(rest)
}

/// Removes the number from `1. CRITICAL …`, as it occurs in a heading.
fn numbered_heading(rest: &str) -> &str {
    match rest.split_once(['.', ')']) {
        Some((number, after))
            if !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
                && after.starts_with(' ') =>
        {
            after
        }
        _ => rest,
    }
}

/// The findings in the lines of a text, and those lines.
pub(super) struct TaggedLines {
    pub(super) votes: Vec<Vote>,
    pub(super) text: String,
}

/// Reads each line that begins with a severity as a finding.
pub(super) fn tagged_lines(
    own: &OwnLines<'_>,
    root: Option<&str>,
    rejected: &mut Vec<RejectedText>,
) -> TaggedLines {
    let mut found = TaggedLines { votes: Vec::new(), text: String::new() };
    let mut refused = Vec::new();
    for line in own.lines.iter().map(|line| &*line.text) {
        if let Some(vote) = line_vote(line, root, &mut refused) {
            if !found.text.is_empty() {
                found.text.push('\n');
            }
            found.text.push_str(line.trim());
            if found.votes.len() < super::MAX_FINDINGS {
                found.votes.push(vote);
            }
        } else if let Some(last) = found.votes.last_mut() {
            take_continuation(line, last);
        }
    }
    rejected.extend(refused.iter().map(|(reason, raw)| RejectedText::new(reason.as_str(), raw)));
    found
}

/// Adds the `Issue:` and `Fix:` lines of a checklist to the finding above them.
fn take_continuation(line: &str, vote: &mut Vote) {
    let line = line.trim().trim_start_matches('*');
    let Some((label, value)) = line.split_once(':') else { return };
    let value = value.trim_start_matches('*').trim();
    match label.trim_end_matches('*').to_ascii_lowercase().as_str() {
        "issue" => {
            vote.title = title_of(value, 100);
            vote.description = value.to_owned();
        }
        "fix" | "suggested fix" => vote.suggested_fix = Some(value.to_owned()),
        _ => {}
    }
}

/// Reads a line as a vote, if it begins with a severity that is set off, or also names a place.
pub(super) fn line_vote(
    line: &str,
    root: Option<&str>,
    refused: &mut Vec<(String, String)>,
) -> Option<Vote> {
    let tag = severity_tag(line)?;
    let place = find_place(tag.rest);
    if !tag.set_off && place.is_none() {
        return None;
    }
    let description = match &place {
        Some(place) => without_place(tag.rest, place),
        None => tag.rest.to_owned(),
    };
    let mut vote = Vote::new(title_of(&description, 100), tag.grade);
    vote.description = description;
    if let Some(place) = place {
        match RepoPath::parse(place.path, root) {
            Ok(path) => (vote.file, vote.lines) = (Some(path), place.lines),
            Err(error) => refused.push((error.to_string(), place.path.to_owned())),
        }
    }
    Some(vote)
}

/// A place named in a line of text.
struct NamedPlace<'t> {
    path: &'t str,
    lines: Option<LineRange>,
    /// The byte range in the line that names the place.
    span: (usize, usize),
}

/// Finds the first word of a text that names a file, with its line if there is one.
fn find_place(text: &str) -> Option<NamedPlace<'_>> {
    let noise = |c: char| {
        matches!(c, '(' | ')' | '[' | ']' | ',' | ';' | '`' | '*' | '"' | '\'' | '<' | '>')
    };
    let mut from = 0;
    for word in text.split_whitespace() {
        let start = from + text[from..].find(word)?;
        from = start + word.len();
        let core = word
            .trim_start_matches(noise)
            .trim_end_matches(|c: char| noise(c) || matches!(c, '.' | ':'));
        let (path, lines) = split_place(core);
        if !is_path(path, lines.is_some()) {
            continue;
        }
        let lines = lines.or_else(|| line_after(&text[from..]));
        return Some(NamedPlace { path, lines, span: (start, from) });
    }
    None
}

/// Parses `line 12` right after a path.
fn line_after(text: &str) -> Option<LineRange> {
    let text = text.trim_start_matches([' ', ',', '(', 'a', 't', 'o', 'n']);
    let rest = text.strip_prefix("lines ").or_else(|| text.strip_prefix("line "))?;
    parse_lines(rest)
}

fn is_path(text: &str, has_line: bool) -> bool {
    if text.contains("://") || text.is_empty() {
        return false;
    }
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let has_extension = name.rsplit_once('.').is_some_and(|(_, extension)| {
        (1..=10).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    let in_folder = text.contains('/');
    has_extension && (has_line || in_folder)
        || (has_line && in_folder)
        || (has_line && matches!(name, "Makefile" | "Dockerfile" | "Gemfile" | "Jenkinsfile"))
}

/// Removes the place from a line that begins with it, or ends with it in brackets.
fn without_place(text: &str, place: &NamedPlace<'_>) -> String {
    let (start, end) = place.span;
    let before = text[..start].trim();
    let after = text[end..].trim();
    let separators = [':', '-', '–', '—', '|', ',', ' '];
    if before.is_empty() && !after.is_empty() {
        return after.trim_start_matches(separators).to_owned();
    }
    let in_parentheses = text[start..].starts_with(['(', '[']);
    if after.is_empty() && !before.is_empty() && in_parentheses {
        return before.trim_end_matches(separators).to_owned();
    }
    text.trim().to_owned()
}

/// Splits `src/a.rs:12-15`, `src/a.rs#L12`, `src/a.rs (line 12)` into a path and lines.
pub(super) fn split_place(text: &str) -> (&str, Option<LineRange>) {
    let text = text.trim().trim_matches('`');
    if !text.bytes().any(|b| matches!(b, b':' | b'#' | b' ')) {
        return (text, None);
    }
    if let Some((path, lines)) = text.split_once("#L") {
        return (path, parse_lines(lines));
    }
    for (at, _) in text.match_indices(':') {
        let rest = &text[at + 1..];
        let numeric = rest.starts_with(|c: char| c.is_ascii_digit() || c == 'L')
            && rest
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, ':' | '-' | '–' | ',' | 'L' | ' '));
        if numeric {
            return (&text[..at], parse_lines(rest));
        }
    }
    for mark in [" (line", ", line", " line"] {
        if let Some((path, rest)) = text.split_once(mark) {
            return (path, parse_lines(rest));
        }
    }
    (text, None)
}

/// Parses `42`, `42-45`, `L42-L45`, `lines 42 to 45` or `42:5` (a column, which is dropped).
pub(super) fn parse_lines(text: &str) -> Option<LineRange> {
    let (first, rest) = leading_number(text)?;
    let joined = rest.trim_start();
    let range = joined
        .strip_prefix(['-', '–', '—', ','])
        .or_else(|| joined.strip_prefix("to "))
        .or_else(|| joined.strip_prefix(".."));
    match range.and_then(leading_number) {
        Some((last, _)) => LineRange::range(first, last),
        None => LineRange::at(first),
    }
}

fn leading_number(text: &str) -> Option<(u32, &str)> {
    let text = text.trim_start_matches(|c: char| {
        c.is_ascii_alphabetic() || matches!(c, ' ' | '.' | ':' | '#')
    });
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Returns the first sentence or line of a text, cut to `chars` characters.
pub(super) fn title_of(text: &str, chars: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    let stop = memchr::memmem::find(line.as_bytes(), b". ").unwrap_or(line.len());
    let sentence = &line[..stop];
    let sentence = sentence.strip_suffix('.').unwrap_or(sentence);
    if sentence.len() <= chars || sentence.chars().count() <= chars {
        return sentence.to_owned();
    }
    format!("{}…", first_chars(sentence, chars - 1).trim_end())
}

/// Returns the first `chars` characters of a text.
pub(super) fn truncate_text(text: &str, chars: usize) -> String {
    first_chars(text.trim(), chars).to_owned()
}

/// Returns a text without the parts that were read as JSON, and without fence lines.
pub(super) fn without(text: &str, spans: &[(usize, usize)]) -> String {
    let mut out = String::new();
    let mut from = 0;
    for (start, end) in spans {
        out.push_str(&text[from..*start]);
        from = *end;
    }
    out.push_str(&text[from..]);
    let kept: Vec<&str> = out
        .lines()
        .map(str::trim_end)
        .filter(|line| scan::fence_at(line.trim_start().as_bytes(), 0).is_none())
        .collect();
    kept.join("\n").trim().to_owned()
}
