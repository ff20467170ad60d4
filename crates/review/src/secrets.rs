//! Taking secrets out of what reviewers return.

use std::borrow::Cow;

use assay_findings::report::Report;
use assay_rules::redact;

/// Takes secrets out of what a report quotes.
pub(crate) fn keep_secrets(report: &mut Report) {
    let votes = report.votes.iter_mut().flat_map(|vote| {
        let texts = [&mut vote.title, &mut vote.description].into_iter();
        texts.chain(&mut vote.suggested_fix).chain(&mut vote.evidence)
    });
    let remarks = &mut report.remarks;
    let said = remarks.residual_risks.iter_mut().chain(&mut remarks.testing_gaps);
    let rejected = report.rejected.iter_mut().map(|rejected| &mut rejected.raw);
    for text in votes.chain(said).chain(rejected).chain(&mut report.unusable) {
        if let Cow::Owned(redacted) = redact(text) {
            *text = redacted;
        }
    }
}
