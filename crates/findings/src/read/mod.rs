//! The reader of reviewers' texts: [`read`] turns any text into a [`ReadResult`].
//!
//! [`extract`] looks for JSON in the text, [`json`] parses and repairs it, [`spelling`] corrects
//! misspelt keys, [`fields`] converts it to votes, and [`prose`] reads lines that begin with a
//! severity. [`crate::outcome`] decides whether the review approves.

mod extract;
mod fields;
mod json;
mod keys;
mod own_lines;
mod placeholder;
mod prose;
mod scan;
mod spelling;
mod unlisted;

use std::borrow::Cow;
use std::cmp::Ordering;

use assay_base::text::{first_bytes, first_chars};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::incomplete::{IncompleteKind, IncompleteReason};
use crate::vote::Vote;

pub(crate) use own_lines::OwnLines;
pub use prose::{SeverityTag, severity_tag};
pub(crate) use unlisted::find_unlisted;

/// The maximum length of a text, in bytes.
pub const MAX_TEXT: usize = 16 << 20;

/// The maximum number of findings of one text.
const MAX_FINDINGS: usize = 20_000;

/// The maximum number of characters of the text that replace a missing summary.
const MAX_SUMMARY_CHARS: usize = 500;

/// The maximum number of characters of a rejected piece that are stored.
const MAX_RAW_CHARS: usize = 2_000;

/// The maximum number of characters of a rejected piece that are quoted in a reason.
const MAX_QUOTED_CHARS: usize = 120;

/// The kind of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RepairKind {
    /// Bytes that are not UTF-8 were replaced.
    Encoding,
    /// The JSON was escaped once too often.
    EscapedJson,
    /// The JSON had a comment.
    Comment,
    /// There was a comma too many.
    ExtraComma,
    /// A comma was missing.
    MissingComma,
    /// The colon after a key was missing.
    MissingColon,
    /// The value after a key was missing.
    MissingValue,
    /// A bracket was missing, doubled or of the wrong kind.
    Bracket,
    /// A string had other quotation marks than JSON's, or unescaped ones inside.
    Quote,
    /// A string was not closed.
    MissingQuote,
    /// A key had no quotes.
    UnquotedKey,
    /// A value had no quotes.
    UnquotedValue,
    /// A value was a literal of another language.
    Literal,
    /// A string had an escape that JSON does not know, or a raw control character.
    Escape,
    /// A string had several pieces.
    Concatenated,
    /// Text without a meaning was skipped.
    Skipped,
    /// The text ended in the middle.
    Truncated,
    /// A value was nested too deep to be stored.
    TooDeep,
    /// There were more values than are stored.
    TooMany,
    /// The same finding occurred twice.
    Duplicate,
    /// A key was misspelt.
    MisspeltKey,
    /// An object had a key twice: two findings that lost the brackets between them.
    RepeatedKey,
}

impl RepairKind {
    /// Returns the repair in words.
    fn in_words(self) -> &'static str {
        match self {
            RepairKind::Encoding => "bytes are not UTF-8",
            RepairKind::EscapedJson => "the JSON is escaped twice",
            RepairKind::Comment => "a comment",
            RepairKind::ExtraComma => "an extra comma",
            RepairKind::MissingComma => "a comma is missing",
            RepairKind::MissingColon => "a colon is missing",
            RepairKind::MissingValue => "a value is missing",
            RepairKind::Bracket => "a missing or extra bracket",
            RepairKind::Quote => "a quotation mark is not escaped",
            RepairKind::MissingQuote => "a quotation mark is missing",
            RepairKind::UnquotedKey => "a key without quotation marks",
            RepairKind::UnquotedValue => "a value without quotation marks",
            RepairKind::Literal => "a literal of another language",
            RepairKind::Escape => "an unknown escape",
            RepairKind::Concatenated => "a string in several pieces",
            RepairKind::Skipped => "text that is not JSON",
            RepairKind::Truncated => "the text is truncated",
            RepairKind::TooDeep => "the JSON is nested too deeply",
            RepairKind::TooMany => "too many values",
            RepairKind::Duplicate => "a duplicate finding",
            RepairKind::MisspeltKey => "a misspelt key",
            RepairKind::RepeatedKey => "a duplicate key in an object",
        }
    }

    /// Returns true if such a repair may change the place or the quote of a finding.
    fn is_guess(self) -> bool {
        self.may_lose()
            || matches!(
                self,
                RepairKind::Quote
                    | RepairKind::Escape
                    | RepairKind::MissingColon
                    | RepairKind::UnquotedValue
                    | RepairKind::MisspeltKey
            )
    }

    /// Returns true if such a repair may lose or change a finding, or a part of it.
    fn may_lose(self) -> bool {
        match self {
            RepairKind::Bracket
            | RepairKind::MissingValue
            | RepairKind::MissingQuote
            | RepairKind::Concatenated
            | RepairKind::Skipped
            | RepairKind::Truncated
            | RepairKind::TooDeep
            | RepairKind::TooMany
            | RepairKind::RepeatedKey => true,
            RepairKind::Encoding
            | RepairKind::EscapedJson
            | RepairKind::Comment
            | RepairKind::ExtraComma
            | RepairKind::MissingComma
            | RepairKind::MissingColon
            | RepairKind::Quote
            | RepairKind::UnquotedKey
            | RepairKind::UnquotedValue
            | RepairKind::Literal
            | RepairKind::Escape
            | RepairKind::Duplicate
            | RepairKind::MisspeltKey => false,
        }
    }
}

