//! The links between votes that may mean one defect, with their strength: [`links`].

use std::cmp::Reverse;

use super::place::{Relation, VotePlace};
use super::{MIN_MEAN_STRENGTH, Millionths};
use crate::claim_similarity::Claims;

/// The minimum strength of a link; weaker links are dropped.
const MIN_STRENGTH: Millionths = MIN_MEAN_STRENGTH / 3;

/// The minimum sum of common words for which claims are compared in full: the factor of no place
/// raises a lower sum to [`MIN_STRENGTH`].
const MIN_WORD_SUM: f64 = MIN_STRENGTH as f64 / 1_500_000.0;

/// The product of similarity and factor below which rounding cannot reach [`MIN_STRENGTH`].
const MIN_PRODUCT: f64 = (MIN_STRENGTH - 1) as f64 / 1_000_000.0;

/// The maximum number of earlier votes that one word compares with a vote, so that the work grows
/// with the number of votes.
const MAX_CANDIDATES: usize = 128;

/// The maximum number of links of a vote: the strongest, plus those that are among the strongest of
/// another vote.
const MAX_LINKS: usize = 48;

/// Two votes that may mean one defect, the first before the second in their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) first: u32,
    pub(super) second: u32,
    pub(super) strength: Millionths,
}

/// The votes that contain each word, in their order, each with the weight of the word.
struct Postings {
    by_stem: Vec<Vec<(u32, f64)>>,
    used: Vec<u32>,
}

impl Postings {
    fn new(stems: usize) -> Postings {
        Postings { by_stem: vec![Vec::new(); stems], used: Vec::new() }
    }

    fn add(&mut self, stem: u32, vote: u32, weight: f64) {
        let list = &mut self.by_stem[stem as usize];
        if list.is_empty() {
            self.used.push(stem);
        }
        list.push((vote, weight));
    }

    fn clear(&mut self) {
        for stem in self.used.drain(..) {
            self.by_stem[stem as usize].clear();
        }
    }

    fn last(&self, stem: u32) -> &[(u32, f64)] {
        let list = &self.by_stem[stem as usize];
        &list[list.len().saturating_sub(MAX_CANDIDATES)..]
    }

    /// Returns true if more votes contain a word than [`Postings::last`] returns.
    fn is_cut(&self, stem: u32) -> bool {
        self.by_stem[stem as usize].len() > MAX_CANDIDATES
    }
}

/// The similarity of one vote to the earlier votes, as far as common words show it.
struct Tally {
    parts: Vec<f64>,
    met: Vec<u32>,
}

impl Tally {
    /// Adds up the common words of a vote and the votes in `lists`, and calls `each` with those
    /// votes, in order, each with its sum.
    fn count(
        &mut self,
        (at, vector): (usize, &[(u32, f64)]),
        lists: &[&Postings],
        mut each: impl FnMut(u32, f64),
    ) {
        let entries = || {
            let stems = vector.iter();
            stems.flat_map(|(stem, own)| lists.iter().map(|list| (list.last(*stem), *own)))
        };
        let first = entries().filter_map(|(list, _)| list.first()).map(|(vote, _)| *vote).min();
        let Some(first) = first else { return };
        // If votes with common words are close together, all votes between them are visited.
        let is_dense = at - first as usize <= entries().map(|(list, _)| list.len()).sum();
        for (list, own) in entries() {
            for (vote, weight) in list {
                let part = &mut self.parts[*vote as usize];
                if !is_dense && *part == 0.0 {
                    self.met.push(*vote);
                }
                *part += weight * own;
            }
        }
        let parts = &mut self.parts;
        let mut take = |vote: u32| match std::mem::take(&mut parts[vote as usize]) {
            0.0 => {}
            part => each(vote, part),
        };
        if is_dense {
            (first..at as u32).for_each(take);
        } else {
            self.met.sort_unstable();
            self.met.drain(..).for_each(&mut take);
        }
    }
}

