//! Votes on one defect: [`group`] joins votes of several reviewers that report the same finding
//! (duplicates), which are the votes whose claims are alike.
//!
//! A vote is compared with all votes of a group. The two groups with the greatest mean link are
//! joined first, and no groups whose mean is below [`MIN_MEAN_STRENGTH`]. Links are whole numbers,
//! votes are sorted, and ties go to the first votes, so neither the order of arrival nor a
//! repetition makes a difference.

mod links;
mod place;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::links::Link;
use self::place::{Relation, TextNumbers, VotePlace};
use crate::claim_similarity::Claims;
use crate::collections::{FastMap, FastSet};
use crate::grounding::GroundedVote;
use crate::report::ReviewerKind;

/// The strength of a link, at most a million.
pub(crate) type Millionths = u64;

/// The minimum mean link of two groups that are joined.
pub(crate) const MIN_MEAN_STRENGTH: Millionths = 270_000;

/// The rule by which a vote was joined to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergeRule {
    /// Alike claims on one line, or on one quoted line.
    #[serde(alias = "same-title", alias = "same-quote")]
    SamePlace,
    /// Alike claims whose places allow one defect.
    #[serde(alias = "same-symbol", alias = "same-surroundings")]
    SameClaim,
    /// A repetition by one reviewer.
    Identical,
}

/// The votes on one defect, as indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) members: Vec<u32>,
    /// The first vote of each group that was joined to this one, and the rule.
    pub(crate) joined: Vec<(u32, MergeRule)>,
}