/// A repair, with its position in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repair {
    /// The kind of the repair.
    pub kind: RepairKind,
    /// The offset of the fault, in bytes.
    pub at: usize,
}

/// A piece that could not be read, with the reason and its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Rejected")]
pub struct RejectedText {
    /// The reason.
    pub reason: String,
    /// The text of the piece, shortened if it is long.
    pub raw: String,
}

impl RejectedText {
    fn new(reason: impl Into<String>, raw: &str) -> RejectedText {
        RejectedText { reason: reason.into(), raw: first_chars(raw, MAX_RAW_CHARS).to_owned() }
    }
}

/// The source of the findings of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Fallback")]
pub enum ReadFallback {
    /// JSON alone.
    None,
    /// Lines that begin with a severity, in addition to JSON or without any.
    Lines,
    /// No source: the text has no findings that could be read.
    Text,
}

/// The remarks of a reviewer besides its findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remarks {
    /// Risks that the reviewer could not confirm.
    pub residual_risks: Vec<String>,
    /// Tests that the reviewer found missing.
    pub testing_gaps: Vec<String>,
    /// Explicit requirements that the reviewer found unmet.
    pub unmet_requirements: Vec<String>,
    /// Required checks that failed.
    pub failed_checks: Vec<String>,
    /// Parts of the change that the reviewer did not read.
    pub not_covered: Vec<String>,
    /// Notes on missing members of the report, and on repairs.
    pub notes: Vec<String>,
}

/// The content of a report besides its findings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Envelope {
    /// The name of the reviewer.
    pub reviewer: Option<String>,
    /// The family of the reviewer's model.
    pub family: Option<String>,
    /// True if the report states that its independence is verified.
    pub independence_verified: bool,
    /// The summary of the report.
    pub summary: Option<String>,
    /// The verdict, in the reviewer's word. Of several verdicts, one that asks for changes.
    pub verdict: Option<String>,
    /// Sentences in other members of the report, such as `notes` or `reason`.
    pub words: Vec<String>,
    /// The remarks besides the findings.
    pub remarks: Remarks,
}

/// The result of reading a reviewer's text.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadResult {
    /// The votes; `None` if the text is no structured review, which differs from a review without
    /// findings.
    pub votes: Option<Vec<Vote>>,
    /// The source of the votes.
    pub fallback: ReadFallback,
    /// The content of the report besides its votes.
    pub envelope: Envelope,
    /// The summary, or the beginning of the text in its place.
    pub summary: String,
    /// The repairs that were made.
    pub repairs: Vec<Repair>,
    /// The pieces that could not be read.
    pub rejected: Vec<RejectedText>,
    /// The number of items that may be findings and could not be read.
    pub lost: usize,
    /// The reasons why the text may have left out a finding; empty if the list of findings is
    /// complete.
    pub incomplete: Vec<IncompleteReason>,
    /// The text that was read in place of the given one, if all its quotes were escaped.
    pub unescaped: Option<String>,
    /// The parts of the text that were read as JSON, as byte ranges in order.
    pub json_spans: Vec<(usize, usize)>,
    /// False if there was no text, or too much of it.
    pub usable: bool,
}

/// Decodes bytes; returns a repair if they are not UTF-8.
pub fn decode(bytes: &[u8]) -> (String, Option<Repair>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), None),
        Err(error) => {
            let repair = Repair { kind: RepairKind::Encoding, at: error.valid_up_to() };
            (String::from_utf8_lossy(bytes).into_owned(), Some(repair))
        }
    }
}

