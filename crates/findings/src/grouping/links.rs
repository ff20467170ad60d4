//! Which votes may mean one defect, and how strongly: [`Links`].

use super::place::{Relation, is_loose};
use super::{BAR, Millionths};
use crate::alike::fold_title;
use crate::ground::Grounded;
use crate::likeness::Claims;

/// Weaker links count as none.
const FLOOR: Millionths = BAR / 3;

/// A word brings a vote together with at most so many votes before it in their order, so that work
/// grows with the number of votes.
const MAX_CANDIDATES: usize = 128;

/// Equal titles at most this many lines apart are one claim, whatever the descriptions say.
const TITLE_LINES: u32 = 3;

/// Two votes that may mean one defect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) first: u32,
    pub(super) second: u32,
    pub(super) strength: Millionths,
}

/// The votes with each word, in their order.
struct Postings {
    by_stem: Vec<Vec<u32>>,
    used: Vec<u32>,
}

impl Postings {
    fn new(stems: usize) -> Postings {
        Postings { by_stem: vec![Vec::new(); stems], used: Vec::new() }
    }

    fn add(&mut self, stem: u32, vote: u32) {
        let list = &mut self.by_stem[stem as usize];
        if list.is_empty() {
            self.used.push(stem);
        }
        list.push(vote);
    }

    fn clear(&mut self) {
        for stem in self.used.drain(..) {
            self.by_stem[stem as usize].clear();
        }
    }

    fn last(&self, stem: u32) -> &[u32] {
        let list = &self.by_stem[stem as usize];
        &list[list.len().saturating_sub(MAX_CANDIDATES)..]
    }
}

/// Finds the links among votes that are sorted by file.
pub(super) fn links(votes: &[&Grounded<'_>], claims: &Claims) -> Vec<Link> {
    let titles: Vec<String> = votes.iter().map(|vote| fold_title(&vote.vote.title)).collect();
    let postings = || Postings::new(claims.stems() + 1);
    let (mut in_file, mut loose, mut all) = (postings(), postings(), postings());
    // Claims without words meet by this stem.
    let no_words = claims.stems() as u32;
    let any_loose = votes.iter().any(|vote| is_loose(vote));
    let mut seen = vec![u32::MAX; votes.len()];
    let mut links = Vec::new();
    for (at, vote) in votes.iter().enumerate() {
        if at > 0 && votes[at - 1].file != vote.file {
            in_file.clear();
        }
        let number = at as u32;
        let stems = claims.vector(at).iter().map(|(stem, _)| *stem);
        let stems: Vec<u32> =
            if claims.vector(at).is_empty() { vec![no_words] } else { stems.collect() };
        let lists: &[&Postings] = if is_loose(vote) { &[&all] } else { &[&in_file, &loose] };
        for other in stems.iter().flat_map(|stem| lists.iter().flat_map(|list| list.last(*stem))) {
            if std::mem::replace(&mut seen[*other as usize], number) == number {
                continue;
            }
            let (a, b) = (*other as usize, at);
            let strength = strength(votes, claims, &titles, (a, b));
            if strength >= FLOOR {
                links.push(Link { first: *other, second: number, strength });
            }
        }
        for stem in stems {
            if any_loose {
                all.add(stem, number);
            }
            if is_loose(vote) { loose.add(stem, number) } else { in_file.add(stem, number) }
        }
    }
    links
}

/// Returns how strongly two votes are linked: their likeness by what it counts at their places.
fn strength(
    votes: &[&Grounded<'_>],
    claims: &Claims,
    titles: &[String],
    (a, b): (usize, usize),
) -> Millionths {
    let relation = Relation::of(votes[a], votes[b]);
    if relation == Relation::Elsewhere {
        return 0;
    }
    let is_one_reviewer = votes[a].reviewer.name == votes[b].reviewer.name;
    let factor = match relation {
        Relation::SameLine if is_one_reviewer => Relation::Plain.factor(),
        other => other.factor(),
    };
    let likeness = claims.likeness(a, b);
    // Nothing above one counts, and no title has to make up for it.
    let likeness = match likeness {
        part if part < 1.0 && titles[a] == titles[b] && are_beside(votes[a], votes[b]) => 1.0,
        part => part,
    };
    ((likeness * factor).min(1.0) * 1_000_000.0).round() as Millionths
}

/// Returns true if two votes name lines that are next to each other.
fn are_beside(a: &Grounded<'_>, b: &Grounded<'_>) -> bool {
    let lines = a.lines.zip(b.lines);
    !is_loose(a)
        && !is_loose(b)
        && lines.is_none_or(|(a, b)| a.start().abs_diff(b.start()) <= TITLE_LINES)
}
