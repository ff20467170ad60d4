//! The verdict whether a change is ready: [`Verdict`], computed by [`decide`] from the stored
//! results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coverage::ReviewCoverage;
use crate::finding::{Finding, GroundingMark};
use crate::grade::{Grade, Obligation};
use crate::grounding::TreeError;
use crate::incomplete::{IncompleteKind, IncompleteReason};
use crate::report::{Report, ReviewerKind};
use crate::tier::EvidenceTier;

/// The state of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "State")]
pub enum VerdictState {
    /// The change needs no fix.
    Ready,
    /// The change may be merged, and a finding should be fixed.
    ReadyWithFixes,
    /// The change may not be merged.
    NotReady,
    /// The change has no content that a reviewer could read, such as a picture, a lock file or a
    /// mode. It has no defect, and it is not approved.
    NothingToReview,
    /// The state is unknown: a required reviewer did not read the change, or a part of it.
    Incomplete,
}

impl VerdictState {
    /// Returns the state in words.
    pub fn in_words(self) -> &'static str {
        match self {
            VerdictState::Ready => "ready",
            VerdictState::ReadyWithFixes => "ready with fixes",
            VerdictState::NotReady => "not ready",
            VerdictState::NothingToReview => "nothing to review",
            VerdictState::Incomplete => "incomplete",
        }
    }
}

/// The result for a change without reviewable content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "WithoutContent")]
pub enum NoContentPolicy {
    /// The state is `nothing to review`, which blocks nothing and approves nothing.
    #[default]
    Pass,
    /// The review is incomplete.
    Incomplete,
}

/// The rule that a reason follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Rule")]
pub enum VerdictRule {
    /// An open finding that must be fixed.
    Must,
    /// An open finding of MAJOR, P1 or worse.
    Major,
    /// An open finding at or above the grade that the user asked for.
    FailOn,
    /// An explicit requirement that is not met.
    UnmetRequirement,
    /// A required check that failed.
    FailedCheck,
    /// A reviewer that returned nothing usable.
    NoReport,
    /// No reviewer read any part of the change.
    NothingReviewed,
    /// The change has no content to review.
    NothingToReview,
    /// A part of the change that a required reviewer could not read.
    NotCovered,
    /// A finding that may block and names no file and line, so that it could not be checked.
    NoPlace,
    /// A report that may have left out a finding: a part of it could not be read, or its words
    /// contradict its list.
    Unreadable,
    /// A file before or after the change that could not be read.
    UnreadableFile,
    /// An open finding that should be fixed.
    Should,
    /// An open finding that can be acted on.
    Actionable,
    /// A finding that may be critical, that a second look did not confirm, and that a person must
    /// check.
    ToBeChecked,
    /// A finding that would have blocked and that can wait, according to a second look.
    PutOff,
    /// A finding that would have blocked and is not sure enough.
    HeldBack,
    /// A finding that should be fixed and is not sure enough. The reason decides nothing.
    Doubtful,
    /// A lead: a pattern of a rule without known data. The reason decides nothing.
    Lead,
    /// No finding and no other reason against the change.
    Clear,
}

/// A reason for a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Reason")]
pub struct VerdictReason {
    /// The rule that the reason follows from.
    pub rule: VerdictRule,
    /// The reason in words.
    pub text: String,
    /// The ids of the findings that the reason names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// The verdict whether a change is ready, with its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The state of the change.
    pub state: VerdictState,
    /// The reasons; the deciding rule comes first.
    pub because: Vec<VerdictReason>,
    /// True if a required review is missing or incomplete, whatever the state.
    pub incomplete: bool,
}

/// The inputs of a verdict.
pub(crate) struct VerdictInputs<'a> {
    pub(crate) open: &'a [Finding],
    pub(crate) held_back: &'a [Finding],
    pub(crate) dismissed: &'a [Finding],
    pub(crate) reports: &'a [Report],
    /// The grade from which findings block; `None` for the default.
    pub(crate) fail_on: Option<&'a Grade>,
    pub(crate) coverage: Option<&'a ReviewCoverage>,
    /// The errors of reading the trees before and after the change.
    pub(crate) tree_errors: &'a [TreeError],
    /// The result for a change without reviewable content.
    pub(crate) without_content: NoContentPolicy,
}