/// Reads a reviewer's text. `root` is the absolute path of the repository, if it is known, so that
/// absolute paths inside of it can be made relative.
pub fn read(text: &str, root: Option<&str>) -> ReadResult {
    if text.len() > MAX_TEXT {
        let reason = format!("the text has {} bytes; at most {MAX_TEXT} are read", text.len());
        return unusable(RejectedText::new(reason, first_bytes(text, MAX_RAW_CHARS)));
    }
    if text.trim().is_empty() {
        return unusable(RejectedText::new("the text is empty", text));
    }
    let mut found = extract::extract(text, root);
    let unescaped = match found.votes {
        Some(_) => None,
        None => retry_unescaped(text, root, &mut found),
    };
    let text = unescaped.as_deref().unwrap_or(text);
    if let Some(votes) = &mut found.votes
        && drop_repeated(votes)
    {
        found.repairs.push(Repair { kind: RepairKind::Duplicate, at: 0 });
    }
    let own = OwnLines::of(text, &found.json_spans);
    let mut reading = match found.votes.take() {
        Some(votes) => from_json(text, &own, root, votes, found),
        None => from_prose(text, &own, root, found),
    };
    if own.ends_in_fence && reading.votes.is_some() {
        let text = "the text ends in an unclosed code fence";
        reading.incomplete.push(IncompleteReason::new(IncompleteKind::OpenList, text));
    }
    if let (Some(line), Some(_)) = (own.announcement(), &reading.votes) {
        let line = first_chars(line, MAX_QUOTED_CHARS);
        let text = format!("nothing follows the last line of the text, `{line}`");
        reading.incomplete.push(IncompleteReason::new(IncompleteKind::OpenList, text));
    }
    reject_quoted_findings(&own, root, &mut reading);
    reading.note_rejected();
    drop(own);
    reading.unescaped = unescaped;
    reading
}

/// Parses a text that is one JSON array or object, and repairs it if necessary. Valid JSON results
/// in exactly its value.
pub fn repair_json(text: &str) -> Option<serde_json::Value> {
    let start = text.find(|c: char| !c.is_whitespace())?;
    if text.len() > MAX_TEXT || !text[start..].starts_with(['[', '{']) {
        return None;
    }
    let mut allowance = json::ParseBudget::for_text(text);
    Some(json::parse_at(text, start, &mut allowance).value.to_value())
}

fn unusable(rejected: RejectedText) -> ReadResult {
    let found = extract::Extraction { rejected: vec![rejected], ..extract::Extraction::default() };
    ReadResult { usable: false, ..ReadResult::of(found) }
}

/// Reads JSON whose quotes were all escaped, or all doubled, as happens when it is wrapped into
/// another format. Returns the text without these escapes, if it contains a review.
fn retry_unescaped(
    text: &str,
    root: Option<&str>,
    found: &mut extract::Extraction,
) -> Option<String> {
    let start = text.find(['{', '['])?;
    let mut plain: Vec<Cow<'_, str>> = Vec::new();
    if text.contains("\"\":") {
        plain.push(Cow::Owned(text.replace("\"\"", "\"")));
    }
    if text.contains("\\\"") {
        plain.push(scan::unescape(text).0);
    }
    for plain in plain {
        let again = extract::extract(&plain, root);
        if again.votes.is_some() {
            *found = again;
            found.repairs.insert(0, Repair { kind: RepairKind::EscapedJson, at: start });
            return Some(plain.into_owned());
        }
    }
    None
}

/// Removes repeated votes; returns true if there were any.
fn drop_repeated(votes: &mut Vec<Vote>) -> bool {
    let mut order: Vec<usize> = (0..votes.len()).collect();
    order.sort_by(|a, b| by_content(&votes[*a], &votes[*b]));
    let repeats = |pair: &[usize]| by_content(&votes[pair[0]], &votes[pair[1]]).is_eq();
    let mut repeated: Vec<usize> =
        order.windows(2).filter(|pair| repeats(pair)).map(|pair| pair[1]).collect();
    if repeated.is_empty() {
        return false;
    }
    repeated.sort_unstable();
    let mut number = 0;
    votes.retain(|_| {
        number += 1;
        repeated.binary_search(&(number - 1)).is_err()
    });
    true
}

