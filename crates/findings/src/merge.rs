//! Merging: [`merge`] joins the votes on one defect into one finding.
//!
//! Grouping is canonical: votes are sorted, repeats count once, and links between votes are whole
//! numbers. So neither the order of arrival nor merging twice makes a difference.
//!
//! If a rule or an analyser and a model report the same defect, the finding takes the place, quote
//! and identity of the rule's vote, and a low confidence of the model does not lower the confidence
//! of a rule that is sure.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::collections::{FastMap, sorted};
use crate::finding::{Finding, GroundingMark, VoteRef, issue_len};
use crate::grade::Grade;
use crate::grounding::GroundedVote;
use crate::grouping::{self, Group};
use crate::identity::{self, FingerprintInputs};
use crate::path::RepoPath;
use crate::report::ReviewerKind;
use crate::template::{ClaimFacts, TemplateSet, TemplateText};
use crate::tier::EvidenceTier;
use crate::title_similarity::fold_title;
use crate::trace::TraceStep;
use crate::vote::{AutofixClass, Confidence, LineRange, Owner};
use crate::worth::ModelReaders;

pub use crate::grouping::MergeRule;

/// The category of a finding that no vote has a category for.
pub const NO_CATEGORY: &str = "general";

/// The record of one merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Merge")]
pub struct MergeRecord {
    /// The id of the finding that the vote was merged into.
    pub finding: String,
    /// The first vote of the finding.
    pub first: VoteRef,
    /// The vote that was joined to the first one.
    pub joined: VoteRef,
    /// The rule by which the votes were joined.
    pub rule: MergeRule,
}

/// A vote with its folded title.
type TitledVote<'v, 'a> = (&'v str, &'v GroundedVote<'a>);

/// Creates a finding from each vote alone, in the order given: for lists that are only shown.
pub fn one_finding_per_vote(votes: &[GroundedVote<'_>]) -> Vec<Finding> {
    assign_ids(votes.iter().map(|vote| finding_of(&[vote])))
}

/// Merges votes into findings, in their canonical order.
pub(crate) fn merge(
    votes: Vec<GroundedVote<'_>>,
    readers: &ModelReaders<'_>,
    templates: Option<&TemplateSet>,
) -> (Vec<Finding>, Vec<MergeRecord>) {
    let titles: Vec<String> = votes.iter().map(|vote| fold_title(&vote.vote.title)).collect();
    let titles = titles.iter().map(String::as_str);
    let titled = in_canonical_order(titles.zip(&votes));
    let repeats = group_repeats(&titled);
    let firsts: Vec<&GroundedVote<'_>> = repeats.iter().map(|same| same[0].1).collect();
    let titles: Vec<&str> = repeats.iter().map(|same| same[0].0).collect();
    let groups = grouping::group(&firsts, &titles);
    let members = |group: &Group| -> Vec<&GroundedVote<'_>> {
        let members = group.members.iter().flat_map(|member| repeats[*member as usize]);
        members.map(|(_, vote)| *vote).collect()
    };
    // One step after the other over all groups, not all steps for each group: the code of all steps
    // together is larger than the processor's cache for instructions.
    let worths: Vec<f64> = groups.iter().map(|group| readers.worth(&members(group))).collect();
    let template = |group: &Group| templates.and_then(|set| template_of(set, &members(group)));
    let templates: Vec<Option<TemplateText>> = groups.iter().map(template).collect();
    let make = |((group, worth), template): ((&Group, f64), Option<TemplateText>)| {
        let (mut finding, features) = finding_of(&members(group));
        (finding.worth, finding.template) = (Some(worth), template);
        (finding, features)
    };
    let findings = assign_ids(groups.iter().zip(worths).zip(templates).map(make));
    let mut merges = Vec::new();
    for (group, finding) in groups.iter().zip(&findings) {
        let first = reference(firsts[group.members[0] as usize]);
        let merge = |joined: &GroundedVote<'_>, rule| MergeRecord {
            finding: finding.id.clone(),
            first: first.clone(),
            joined: reference(joined),
            rule,
        };
        merges.extend(group.joined.iter().map(|(at, rule)| merge(firsts[*at as usize], *rule)));
        let again = group.members.iter().flat_map(|member| &repeats[*member as usize][1..]);
        merges.extend(again.map(|(_, vote)| merge(vote, MergeRule::Identical)));
    }
    (findings, merges)
}