/// Groups votes that are sorted by file and without repeats, each with its folded title.
pub(crate) fn group(votes: &[&GroundedVote<'_>], titles: &[&str]) -> Vec<Group> {
    let texts = votes.iter().map(|v| (v.vote.title.as_str(), v.vote.description.as_str()));
    let claims = Claims::of(texts);
    let mut numbers = TextNumbers::default();
    let titled = votes.iter().zip(titles);
    let places: Vec<VotePlace> =
        titled.map(|(vote, title)| VotePlace::of(vote, title, &mut numbers)).collect();
    let reviewers = reviewers(votes);
    let links = links::links(&places, &reviewers, &claims);
    Grouping::new(votes, &claims, &places, reviewers, &links).run()
}

/// Returns the number of each vote's reviewer. A persona that two models play is two reviewers.
fn reviewers(votes: &[&GroundedVote<'_>]) -> Vec<u32> {
    let mut numbers: FastMap<(&str, Option<&str>), u32> = FastMap::default();
    let mut all = Vec::with_capacity(votes.len());
    for reviewer in votes.iter().map(|vote| vote.reviewer) {
        let family = reviewer.family.as_deref();
        let family = family.filter(|_| reviewer.kind == ReviewerKind::Persona);
        let next = numbers.len() as u32;
        all.push(*numbers.entry((reviewer.name.as_str(), family)).or_insert(next));
    }
    all
}

/// Two groups that may be joined. The greatest candidate is joined first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    mean: Millionths,
    /// The first votes of both groups; the smallest compare as the greatest.
    groups: Reverse<(u32, u32)>,
    /// The sizes of the groups when their link was measured.
    sizes: (usize, usize),
}

struct Grouping<'v, 'a> {
    votes: &'v [&'v GroundedVote<'a>],
    claims: &'v Claims<'v>,
    places: &'v [VotePlace],
    reviewers: Vec<u32>,
    groups: Vec<Option<Group>>,
    /// The sums of the links between a group and others, by the number of the other group.
    sums: Vec<BTreeMap<u32, Millionths>>,
    /// The pairs of votes of one reviewer whose link alone reaches [`MIN_MEAN_STRENGTH`].
    own: FastSet<(u32, u32)>,
    candidates: BinaryHeap<Candidate>,
}

impl<'v, 'a> Grouping<'v, 'a> {
    fn new(
        votes: &'v [&'v GroundedVote<'a>],
        claims: &'v Claims<'v>,
        places: &'v [VotePlace],
        reviewers: Vec<u32>,
        links: &[Link],
    ) -> Self {
        let alone = |number| Some(Group { members: vec![number], joined: Vec::new() });
        let mut sums = vec![BTreeMap::new(); votes.len()];
        let (mut own, mut candidates) = (FastSet::default(), Vec::new());
        for &Link { first, second, strength } in links {
            sums[first as usize].insert(second, strength);
            sums[second as usize].insert(first, strength);
            if strength < MIN_MEAN_STRENGTH {
                continue;
            }
            if reviewers[first as usize] == reviewers[second as usize] {
                own.insert((first, second));
            }
            candidates.push(Candidate {
                mean: strength,
                groups: Reverse((first, second)),
                sizes: (1, 1),
            });
        }
        let groups = (0..votes.len() as u32).map(alone).collect();
        let candidates = candidates.into();
        Grouping { votes, claims, places, reviewers, groups, sums, own, candidates }
    }

    fn run(mut self) -> Vec<Group> {
        while let Some(Candidate { groups: Reverse((a, b)), sizes, .. }) = self.candidates.pop() {
            let (Some(one), Some(other)) = (&self.groups[a as usize], &self.groups[b as usize])
            else {
                continue;
            };
            if (one.members.len(), other.members.len()) != sizes {
                continue;
            }
            match self.rule(one, other) {
                Some(rule) => self.join(a, b, rule),
                None => {
                    // Votes that may not share a group now never will.
                    self.sums[a as usize].remove(&b);
                    self.sums[b as usize].remove(&a);
                }
            }
        }
        self.groups.into_iter().flatten().collect()
    }

    /// Returns the rule by which two groups are joined; `None` if any of their votes may not share
    /// a group.
    fn rule(&self, one: &Group, other: &Group) -> Option<MergeRule> {
        let mut rule = MergeRule::SameClaim;
        for &a in &one.members {
            for &b in &other.members {
                if !self.may_share(a.min(b), a.max(b)) {
                    return None;
                }
                let relation = self.relation(a, b);
                if relation == Relation::SameLine {
                    rule = MergeRule::SamePlace;
                }
            }
        }
        Some(rule)
    }

    /// Returns true if two votes may share a group, provided that their link is strong enough.
    fn may_share(&self, first: u32, second: u32) -> bool {
        let (a, b) = (self.votes[first as usize], self.votes[second as usize]);
        if matches!((&a.vote.rule, &b.vote.rule), (Some(a), Some(b)) if a != b) {
            return false;
        }
        if self.reviewers[first as usize] == self.reviewers[second as usize] {
            let is_loose = |vote: u32| self.places[vote as usize].is_loose();
            // A rule or an analyser distinguishes its findings itself, and so does a reviewer that
            // names a place for each.
            let tells_apart = a.reviewer.kind != ReviewerKind::Persona
                || !(is_loose(first) || is_loose(second))
                || !self.own.contains(&(first, second));
            if tells_apart {
                return false;
            }
        }
        self.relation(first, second) != Relation::Elsewhere
            && self.claims.difference(first as usize, second as usize).is_none()
    }

    fn relation(&self, a: u32, b: u32) -> Relation {
        Relation::of(&self.places[a as usize], &self.places[b as usize])
    }

    fn join(&mut self, a: u32, b: u32, rule: MergeRule) {
        let other = self.groups[b as usize].take().expect("a group is joined once");
        let group = self.groups[a as usize].as_mut().expect("a group that is joined to exists");
        group.members.extend(other.members);
        group.joined.extend(other.joined);
        group.joined.push((b, rule));
        let size = group.members.len();
        for (c, sum) in std::mem::take(&mut self.sums[b as usize]) {
            self.sums[c as usize].remove(&b);
            if c != a {
                *self.sums[a as usize].entry(c).or_default() += sum;
            }
        }
        for (&c, &sum) in &self.sums[a as usize].clone() {
            self.sums[c as usize].insert(a, sum);
            let beside = self.groups[c as usize].as_ref().map_or(0, |group| group.members.len());
            let mean = sum / (size * beside).max(1) as Millionths;
            if mean >= MIN_MEAN_STRENGTH {
                let (groups, sizes) =
                    if a < c { ((a, c), (size, beside)) } else { ((c, a), (beside, size)) };
                self.candidates.push(Candidate { mean, groups: Reverse(groups), sizes });
            }
        }
    }
}

#[cfg(test)]
mod tests;
