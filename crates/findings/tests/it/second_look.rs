//! The limits of models: second looks, caps, and votes next to a rule's.

use assay_findings::finding::Finding;
use assay_findings::grade::Grade;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::second_look::{Opinion, SecondLookAnswer, select_for_second_look};
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_findings::vote::Vote;
use expect_test::{Expect, expect};
use serde_json::json;

use crate::memory_tree::MemoryTree;

const CODE: &str = "fn total(items: &[u32]) -> u32 {\n    items[0] + items[1]\n}\n\nfn guard(items: &[u32]) -> bool {\n    items.len() >= 2\n}\n";

fn tree() -> MemoryTree {
    MemoryTree::new(&[("src/total.rs", CODE)])
}

/// Returns a report with one finding at line 2 of the tree's file.
fn report(reviewer: &str, kind: ReviewerKind, severity: &str, confidence: u32) -> Report {
    let text = json!({"reviewer": reviewer, "residual_risks": [], "testing_gaps": [], "findings": [{
        "title": "Index without a check", "severity": severity, "file": "src/total.rs", "line": 2,
        "confidence": confidence, "evidence": ["`items[0] + items[1]`"],
    }]});
    Report::from_text(&text.to_string(), reviewer, None).of_kind(kind)
}

fn opinion(finding: &Finding, answer: SecondLookAnswer, quote: &str) -> Opinion {
    Opinion {
        fingerprint: finding.fingerprint.clone(),
        file: finding.file.clone(),
        answer,
        why: "the caller checks".to_owned(),
        quote: Some(quote.to_owned()),
        quoted_file: None,
        consequence: None,
    }
}

fn shown(synthesis: &Synthesis) -> String {
    let list = |label: &str, findings: &[Finding]| -> String {
        let line = |f: &Finding| {
            let state = f.validation.as_ref().map_or("-", |validation| validation.state.as_str());
            format!("{label} {}@{} {state}\n", f.severity, f.confidence.percent())
        };
        findings.iter().map(line).collect()
    };
    let open = list("open", &synthesis.findings);
    let held = list("held back", &synthesis.held_back);
    format!("{open}{held}{}", synthesis.verdict.state.in_words())
}

/// Synthesizes reports, applies a second look to the finding, and checks the result.
fn check(reports: &[Report], answer: SecondLookAnswer, quote: &str, expected: Expect) {
    let tree = tree();
    let around = |opinions| SynthesisInputs { tree: Some(&tree), opinions, ..Default::default() };
    let first = synthesize(reports, &around(&[]));
    let opinions: Vec<Opinion> =
        select_for_second_look(&first.findings).iter().map(|f| opinion(f, answer, quote)).collect();
    expected.assert_eq(&shown(&synthesize(reports, &around(&opinions))));
}

const GUARD: &str = "items.len() >= 2";

