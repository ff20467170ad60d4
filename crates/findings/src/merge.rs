//! Votes on one defect become one finding: [`merge`].
//!
//! Grouping is canonical: votes are sorted, and each joins the first group whose *first* vote it
//! matches. So neither the order of arrival nor merging twice makes a difference.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::alike::{AlikeIndex, fold_title};
use crate::finding::{Finding, VoteRef};
use crate::gate;
use crate::grade::Grade;
use crate::ground::Grounded;
use crate::identity::{self, Features};
use crate::report::ReviewerKind;
use crate::vote::{Anchor, AutofixClass, Lines, Owner};

/// Votes with one title merge up to this many lines apart.
const NEAR_LINES: u32 = 3;

/// The category of a finding that nobody gave one.
pub const NO_CATEGORY: &str = "general";

/// Why two votes were taken for one defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MergeRule {
    /// One title, at most three lines apart.
    SameTitle,
    /// Alike titles on one quoted line.
    SameQuote,
    /// Alike titles in one function or type.
    SameSymbol,
    /// Alike titles on neighbouring lines, where no symbols are known.
    SameSurroundings,
    /// One reviewer said it twice.
    Identical,
}

/// One merge, for the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Merge {
    /// The finding it made.
    pub finding: String,
    /// The vote that was there first.
    pub first: VoteRef,
    /// The vote that joined it.
    pub joined: VoteRef,
    /// Why.
    pub rule: MergeRule,
}