/// Returns the texts of the template that matches the votes on a defect.
fn template_of(templates: &TemplateSet, votes: &[&GroundedVote<'_>]) -> Option<TemplateText> {
    let votes = || votes.iter().map(|vote| vote.vote);
    let rules: Vec<&str> = votes().filter_map(|vote| vote.rule.as_deref()).collect();
    let titles: Vec<&str> = votes().map(|vote| vote.title.as_str()).collect();
    let texts = votes().map(|vote| vote.description.as_str());
    let facts = ClaimFacts {
        texts: texts.chain(rules.iter().copied()).chain(titles.iter().copied()).collect(),
        categories: votes().filter_map(|vote| vote.category.as_deref()).collect(),
        rules,
        titles,
    };
    templates.recognise(&facts).map(|(template, _)| template.text())
}

/// Sorts votes, each with its folded title, by file, line and [`order_on_line`]. Most votes differ in
/// file or line, so these are numbers, which are compared without a look at the votes.
fn in_canonical_order<'v, 'a: 'v>(
    votes: impl Iterator<Item = TitledVote<'v, 'a>> + Clone,
) -> Vec<TitledVote<'v, 'a>> {
    let files = sorted(votes.clone().map(|(_, vote)| vote.file.as_ref()));
    let ranks: FastMap<Option<&RepoPath>, usize> = files.into_iter().zip(0..).collect();
    let key = |vote: TitledVote<'v, 'a>| ((ranks[&vote.1.file.as_ref()], line(vote.1)), vote);
    let mut keyed: Vec<_> = votes.map(key).collect();
    keyed.sort_by(|(a_key, a), (b_key, b)| a_key.cmp(b_key).then_with(|| order_on_line(a, b)));
    keyed.into_iter().map(|(_, vote)| vote).collect()
}

/// Splits sorted votes, each with its folded title, into runs of repetitions: votes of the same
/// reviewer in the same words.
fn group_repeats<'r, 'v, 'a>(votes: &'r [TitledVote<'v, 'a>]) -> Vec<&'r [TitledVote<'v, 'a>]> {
    let is_same = |(_, a): &TitledVote<'_, '_>, (_, b): &TitledVote<'_, '_>| {
        a.reviewer.name == b.reviewer.name
            && a.reviewer.family == b.reviewer.family
            && a.reviewer.kind == b.reviewer.kind
            && a.vote == b.vote
    };
    votes.chunk_by(is_same).collect()
}

fn reference(vote: &GroundedVote<'_>) -> VoteRef {
    VoteRef { reviewer: vote.reviewer.name.clone(), vote: vote.source.1 }
}

fn line(vote: &GroundedVote<'_>) -> Option<u32> {
    vote.lines.map(LineRange::start)
}

/// Orders the votes on one line, each with its folded title, by title and reviewer; the other keys
/// only make the order independent of the order of arrival.
fn order_on_line((a_title, a): &TitledVote<'_, '_>, (b_title, b): &TitledVote<'_, '_>) -> Ordering {
    a_title
        .cmp(b_title)
        .then_with(|| a.reviewer.name.cmp(&b.reviewer.name))
        .then_with(|| a.grade.worst_first(&b.grade))
        .then_with(|| b.confidence.cmp(&a.confidence))
        .then_with(|| a.vote.description.cmp(&b.vote.description))
        .then_with(|| a.reviewer.family.cmp(&b.reviewer.family))
        .then_with(|| a.lines.cmp(&b.lines))
        .then_with(|| a.vote.evidence.cmp(&b.vote.evidence))
        .then_with(|| a.vote.suggested_fix.cmp(&b.vote.suggested_fix))
        .then_with(|| by_content(a, b))
}

/// Orders votes by all of their content, so that only repetitions are equal, and neither the order
/// of arrival nor the division into reports makes a difference.
fn by_content(a: &GroundedVote<'_>, b: &GroundedVote<'_>) -> Ordering {
    if a.vote == b.vote && a.reviewer == b.reviewer {
        return Ordering::Equal;
    }
    let content = |vote: &GroundedVote<'_>| format!("{:?} {:?}", vote.vote, vote.reviewer);
    content(a).cmp(&content(b))
}