/// Orders votes by the content that makes two of them one finding.
fn by_content(a: &Vote, b: &Vote) -> Ordering {
    let key = |vote: &'_ Vote| (vote.lines, vote.grade.impact(), vote.grade.obligation());
    key(a)
        .cmp(&key(b))
        .then_with(|| a.file.cmp(&b.file))
        .then_with(|| a.description.cmp(&b.description))
        .then_with(|| a.title.cmp(&b.title))
        .then_with(|| a.rule.cmp(&b.rule))
}

/// Returns the findings of JSON, and of lines outside of it that the JSON does not list.
fn from_json(
    text: &str,
    own: &OwnLines<'_>,
    root: Option<&str>,
    mut votes: Vec<Vote>,
    mut found: extract::Extraction,
) -> ReadResult {
    let summary = match &found.envelope.summary {
        Some(summary) => summary.clone(),
        None => prose::truncate_text(&prose::without(text, &found.json_spans), MAX_SUMMARY_CHARS),
    };
    // A guess in one place may have changed any of the findings.
    let is_repaired = found.repairs.iter().any(|repair| repair.kind.is_guess());
    votes.iter_mut().for_each(|vote| vote.is_repaired = is_repaired);
    // A report is compact as a whole: a finding without evidence in a full report lacks evidence.
    let is_compact = votes.iter().all(|vote| vote.is_compact);
    votes.iter_mut().for_each(|vote| vote.is_compact = is_compact);
    let lines = prose::tagged_lines(own, root, &mut found.rejected).votes;
    let lines = find_unlisted(lines, &votes);
    let fallback = if lines.is_empty() { ReadFallback::None } else { ReadFallback::Lines };
    votes.extend(lines);
    ReadResult { votes: Some(votes), fallback, summary, ..ReadResult::of(found) }
}

fn from_prose(
    text: &str,
    own: &OwnLines<'_>,
    root: Option<&str>,
    mut found: extract::Extraction,
) -> ReadResult {
    let mut lines = prose::tagged_lines(own, root, &mut found.rejected);
    if drop_repeated(&mut lines.votes) {
        found.repairs.push(Repair { kind: RepairKind::Duplicate, at: 0 });
    }
    if lines.votes.is_empty() {
        let summary = prose::truncate_text(text, MAX_SUMMARY_CHARS);
        return ReadResult { summary, ..ReadResult::of(found) };
    }
    found.incomplete.push(no_list());
    let votes = Some(lines.votes);
    ReadResult {
        votes,
        fallback: ReadFallback::Lines,
        summary: lines.text,
        ..ReadResult::of(found)
    }
}

/// Returns the reason why findings outside of a list are not complete: a cut between two of them,
/// or behind the last one, leaves no trace.
fn no_list() -> IncompleteReason {
    let text = "the findings are not in a list, so their end is unknown";
    IncompleteReason::new(IncompleteKind::OpenList, text)
}

/// Rejects lines inside of fences that look like blocking findings and that no vote covers. Such a
/// line is a quotation, or the reviewer's own words behind a fence that was lost or doubled.
fn reject_quoted_findings(own: &OwnLines<'_>, root: Option<&str>, reading: &mut ReadResult) {
    let finding = |line: &str| {
        let vote = prose::line_vote(line, root, &mut Vec::new())?;
        (vote.file.is_some() && vote.grade.blocks()).then_some(vote)
    };
    let quoted = own.quoted.iter().filter_map(|(_, line)| finding(line)).collect();
    for vote in find_unlisted(quoted, reading.votes.as_deref().unwrap_or_default()) {
        let reason = "a finding inside a code fence, which may be a quote";
        reading.rejected.push(RejectedText::new(reason, &vote.description));
    }
}

impl ReadResult {
    /// Creates a reading from the content that was found, still without votes and summary.
    fn of(found: extract::Extraction) -> ReadResult {
        ReadResult {
            votes: None,
            fallback: ReadFallback::Text,
            envelope: found.envelope,
            summary: String::new(),
            repairs: found.repairs,
            rejected: found.rejected,
            lost: found.lost,
            incomplete: found.incomplete,
            unescaped: None,
            json_spans: found.json_spans,
            usable: true,
        }
    }

    /// Records that a piece was rejected, since the piece may be a finding.
    fn note_rejected(&mut self) {
        let Some(first) = self.rejected.first() else { return };
        let raw = first_chars(&first.raw, MAX_QUOTED_CHARS);
        let more = match self.rejected.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let text = format!("could not be read: {} (`{raw}`){more}", first.reason);
        self.incomplete.push(IncompleteReason::new(IncompleteKind::Rejected, text));
    }
}
