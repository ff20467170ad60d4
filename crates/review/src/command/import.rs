//! The output of an analyser that ran before the review: [`imported_report`].

use std::collections::BTreeMap;

use assay_change::Change;
use assay_change::tree::DirTree;
use assay_findings::grounding::Tree;
use assay_findings::incomplete::{IncompleteKind, IncompleteReason};
use assay_findings::path::RepoPath;
use assay_findings::read::RejectedText;
use assay_findings::report::Report;
use assay_findings::vote::{LineRange, Vote};

use super::checkout::Checkout;
use super::format::AnalyserFormat;
use super::mark_old;
use super::report_builder::MAX_REJECTED;
use crate::secrets::redact_report;

/// The reason why a finding of an unknown file is rejected.
const NOT_IN_REPOSITORY: &str = "the file is not in the repository";

/// Parses the output of an analyser that ran before the review, at the root of the repository.
/// Findings outside of the changed lines are marked as old. Findings in unknown files are counted
/// as lost, since such a file may be one of the change.
pub fn imported_report(
    name: &str,
    format: AnalyserFormat,
    output: &[u8],
    change: &Change,
) -> Report {
    let checkout = Checkout::new(&change.root, change.tree());
    let mut report = format.read(output, name, &checkout);
    reject_unknown_files(&mut report, change);
    mark_old(&mut report, &change.changed_lines());
    redact_report(&mut report, change);
    report
}

/// Moves the findings in unknown files to the rejected entries.
fn reject_unknown_files(report: &mut Report, change: &Change) {
    let mut known: BTreeMap<RepoPath, bool> = BTreeMap::new();
    let mut is_known = |vote: &Vote| {
        let Some(file) = &vote.file else { return true };
        *known.entry(file.clone()).or_insert_with(|| is_known_file(file, change))
    };
    let votes = std::mem::take(&mut report.votes);
    let (votes, unknown): (Vec<Vote>, Vec<Vote>) = votes.into_iter().partition(|it| is_known(it));
    report.votes = votes;
    report.lost += unknown.len();
    if let Some(first) = unknown.first() {
        let more = match unknown.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let text = format!("could not be placed: {NOT_IN_REPOSITORY} (`{}`){more}", entry(first));
        report.incomplete.push(IncompleteReason::new(IncompleteKind::Rejected, text));
    }
    let rejected = unknown.iter().take(MAX_REJECTED).map(|vote| {
        let reason = NOT_IN_REPOSITORY.to_owned();
        RejectedText { reason, raw: entry(vote) }
    });
    report.rejected.extend(rejected);
}

/// Returns true if a file exists before or after the change or in the work tree, or if the end of
/// its path belongs to one file only. A tree that cannot be read has recorded its error.
fn is_known_file(file: &RepoPath, change: &Change) -> bool {
    let work_tree = DirTree::new(change.root.clone());
    let trees: [&dyn Tree; 3] = [change.tree(), change.base(), &work_tree];
    if trees.iter().any(|tree| tree.exists(file).unwrap_or(true)) {
        return true;
    }
    let ending = format!("/{file}");
    let matches =
        |paths: Vec<RepoPath>| paths.iter().filter(|path| path.as_str().ends_with(&ending)).count();
    change.tree().paths().map(matches).is_ok_and(|count| count == 1)
}

/// Returns the place and the title of a finding.
fn entry(vote: &Vote) -> String {
    let file = vote.file.as_ref().map(RepoPath::to_string).unwrap_or_default();
    let line = vote.lines.map(LineRange::start).map(|line| format!(":{line}")).unwrap_or_default();
    format!("{file}{line}: {}", vote.title)
}