/// Computes the verdict. `not ready` takes precedence over `incomplete`, and `incomplete` over both
/// ready states.
pub(crate) fn decide(evidence: &VerdictInputs<'_>) -> Verdict {
    let blocking = blocking_reasons(evidence);
    let missing = incomplete_reasons(evidence);
    let fixes = fix_reasons(evidence);
    let nothing = nothing_to_review(evidence);
    let incomplete = !missing.is_empty();
    let state = match (blocking.is_empty(), incomplete, fixes.is_empty()) {
        (false, _, _) => VerdictState::NotReady,
        (true, true, _) => VerdictState::Incomplete,
        (true, false, _) if nothing.is_some() => VerdictState::NothingToReview,
        (true, false, false) => VerdictState::ReadyWithFixes,
        (true, false, true) => VerdictState::Ready,
    };
    let mut because = blocking;
    because.extend(missing);
    because.extend(nothing);
    because.extend(fixes);
    let (leads, held_back): (Vec<&Finding>, Vec<&Finding>) =
        evidence.held_back.iter().partition(|finding| finding.is_lead());
    let held_back = held_back.into_iter().filter(|finding| !may_block(evidence, finding));
    let doubtful: Vec<&Finding> =
        held_back.filter(|finding| finding.grade.obligation() != Obligation::May).collect();
    if because.is_empty() {
        because.push(VerdictReason {
            rule: VerdictRule::Clear,
            text: "no open finding, and every reviewer answered".to_owned(),
            findings: Vec::new(),
        });
    }
    because.extend(reason_for(VerdictRule::Doubtful, "held back as unsure", &doubtful));
    because.extend(lead_reason(&leads));
    Verdict { state, because, incomplete }
}

/// Returns the count of leads as a reason that decides nothing; `None` without leads.
fn lead_reason(leads: &[&Finding]) -> Option<VerdictReason> {
    let text = match leads.len() {
        0 => return None,
        1 => "1 lead, not shown: a pattern without known data".to_owned(),
        number => format!("{number} leads, not shown: patterns without known data"),
    };
    let findings = leads.iter().map(|finding| finding.id.clone()).collect();
    Some(VerdictReason { rule: VerdictRule::Lead, text, findings })
}

/// Returns true if a finding would block if it were sure. A lead is no claim, so it would not.
fn may_block(evidence: &VerdictInputs<'_>, finding: &Finding) -> bool {
    !finding.is_lead() && would_block(evidence.fail_on, finding)
}

/// Returns true if an open finding blocks, given the grade from which findings block. A second look
/// sets findings aside only if the user set no such grade.
pub(crate) fn would_block(fail_on: Option<&Grade>, finding: &Finding) -> bool {
    grade_blocks(fail_on, &finding.grade) && (fail_on.is_some() || !is_set_aside(finding))
}

/// Returns true if an open finding of a grade blocks, given the grade from which findings block.
fn grade_blocks(fail_on: Option<&Grade>, grade: &Grade) -> bool {
    match fail_on {
        Some(line) => grade.is_at_least(line),
        None => grade.blocks(),
    }
}

/// Returns true if a finding does not block because of its second look, or because the callers of
/// the function that it is about are not known.
fn is_set_aside(finding: &Finding) -> bool {
    finding.tier == Some(EvidenceTier::Parameter) || is_doubted_by_second_look(finding)
}

/// Returns true if a second look put a finding off, or left it to a person.
fn is_doubted_by_second_look(finding: &Finding) -> bool {
    finding.is_put_off() || finding.is_to_be_checked()
}

fn blocking_reasons(evidence: &VerdictInputs<'_>) -> Vec<VerdictReason> {
    let mut reasons = Vec::new();
    if let Some(line) = evidence.fail_on {
        let hit: Vec<&Finding> =
            evidence.open.iter().filter(|f| f.grade.is_at_least(line)).collect();
        let text = format!("at or above {}", line.word());
        reasons.extend(reason_for(VerdictRule::FailOn, &text, &hit));
    } else {
        let blocking = evidence.open.iter().filter(|finding| may_block(evidence, finding));
        let (must, major): (Vec<&Finding>, Vec<&Finding>) =
            blocking.partition(|finding| finding.grade.obligation() == Obligation::Must);
        reasons.extend(reason_for(VerdictRule::Must, "must be fixed", &must));
        reasons.extend(reason_for(VerdictRule::Major, "MAJOR, P1 or worse", &major));
    }
    for report in evidence.reports {
        let name = &report.reviewer.name;
        reasons.extend(report.remarks.unmet_requirements.iter().map(|requirement| VerdictReason {
            rule: VerdictRule::UnmetRequirement,
            text: format!("`{name}` found a requirement unmet: {requirement}"),
            findings: Vec::new(),
        }));
        reasons.extend(report.remarks.failed_checks.iter().map(|check| VerdictReason {
            rule: VerdictRule::FailedCheck,
            text: format!("a required check failed: {check}"),
            findings: Vec::new(),
        }));
    }
    reasons
}

