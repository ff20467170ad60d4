//! Reading what a reviewer wrote: [`read`] turns any text into a [`Reading`].
//!
//! [`find`] looks for JSON wherever it stands, [`json`] parses it with a forgiving eye, [`fields`]
//! makes votes of it, and [`prose`] takes over where there is none. Whether the review approves is
//! decided in [`crate::outcome`].

mod fields;
mod find;
mod json;
mod prose;
mod scan;

use std::borrow::Cow;
use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vote::Vote;

pub(crate) use prose::unfenced_lines as unfenced;
pub use prose::{Tag, severity_tag};

/// The longest text that is read.
pub const MAX_TEXT: usize = 16 << 20;

/// The most findings that one text may hold.
const MAX_FINDINGS: usize = 20_000;

/// How much of a text stands in for a summary where nothing better is there.
const SUMMARY_CHARS: usize = 500;

/// How much of a refused piece is kept.
const RAW_CHARS: usize = 2_000;

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
        Rejected { reason: reason.into(), raw: raw.chars().take(RAW_CHARS).collect() }
    }
}

/// What the findings of a reading were taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fallback {
    /// From JSON: nothing had to be fallen back on.
    None,
    /// From lines that begin with a severity.
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
    /// Its verdict, in its own word.
    pub verdict: Option<String>,
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
        return unusable(Rejected::new(reason, &text[..text.floor_char_boundary(RAW_CHARS)]));
    }
    if text.trim().is_empty() {
        return unusable(Rejected::new("the text is empty", text));
    }
    let mut found = find::find(text, root);
    if found.votes.is_none() {
        retry_unescaped(text, root, &mut found);
    }
    if let Some(votes) = &mut found.votes
        && drop_repeated(votes)
    {
        found.repairs.push(Repair { kind: RepairKind::Duplicate, at: 0 });
    }
    match found.votes.take() {
        Some(votes) => from_json(text, votes, found),
        None => from_prose(text, root, found),
    }
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
/// another format.
fn retry_unescaped(text: &str, root: Option<&str>, found: &mut find::Found) {
    let Some(start) = text.find(['{', '[']) else { return };
    let body = &text[start..];
    let mut plain: Vec<Cow<'_, str>> = Vec::new();
    if body.contains("\"\":") {
        plain.push(Cow::Owned(body.replace("\"\"", "\"")));
    }
    if body.contains("\\\"") {
        plain.push(scan::unescape(body).0);
    }
    for plain in plain {
        let again = find::find(&plain, root);
        if again.votes.is_some() {
            *found = again;
            found.json_spans = vec![(start, text.len())];
            found.repairs.insert(0, Repair { kind: RepairKind::EscapedJson, at: start });
            return;
        }
    }
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

fn from_json(text: &str, votes: Vec<Vote>, found: find::Found) -> Reading {
    let summary = match &found.envelope.summary {
        Some(summary) => summary.clone(),
        None => prose::opening(&prose::without(text, &found.json_spans), SUMMARY_CHARS),
    };
    Reading { votes: Some(votes), fallback: Fallback::None, summary, ..Reading::of(found) }
}

fn from_prose(text: &str, root: Option<&str>, mut found: find::Found) -> Reading {
    let mut lines = prose::tagged_lines(text, root, &mut found.rejected);
    if drop_repeated(&mut lines.votes) {
        found.repairs.push(Repair { kind: RepairKind::Duplicate, at: 0 });
    }
    if lines.votes.is_empty() {
        let summary = prose::opening(text, SUMMARY_CHARS);
        return Reading { summary, ..Reading::of(found) };
    }
    let votes = Some(lines.votes);
    Reading { votes, fallback: Fallback::Lines, summary: lines.text, ..Reading::of(found) }
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
            json_spans: found.json_spans,
            usable: true,
        }
    }
}
