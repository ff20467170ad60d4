//! Texts without credentials: [`redact`], and [`RedactedTree`] for a tree.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use assay_findings::grounding::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;

use super::{Credential, MIN_COPY_LENGTH, scan};

/// The replacement of a credential.
const REDACTED: &str = "[redacted]";

/// The number of characters of a token that identify its kind.
pub(super) const SHOWN_PREFIX: usize = 4;

/// The minimum length of a token whose first characters may be shown.
const MIN_TOKEN: usize = 24;

/// Removes all credentials from a text. The number of lines stays the same, and a second redaction
/// changes nothing.
pub fn redact(text: &str) -> Cow<'_, str> {
    Redaction::of(text).text()
}

/// A text, with the ranges that must not be shown.
pub struct Redaction<'t> {
    text: &'t str,
    /// The hidden byte ranges, in order and disjoint.
    hidden: Vec<Range<usize>>,
}

impl<'t> Redaction<'t> {
    /// Finds the credentials of a text.
    pub fn of(text: &'t str) -> Redaction<'t> {
        Redaction { text, hidden: hidden_ranges(text, &scan(text)) }
    }

    /// Returns the whole text without credentials.
    pub fn text(&self) -> Cow<'t, str> {
        self.part(0..self.text.len())
    }

    /// Returns a part of the text without credentials. The detection uses the whole text, since the
    /// context may show that a value is a credential.
    pub fn part(&self, part: Range<usize>) -> Cow<'t, str> {
        let first = self.hidden.partition_point(|hidden| hidden.end <= part.start);
        let within = self.hidden[first..].iter().take_while(|hidden| hidden.start < part.end);
        let mut out = String::new();
        let mut from = part.start;
        for hidden in within {
            out.push_str(&self.text[from..hidden.start.max(from)]);
            out.push_str(REDACTED);
            from = hidden.end.min(part.end);
        }
        if from == part.start && out.is_empty() {
            return Cow::Borrowed(&self.text[part]);
        }
        out.push_str(&self.text[from..part.end]);
        Cow::Owned(out)
    }
}

/// Returns the hidden byte ranges of a text, in order and disjoint.
pub(super) fn hidden_ranges(text: &str, found: &[Credential]) -> Vec<Range<usize>> {
    let pieces = found.iter().flat_map(|one| one.pieces.iter().map(move |piece| (one, piece)));
    let mut pieces: Vec<(&Credential, &Range<usize>)> = pieces.collect();
    pieces.sort_by_key(|(_, piece)| (piece.start, piece.end));
    let mut hidden: Vec<Range<usize>> = Vec::with_capacity(pieces.len());
    for (one, piece) in pieces {
        match hidden.last_mut() {
            Some(last) if piece.start < last.end => last.end = last.end.max(piece.end),
            _ => hidden.push(shown_until(text, one, piece)..piece.end),
        }
    }
    hidden
}

/// Returns the start of the hidden part of a piece. The first characters of a token identify its
/// kind; those of a password would reveal too much.
fn shown_until(text: &str, one: &Credential, piece: &Range<usize>) -> usize {
    let has_prefix = one.has_prefix && piece.len() >= MIN_TOKEN;
    match has_prefix && text.is_char_boundary(piece.start + SHOWN_PREFIX) {
        true => piece.start + SHOWN_PREFIX,
        false => piece.start,
    }
}

/// Removes all credentials from a text, as [`redact`] does, and ends each line with `\n` alone.
pub fn redact_text(text: &str) -> String {
    let mut out = redact_lines(text).join("\n");
    if text.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// Removes all credentials from a text, and returns its lines.
pub fn redact_lines(text: &str) -> Vec<String> {
    redact(text).lines().map(str::to_owned).collect()
}

/// Returns true if a text contains no credential.
pub(crate) fn is_clean(text: &str) -> bool {
    scan(text).is_empty()
}

/// The values of the credentials in some files. A report on the files may quote a value without the
/// name that identifies it as a credential.
pub struct KnownCredentials(Option<AhoCorasick>);

impl KnownCredentials {
    /// Collects the values of the credentials in some texts.
    pub fn in_texts(texts: impl Iterator<Item = String>) -> KnownCredentials {
        let mut values: BTreeSet<String> = BTreeSet::new();
        for text in texts {
            let found = scan(&text);
            let pieces = found.iter().flat_map(|one| &one.pieces).map(|piece| &text[piece.clone()]);
            values.extend(pieces.filter(|value| value.len() >= MIN_COPY_LENGTH).map(str::to_owned));
        }
        let automaton =
            AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&values);
        KnownCredentials(automaton.ok().filter(|_| !values.is_empty()))
    }

    /// Removes all credentials from a text, and the known values wherever they occur.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = redact(text);
        match &self.0 {
            Some(known) if known.is_match(text.as_ref()) => {
                let count = known.patterns_len();
                Cow::Owned(known.replace_all(&text, &vec![REDACTED; count]))
            }
            _ => text,
        }
    }
}

/// A tree whose files contain no credentials. Prompts, recordings and the comparison of answers
/// with the code read files through this tree, so that all of them see the same text.
pub struct RedactedTree<'t>(pub &'t (dyn Tree + Sync));

impl Tree for RedactedTree<'_> {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        Ok(self.0.read(path)?.map(|text| redact_text(&text)))
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        self.0.exists(path)
    }

    fn symbol_at(&self, path: &RepoPath, line: u32) -> Result<Option<Symbol>, TreeError> {
        self.0.symbol_at(path, line)
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        self.0.paths()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_redacted_at_every_occurrence() {
        let text =
            "password = \"kT9vQ2mX7pLw\"\nlogin(\"admin\", \"kT9vQ2mX7pLw\")\nname = \"kT9\"\n";
        let redacted = redact_text(text);
        assert_eq!(
            redacted,
            "password = \"[redacted]\"\nlogin(\"admin\", \"[redacted]\")\nname = \"kT9\"\n"
        );
        assert_eq!(redact_text(&redacted), redacted);
    }

    #[test]
    fn a_weak_password_is_redacted_as_a_value_and_kept_as_an_identifier() {
        let text = "password='psycopg2'\nimport psycopg2\nlogin('ann', 'psycopg2')\n\
                    dsn = postgres://ann:psycopg2@db/shop\nconn = psycopg2.connect(dsn)\n";
        assert_eq!(
            redact_text(text),
            "password='[redacted]'\nimport psycopg2\nlogin('ann', '[redacted]')\n\
             dsn = postgres://ann:[redacted]@db/shop\nconn = psycopg2.connect(dsn)\n"
        );
    }

    #[test]
    fn a_uuid_that_names_an_operation_on_passwords_is_shown() {
        let uuid = "00299570-246d-11d0-a768-00aa006e0529";
        let text = format!("ResetPassword = \"{uuid}\"\nwaitForToken = \"WaitForToken\"\n");
        assert_eq!(redact_text(&text), text);
        assert!(!redact_text(&format!("db_password = \"{uuid}\"\n")).contains(uuid));
    }
}
