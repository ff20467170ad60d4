//! Reading what a reviewer wrote: [`read`] turns any text into a [`Reading`].
//!
//! [`find`] looks for JSON in the text, [`json`] parses and repairs it, [`spelling`] corrects
//! misspelt keys, [`fields`] makes votes of it, and [`prose`] reads lines that begin with a
//! severity. Whether the review approves is decided in [`crate::outcome`].

mod fields;
mod find;
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
pub use prose::{Tag, severity_tag};
pub(crate) use unlisted::unlisted;

/// The longest text that is read.
pub const MAX_TEXT: usize = 16 << 20;

/// The most findings that one text may hold.
const MAX_FINDINGS: usize = 20_000;

/// How much of a text stands in for a summary where nothing better is there.
const SUMMARY_CHARS: usize = 500;

/// How much of a refused piece is kept.
const RAW_CHARS: usize = 2_000;

/// How much of a refused piece is quoted in a reason.
const QUOTED_CHARS: usize = 120;

/// What kind of repair was needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RepairKind {
    /// Bytes that are not UTF-8 were replaced.
    Encoding,
    /// The JSON was escaped once more than it should be.
    EscapedJson,
    /// A comment stood in the JSON.
    Comment,
    /// A comma too many.
    ExtraComma,
    /// A comma too few.
    MissingComma,
    /// No colon after a key.
    MissingColon,
    /// No value after a key.
    MissingValue,
    /// A bracket was missing, doubled or of the wrong kind.
    Bracket,
    /// Other quotation marks than JSON's, or unescaped ones inside a string.
    Quote,
    /// A string was not closed.
    MissingQuote,
    /// A key without quotes.
    UnquotedKey,
    /// A value without quotes.
    UnquotedValue,
    /// A literal of another language.
    Literal,
    /// An escape that JSON does not know, or a raw control character.
    Escape,
    /// A string in several pieces.
    Concatenated,
    /// Something that has no meaning was passed over.
    Skipped,
    /// The text ended in the middle.
    Truncated,
    /// Something was nested too deeply to be kept.
    TooDeep,
    /// There were more values than are kept.
    TooMany,
    /// The same finding stood there twice.
    Duplicate,
    /// A key was misspelt.
    MisspeltKey,
    /// An object has a key twice: two findings that lost the brackets between them.
    RepeatedKey,
}

impl RepairKind {
    /// Returns the repair in words.
    fn in_words(self) -> &'static str {
        match self {
            RepairKind::Encoding => "bytes are not UTF-8",
            RepairKind::EscapedJson => "the JSON is escaped twice",
            RepairKind::Comment => "a comment",
            RepairKind::ExtraComma => "a comma too many",
            RepairKind::MissingComma => "a comma is missing",
            RepairKind::MissingColon => "a colon is missing",
            RepairKind::MissingValue => "a value is missing",
            RepairKind::Bracket => "a bracket is missing or too many",
            RepairKind::Quote => "a quotation mark is not escaped",
            RepairKind::MissingQuote => "a quotation mark is missing",
            RepairKind::UnquotedKey => "a key without quotation marks",
            RepairKind::UnquotedValue => "a value without quotation marks",
            RepairKind::Literal => "a literal of another language",
            RepairKind::Escape => "an unknown escape",
            RepairKind::Concatenated => "a string in several pieces",
            RepairKind::Skipped => "something without a meaning in JSON",
            RepairKind::Truncated => "the text ends in the middle",
            RepairKind::TooDeep => "the JSON is nested too deeply",
            RepairKind::TooMany => "there are too many values",
            RepairKind::Duplicate => "a finding stands there twice",
            RepairKind::MisspeltKey => "a misspelt key",
            RepairKind::RepeatedKey => "an object has a key twice",
        }
    }

    /// Returns true if such a repair may give a finding another place or quote.
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

    /// Returns true if a finding, or a part of one, may be lost or changed by such a repair.
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

/// One repair, and where in the text it was needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repair {
    /// What was wrong.
    pub kind: RepairKind,
    /// The byte it was wrong at.
    pub at: usize,
}

/// Something that could not be taken, with the reason and its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rejected {
    /// Why.
    pub reason: String,
    /// What it was, shortened where it is long.
    pub raw: String,
}

impl Rejected {
    fn new(reason: impl Into<String>, raw: &str) -> Rejected {
        Rejected { reason: reason.into(), raw: first_chars(raw, RAW_CHARS).to_owned() }
    }
}

/// What the findings of a reading were taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fallback {
    /// From JSON alone.
    None,
    /// From lines that begin with a severity, beside JSON or without any.
    Lines,
    /// From nothing; only the text is there.
    Text,
}

