//! The mark by which assay recognises its own comments: a [`Marker`], in an HTML comment, which is
//! not rendered.
//!
//! A marker counts only as a whole line, the first or the last of a body. Text of findings is never
//! there: a body starts with a heading of assay and ends with its marker.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use assay_base::hash::short_hash;
use assay_base::text::first_chars;
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::identity::{self, ResolvedFinding};
use crate::path::RepoPath;

/// The number of digits of a finding's fingerprint.
const FINGERPRINT_DIGITS: usize = 32;
/// The number of digits that identify the file.
const FILE_DIGITS: usize = 12;
/// The number of digits that identify a reviewer.
const FINDER_DIGITS: usize = 8;
/// The number of digits that identify the branch that a review compared with.
const BASE_DIGITS: usize = 8;

/// The key by which a posted finding is recognised: its fingerprint and its file, as
/// `<32 digits>-<12 digits>`. The file is needed because the same code may be in several files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint(String);

/// The key by which a review is recognised: a hash of the commit and of the review's content and,
/// if it is known, of the branch that the commit was compared with, as `<32 digits>` or
/// `<32 digits>-<8 digits>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ReviewKey(String);

/// The reviewers that found a defect, or that looked for it: a few digits for each name, since a
/// name may be any text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Finders(BTreeSet<String>);

impl Finders {
    /// Creates the set from the names of reviewers.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Finders {
        let short = |name| short_hash(name, FINDER_DIGITS);
        Finders(names.into_iter().map(short).collect())
    }

    /// Returns true if all of these reviewers are among others, and there is at least one.
    pub fn is_subset_of(&self, others: &Finders) -> bool {
        !self.0.is_empty() && self.0.is_subset(&others.0)
    }
}

/// The kind of a body, with its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Marker {
    /// A comment on a finding, with the reviewers that found it.
    Finding(Fingerprint, Finders),
    /// A part of the summary, numbered from 1.
    Summary(u32),
    /// The body of a review.
    Review(ReviewKey),
    /// The answer to a comment with a command, by the id of that comment.
    Answer(u64),
}

/// The error for a text that is no fingerprint or key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a fingerprint or key of an assay comment")]
pub struct KeyError(String);

impl Fingerprint {
    /// Returns the fingerprint of a finding.
    pub fn of(finding: &Finding) -> Fingerprint {
        Fingerprint::new(&finding.fingerprint, finding.named_file())
    }

    /// Returns the fingerprint of a finding of an earlier round.
    pub fn of_resolved(resolved: &ResolvedFinding) -> Fingerprint {
        Fingerprint::new(&resolved.fingerprint, resolved.file.as_ref())
    }

    fn new(print: &str, file: Option<&RepoPath>) -> Fingerprint {
        let file = identity::id(print, file);
        if is_hex(print, FINGERPRINT_DIGITS) {
            return Fingerprint(format!("{print}-{file}"));
        }
        // A finding that was read from a file may have any text as its fingerprint.
        let hash = blake3::hash(print.as_bytes()).to_hex();
        Fingerprint(format!("{}-{file}", &hash[..FINGERPRINT_DIGITS]))
    }