/// Returns the reason why a change has nothing to review; `None` if it has, or if that makes the
/// review incomplete.
fn nothing_to_review(evidence: &VerdictInputs<'_>) -> Option<VerdictReason> {
    let coverage = evidence.coverage.filter(|coverage| coverage.is_without_content())?;
    let text = match coverage.hunks() {
        0 => "the change is empty".to_owned(),
        _ => format!("the change has no content to review: {coverage}"),
    };
    (evidence.without_content == NoContentPolicy::Pass).then(|| VerdictReason {
        rule: VerdictRule::NothingToReview,
        text,
        findings: Vec::new(),
    })
}

fn incomplete_reasons(evidence: &VerdictInputs<'_>) -> Vec<VerdictReason> {
    let because = |rule, text| VerdictReason { rule, text, findings: Vec::new() };
    if evidence.reports.is_empty() {
        return vec![because(
            VerdictRule::NothingReviewed,
            "no reviewer returned a report".to_owned(),
        )];
    }
    let mut reasons: Vec<VerdictReason> = evidence
        .tree_errors
        .iter()
        .map(|error| because(VerdictRule::UnreadableFile, error.to_string()))
        .collect();
    for (rule, mark, what) in [
        (VerdictRule::NoPlace, GroundingMark::NoPlace, "may block, but without a place to check"),
        (VerdictRule::Unreadable, GroundingMark::Repaired, "may block, but from a damaged report"),
    ] {
        let is_meant = |f: &&Finding| may_block(evidence, f) && f.marks.contains(&mark);
        let meant: Vec<&Finding> = evidence.held_back.iter().filter(is_meant).collect();
        reasons.extend(reason_for(rule, what, &meant));
    }
    let passes = |coverage: &&ReviewCoverage| {
        coverage.is_without_content() && evidence.without_content == NoContentPolicy::Pass
    };
    if let Some(coverage) = evidence.coverage.filter(|coverage| !passes(coverage)) {
        if coverage.hunks() == 0 {
            reasons.push(because(VerdictRule::NothingReviewed, "the change is empty".to_owned()));
        } else if coverage.is_empty() && coverage.failed.is_empty() {
            let text = format!("no part of the change was reviewed: {coverage}");
            reasons.push(because(VerdictRule::NothingReviewed, text));
        } else if !coverage.failed.is_empty() {
            let text = format!("the change was not fully reviewed: {coverage}");
            reasons.push(because(VerdictRule::NotCovered, text));
        } else if coverage.short_of_requirement() > 0 {
            let asked = coverage.require.as_str();
            let text =
                format!("coverage is below the required `coverage.require: {asked}`: {coverage}");
            reasons.push(because(VerdictRule::NotCovered, text));
        }
    }
    for report in evidence.reports {
        let name = &report.reviewer.name;
        let is_first_with_cause = |why: &&String| {
            let mut same = evidence.reports.iter().filter(|other| other.required);
            same.find(|other| other.unusable.as_ref() == Some(*why))
                .is_some_and(|first| std::ptr::eq(first, report))
        };
        if let Some(why) = report.unusable.as_ref().filter(|_| report.required)
            && is_first_with_cause(&why)
        {
            let failed = evidence
                .reports
                .iter()
                .filter(|other| other.required && other.unusable.as_ref() == Some(why));
            let names: Vec<&str> = failed.map(|other| other.reviewer.name.as_str()).collect();
            let text = format!("{} gave nothing usable: {why}", list_reviewers(&names));
            reasons.push(because(VerdictRule::NoReport, text));
        }
        // A report with lost parts makes the review incomplete, even if its reviewer is optional:
        // the lost part may have been a finding that blocks.
        if report.unusable.is_none() {
            let texts = report.incomplete.iter().map(|why| format!("`{name}`: {}", why.text));
            reasons.extend(texts.map(|text| because(VerdictRule::Unreadable, text)));
        }
        if let Some(sentence) = unanswered_rejection(evidence, report) {
            let text = format!(
                "`{name}` rejects the change, but none of its findings blocks: `{sentence}`"
            );
            reasons.push(because(VerdictRule::Unreadable, text));
        }
        if report.lost > 0 && report.incomplete.is_empty() {
            let text = format!("{} of the findings of `{name}` could not be read", report.lost);
            reasons.push(because(VerdictRule::Unreadable, text));
        }
    }
    reasons
}

