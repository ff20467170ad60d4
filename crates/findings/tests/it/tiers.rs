//! The tiers of the evidence of rules, and their effect on findings and verdicts.

use assay_findings::finding::Finding;
use assay_findings::grade::Grade;
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_findings::tier::EvidenceTier;
use assay_findings::verdict::VerdictState;
use assay_findings::vote::{Confidence, LineRange, Vote};

const TITLE: &str = "Query built from a value";

fn vote(severity: &str, tier: Option<EvidenceTier>, confidence: Option<Confidence>) -> Vote {
    let mut vote = Vote::new(TITLE, Grade::from_word(severity));
    vote.file = RepoPath::exact("a.py").ok();
    vote.lines = LineRange::at(3);
    vote.tier = tier;
    vote.confidence = confidence;
    vote
}

fn of_rules(severity: &str, tier: EvidenceTier) -> Report {
    let confidence = match tier {
        EvidenceTier::Flow => None,
        EvidenceTier::Parameter => Some(Confidence::HIGH),
        EvidenceTier::Lead => Some(Confidence::LOW),
    };
    let mut report = Report::new(Reviewer::new("rules", ReviewerKind::Rules));
    report.votes.push(vote(severity, Some(tier), confidence));
    report
}

fn of_persona(severity: &str, confidence: Confidence) -> Report {
    let mut report = Report::new(Reviewer::new("security", ReviewerKind::Persona));
    report.votes.push(vote(severity, None, Some(confidence)));
    report
}

fn synthesis(reports: &[Report]) -> Synthesis {
    synthesize(reports, &SynthesisInputs::default())
}

fn only(findings: &[Finding]) -> &Finding {
    let [finding] = findings else { panic!("one finding: {findings:#?}") };
    finding
}

#[test]
fn a_flow_from_an_untrusted_source_blocks() {
    let made = synthesis(&[of_rules("HIGH", EvidenceTier::Flow)]);
    assert_eq!(made.verdict.state, VerdictState::NotReady);
    assert_eq!(only(&made.findings).tier, Some(EvidenceTier::Flow));
}

#[test]
fn a_flow_from_a_parameter_is_shown_and_does_not_block() {
    let made = synthesis(&[of_rules("HIGH", EvidenceTier::Parameter)]);
    assert_eq!(made.verdict.state, VerdictState::ReadyWithFixes);
    assert!(only(&made.findings).shown);
}

#[test]
fn a_limit_of_the_user_counts_for_parameters_too() {
    let inputs =
        SynthesisInputs { fail_on: Some(Grade::from_word("HIGH")), ..SynthesisInputs::default() };
    let made = synthesize(&[of_rules("HIGH", EvidenceTier::Parameter)], &inputs);
    assert_eq!(made.verdict.state, VerdictState::NotReady);
}

#[test]
fn a_lead_is_counted_and_kept_and_decides_nothing() {
    let made = synthesis(&[of_rules("CRITICAL", EvidenceTier::Lead)]);
    assert_eq!(made.verdict.state, VerdictState::Ready);
    assert!(made.findings.is_empty());
    assert!(only(&made.held_back).is_lead());
    assert_eq!(made.counts.leads, 1);
    let texts: Vec<&str> = made.verdict.because.iter().map(|why| why.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "no open finding, and every reviewer answered",
            "1 lead, not shown: a pattern without known data"
        ]
    );
}

#[test]
fn a_limit_of_the_user_does_not_make_a_lead_block() {
    let inputs =
        SynthesisInputs { fail_on: Some(Grade::from_word("LOW")), ..SynthesisInputs::default() };
    let made = synthesize(&[of_rules("CRITICAL", EvidenceTier::Lead)], &inputs);
    assert_eq!(made.verdict.state, VerdictState::Ready);
}

#[test]
fn a_persona_that_confirms_a_lead_has_its_own_grade_and_confidence() {
    let made = synthesis(&[
        of_rules("CRITICAL", EvidenceTier::Lead),
        of_persona("HIGH", Confidence::HIGH),
    ]);
    let finding = only(&made.findings);
    assert_eq!(finding.severity, "HIGH");
    assert_eq!(finding.confidence, Confidence::HIGH);
    assert_eq!((finding.tier, &finding.doubted_grade), (None, &None));
    assert_eq!(made.verdict.state, VerdictState::NotReady);
}

#[test]
fn a_lead_does_not_weaken_a_claim_that_is_held_back() {
    let doubtful = of_persona("HIGH", Confidence::MODERATE);
    let alone = synthesis(std::slice::from_ref(&doubtful));
    let made = synthesis(&[of_rules("CRITICAL", EvidenceTier::Lead), doubtful]);
    assert_eq!(made.verdict.state, alone.verdict.state);
    assert_eq!(made.verdict.state, VerdictState::ReadyWithFixes);
    assert_eq!(made.counts.leads, 0);
}

#[test]
fn a_certain_vote_beside_a_parameter_blocks() {
    let mut certain = of_rules("HIGH", EvidenceTier::Flow);
    certain.reviewer = Reviewer::new("analyser", ReviewerKind::Command);
    certain.votes[0].tier = None;
    let made = synthesis(&[of_rules("HIGH", EvidenceTier::Parameter), certain]);
    assert_eq!(only(&made.findings).tier, None);
    assert_eq!(made.verdict.state, VerdictState::NotReady);
}
