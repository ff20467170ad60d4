//! The worth of the agreement of reviewers: [`ModelReaders`] compute the probability that a finding
//! is right.
//!
//! A reviewer reports about as many true findings whatever the length of its list, so each of its
//! votes is worth less, the more there are. Each further reader that agrees makes a finding more
//! likely, and each that could have reported it and did not makes it less likely. The worth orders
//! findings and folds them; it never changes a grade, a confidence or a verdict.

use std::collections::{BTreeMap, BTreeSet};

use crate::collections::sorted;
use crate::grounding::GroundedVote;
use crate::report::{Report, Reviewer, ReviewerKind};

/// The odds of the only vote of the only reader.
const BASE_ODDS: f64 = 5.0;

/// The exponent of the number of agreeing readers.
const AGREEMENT_EXPONENT: f64 = 2.25;

/// Words by which a vote hedges.
const HEDGES: [&str; 10] = [
    "consider", "could", "may", "might", "possible", "possibly", "ensure", "verify", "confirm",
    "better",
];

/// Beginnings of words by which a vote hedges.
const HEDGE_STEMS: [&str; 2] = ["potential", "suggest"];

/// Phrases by which a vote hedges.
const HEDGE_PHRASES: [&str; 2] = ["should be extracted", "should be moved"];

/// A reviewer, by its persona and its model family.
type ReaderKey<'a> = (&'a str, Option<&'a str>);

/// The models that read a change.
#[derive(Debug, Default)]
pub(crate) struct ModelReaders<'a> {
    readers: BTreeMap<ReaderKey<'a>, ModelReader<'a>>,
}

#[derive(Debug, Default)]
struct ModelReader<'a> {
    /// The titles, descriptions and lines of the votes.
    claims: BTreeSet<(&'a str, &'a str, Option<u32>)>,
    not_covered: BTreeSet<&'a str>,
    is_independent: bool,
}

impl<'a> ModelReaders<'a> {
    /// Returns the readers of a change: the personas whose report can be used.
    pub(crate) fn of(reports: &'a [Report]) -> ModelReaders<'a> {
        let mut readers: BTreeMap<ReaderKey<'a>, ModelReader<'a>> = BTreeMap::new();
        let is_reader = |report: &&Report| {
            report.reviewer.kind == ReviewerKind::Persona && report.unusable.is_none()
        };
        for report in reports.iter().filter(is_reader) {
            let reader = readers.entry(reader_key(&report.reviewer)).or_default();
            reader.is_independent = report.reviewer.is_independent();
            let claims = report.votes.iter();
            reader.claims.extend(
                claims.map(|vote| (vote.title.as_str(), vote.description.as_str(), vote.line())),
            );
            reader.not_covered.extend(report.remarks.not_covered.iter().map(String::as_str));
        }
        ModelReaders { readers }
    }

    /// Returns the worth of the votes on one defect. A finding of a rule or an analyser is worth 1.
    pub(crate) fn worth(&self, votes: &[&GroundedVote<'_>]) -> f64 {
        if votes.iter().any(|vote| vote.reviewer.kind != ReviewerKind::Persona) {
            return 1.0;
        }
        let voices = sorted(votes.iter().map(|vote| reader_key(vote.reviewer)));
        let known: Vec<&ModelReader<'_>> =
            voices.iter().filter_map(|voice| self.readers.get(voice)).collect();
        let agreeing = known.iter().filter(|reader| reader.is_independent).count().max(1) as f64;
        let file = votes.iter().find_map(|vote| vote.file.as_ref());
        let could_say = |reader: &&ModelReader<'_>| {
            reader.is_independent
                && file.is_none_or(|file| !reader.not_covered.contains(file.as_str()))
        };
        let readers = (self.readers.values().filter(could_say).count() as f64).max(agreeing);
        let logs: f64 = known.iter().map(|reader| (reader.claims.len().max(1) as f64).ln()).sum();
        let length = (logs / known.len().max(1) as f64).exp();
        let claims = votes.iter().map(|v| (v.vote.title.as_str(), v.vote.description.as_str()));
        let claims = sorted(claims);
        let hedging = claims.iter().filter(|claim| claim_hedges(claim.0, claim.1)).count();
        let hedging = hedging as f64 / claims.len() as f64;
        probability(agreeing, readers, length, hedging)
    }
}

/// Returns the probability that a finding is right, in steps of a thousandth. `agreeing` of
/// `readers` reported it, `length` is the geometric mean of their numbers of votes, and `hedging`
/// the share of votes that hedge.
fn probability(agreeing: f64, readers: f64, length: f64, hedging: f64) -> f64 {
    let odds = BASE_ODDS * agreeing.powf(AGREEMENT_EXPONENT) / (readers * length * hedging.exp());
    ((odds / (1.0 + odds)) * 1_000.0).round().min(999.0) / 1_000.0
}

fn reader_key(reviewer: &Reviewer) -> ReaderKey<'_> {
    (reviewer.agreement_name(), reviewer.family.as_deref())
}

