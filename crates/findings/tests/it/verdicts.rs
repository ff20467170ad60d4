//! The reasons of a verdict.

use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{SynthesisInputs, synthesize};

/// Returns the reasons of the verdict on required reviewers that failed, each with its cause.
fn reasons(failed: &[(&str, &str)]) -> Vec<String> {
    let report = |(name, why): &(&str, &str)| {
        let mut report = Report::unusable(Reviewer::new(*name, ReviewerKind::Command), *why);
        report.required = true;
        report
    };
    let reports: Vec<Report> = failed.iter().map(report).collect();
    let synthesis = synthesize(&reports, &SynthesisInputs::default());
    synthesis.verdict.because.into_iter().map(|reason| reason.text).collect()
}

#[test]
fn reviewers_that_fail_for_the_same_reason_share_it() {
    assert_eq!(reasons(&[("one", "no key")]), ["`one` gave nothing usable: no key"]);
    assert_eq!(
        reasons(&[("one", "no key"), ("two", "timed out"), ("three", "no key")]),
        [
            "2 reviewers (`one`, `three`) gave nothing usable: no key",
            "`two` gave nothing usable: timed out"
        ]
    );
}