/// Returns the names of reviewers in a sentence, with their number if there are several.
pub fn list_reviewers(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match &*quoted {
        [one] => one.clone(),
        several => format!("{} reviewers ({})", several.len(), several.join(", ")),
    }
}

/// Returns the sentence by which a reviewer rejects the change, unless a finding of the reviewer
/// blocks the change, or would block it and was dismissed.
fn unanswered_rejection<'r>(evidence: &VerdictInputs<'_>, report: &'r Report) -> Option<&'r str> {
    let is_told = |reason: &IncompleteReason| reason.kind == IncompleteKind::Contradiction;
    if report.unusable.is_some() || report.incomplete.iter().any(is_told) {
        return None;
    }
    let is_own = |f: &Finding| f.reviewers.contains(&report.reviewer.name);
    let mut answers = evidence.open.iter().chain(evidence.dismissed);
    let is_answered = answers.any(|f| is_own(f) && may_block(evidence, f));
    report.rejection.as_deref().filter(|_| !is_answered)
}

fn fix_reasons(evidence: &VerdictInputs<'_>) -> Vec<VerdictReason> {
    let blocks = |f: &&Finding| may_block(evidence, f);
    let rest: Vec<&Finding> = evidence.open.iter().filter(|f| !blocks(f)).collect();
    let (set_aside, rest): (Vec<&Finding>, Vec<&Finding>) =
        rest.into_iter().partition(|f| is_doubted_by_second_look(f) && asks_for_a_fix(f));
    let (checked, put_off): (Vec<&Finding>, Vec<&Finding>) =
        set_aside.into_iter().partition(|f| f.is_to_be_checked());
    let (should, rest): (Vec<&Finding>, Vec<&Finding>) =
        rest.into_iter().partition(|f| f.grade.obligation() != Obligation::May);
    let actionable: Vec<&Finding> = rest.into_iter().filter(|f| f.is_actionable()).collect();
    // A worse grade that no vote is sure of counts as if it were held back by itself.
    let is_doubted = |f: &&Finding| {
        let grade = f.doubted_grade.as_ref();
        !blocks(f) && grade.is_some_and(|grade| grade_blocks(evidence.fail_on, grade))
    };
    let doubted = evidence.open.iter().filter(is_doubted);
    let held: Vec<&Finding> = evidence.held_back.iter().filter(blocks).chain(doubted).collect();
    let mut reasons = Vec::new();
    // A change is not simply ready if an optional persona failed.
    let unheard = evidence
        .reports
        .iter()
        .filter(|report| !report.required && report.reviewer.kind == ReviewerKind::Persona);
    reasons.extend(unheard.filter_map(|report| {
        let why = report.unusable.as_ref()?;
        let text = format!("`{}` could not answer: {why}", report.reviewer.name);
        Some(VerdictReason { rule: VerdictRule::NoReport, text, findings: Vec::new() })
    }));
    reasons.extend(reason_for(VerdictRule::ToBeChecked, "to be checked by a person", &checked));
    reasons.extend(reason_for(
        VerdictRule::PutOff,
        "can wait, according to a second look",
        &put_off,
    ));
    reasons.extend(reason_for(VerdictRule::Should, "should be fixed", &should));
    reasons.extend(reason_for(VerdictRule::Actionable, "can be acted on", &actionable));
    reasons.extend(reason_for(
        VerdictRule::HeldBack,
        "held back as unsure, may have blocked",
        &held,
    ));
    reasons
}

/// Returns true if a finding keeps a change from being simply ready.
fn asks_for_a_fix(finding: &Finding) -> bool {
    let grade = &finding.grade;
    grade.blocks() || grade.obligation() != Obligation::May || finding.is_actionable()
}

/// Returns one reason for several findings, which names the first few; `None` without findings.
fn reason_for(rule: VerdictRule, what: &str, findings: &[&Finding]) -> Option<VerdictReason> {
    const MAX_NAMED: usize = 3;
    if findings.is_empty() {
        return None;
    }
    let names: Vec<String> = findings
        .iter()
        .take(MAX_NAMED)
        .map(|f| {
            f.place().map_or_else(|| f.title.clone(), |place| format!("{} ({place})", f.title))
        })
        .collect();
    let more = findings.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let count = findings.len();
    let noun = if count == 1 { "finding" } else { "findings" };
    Some(VerdictReason {
        rule,
        text: format!("{count} {noun} {what}: {}{more}", names.join("; ")),
        findings: findings.iter().map(|f| f.id.clone()).collect(),
    })
}
