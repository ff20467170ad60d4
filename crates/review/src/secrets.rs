//! Removes credentials from the reports of reviewers.

use std::collections::BTreeSet;

use assay_change::Change;
use assay_findings::grade::Grade;
use assay_findings::grounding::TreeError;
use assay_findings::incomplete::{IncompleteKind, IncompleteReason};
use assay_findings::path::RepoPath;
use assay_findings::report::Report;
use assay_rules::KnownCredentials;

/// Removes credentials from all texts of a report, also those that the report quotes from a file
/// without the name that identifies them as credentials.
pub(crate) fn redact_report(report: &mut Report, change: &Change) {
    let known = known_credentials(report, change).unwrap_or_else(|error| {
        // The content of a quote is unknown, so it is not shown.
        report.votes.iter_mut().for_each(|vote| {
            vote.evidence.clear();
            vote.trace.clear();
        });
        let why = format!("cannot check the quotes of the report for credentials: {error}");
        report.incomplete.push(IncompleteReason::new(IncompleteKind::Rejected, why));
        KnownCredentials::in_texts(std::iter::empty())
    });
    for vote in &mut report.votes {
        // A rewrite with a removed credential would destroy the credential in the file.
        vote.replacement.take_if(|made| known.redact(made.text()) != made.text());
        // An unknown severity can be any text.
        if known.redact(vote.grade.word()) != vote.grade.word() {
            vote.grade = Grade::from_word("[redacted]");
        }
    }
    let votes = report.votes.iter_mut().flat_map(|vote| {
        let texts = [&mut vote.title, &mut vote.description].into_iter();
        let texts = texts.chain(&mut vote.suggested_fix).chain(&mut vote.evidence);
        let texts = texts.chain(&mut vote.category).chain(&mut vote.rule);
        let texts = texts.chain(vote.trace.iter_mut().map(|step| &mut step.code));
        texts.chain(&mut vote.settled_conflict).chain(&mut vote.faults)
    });
    let remarks = &mut report.remarks;
    let said = remarks.residual_risks.iter_mut().chain(&mut remarks.testing_gaps);
    let said = said.chain(&mut remarks.unmet_requirements).chain(&mut remarks.failed_checks);
    let said = said.chain(&mut remarks.not_covered).chain(&mut remarks.notes);
    let rejected = report.rejected.iter_mut();
    let rejected = rejected.flat_map(|rejected| [&mut rejected.reason, &mut rejected.raw]);
    let incomplete = report.incomplete.iter_mut().map(|reason| &mut reason.text);
    let incomplete = incomplete.chain(&mut report.rejection);
    for text in votes.chain(said).chain(rejected).chain(incomplete).chain(&mut report.unusable) {
        let redacted = known.redact(text);
        if *text != redacted {
            *text = redacted.into_owned();
        }
    }
}

/// Collects the credentials of the files that a report is about.
fn known_credentials(report: &Report, change: &Change) -> Result<KnownCredentials, TreeError> {
    let files: BTreeSet<&RepoPath> = report
        .votes
        .iter()
        .flat_map(|vote| vote.file.iter().chain(vote.trace.iter().map(|step| &step.file)))
        .collect();
    let texts: Vec<Option<String>> =
        files.into_iter().map(|file| change.tree().read(file)).collect::<Result<_, _>>()?;
    Ok(KnownCredentials::in_texts(texts.into_iter().flatten()))
}