/// What a reviewer says besides its findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remarks {
    /// Risks that it could not confirm.
    pub residual_risks: Vec<String>,
    /// Tests that it found missing.
    pub testing_gaps: Vec<String>,
    /// Explicit requirements that it found unmet.
    pub unmet_requirements: Vec<String>,
    /// Required checks that failed.
    pub failed_checks: Vec<String>,
    /// What it did not look at.
    pub not_covered: Vec<String>,
    /// What is missing in its form.
    pub notes: Vec<String>,
}

/// What stands around the findings of a report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Envelope {
    /// Who wrote it.
    pub reviewer: Option<String>,
    /// The family of the model behind it.
    pub family: Option<String>,
    /// Whether its independence is vouched for.
    pub independence_verified: bool,
    /// Its summary.
    pub summary: Option<String>,
    /// Its verdict, in its own word. Of several, one that asks for changes.
    pub verdict: Option<String>,
    /// Sentences in other members of the report, such as `notes` or `reason`.
    pub words: Vec<String>,
    /// What it says besides.
    pub remarks: Remarks,
}

/// A reviewer's text, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Its votes; `None` where it is no structured review at all, which is not the same as one
    /// that found nothing.
    pub votes: Option<Vec<Vote>>,
    /// What the votes were taken from.
    pub fallback: Fallback,
    /// What stood around them.
    pub envelope: Envelope,
    /// Its summary, or what stands in for one.
    pub summary: String,
    /// What was mended on the way.
    pub repairs: Vec<Repair>,
    /// What could not be taken.
    pub rejected: Vec<Rejected>,
    /// How many items that may be findings could not be taken.
    pub lost: usize,
    /// Why the text may have left out a finding; empty where the list of findings is whole.
    pub incomplete: Vec<IncompleteReason>,
    /// The text that was read in place of the given one, where all its quotes were escaped.
    pub unescaped: Option<String>,
    /// The parts of the text that were read as JSON, as byte ranges in order.
    pub json_spans: Vec<(usize, usize)>,
    /// Whether there was anything to read.
    pub usable: bool,
}

/// Decodes bytes, noting where they are not UTF-8.
pub fn decode(bytes: &[u8]) -> (String, Option<Repair>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), None),
        Err(error) => {
            let repair = Repair { kind: RepairKind::Encoding, at: error.valid_up_to() };
            (String::from_utf8_lossy(bytes).into_owned(), Some(repair))
        }
    }
}

/// Reads a reviewer's text. `root` is the repository's absolute path, where it is known, so that
/// absolute paths inside it can be made relative.
pub fn read(text: &str, root: Option<&str>) -> Reading {
    if text.len() > MAX_TEXT {
        let reason = format!("the text has {} bytes; at most {MAX_TEXT} are read", text.len());
        return unusable(Rejected::new(reason, first_bytes(text, RAW_CHARS)));
    }
    if text.trim().is_empty() {
        return unusable(Rejected::new("the text is empty", text));
    }
    let mut found = find::find(text, root);
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
        let text = "the text ends in a code fence that is not closed";
        reading.incomplete.push(IncompleteReason::new(IncompleteKind::OpenList, text));
    }
    if let (Some(line), Some(_)) = (own.announcement(), &reading.votes) {
        let line = first_chars(line, QUOTED_CHARS);
        let text = format!("nothing follows the last line of the text, `{line}`");
        reading.incomplete.push(IncompleteReason::new(IncompleteKind::OpenList, text));
    }
    reject_quoted_findings(&own, root, &mut reading);
    reading.note_rejected();
    drop(own);
    reading.unescaped = unescaped;
    reading
}

/// Reads a text that is one JSON array or object, mending it where need be. Valid JSON gives
/// exactly its value.
pub fn mended_json(text: &str) -> Option<serde_json::Value> {
    let start = text.find(|c: char| !c.is_whitespace())?;
    if text.len() > MAX_TEXT || !text[start..].starts_with(['[', '{']) {
        return None;
    }
    let mut allowance = json::Allowance::for_text(text);
    Some(json::parse_at(text, start, &mut allowance).value.to_value())
}

fn unusable(rejected: Rejected) -> Reading {
    let found = find::Found { rejected: vec![rejected], ..find::Found::default() };
    Reading { usable: false, ..Reading::of(found) }
}