/// Derives a finding from the votes on it. Its identity is set once all findings are known.
fn finding_of<'v>(votes: &[&'v GroundedVote<'_>]) -> (Finding, FingerprintInputs<'v>) {
    let (best, confidence) = grading_vote(votes);
    // A rule's finding is recognised by the code that the rule saw, whatever models add.
    let by_rule = votes.iter().copied().filter(|vote| vote.reviewer.kind != ReviewerKind::Persona);
    // A place that a reviewer named precedes a place that assay found for a vote without one.
    let named =
        votes.iter().copied().filter(|vote| !vote.marks.contains(&GroundingMark::PlacedByAssay));
    let placed = named.filter(|vote| vote.file.is_some()).min_by(|a, b| by_worth(a, b));
    let seen = by_rule.min_by(|a, b| by_worth(a, b)).or(placed).unwrap_or(best);
    let grade = best.grade.clone();
    let worse = votes
        .iter()
        .filter(|vote| !is_lead(vote) && vote.grade.worst_first(&grade) == Ordering::Less);
    let doubted = worse.min_by(|a, b| a.grade.worst_first(&b.grade));
    let with_fix = votes.iter().copied().filter(|vote| vote.vote.suggested_fix.is_some());
    let fix = with_fix.min_by(|a, b| by_worth(a, b));
    let rewrite = rewriting_vote(votes);
    let category = best.vote.category.as_deref();
    let any_category = || votes.iter().find_map(|vote| vote.vote.category.as_deref());
    let category = category.or_else(any_category).unwrap_or(NO_CATEGORY);
    let any_rule = || votes.iter().find_map(|vote| vote.vote.rule.as_deref());
    let rule = seen.vote.rule.as_deref().or_else(any_rule);
    let marks = best.marks.iter().filter(|mark| **mark != GroundingMark::PlacedByAssay);
    let of_place = seen.marks.iter().filter(|mark| **mark == GroundingMark::PlacedByAssay);
    let marks = sorted(marks.chain(of_place).copied());
    let reviewers = sorted(votes.iter().map(|vote| vote.reviewer.name.as_str()));
    let finding = Finding {
        id: String::new(),
        fingerprint: String::new(),
        title: best.vote.title.clone(),
        severity: grade.word().to_owned(),
        template: None,
        confidence,
        worth: None,
        shown: true,
        doubted_grade: doubted.map(|vote| vote.grade.clone()).filter(|g| !g.is_unmapped()),
        file: seen.file.clone(),
        line: line(seen),
        end_line: seen.lines.map(LineRange::end).filter(|end| Some(*end) != line(seen)),
        column: votes.iter().find_map(|vote| vote.vote.column),
        category: category.to_owned(),
        description: best.vote.description.clone(),
        suggested_fix: fix.and_then(|vote| vote.vote.suggested_fix.clone()),
        replacement: rewrite.and_then(|vote| vote.vote.replacement.clone()),
        evidence: evidence(best, votes),
        trace: trace(seen, votes),
        tier: tier(votes),
        autofix_class: class(votes, fix.is_some(), rewrite),
        owner: votes.iter().filter_map(|v| v.vote.owner).min().unwrap_or(Owner::DownstreamResolver),
        requires_verification: votes.iter().any(|vote| vote.vote.requires_verification),
        pre_existing: votes.iter().all(|vote| vote.pre_existing),
        rule: rule.map(str::to_owned),
        symbol: seen.symbol.clone(),
        reviewers: reviewers.into_iter().map(str::to_owned).collect(),
        votes: sorted(votes.iter().map(|vote| reference(vote))),
        marks,
        line_hash: seen.line_hash.clone(),
        settled_conflict: votes.iter().find_map(|vote| vote.vote.settled_conflict.clone()),
        vouched_for: votes.iter().any(|vote| vouches(vote)),
        validation: None,
        dismissal: None,
        route: None,
        status: None,
        grade,
    };
    let features = FingerprintInputs {
        rule,
        category: seen.vote.category.as_deref().unwrap_or(NO_CATEGORY),
        title: &seen.vote.title,
        subject: seen.vote.subject.as_deref(),
        quote: seen.quoted.as_deref(),
        surroundings: seen.surroundings.as_deref(),
    };
    (finding, features)
}