/// Finds the links among votes that are sorted by file. `reviewers` is the number of each vote's
/// reviewer.
pub(super) fn links(places: &[VotePlace], reviewers: &[u32], claims: &Claims<'_>) -> Vec<Link> {
    let postings = || Postings::new(claims.stems() + 1);
    let (mut in_file, mut loose, mut all) = (postings(), postings(), postings());
    // Claims without words are compared by way of a stem of their own.
    let no_words = [(claims.stems() as u32, 1.0)];
    let any_loose = places.iter().any(VotePlace::is_loose);
    let mut tally = Tally { parts: vec![0.0; places.len()], met: Vec::new() };
    let mut links = Vec::new();
    for (at, place) in places.iter().enumerate() {
        if !place.is_loose() && places[..at].last().is_some_and(|last| last.file != place.file) {
            in_file.clear();
        }
        let vector = Some(claims.vector(at)).filter(|vector| !vector.is_empty());
        let vector = vector.unwrap_or(&no_words);
        let lists = if place.is_loose() { [&all, &all] } else { [&in_file, &loose] };
        let lists = &lists[usize::from(place.is_loose())..];
        // Claims without words are alike only if they are equal.
        let mut is_cut = claims.vector(at).is_empty();
        is_cut |= vector.iter().any(|(stem, _)| lists.iter().any(|list| list.is_cut(*stem)));
        tally.count((at, vector), lists, |other, part| {
            let before = other as usize;
            let has_title = place.has_title_beside(&places[before]);
            if part < MIN_WORD_SUM && !has_title {
                return;
            }
            let factor = factor(&places[before], place, reviewers[before] == reviewers[at]);
            // If no list is cut, the sum has every common word, in the order of a dot product, and
            // names in common make no two claims more alike.
            if factor == 0.0 || (!is_cut && !has_title && part * factor < MIN_PRODUCT) {
                return;
            }
            let similarity = match is_cut {
                _ if has_title => 1.0,
                true => claims.similarity(before, at),
                false => claims.similarity_from_cosine(before, at, part),
            };
            let strength = strength(similarity, factor);
            if strength >= MIN_STRENGTH {
                links.push(Link { first: other, second: at as u32, strength });
            }
        });
        for &(stem, weight) in vector {
            if any_loose {
                all.add(stem, at as u32, weight);
            }
            let list = if place.is_loose() { &mut loose } else { &mut in_file };
            list.add(stem, at as u32, weight);
        }
    }
    within_components(strongest(links, places.len()), places.len())
}

/// Keeps the links between votes that strong links connect, directly or indirectly. No other votes
/// ever share a group, because a mean reaches [`MIN_MEAN_STRENGTH`] only if one of its links does.
fn within_components(mut links: Vec<Link>, votes: usize) -> Vec<Link> {
    let mut parents: Vec<u32> = (0..votes as u32).collect();
    fn root(parents: &mut [u32], mut vote: u32) -> u32 {
        while parents[vote as usize] != vote {
            let above = parents[parents[vote as usize] as usize];
            parents[vote as usize] = above;
            vote = above;
        }
        vote
    }
    for link in links.iter().filter(|link| link.strength >= MIN_MEAN_STRENGTH) {
        let (a, b) = (root(&mut parents, link.first), root(&mut parents, link.second));
        parents[a.max(b) as usize] = a.min(b);
    }
    links.retain(|link| root(&mut parents, link.first) == root(&mut parents, link.second));
    links
}

/// Keeps the links that are among the strongest of one of their votes.
fn strongest(mut links: Vec<Link>, votes: usize) -> Vec<Link> {
    let mut kept = vec![0; votes];
    for link in &links {
        kept[link.first as usize] += 1;
        kept[link.second as usize] += 1;
    }
    if kept.iter().all(|count| *count <= MAX_LINKS) {
        return links;
    }
    links.sort_unstable_by_key(|link| (Reverse(link.strength), link.first, link.second));
    kept.fill(0);
    links.retain(|link| {
        let (first, second) = (link.first as usize, link.second as usize);
        let is_strong = kept[first] < MAX_LINKS || kept[second] < MAX_LINKS;
        kept[first] += usize::from(is_strong);
        kept[second] += usize::from(is_strong);
        is_strong
    });
    links
}

/// Returns the factor by which the places of two votes raise or lower their similarity.
fn factor(a: &VotePlace, b: &VotePlace, is_one_reviewer: bool) -> f64 {
    match Relation::of(a, b) {
        // A reviewer that names one line twice means two defects on it.
        Relation::SameLine if is_one_reviewer => Relation::Plain.factor(),
        other => other.factor(),
    }
}

/// Returns the strength of a link: the similarity of two votes times the factor of their places.
fn strength(similarity: f64, factor: f64) -> Millionths {
    ((similarity * factor).min(1.0) * 1_000_000.0).round() as Millionths
}

/// Finds the links among all pairs of votes that have a word in common, or no words.
#[cfg(test)]
pub(super) fn all_pairs(places: &[VotePlace], reviewers: &[u32], claims: &Claims<'_>) -> Vec<Link> {
    let mut links = Vec::new();
    for second in 0..places.len() {
        for first in 0..second {
            let (a, b) = (claims.vector(first), claims.vector(second));
            let has_word = a.iter().any(|(stem, _)| b.iter().any(|(other, _)| stem == other));
            let have_no_words = a.is_empty() && b.is_empty();
            if !has_word && !have_no_words {
                continue;
            }
            let (one, other) = (&places[first], &places[second]);
            let factor = factor(one, other, reviewers[first] == reviewers[second]);
            let has_title = one.has_title_beside(other);
            let similarity = if has_title { 1.0 } else { claims.similarity(first, second) };
            let strength = strength(similarity, factor);
            if strength >= MIN_STRENGTH {
                links.push(Link { first: first as u32, second: second as u32, strength });
            }
        }
    }
    links
}
