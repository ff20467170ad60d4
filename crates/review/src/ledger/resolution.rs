//! Decides which findings a review resolves.
//!
//! A review resolves a finding only under these conditions: no required reviewer failed; the review
//! descends from the revision in which the finding was seen, and is of the same checkout if the code
//! was in no commit then; every reviewer that had voted for the
//! finding read all hunks of its file again; and its code is either no longer in the file or would
//! have been among those hunks. If a persona had voted for it, its code must no longer be in the
//! file. If the change deletes the file, the first two conditions suffice. Any other finding stays
//! as it is.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use assay_change::diff::{FileDiff, Origin};
use assay_change::{Change, Lineage};
use assay_findings::coverage::HunkOutcome;
use assay_findings::finding::Finding;
use assay_findings::grounding::Grounder;
use assay_findings::identity::ResolvedFinding;
use assay_findings::path::RepoPath;
use assay_findings::report::ReviewerKind;
use assay_rules::{RedactedTree, reads_text_only};
use assay_store::ledger::query::OpenFinding;
use assay_store::ledger::record::{Absence, Observation};
use assay_store::ledger::{AbsenceEvidence, Ledger};

use super::code_origins::own_checkout;
use super::{BaseHashes, LedgerUseError, StoredReview};

/// Personas whose advice may be reported as a gap or a risk, and is then not a finding.
const ADVISORY_PERSONAS: [&str; 2] = ["testing", "maintainability"];

/// Returns the findings that a review looked for and did not see, each with the evidence.
pub(super) fn find_resolved(
    kept: &StoredReview<'_>,
    ledger: &Ledger,
    lineage: &Lineage,
    sightings: &[Observation],
) -> Result<Vec<(OpenFinding, Absence)>, LedgerUseError> {
    if !kept.is_complete() {
        return Ok(Vec::new());
    }
    let files = files(kept.change);
    let whole = (!kept.change.is_limited).then_some("");
    let candidates = ledger.open_findings(files.keys().copied().chain(whole))?;
    let there: HashSet<(&str, &str)> = sightings.iter().flat_map(places).collect();
    let redacted = RedactedTree(kept.change.tree());
    let ground = Grounder::new(Some(&redacted), None);
    let before = BaseHashes { change: kept.change, lineage, known: Default::default() };
    let checkout = own_checkout(kept);
    let mut judge = ResolutionCheck { kept, lineage, files, ground, before, checkout };
    let gone = candidates.into_iter().filter_map(|seen| {
        if there.contains(&(seen.fingerprint.as_str(), seen.file.as_str())) {
            return None;
        }
        let evidence = judge.absence_evidence(&seen)?;
        let absence = Absence { finding: seen.key, evidence };
        Some((seen, absence))
    });
    Ok(gone.collect())
}

/// Returns a resolved finding in the form of a synthesis.
pub(super) fn to_resolved(seen: &OpenFinding) -> Option<ResolvedFinding> {
    serde_json::from_str::<Finding>(&seen.finding)
        .ok()
        .map(|finding| ResolvedFinding::from(&finding))
}

/// Returns the file of a finding, and its file before a rename.
fn places(sighting: &Observation) -> impl Iterator<Item = (&str, &str)> {
    let files = std::iter::once(&sighting.file).chain(&sighting.moved_from);
    files.map(|file| (sighting.fingerprint.as_str(), file.as_str()))
}

/// The diff of a file, and the numbers of its hunks.
#[derive(Clone)]
struct TouchedFile<'a> {
    diff: &'a FileDiff,
    hunks: Range<usize>,
}

/// Returns the files of a change by the names under which findings may have been seen in them: the
/// names after the change, and the old names that no longer exist.
fn files(change: &Change) -> BTreeMap<&str, TouchedFile<'_>> {
    let mut files = BTreeMap::new();
    let mut touched = Vec::new();
    let mut start = 0;
    for diff in &change.files {
        let hunks = start..start + diff.hunks.len().max(1);
        start = hunks.end;
        touched.push(TouchedFile { diff, hunks });
    }
    for file in &touched {
        files.extend(file.diff.new_path.as_deref().map(|name| (name, file.clone())));
    }
    for file in touched.into_iter().filter(|file| file.diff.origin != Origin::Copied) {
        if let Some(name) = file.diff.old_path.as_deref() {
            files.entry(name).or_insert(file);
        }
    }
    files
}