#[test]
fn a_refutation_that_quotes_the_tree_holds_back_the_finding_of_a_persona() {
    check(
        &[report("correctness", ReviewerKind::Persona, "P1", 75)],
        SecondLookAnswer::Refute,
        GUARD,
        expect![[r#"
            held back P1@75 refuted
            ready with fixes"#]],
    );
}

#[test]
fn a_refutation_with_a_quote_that_is_not_in_the_tree_does_not_hold_back_the_finding() {
    check(
        &[report("correctness", ReviewerKind::Persona, "P1", 75)],
        SecondLookAnswer::Refute,
        "items.len() >= 200",
        expect![[r#"
            open P1@75 unsure
            not ready"#]],
    );
}

#[test]
fn a_critical_finding_is_disputed_and_still_blocks() {
    check(
        &[report("correctness", ReviewerKind::Persona, "P0", 75)],
        SecondLookAnswer::Refute,
        GUARD,
        expect![[r#"
            open P0@75 disputed
            not ready"#]],
    );
}

#[test]
fn a_refuted_certain_finding_of_a_rule_is_disputed_and_still_blocks() {
    check(
        &[report("rules", ReviewerKind::Rules, "HIGH", 100)],
        SecondLookAnswer::Refute,
        GUARD,
        expect![[r#"
            open HIGH@100 disputed
            not ready"#]],
    );
}

#[test]
fn a_finding_without_an_answer_of_the_second_look_is_marked_as_unvalidated() {
    check(
        &[report("correctness", ReviewerKind::Persona, "P1", 75)],
        SecondLookAnswer::Missing,
        GUARD,
        expect![[r#"
            open P1@75 unvalidated
            not ready"#]],
    );
}

#[test]
fn an_unsure_worse_vote_does_not_hide_a_certain_finding_of_a_rule() {
    let reports = [
        report("rules", ReviewerKind::Rules, "HIGH", 100),
        report("security", ReviewerKind::Persona, "P0", 0),
    ];
    let tree = tree();
    let synthesis =
        synthesize(&reports, &SynthesisInputs { tree: Some(&tree), ..Default::default() });
    expect![[r#"
        open P0@0 -
        not ready"#]]
    .assert_eq(&shown(&synthesis));
}

#[test]
fn a_rule_finding_keeps_its_fingerprint_and_line_when_a_model_agrees() {
    let mut rule = report("rules", ReviewerKind::Rules, "HIGH", 100);
    rule.votes[0].rule = Some("rust/index".to_owned());
    let mut persona = report("security", ReviewerKind::Persona, "P0", 100);
    let tree = tree();
    let around = SynthesisInputs { tree: Some(&tree), ..Default::default() };
    let alone = synthesize(std::slice::from_ref(&rule), &around);
    persona.votes[0].evidence = vec!["`fn total(items: &[u32]) -> u32 {`".to_owned()];
    let both = synthesize(&[rule, persona], &around);
    assert_eq!(both.findings.len(), 1);
    assert_eq!(both.findings[0].fingerprint, alone.findings[0].fingerprint);
    assert_eq!(both.findings[0].line, alone.findings[0].line);
}

#[test]
fn the_grade_of_a_finding_is_capped_at_the_limit_of_its_reviewer() {
    let mut report = report("maintainability", ReviewerKind::Persona, "P0", 75);
    report.reviewer.cap = Some(Grade::from_word("P2"));
    let tree = tree();
    let around = SynthesisInputs { tree: Some(&tree), ..Default::default() };
    expect![[r#"
        open P2@75 -
        ready with fixes"#]]
    .assert_eq(&shown(&synthesize(&[report], &around)));
}

/// Returns the number of findings that get a second look, and how many of them are P1, if a
/// reviewer found five of P1 and twenty of another severity.
fn picked(kind: ReviewerKind, other: &str) -> (usize, usize) {
    let mut all = Report::new(Reviewer::new("one", kind));
    let vote =
        |at: usize, word: &str| Vote::new(format!("defect number{at}"), Grade::from_word(word));
    all.votes = (0..5).map(|at| vote(at, "P1")).chain((5..25).map(|at| vote(at, other))).collect();
    let mut findings = synthesize(&[all], &SynthesisInputs::default());
    // A persona's finding without a quote is held back, which this test does not examine.
    findings.findings.append(&mut findings.held_back);
    assert_eq!(findings.findings.len(), 25);
    let picked = select_for_second_look(&findings.findings);
    let grave = picked.iter().filter(|finding| finding.severity == "P1").count();
    (picked.len(), grave)
}

#[test]
fn every_grave_finding_and_five_others_of_models_get_a_second_look() {
    assert_eq!(picked(ReviewerKind::Persona, "P2"), (10, 5));
    assert_eq!(picked(ReviewerKind::Persona, "P3"), (5, 5), "minor findings are not worth a look");
    assert_eq!(picked(ReviewerKind::Rules, "P2"), (5, 5), "a look cannot overrule a rule");
}