/// Reads JSON whose quotes were all escaped, or all doubled, as happens when it is wrapped into
/// another format. Returns the text without these escapes, if a review stands in it.
fn retry_unescaped(text: &str, root: Option<&str>, found: &mut find::Found) -> Option<String> {
    let start = text.find(['{', '['])?;
    let mut plain: Vec<Cow<'_, str>> = Vec::new();
    if text.contains("\"\":") {
        plain.push(Cow::Owned(text.replace("\"\"", "\"")));
    }
    if text.contains("\\\"") {
        plain.push(scan::unescape(text).0);
    }
    for plain in plain {
        let again = find::find(&plain, root);
        if again.votes.is_some() {
            *found = again;
            found.repairs.insert(0, Repair { kind: RepairKind::EscapedJson, at: start });
            return Some(plain.into_owned());
        }
    }
    None
}

/// Takes out what stands there twice; says whether anything did.
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

/// Orders votes by what makes two of them the same finding said twice.
fn by_content(a: &Vote, b: &Vote) -> Ordering {
    let key = |vote: &'_ Vote| (vote.lines, vote.grade.impact(), vote.grade.obligation());
    key(a)
        .cmp(&key(b))
        .then_with(|| a.file.cmp(&b.file))
        .then_with(|| a.description.cmp(&b.description))
        .then_with(|| a.title.cmp(&b.title))
        .then_with(|| a.rule.cmp(&b.rule))
}

/// Takes the findings of JSON, and of lines beside it that the JSON does not list.
fn from_json(
    text: &str,
    own: &OwnLines<'_>,
    root: Option<&str>,
    mut votes: Vec<Vote>,
    mut found: find::Found,
) -> Reading {
    let summary = match &found.envelope.summary {
        Some(summary) => summary.clone(),
        None => prose::opening(&prose::without(text, &found.json_spans), SUMMARY_CHARS),
    };
    // What was guessed in one place may have changed any of the findings.
    let is_repaired = found.repairs.iter().any(|repair| repair.kind.is_guess());
    votes.iter_mut().for_each(|vote| vote.is_repaired = is_repaired);
    // A report is compact as a whole: one finding without evidence in a full report lacks it.
    let is_compact = votes.iter().all(|vote| vote.is_compact);
    votes.iter_mut().for_each(|vote| vote.is_compact = is_compact);
    let lines = prose::tagged_lines(own, root, &mut found.rejected).votes;
    let lines = unlisted(lines, &votes);
    let fallback = if lines.is_empty() { Fallback::None } else { Fallback::Lines };
    votes.extend(lines);
    Reading { votes: Some(votes), fallback, summary, ..Reading::of(found) }
}

fn from_prose(
    text: &str,
    own: &OwnLines<'_>,
    root: Option<&str>,
    mut found: find::Found,
) -> Reading {
    let mut lines = prose::tagged_lines(own, root, &mut found.rejected);
    if drop_repeated(&mut lines.votes) {
        found.repairs.push(Repair { kind: RepairKind::Duplicate, at: 0 });
    }
    if lines.votes.is_empty() {
        let summary = prose::opening(text, SUMMARY_CHARS);
        return Reading { summary, ..Reading::of(found) };
    }
    found.incomplete.push(no_list());
    let votes = Some(lines.votes);
    Reading { votes, fallback: Fallback::Lines, summary: lines.text, ..Reading::of(found) }
}

/// The reason why findings outside of a list are not complete: a cut between two of them, or behind
/// the last one, leaves no trace.
fn no_list() -> IncompleteReason {
    let text = "the findings stand in no list, so that nothing shows where they end";
    IncompleteReason::new(IncompleteKind::OpenList, text)
}

/// Rejects lines inside of fences that look like findings which block and that no vote has. Such a
/// line is a quotation, or the reviewer's own behind a fence that was lost or doubled.
fn reject_quoted_findings(own: &OwnLines<'_>, root: Option<&str>, reading: &mut Reading) {
    let finding = |line: &str| {
        let vote = prose::line_vote(line, root, &mut Vec::new())?;
        (vote.file.is_some() && vote.grade.blocks()).then_some(vote)
    };
    let quoted = own.quoted.iter().filter_map(|(_, line)| finding(line)).collect();
    for vote in unlisted(quoted, reading.votes.as_deref().unwrap_or_default()) {
        let reason = "a finding inside of a code fence, which may be quoted";
        reading.rejected.push(Rejected::new(reason, &vote.description));
    }
}

impl Reading {
    /// Takes over what was found; votes and summary are still to come.
    fn of(found: find::Found) -> Reading {
        Reading {
            votes: None,
            fallback: Fallback::Text,
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

    /// Notes that something was rejected: it may be a finding.
    fn note_rejected(&mut self) {
        let Some(first) = self.rejected.first() else { return };
        let raw = first_chars(&first.raw, QUOTED_CHARS);
        let more = match self.rejected.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let text = format!("could not be read: {} (`{raw}`){more}", first.reason);
        self.incomplete.push(IncompleteReason::new(IncompleteKind::Rejected, text));
    }
}