/// Makes a finding of each vote by itself, in the order given: for lists that are only shown.
pub fn each_alone(votes: &[Grounded<'_>]) -> Vec<Finding> {
    number(votes.iter().map(|vote| finding_of(&[vote])).collect())
}

/// Merges votes into findings, in their canonical order.
pub fn merge(votes: Vec<Grounded<'_>>) -> (Vec<Finding>, Vec<Merge>) {
    let mut titled: Vec<(String, Grounded<'_>)> =
        votes.into_iter().map(|vote| (fold_title(&vote.vote.title), vote)).collect();
    titled.sort_by(canonical_order);
    let (folded, votes): (Vec<String>, Vec<Grounded<'_>>) = titled.into_iter().unzip();
    let groups = Grouping::new(&votes, &folded).run();
    let mut findings: Vec<(Finding, Features<'_>)> = Vec::with_capacity(groups.len());
    let mut merges = Vec::new();
    for group in &groups {
        let members: Vec<&Grounded<'_>> = group.iter().map(|(at, _)| &votes[*at]).collect();
        findings.push(finding_of(&members));
    }
    let findings = number(findings);
    for (group, finding) in groups.iter().zip(&findings) {
        for (at, rule) in &group[1..] {
            merges.push(Merge {
                finding: finding.id.clone(),
                first: reference(&votes[group[0].0]),
                joined: reference(&votes[*at]),
                rule: rule.expect("only the first of a group was merged by no rule"),
            });
        }
    }
    (findings, merges)
}

fn reference(vote: &Grounded<'_>) -> VoteRef {
    VoteRef { reviewer: vote.reviewer.name.clone(), vote: vote.source.1 }
}

fn line(vote: &Grounded<'_>) -> Option<u32> {
    vote.lines.map(Lines::start)
}

/// Orders votes, each with its folded title, by file, line, title and reviewer; the rest only
/// keeps the order the same however they came.
fn canonical_order(
    (a_title, a): &(String, Grounded<'_>),
    (b_title, b): &(String, Grounded<'_>),
) -> Ordering {
    a.file
        .cmp(&b.file)
        .then_with(|| line(a).cmp(&line(b)))
        .then_with(|| a_title.cmp(b_title))
        .then_with(|| a.reviewer.name.cmp(&b.reviewer.name))
        .then_with(|| a.grade.worst_first(&b.grade))
        .then_with(|| b.confidence.cmp(&a.confidence))
        .then_with(|| a.vote.description.cmp(&b.vote.description))
        .then_with(|| a.reviewer.family.cmp(&b.reviewer.family))
        .then_with(|| a.source.1.cmp(&b.source.1))
}

/// A group's members, by their place in the sorted votes, each with the rule that brought it in.
type Group = Vec<(usize, Option<MergeRule>)>;

/// The tables by which a vote finds its group without trying all of them.
struct Grouping<'v, 'a> {
    votes: &'v [Grounded<'a>],
    folded: &'v [String],
    groups: Vec<Group>,
    /// Groups by file and folded title, in order of their first line.
    by_title: HashMap<(Option<&'v str>, &'v str), Vec<usize>>,
    alike: AlikeIndex,
    places: HashMap<PlaceKey<'v>, u32>,
    /// The group that a vote, by its number, is the first of.
    group_of_first: HashMap<u32, usize>,
}

/// What two votes with alike titles have to share.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
enum PlaceKey<'v> {
    Quote(&'v str, &'v str),
    Symbol(&'v str, &'v str),
    /// A stretch of lines; neighbours may fall into the next one.
    Lines(&'v str, u32),
}

impl<'v, 'a> Grouping<'v, 'a> {
    fn new(votes: &'v [Grounded<'a>], folded: &'v [String]) -> Self {
        Grouping {
            votes,
            folded,
            groups: Vec::new(),
            by_title: HashMap::new(),
            alike: AlikeIndex::over(votes.iter().map(|vote| vote.vote.title.as_str())),
            places: HashMap::new(),
            group_of_first: HashMap::new(),
        }
    }

    fn run(mut self) -> Vec<Group> {
        for at in 0..self.votes.len() {
            let by_title = self.match_by_title(at);
            let by_place = self.match_by_place(at);
            let best = match (by_title, by_place) {
                (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
                (one, other) => one.or(other),
            };
            match best {
                Some((group, rule)) => self.groups[group].push((at, Some(rule))),
                None => self.found_group(at),
            }
        }
        self.groups
    }

    fn file(&self, at: usize) -> Option<&'v str> {
        self.votes[at].file.as_ref().map(|file| file.as_str())
    }

    fn found_group(&mut self, at: usize) {
        let group = self.groups.len();
        self.groups.push(vec![(at, None)]);
        self.by_title.entry((self.file(at), &self.folded[at])).or_default().push(group);
        for key in self.place_keys(at, false) {
            let next = self.places.len() as u32;
            let place = *self.places.entry(key).or_insert(next);
            self.alike.insert(at as u32, place);
        }
        self.group_of_first.insert(at as u32, group);
    }

    /// Rule (a): one file, one folded title, lines within three of the group's first.
    fn match_by_title(&self, at: usize) -> Option<(usize, MergeRule)> {
        let groups = self.by_title.get(&(self.file(at), self.folded[at].as_str()))?;
        let here = line(&self.votes[at]);
        let mut best = None;
        for &group in groups.iter().rev() {
            let first = self.groups[group][0].0;
            let near = match (line(&self.votes[first]), here) {
                (Some(a), Some(b)) => a.abs_diff(b) <= NEAR_LINES,
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            if !near {
                break;
            }
            if let Some(rule) = self.may_merge(first, at, MergeRule::SameTitle) {
                best = Some((group, rule));
            }
        }
        best
    }

    /// Rule (b): one file, one quoted line or one symbol, and alike titles.
    fn match_by_place(&self, at: usize) -> Option<(usize, MergeRule)> {
        let mut best: Option<(usize, MergeRule)> = None;
        for key in self.place_keys(at, true) {
            let Some(place) = self.places.get(&key) else { continue };
            let rule = match key {
                PlaceKey::Quote(..) => MergeRule::SameQuote,
                PlaceKey::Symbol(..) => MergeRule::SameSymbol,
                PlaceKey::Lines(..) => MergeRule::SameSurroundings,
            };
            let found = self
                .alike
                .candidates(at as u32, *place)
                .into_iter()
                .find_map(|first| self.match_alike(first as usize, at, rule));
            best = match (best, found) {
                (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
                (one, other) => one.or(other),
            };
        }
        best
    }

    fn match_alike(&self, first: usize, at: usize, rule: MergeRule) -> Option<(usize, MergeRule)> {
        let lines = (line(&self.votes[first]), line(&self.votes[at]));
        if rule == MergeRule::SameSurroundings {
            let near = matches!(lines, (Some(a), Some(b)) if a.abs_diff(b) <= NEAR_LINES);
            let unknown = self.votes[first].symbol.is_none() && self.votes[at].symbol.is_none();
            if !near || !unknown {
                return None;
            }
        }
        if !self.alike.likeness(first as u32, at as u32, lines).is_same() {
            return None;
        }
        let rule = self.may_merge(first, at, rule)?;
        Some((self.group_of_first[&(first as u32)], rule))
    }

    /// Says by which rule two matching votes merge, if they may at all.
    fn may_merge(&self, first: usize, at: usize, rule: MergeRule) -> Option<MergeRule> {
        let (a, b) = (&self.votes[first], &self.votes[at]);
        if self.would_hide(first, at) {
            return None;
        }
        if let (Some(a), Some(b)) = (&a.vote.rule, &b.vote.rule)
            && a != b
        {
            return None;
        }
        if a.reviewer.name == b.reviewer.name && a.reviewer.family == b.reviewer.family {
            return (a.vote == b.vote).then_some(MergeRule::Identical);
        }
        Some(rule)
    }

    /// Says whether a rule's or an analyser's vote would share a finding with another one that it
    /// told apart from it itself: what a model says beside them brings no two such together, or one
    /// that is left alone would take the other with it.
    fn would_hide(&self, first: usize, at: usize) -> bool {
        let vote = &self.votes[at];
        let group = &self.groups[self.group_of_first[&(first as u32)]];
        let is_other = |(member, _): &(usize, Option<MergeRule>)| {
            let member = &self.votes[*member];
            let rules_differ = matches!(
                (&member.vote.rule, &vote.vote.rule), (Some(a), Some(b)) if a != b
            );
            let said_both = member.reviewer.name == vote.reviewer.name && member.vote != vote.vote;
            member.reviewer.kind != ReviewerKind::Persona && (said_both || rules_differ)
        };
        vote.reviewer.kind != ReviewerKind::Persona && group.iter().any(is_other)
    }

    /// Gives the places of a vote. A stretch of lines is looked up together with its neighbours.
    fn place_keys(&self, at: usize, look_up: bool) -> Vec<PlaceKey<'v>> {
        let vote = &self.votes[at];
        let Some(file) = self.file(at) else { return Vec::new() };
        let mut keys = Vec::new();
        if let Some(quote) = &vote.quote {
            keys.push(PlaceKey::Quote(file, quote));
        }
        if let Some(symbol) = &vote.symbol {
            keys.push(PlaceKey::Symbol(file, symbol));
        } else if let Some(line) = line(vote) {
            let stretch = line / (NEAR_LINES + 1);
            if look_up && stretch > 0 {
                // Votes come in order of their lines, so only earlier stretches can match.
                keys.push(PlaceKey::Lines(file, stretch - 1));
            }
            keys.push(PlaceKey::Lines(file, stretch));
        }
        keys
    }
}

/// Derives a finding from the votes on it. Its identity is set once all findings are known.
fn finding_of<'v>(votes: &[&'v Grounded<'_>]) -> (Finding, Features<'v>) {
    let best = votes.iter().copied().min_by(|a, b| by_worth(a, b)).expect("a group has a vote");
    // What a rule found is told again by what the rule saw, whatever models say beside it.
    let by_rule = votes.iter().copied().filter(|vote| vote.reviewer.kind != ReviewerKind::Persona);
    let seen = by_rule.min_by(|a, b| by_worth(a, b)).unwrap_or(best);
    let grade = best.grade.clone();
    let same_grade = |vote: &&&Grounded<'_>| vote.grade.worst_first(&grade) == Ordering::Equal;
    let at_grade: Vec<&Grounded<'_>> = votes.iter().filter(same_grade).copied().collect();
    let with_fix = votes.iter().copied().filter(|vote| vote.vote.suggested_fix.is_some());
    let fix = with_fix.min_by(|a, b| by_worth(a, b));
    let with_rewrite = votes.iter().copied().filter(|vote| vote.vote.replacement.is_some());
    let rewrite = with_rewrite.min_by(|a, b| by_worth(a, b));
    let category = best.vote.category.as_deref();
    let any_category = || votes.iter().find_map(|vote| vote.vote.category.as_deref());
    let category = category.or_else(any_category).unwrap_or(NO_CATEGORY);
    let any_rule = || votes.iter().find_map(|vote| vote.vote.rule.as_deref());
    let rule = seen.vote.rule.as_deref().or_else(any_rule);
    let marks: BTreeSet<_> = best.marks.iter().copied().collect();
    let finding = Finding {
        id: String::new(),
        fingerprint: String::new(),
        title: best.vote.title.clone(),
        severity: grade.word().to_owned(),
        confidence: confidence(&at_grade),
        file: seen.file.clone(),
        line: line(seen),
        end_line: seen.lines.map(Lines::end).filter(|end| Some(*end) != line(seen)),
        column: votes.iter().find_map(|vote| vote.vote.column),
        category: category.to_owned(),
        description: best.vote.description.clone(),
        suggested_fix: fix.and_then(|vote| vote.vote.suggested_fix.clone()),
        replacement: rewrite.and_then(|vote| vote.vote.replacement.clone()),
        evidence: evidence(best, votes),
        autofix_class: class(votes, fix.is_some()),
        owner: votes.iter().filter_map(|v| v.vote.owner).min().unwrap_or(Owner::DownstreamResolver),
        requires_verification: votes.iter().any(|vote| vote.vote.requires_verification),
        pre_existing: votes.iter().all(|vote| vote.pre_existing),
        rule: rule.map(str::to_owned),
        symbol: seen.symbol.clone(),
        reviewers: sorted(votes.iter().map(|vote| vote.reviewer.name.clone())),
        votes: sorted(votes.iter().map(|vote| reference(vote))),
        marks: marks.into_iter().collect(),
        line_hash: seen.line_hash.clone(),
        settled_conflict: votes.iter().find_map(|vote| vote.vote.settled_conflict.clone()),
        vouched_for: votes.iter().any(|vote| vouches(vote)),
        validation: None,
        dismissal: None,
        route: None,
        status: None,
        grade,
    };
    let features = Features {
        rule,
        category: seen.vote.category.as_deref().unwrap_or(NO_CATEGORY),
        title: &seen.vote.title,
        subject: seen.vote.subject.as_deref(),
        quote: seen.quoted.as_deref(),
        surroundings: seen.surroundings.as_deref(),
    };
    (finding, features)
}

/// Says whether a vote is a rule's or an analyser's that would be reported by itself.
fn vouches(vote: &Grounded<'_>) -> bool {
    vote.reviewer.kind != ReviewerKind::Persona && gate::is_sure(&vote.grade, vote.confidence)
}

/// Orders votes by grade, confidence and reviewer, the one that speaks for the finding first. A
/// severity that a vocabulary knows goes before one that none does: it grades the finding.
fn by_worth(a: &Grounded<'_>, b: &Grounded<'_>) -> Ordering {
    let native = |grade: &Grade| grade.native().map(|n| (n.scheme, n.word.clone()));
    (a.grade.is_unmapped().cmp(&b.grade.is_unmapped()))
        .then_with(|| a.grade.worst_first(&b.grade))
        .then_with(|| b.confidence.cmp(&a.confidence))
        .then_with(|| a.reviewer.name.cmp(&b.reviewer.name))
        .then_with(|| native(&a.grade).cmp(&native(&b.grade)))
        .then_with(|| a.source.1.cmp(&b.source.1))
}

/// Returns the best confidence at the finding's grade, lifted once where independent reviewers
/// agree. Votes at another grade say nothing about this one, and doubtful votes that quote no code
/// do not make each other sure.
fn confidence(at_grade: &[&Grounded<'_>]) -> Anchor {
    let best = at_grade.iter().map(|vote| vote.confidence).max().unwrap_or(Anchor::NONE);
    let counts = |vote: &&&Grounded<'_>| best > Anchor::MODERATE || vote.is_backed;
    let counting: Vec<&Grounded<'_>> = at_grade.iter().filter(counts).copied().collect();
    let agree = counting
        .iter()
        .enumerate()
        .any(|(at, a)| counting[..at].iter().any(|b| a.reviewer.is_independent_of(b.reviewer)));
    if agree { best.lifted() } else { best }
}

fn class(votes: &[&Grounded<'_>], has_fix: bool) -> AutofixClass {
    let stated = votes.iter().filter_map(|vote| vote.vote.autofix_class).max();
    stated.unwrap_or(if has_fix { AutofixClass::GatedAuto } else { AutofixClass::Manual })
}

fn evidence(best: &Grounded<'_>, votes: &[&Grounded<'_>]) -> Vec<String> {
    let mut all = best.vote.evidence.clone();
    for entry in votes.iter().flat_map(|vote| &vote.vote.evidence) {
        if !all.contains(entry) {
            all.push(entry.clone());
        }
    }
    all
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.collect::<BTreeSet<T>>().into_iter().collect()
}

/// Sets fingerprints and ids; equal ones in one file are numbered in order.
fn number(findings: Vec<(Finding, Features<'_>)>) -> Vec<Finding> {
    let mut seen: HashMap<(Option<String>, String), usize> = HashMap::new();
    findings
        .into_iter()
        .map(|(mut finding, features)| {
            let base = identity::fingerprint(&features, 0);
            let file = finding.file.as_ref().map(ToString::to_string);
            let ordinal = seen.entry((file, base.clone())).or_default();
            finding.fingerprint =
                if *ordinal == 0 { base } else { identity::fingerprint(&features, *ordinal) };
            *ordinal += 1;
            finding.id = identity::id(&finding.fingerprint, finding.file.as_ref());
            finding
        })
        .collect()
}
