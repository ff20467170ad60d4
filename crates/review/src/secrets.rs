//! Taking secrets out of what reviewers return.

use assay_findings::grade::Grade;
use assay_findings::report::Report;
use assay_rules::redacted_text;

/// Takes secrets out of all that a report says, the bodies of private keys among them.
pub(crate) fn keep_secrets(report: &mut Report) {
    for vote in &mut report.votes {
        // A severity that nobody knows is whatever was said.
        if redacted_text(vote.grade.word()) != vote.grade.word() {
            vote.grade = Grade::from_word("[redacted]");
        }
    }
    let votes = report.votes.iter_mut().flat_map(|vote| {
        let texts = [&mut vote.title, &mut vote.description].into_iter();
        let texts = texts.chain(&mut vote.suggested_fix).chain(&mut vote.evidence);
        let texts = texts.chain(&mut vote.category).chain(&mut vote.rule);
        texts.chain(&mut vote.settled_conflict).chain(&mut vote.faults)
    });
    let remarks = &mut report.remarks;
    let said = remarks.residual_risks.iter_mut().chain(&mut remarks.testing_gaps);
    let said = said.chain(&mut remarks.unmet_requirements).chain(&mut remarks.failed_checks);
    let said = said.chain(&mut remarks.not_covered).chain(&mut remarks.notes);
    let rejected = report.rejected.iter_mut();
    let rejected = rejected.flat_map(|rejected| [&mut rejected.reason, &mut rejected.raw]);
    let incomplete = report.incomplete.iter_mut().map(|reason| &mut reason.text);
    for text in votes.chain(said).chain(rejected).chain(incomplete).chain(&mut report.unusable) {
        let redacted = redacted_text(text);
        if *text != redacted {
            *text = redacted;
        }
    }
}