struct ResolutionCheck<'a> {
    kept: &'a StoredReview<'a>,
    lineage: &'a Lineage,
    files: BTreeMap<&'a str, TouchedFile<'a>>,
    ground: Grounder<'a>,
    before: BaseHashes<'a>,
    /// The id of this checkout; `None` if the ledger belongs to this checkout alone.
    checkout: Option<String>,
}

impl ResolutionCheck<'_> {
    /// Returns the evidence that a finding is resolved; `None` if it is not resolved.
    fn absence_evidence(&mut self, seen: &OpenFinding) -> Option<AbsenceEvidence> {
        if !self.lineage.follows(seen.branch.as_deref(), seen.head.as_deref()) {
            return None;
        }
        // Code that is in no commit is only in the checkout in which it was seen.
        if seen.checkout.is_some() && seen.checkout != self.checkout {
            return None;
        }
        match self.files.get(seen.file.as_str()) {
            Some(TouchedFile { diff: FileDiff { new_path: None, .. }, .. }) => {
                Some(AbsenceEvidence::CodeRemoved)
            }
            Some(touched) => {
                let (path, hunks) = (touched.diff.path().to_owned(), touched.hunks.clone());
                self.was_reviewed(seen, &hunks).then(|| self.evidence_in_file(seen, &path))?
            }
            None => {
                let all = 0..self.kept.change.hunks();
                let same = seen.before.is_some() && seen.before == self.lineage.base;
                let is_resolved = seen.file.is_empty() && same && self.was_reviewed(seen, &all);
                is_resolved.then_some(AbsenceEvidence::NotReported)
            }
        }
    }

    /// Returns true if every reviewer that had voted for a finding has read these hunks, with a
    /// readable report.
    fn was_reviewed(&self, seen: &OpenFinding, hunks: &Range<usize>) -> bool {
        let review = self.kept.review;
        let finding = serde_json::from_str::<Finding>(&seen.finding).ok();
        let rule = finding.and_then(|finding| finding.rule);
        let sees_in_text = rule.as_deref().is_some_and(reads_text_only);
        let has_read = |name: &String| {
            let mut answers = review.reports.iter().zip(&review.looks);
            answers.any(|(report, looks)| {
                let read = |at: usize| match looks.hunks.get(at) {
                    Some(HunkOutcome::Reviewed) => true,
                    // Without a syntax tree, most rules cannot see their findings.
                    Some(HunkOutcome::TextOnly) => seen.file.is_empty() || sees_in_text,
                    // A check of the change as a whole ignores files that are left out.
                    Some(HunkOutcome::LeftOut(_)) => seen.file.is_empty(),
                    Some(
                        HunkOutcome::Unread(_) | HunkOutcome::Failed(_) | HunkOutcome::NotConcerned,
                    )
                    | None => false,
                };
                looks.reviewer == *name && report.is_whole() && hunks.clone().all(read)
            })
        };
        let became_advice = self.kept.synthesis.counts.demoted > 0
            && seen.reviewers.iter().any(|name| ADVISORY_PERSONAS.contains(&name.as_str()));
        !seen.reviewers.is_empty() && seen.reviewers.iter().all(has_read) && !became_advice
    }

    /// Returns the evidence that a finding, if it still existed, would have been among the code that
    /// was read: its code is no longer in the file, or its file is compared with the same text as
    /// when it was seen. A persona that does not mention unchanged code has not declared it correct.
    fn evidence_in_file(&mut self, seen: &OpenFinding, path: &str) -> Option<AbsenceEvidence> {
        let path = RepoPath::exact(path).ok()?;
        let finding = serde_json::from_str::<Finding>(&seen.finding);
        if finding.is_ok_and(|finding| self.ground.lacks_all_quotes(&path, &finding.evidence)) {
            return Some(AbsenceEvidence::CodeRemoved);
        }
        let before = self.before.of(Some(&path));
        let would_show = before.is_some() && before == seen.before && !self.is_from_a_persona(seen);
        would_show.then_some(AbsenceEvidence::NotReported)
    }

    /// Returns true if a persona had voted for a finding.
    fn is_from_a_persona(&self, seen: &OpenFinding) -> bool {
        let mut looks = self.kept.review.looks.iter();
        looks.any(|looks| {
            looks.kind == ReviewerKind::Persona && seen.reviewers.contains(&looks.reviewer)
        })
    }
}