fn claim_hedges(title: &str, description: &str) -> bool {
    // Most descriptions begin with their title.
    let rest = description.strip_prefix(title);
    let has_title = rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()));
    hedges(description) || (!has_title && hedges(title))
}

/// Returns true if a word or a phrase with this first letter may hedge.
fn may_hedge(first: u8) -> bool {
    const FIRST: [bool; 256] = {
        let mut is_first = [false; 256];
        let (letters, mut at) = (b"bcempsvBCEMPSV", 0);
        while at < letters.len() {
            is_first[letters[at] as usize] = true;
            at += 1;
        }
        is_first
    };
    FIRST[usize::from(first)]
}

fn starts_with(text: &[u8], start: &str) -> bool {
    text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start.as_bytes()))
}

/// Returns true if a word hedges.
fn is_hedge(word: &[u8]) -> bool {
    word.first().is_some_and(|first| may_hedge(*first))
        && (HEDGES.iter().any(|hedge| word.eq_ignore_ascii_case(hedge.as_bytes()))
            || HEDGE_STEMS.iter().any(|stem| starts_with(word, stem)))
}

fn hedges(text: &str) -> bool {
    if !text.is_ascii() {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let starts = memchr::memchr2_iter(b's', b'S', text.as_bytes());
        return words.any(|word| is_hedge(word.as_bytes()))
            || starts.into_iter().any(|at| is_hedge_phrase(&text.as_bytes()[at..]));
    }
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = text.as_bytes();
    let mut is_inside = false;
    bytes.iter().enumerate().any(|(at, byte)| {
        let was_inside = std::mem::replace(&mut is_inside, is_word(byte));
        may_hedge(*byte) && {
            let rest = &bytes[at..];
            let word = || &rest[..rest.iter().position(|b| !is_word(b)).unwrap_or(rest.len())];
            (!was_inside && is_hedge(word())) || is_hedge_phrase(rest)
        }
    })
}

fn is_hedge_phrase(text: &[u8]) -> bool {
    matches!(text, [b's' | b'S', b'h' | b'H', ..])
        && HEDGE_PHRASES.iter().any(|phrase| starts_with(text, phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_raises_the_worth_and_silence_lowers_it() {
        for (expected, agreeing, readers, length, hedging) in [
            (0.833, 1.0, 1.0, 1.0, 0.0),
            (0.5, 1.0, 1.0, 5.0, 0.0),
            (0.625, 1.0, 2.0, 1.5, 0.0),
            (0.888, 2.0, 2.0, 1.5, 0.0),
            (0.648, 1.0, 1.0, 1.0, 1.0),
            (0.122, 1.0, 12.0, 3.0, 0.0),
        ] {
            let worth = probability(agreeing, readers, length, hedging);
            assert!((worth - expected).abs() < 0.002, "{worth}, expected {expected}");
        }
    }

    #[test]
    fn the_worth_of_agreeing_models_stays_below_certainty() {
        assert!(probability(1e6, 1e6, 1.0, 0.0) < 1.0);
    }

    #[test]
    fn every_hedging_word_passes_the_first_letter_filter() {
        assert!(HEDGES.iter().chain(&HEDGE_STEMS).all(|word| may_hedge(word.as_bytes()[0])));
        assert!(HEDGE_PHRASES.iter().all(|phrase| phrase.starts_with("sh")));
    }

    #[test]
    fn a_claim_hedges_by_its_title_or_its_description() {
        assert!(claim_hedges("may leak", "The lock is kept."));
        assert!(claim_hedges("leaks", "leaks; consider a guard"));
        assert!(claim_hedges("it may", "it maybe leaks"));
        assert!(!claim_hedges("leaks", "leaks on error"));
    }

    #[test]
    fn hedging_is_detected_by_words() {
        assert!(hedges("Consider a lock") && hedges("a potentially stale entry"));
        assert!(!hedges("the lock is not held"));
    }
}
