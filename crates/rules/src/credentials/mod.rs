//! The detector for credentials: [`scan`] finds them in a text of any kind, and all other code on
//! credentials uses it.
//!
//! The rules report each [`Credential`] of a file, and [`redact`] removes each from a text that is
//! shown, sent or stored: so every reported credential is redacted, and the reverse. The detector
//! does not depend on file types. A credential is found by its own form ([`kinds`]), by the name
//! that a text assigns it to ([`assignment`]), as a private key ([`key`]), or as a value of a
//! Kubernetes secret ([`kubernetes`]); [`value`] decides whether a value is a credential or a
//! placeholder.
//!
//! The time of a scan is linear in the length of the text: two automata find the candidates, and
//! each candidate is checked within a bounded number of bytes.

mod assignment;
mod key;
mod kinds;
mod kubernetes;
mod name;
mod redaction;
#[cfg(test)]
mod tests;
mod value;

use std::cmp::Reverse;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

pub(crate) use redaction::is_clean;
pub use redaction::{KnownCredentials, RedactedTree, Redaction, redact, redact_lines, redact_text};

/// The minimum length of a value whose copies are searched: a shorter one may occur by chance.
const MIN_COPY_LENGTH: usize = 8;

/// The certainty that a value is a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// The value has the name of a credential and could be a password that a person chose.
    Possible,
    /// The value has the name or the place of a credential and looks random.
    Likely,
    /// The form of the value belongs to one kind of credential.
    Certain,
}

/// A credential in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Credential {
    /// The kind with its article, such as `a GitHub token`.
    pub(crate) kind: &'static str,
    pub(crate) certainty: Certainty,
    /// The byte ranges that must not be shown, in order and never across a line end. Only a private
    /// key has more than one.
    pub(crate) pieces: Vec<Range<usize>>,
    /// True if the first letters identify the kind and reveal nothing of the secret.
    has_prefix: bool,
}

impl Credential {
    fn new(kind: &'static str, certainty: Certainty, piece: Range<usize>) -> Credential {
        Credential { kind, certainty, pieces: vec![piece], has_prefix: false }
    }

    /// Returns the offset of the first byte that must not be shown.
    pub(crate) fn start(&self) -> usize {
        self.pieces.first().map_or(0, |piece| piece.start)
    }

    fn end(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.end)
    }
}

/// Finds the credentials of a text, in order.
pub(crate) fn scan(text: &str) -> Vec<Credential> {
    let keys = key::scan(text);
    let mut found = kinds::scan(text);
    found.extend(assignment::scan(text));
    found.extend(kubernetes::scan(text));
    let pieces: Vec<&Range<usize>> = keys.iter().flat_map(|key| &key.pieces).collect();
    let is_in_key = |one: &Credential| {
        let next = pieces.partition_point(|piece| piece.end < one.end());
        pieces.get(next).is_some_and(|piece| piece.start <= one.start())
    };
    found.retain(|one| !is_in_key(one));
    let mut found = without_nested(found);
    let find_copies = find_copies(text, &found);
    if find_copies.len() > found.len() {
        found.extend(find_copies.into_iter().filter(|copy| !is_in_key(copy)));
        found = without_nested(found);
    }
    found.extend(keys);
    found.sort_by_key(Credential::start);
    found
}

/// Sorts credentials of one piece by position, and removes those inside of another one.
fn without_nested(mut found: Vec<Credential>) -> Vec<Credential> {
    found.sort_by_key(|one| (one.start(), Reverse(one.end()), Reverse(one.certainty)));
    let mut kept: Vec<Credential> = Vec::with_capacity(found.len());
    for one in found {
        match kept.last_mut() {
            Some(last) if one.end() <= last.end() => {
                // The kind with the higher certainty names the whole.
                if one.certainty > last.certainty {
                    (last.kind, last.certainty) = (one.kind, one.certainty);
                    last.has_prefix = one.has_prefix && one.start() == last.start();
                }
            }
            _ => kept.push(one),
        }
    }
    kept
}

/// Finds further copies of the values of credentials: a password is secret wherever it occurs. A
/// value that is only possibly a credential may also be a word, so its copy counts only at the
/// place of a value.
fn find_copies(text: &str, found: &[Credential]) -> Vec<Credential> {
    let originals: Vec<&Credential> =
        found.iter().filter(|one| one.pieces[0].len() >= MIN_COPY_LENGTH).collect();
    if originals.is_empty() {
        return Vec::new();
    }
    let values = originals.iter().map(|one| &text[one.pieces[0].clone()]);
    let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(values);
    let Ok(automaton) = automaton else { return Vec::new() };
    let copy = |found: aho_corasick::Match| {
        let original = originals[found.pattern().as_usize()];
        Credential { pieces: vec![found.range()], ..original.clone() }
    };
    let can_be_value = |copy: &Credential| {
        copy.certainty > Certainty::Possible || stands_as_value(text, &copy.pieces[0])
    };
    automaton.find_iter(text).map(copy).filter(can_be_value).collect()
}

/// Returns true if the characters before and after a piece of text can delimit a value.
fn stands_as_value(text: &str, piece: &Range<usize>) -> bool {
    let before = text[..piece.start].bytes().next_back();
    let after = text[piece.end..].bytes().next();
    before.is_some_and(|byte| b"\"'`:=/>".contains(&byte))
        && after.is_none_or(|byte| b"\"'`@<&;,".contains(&byte) || byte.is_ascii_whitespace())
}