    /// Returns the fingerprint as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ReviewKey {
    /// Computes a key from some texts.
    pub(super) fn from_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> ReviewKey {
        let mut hasher = blake3::Hasher::new();
        for text in texts {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        ReviewKey(hasher.finalize().to_hex()[..FINGERPRINT_DIGITS].to_owned())
    }

    /// Returns the key of the same review, compared with a branch.
    pub(super) fn with_base(&self, base: &str) -> ReviewKey {
        let hash = blake3::hash(base.as_bytes()).to_hex();
        ReviewKey(format!("{}-{}", &self.0[..FINGERPRINT_DIGITS], &hash[..BASE_DIGITS]))
    }

    /// Returns true if two reviews are known to have compared with different branches.
    pub fn has_other_base(&self, other: &ReviewKey) -> bool {
        let base = |key: &ReviewKey| key.0.split_once('-').map(|(_, base)| base.to_owned());
        base(self).zip(base(other)).is_some_and(|(own, other)| own != other)
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Fingerprint {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        match text.split_once('-') {
            Some((print, file))
                if is_hex(print, FINGERPRINT_DIGITS) && is_hex(file, FILE_DIGITS) =>
            {
                Ok(Fingerprint(text.to_owned()))
            }
            _ => Err(KeyError(first_chars(text, 80).to_owned())),
        }
    }
}

impl FromStr for ReviewKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (print, base) = text.split_once('-').map_or((text, None), |(p, b)| (p, Some(b)));
        match is_hex(print, FINGERPRINT_DIGITS) && base.is_none_or(|base| is_hex(base, BASE_DIGITS))
        {
            true => Ok(ReviewKey(text.to_owned())),
            false => Err(KeyError(first_chars(text, 80).to_owned())),
        }
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = KeyError;

    fn try_from(text: String) -> Result<Self, KeyError> {
        text.parse()
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> String {
        fingerprint.0
    }
}

impl TryFrom<String> for ReviewKey {
    type Error = KeyError;

    fn try_from(text: String) -> Result<Self, KeyError> {
        text.parse()
    }
}

impl From<ReviewKey> for String {
    fn from(key: ReviewKey) -> String {
        key.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ReviewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Marker::Finding(fingerprint, Finders(by)) => {
                let by: Vec<&str> = by.iter().map(String::as_str).collect();
                write!(f, "<!-- assay:finding {fingerprint} {} -->", by.join(","))
            }
            Marker::Summary(part) => write!(f, "<!-- assay:summary {part} -->"),
            Marker::Review(key) => write!(f, "<!-- assay:review {key} -->"),
            Marker::Answer(comment) => write!(f, "<!-- assay:answer {comment} -->"),
        }
    }
}

/// Parses the marker of a body: its last line, or its first. If both are markers and they differ,
/// the body is not assay's.
pub fn read(body: &str) -> Option<Marker> {
    let mut lines = body.trim_end().lines();
    let first = lines.next()?;
    let last = lines.next_back().unwrap_or(first);
    match (read_line(first), read_line(last)) {
        (Some(first), Some(last)) => (first == last).then_some(last),
        (one, other) => one.or(other),
    }
}

/// Parses a line that is a marker and has no other text.
fn read_line(line: &str) -> Option<Marker> {
    let inner = line.trim_end().strip_prefix("<!-- assay:")?.strip_suffix(" -->")?;
    let (kind, key) = inner.split_once(' ')?;
    match kind {
        "finding" => {
            let (fingerprint, by) = key.split_once(' ')?;
            let by: BTreeSet<String> = by.split(',').map(str::to_owned).collect();
            let is_one = by.iter().all(|name| is_hex(name, FINDER_DIGITS));
            fingerprint.parse().ok().filter(|_| is_one).map(|it| Marker::Finding(it, Finders(by)))
        }
        "review" => key.parse().ok().map(Marker::Review),
        "summary" => {
            let part = key.parse().ok().filter(|part: &u32| *part > 0 && part.to_string() == key);
            part.map(Marker::Summary)
        }
        "answer" => {
            let comment = key.parse().ok().filter(|comment: &u64| comment.to_string() == key);
            comment.map(Marker::Answer)
        }
        _ => None,
    }
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_marker_is_read_back() {
        for marker in [
            Marker::Finding(
                format!("{KEY}-0123456789ab").parse().unwrap(),
                Finders::of(["rules", "a name, with --> in it"]),
            ),
            Marker::Summary(2),
            Marker::Review(KEY.parse().unwrap()),
            Marker::Answer(u64::MAX),
        ] {
            assert_eq!(read(&format!("text\n\n{marker}\r\n\n")), Some(marker.clone()));
            assert_eq!(read(&format!("{marker}\ntext")), Some(marker.clone()));
            assert_eq!(read(&format!("text\n{marker}\ntext")), None);
            assert_eq!(read(&format!("text\n> {marker}")), None);
            assert_eq!(read(&format!("text {marker}")), None);
        }
    }

    #[test]
    fn a_malformed_marker_is_not_read() {
        for text in [
            "<!-- assay:summary 0 -->",
            "<!-- assay:summary 01 -->",
            "<!-- assay:summary +1 -->",
            "<!-- assay:finding 12 -->",
            "<!-- assay:review  -->",
            "<!-- assay:answer 07 -->",
            "<!-- assay:answer -7 -->",
            "<!--assay:summary 1-->",
            "<!-- assay:summary 1 --><!-- assay:summary 2 -->",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read("<!-- assay:summary 1 -->\n<!-- assay:summary 2 -->"), None);
    }
}