/// Returns the trace of a finding: that of the vote that places it, else of another vote.
fn trace(seen: &GroundedVote<'_>, votes: &[&GroundedVote<'_>]) -> Vec<TraceStep> {
    let mut traces = std::iter::once(seen).chain(votes.iter().copied());
    traces.find(|vote| !vote.vote.trace.is_empty()).map_or_else(Vec::new, |v| v.vote.trace.clone())
}

/// Returns the tier of a finding: that of the strongest vote. A vote without a tier that is sure of
/// the claim leaves the finding without one, and a claim beside a lead makes it more than a lead.
fn tier(votes: &[&GroundedVote<'_>]) -> Option<EvidenceTier> {
    let mut untiered = votes.iter().filter(|vote| vote.vote.tier.is_none()).peekable();
    let has_untiered = untiered.peek().is_some();
    if untiered.any(|vote| vote.confidence.is_enough_for(&vote.grade)) {
        return None;
    }
    let strongest = votes.iter().filter_map(|vote| vote.vote.tier).min();
    strongest.filter(|tier| *tier != EvidenceTier::Lead || !has_untiered)
}

/// Returns true if a vote is a lead. A reviewer that repeats a lead was given the lead, so the two
/// do not agree independently.
fn is_lead(vote: &GroundedVote<'_>) -> bool {
    vote.vote.tier == Some(EvidenceTier::Lead)
}

/// Returns the vote that grades a finding, and the confidence of the votes at its grade. The grade
/// is the worst one of which votes are sure, so that a doubtful vote hides no sure one; else the
/// worst. A severity of a known vocabulary precedes one of no vocabulary.
fn grading_vote<'v, 'a>(votes: &[&'v GroundedVote<'a>]) -> (&'v GroundedVote<'a>, Confidence) {
    let mut sorted: Vec<&GroundedVote<'_>> = votes.to_vec();
    sorted.sort_by(|a, b| by_worth(a, b));
    let is_known = |vote: &&GroundedVote<'_>| !vote.grade.is_unmapped();
    if sorted.iter().any(is_known) {
        sorted.retain(is_known);
    }
    if sorted.iter().any(|vote| !is_lead(vote)) {
        sorted.retain(|vote| !is_lead(vote));
    }
    let of_one_grade =
        |a: &&GroundedVote<'_>, b: &&GroundedVote<'_>| a.grade.worst_first(&b.grade).is_eq();
    let mut graded = sorted.chunk_by(of_one_grade).map(|votes| (votes[0], confidence(votes)));
    let worst = graded.next().expect("a group has a vote");
    let is_sure = |(vote, sure): &(&GroundedVote<'_>, Confidence)| sure.is_enough_for(&vote.grade);
    // If a rule vouches for the finding, no vote hides it, and the worst grade stays.
    let stays = is_sure(&worst) || votes.iter().any(|vote| vouches(vote));
    if stays { worst } else { graded.find(is_sure).unwrap_or(worst) }
}

/// Returns true if a vote of a rule or an analyser would be reported by itself.
fn vouches(vote: &GroundedVote<'_>) -> bool {
    vote.reviewer.kind != ReviewerKind::Persona && vote.confidence.is_enough_for(&vote.grade)
}

/// Orders votes by grade, confidence, length and reviewer; the first vote represents the finding. A
/// severity of a known vocabulary precedes one of no vocabulary: it grades the finding.
fn by_worth(a: &GroundedVote<'_>, b: &GroundedVote<'_>) -> Ordering {
    let native = |grade: &Grade| grade.native().map(|n| (n.scheme, n.word.clone()));
    let length = |vote: &GroundedVote<'_>| issue_len(&vote.vote.title, &vote.vote.description);
    (a.grade.is_unmapped().cmp(&b.grade.is_unmapped()))
        .then_with(|| a.grade.worst_first(&b.grade))
        .then_with(|| b.confidence.cmp(&a.confidence))
        .then_with(|| length(b).cmp(&length(a)))
        .then_with(|| a.reviewer.name.cmp(&b.reviewer.name))
        .then_with(|| native(&a.grade).cmp(&native(&b.grade)))
        .then_with(|| a.vote.title.cmp(&b.vote.title))
        .then_with(|| a.vote.description.cmp(&b.vote.description))
        .then_with(|| (&a.file, a.lines).cmp(&(&b.file, b.lines)))
        .then_with(|| a.vote.evidence.cmp(&b.vote.evidence))
        .then_with(|| by_content(a, b))
}

/// Returns the best confidence at the finding's grade, raised once if independent reviewers agree.
/// Votes at another grade do not count, and doubtful votes that quote no code do not make each
/// other sure.
fn confidence(at_grade: &[&GroundedVote<'_>]) -> Confidence {
    let best = at_grade.iter().map(|vote| vote.confidence).max().unwrap_or(Confidence::NONE);
    let counts = |vote: &&&GroundedVote<'_>| {
        !is_lead(vote) && (best > Confidence::MODERATE || vote.is_backed)
    };
    let counting: Vec<&GroundedVote<'_>> = at_grade.iter().filter(counts).copied().collect();
    let agree = counting
        .iter()
        .enumerate()
        .any(|(at, a)| counting[..at].iter().any(|b| a.reviewer.is_independent_of(b.reviewer)));
    if agree { best.next_higher() } else { best }
}

/// Returns the vote whose rewrite a finding offers: that of a rule, if there is one.
fn rewriting_vote<'g, 'v>(votes: &[&'g GroundedVote<'v>]) -> Option<&'g GroundedVote<'v>> {
    let with_rewrite = votes.iter().copied().filter(|vote| vote.vote.replacement.is_some());
    let is_of_other = |vote: &GroundedVote<'_>| vote.reviewer.kind != ReviewerKind::Rules;
    with_rewrite.min_by(|a, b| is_of_other(a).cmp(&is_of_other(b)).then_with(|| by_worth(a, b)))
}

/// Returns the most cautious class that a vote states. A rewrite is applied without a person only
/// if a rule made the rewrite and calls it safe: the text of a model is never applied unseen.
fn class(
    votes: &[&GroundedVote<'_>],
    has_fix: bool,
    rewrite: Option<&GroundedVote<'_>>,
) -> AutofixClass {
    let stated = votes.iter().filter_map(|vote| vote.vote.autofix_class).max();
    let stated =
        stated.unwrap_or(if has_fix { AutofixClass::GatedAuto } else { AutofixClass::Manual });
    let is_safe = |vote: &GroundedVote<'_>| {
        vote.reviewer.kind == ReviewerKind::Rules
            && vote.vote.autofix_class == Some(AutofixClass::SafeAuto)
    };
    match rewrite {
        Some(vote) if !is_safe(vote) => stated.max(AutofixClass::GatedAuto),
        Some(_) | None => stated,
    }
}

fn evidence(best: &GroundedVote<'_>, votes: &[&GroundedVote<'_>]) -> Vec<String> {
    let mut all = best.vote.evidence.clone();
    for entry in votes.iter().flat_map(|vote| &vote.vote.evidence) {
        if !all.contains(entry) {
            all.push(entry.clone());
        }
    }
    all
}

/// Sets fingerprints and ids; equal fingerprints in one file are numbered in order.
fn assign_ids<'f>(
    findings: impl Iterator<Item = (Finding, FingerprintInputs<'f>)>,
) -> Vec<Finding> {
    let mut seen: FastMap<(Option<RepoPath>, String), usize> = FastMap::default();
    let mut numbered = Vec::with_capacity(findings.size_hint().0);
    for (mut finding, features) in findings {
        let base = identity::fingerprint(&features, 0);
        let ordinal = seen.entry((finding.file.clone(), base.clone())).or_default();
        finding.fingerprint =
            if *ordinal == 0 { base } else { identity::fingerprint(&features, *ordinal) };
        *ordinal += 1;
        finding.id = identity::id(&finding.fingerprint, finding.named_file());
        numbered.push(finding);
    }
    numbered
}
