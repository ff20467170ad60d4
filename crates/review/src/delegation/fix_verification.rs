//! The state of the findings of a finished review: [`FinishedReview`] and [`FixCheck`].
//!
//! The state is decided by the work tree and by the reviewers that need no model. The words of an
//! agent about a fix do not count, and a finding that only a model can judge stays open until the
//! next review.

use std::collections::BTreeSet;
use std::ops::Range;

use assay_change::state::State;
use assay_change::{Change, Scope, Selection};
use assay_findings::coverage::{HunkOutcome, ReviewerCoverage};
use assay_findings::finding::Finding;
use assay_findings::grounding::{Grounder, Tree};
use assay_findings::path::RepoPath;
use assay_findings::synthesis::Synthesis;
use assay_rules::{RedactedTree, reads_text_only};
use serde::Serialize;

use super::error::truncate_foreign;
use super::folder::{Folder, ReviewMeta, ReviewStage};
use super::{DelegationError, NullReviewObserver, ReviewId};
use crate::reviewer::Reviewer;
use crate::run::{Concurrency, Review, ReviewPolicy, StartOrder, run};
use crate::runs;

/// A finished review.
pub struct FinishedReview {
    meta: ReviewMeta,
    id: ReviewId,
    synthesis: Synthesis,
}

/// The work tree, reviewed again after a finished review.
pub struct FixCheck<'a> {
    finished: &'a FinishedReview,
    change: &'a Change,
    review: Review,
    synthesis: Synthesis,
}

/// The state of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FixStatus {
    /// The reviewers that reported the finding report it no more, or its file is deleted or again
    /// as it was before the change.
    Fixed,
    /// The finding still exists.
    StillThere,
    /// Only a new review can judge the finding.
    NotVerified,
}

/// The state of a finding, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FixVerdict {
    /// The state.
    #[serde(rename = "standing")]
    pub status: FixStatus,
    /// The reason.
    pub because: String,
}

/// The next finding to fix, and the progress so far.
#[derive(Debug)]
pub struct NextFix<'a> {
    /// The worst finding that still exists; `None` if there is none or all are skipped.
    pub next: Option<&'a Finding>,
    /// The findings that still exist, including the next.
    pub still_there: Vec<&'a Finding>,
    /// The findings that are fixed.
    pub fixed: Vec<&'a Finding>,
    /// The findings that only a new review can judge.
    pub not_verified: Vec<&'a Finding>,
}

/// Opens a finished review.
pub fn open_finished(state: &State, id: &ReviewId) -> Result<FinishedReview, DelegationError> {
    let folder = Folder::new(state, id)?;
    let _held = folder.lock()?;
    let meta = folder.read_meta()?;
    let ReviewStage::Done { run } = &meta.stage else {
        return Err(DelegationError::NotFinished { id: id.to_string() });
    };
    let synthesis = runs::synthesis(&runs::find(state, Some(run))?)?;
    Ok(FinishedReview { id: id.clone(), meta, synthesis })
}

impl FinishedReview {
    /// Returns the id of the review, which is also the id of its run.
    pub fn id(&self) -> &ReviewId {
        &self.id
    }

    /// Returns the synthesis of the review.
    pub fn synthesis(&self) -> &Synthesis {
        &self.synthesis
    }

    /// Returns the scope for checking the findings: from before the change to the work tree, with
    /// fixes included. Fails if the work tree does not contain the reviewed change.
    pub fn scope(&self) -> Result<(Scope, Selection), DelegationError> {
        match &self.meta.base {
            Some(base) => Ok((Scope::Against(base.clone()), self.meta.selection.clone())),
            None => Err(DelegationError::NotHere { title: self.meta.title.clone() }),
        }
    }

    /// Returns the title of the change.
    pub fn title(&self) -> &str {
        &self.meta.title
    }

    /// Returns the paths that the review was limited to; empty if it was not limited.
    pub fn limited_to(&self) -> &[String] {
        &self.meta.selection.paths
    }

    /// Runs the rules again, and the other reviewers that need no model and reported findings.
    pub fn check_fixes<'a>(
        &'a self,
        change: &'a Change,
        mut reviewers: Vec<Box<dyn Reviewer>>,
        at_a_time: usize,
    ) -> FixCheck<'a> {
        let found = self.synthesis.findings.iter().flat_map(|finding| &finding.reviewers);
        let found: BTreeSet<&str> =
            found.map(String::as_str).chain([assay_rules::REVIEWER]).collect();
        reviewers.retain(|by| found.contains(by.name()));
        let at_a_time = Concurrency { local: at_a_time, models: 1, order: StartOrder::AllAtOnce };
        let review = run(change, &reviewers, at_a_time, &NullReviewObserver);
        let synthesis = review.synthesis(change, &ReviewPolicy::default());
        FixCheck { finished: self, change, review, synthesis }
    }

    fn finding(&self, id: &str) -> Result<&Finding, DelegationError> {
        let findings = &self.synthesis.findings;
        findings.iter().find(|finding| finding.id == id).ok_or_else(|| {
            let known: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            DelegationError::UnknownFinding { id: truncate_foreign(id), known }
        })
    }

    /// Returns true if the review had a finding, in any list, with the same code in the same file.
    fn contains(&self, other: &Finding) -> bool {
        all_findings(&self.synthesis)
            .any(|finding| finding.fingerprint == other.fingerprint && finding.file == other.file)
    }
}

/// Returns all findings of a synthesis, whatever was decided on them.
fn all_findings(synthesis: &Synthesis) -> impl Iterator<Item = &Finding> {
    let open = synthesis.findings.iter().chain(&synthesis.pre_existing);
    open.chain(&synthesis.held_back).chain(&synthesis.dismissed)
}

impl<'a> FixCheck<'a> {
    /// Returns the worst finding that still exists, without those to skip, and the progress so far.
    pub fn next_fix(&self, skip: &BTreeSet<String>) -> NextFix<'a> {
        let mut findings: Vec<&Finding> = self.finished.synthesis.findings.iter().collect();
        findings.sort_by(|a, b| a.cmp_by_weight(b));
        let (mut still_there, mut fixed, mut not_verified) = (Vec::new(), Vec::new(), Vec::new());
        for finding in findings {
            match self.status(finding).status {
                FixStatus::StillThere => still_there.push(finding),
                FixStatus::Fixed => fixed.push(finding),
                FixStatus::NotVerified => not_verified.push(finding),
            }
        }
        let next = still_there.iter().find(|finding| !skip.contains(&finding.id)).copied();
        NextFix { next, still_there, fixed, not_verified }
    }

    /// Returns the state of a finding.
    pub fn verify(&self, id: &str) -> Result<FixVerdict, DelegationError> {
        Ok(self.status(self.finished.finding(id)?))
    }

    /// Returns the current findings that the review did not have.
    pub fn new_findings(&self) -> Vec<&Finding> {
        let then = || self.finished.synthesis.findings.iter();
        let is_new = |now: &&Finding| {
            !self.finished.contains(now) && !then().any(|then| self.is_same(then, now))
        };
        self.synthesis.findings.iter().filter(is_new).collect()
    }

    fn status(&self, finding: &Finding) -> FixVerdict {
        let judges: Vec<&str> =
            self.review.looks.iter().map(|looks| looks.reviewer.as_str()).collect();
        let judges: Vec<&str> = finding
            .reviewers
            .iter()
            .map(String::as_str)
            .filter(|name| judges.contains(name))
            .collect();
        if judges.is_empty() {
            return self.status_by_tree(finding);
        }
        let verdict = self.status_by_reviewers(&judges, finding);
        let others = finding.reviewers.iter().map(String::as_str);
        let others: Vec<&str> = others.filter(|name| !judges.contains(name)).collect();
        match verdict.status == FixStatus::Fixed && !others.is_empty() {
            true => self.status_without(&others, &judges, finding),
            false => verdict,
        }
    }

    /// Returns the state of a finding that the current reviewers no longer report, and that other
    /// reviewers had reported too.
    fn status_without(&self, others: &[&str], judges: &[&str], finding: &Finding) -> FixVerdict {
        let verdict = self.status_by_tree(finding);
        match verdict.status {
            FixStatus::StillThere => verdict,
            FixStatus::Fixed | FixStatus::NotVerified => not_verified(format!(
                "{} no longer reports the finding, but {} reported it too and was not run again; \
                 start a new review",
                judges.join(" and "),
                others.join(" and ")
            )),
        }
    }

    /// Returns the state of a finding by the reviewers that can report it again without a model.
    fn status_by_reviewers(&self, judges: &[&str], finding: &Finding) -> FixVerdict {
        let again = all_findings(&self.synthesis).find(|now| self.is_same(finding, now));
        if let Some(now) = again {
            let place = now.place().unwrap_or_else(|| "the change".to_owned());
            return match &now.dismissal {
                Some(why) => still_there(format!(
                    "the finding is reported again at {place}, and suppressed: {why}"
                )),
                None => still_there(format!("the finding is reported again at {place}")),
            };
        }
        let reports = self.review.reports.iter();
        let mut failed = reports.filter(|r| judges.contains(&r.reviewer.name.as_str()));
        if let Some(why) = failed.find_map(|report| report.unusable.as_ref()) {
            return not_verified(format!("the reviewer of the finding failed: {why}"));
        }
        let names = judges.join(" and ");
        let Some(file) = &finding.file else {
            return fixed(format!(
                "the change was reviewed again by {names}, and the finding is no longer reported"
            ));
        };
        match self.change.tree().exists(file) {
            Ok(true) => {}
            Ok(false) => return fixed(format!("`{file}` no longer exists")),
            Err(error) => return not_verified(error.to_string()),
        }
        let Some(hunks) = hunks_of(self.change, file) else { return self.status_by_base(file) };
        match self.unread_reason(judges, hunks, finding.rule.as_deref()) {
            Some(why) => not_verified(format!("`{file}` was not reviewed again: {why}")),
            None => fixed(format!(
                "`{file}` was reviewed again by {names}, and the finding is no longer reported"
            )),
        }
    }

    /// Returns the state of a finding in a file that is no longer part of the change.
    fn status_by_base(&self, file: &RepoPath) -> FixVerdict {
        match (self.change.tree().read(file), self.change.base().read(file)) {
            (Err(error), _) | (_, Err(error)) => not_verified(error.to_string()),
            (Ok(after), Ok(before)) if after == before => {
                fixed(format!("`{file}` is the same as before the change"))
            }
            (Ok(_), Ok(_)) => not_verified(format!(
                "`{file}` is no longer part of the change, so no reviewer read it again"
            )),
        }
    }

    /// Returns true if a current finding is one of the review: the same code, or the same rule on
    /// code that is new in the file.
    fn is_same(&self, then: &Finding, now: &Finding) -> bool {
        let is_new = !self.finished.contains(now);
        match now.fingerprint == then.fingerprint {
            true => now.file == then.file || is_new,
            false => {
                let same_rule = now.rule.is_some() && now.rule == then.rule;
                same_rule && now.file == then.file && is_new
            }
        }
    }

    /// Returns the reason why one of some hunks was not read for a rule; `None` if all were read.
    fn unread_reason(
        &self,
        judges: &[&str],
        hunks: Range<usize>,
        rule: Option<&str>,
    ) -> Option<String> {
        let sees_in_text = rule.is_some_and(reads_text_only);
        let looks = self.review.looks.iter();
        let looks = looks.filter(|looks| judges.contains(&looks.reviewer.as_str()));
        let of_file = |looks: &'_ ReviewerCoverage| {
            looks.hunks.get(hunks.clone()).unwrap_or_default().to_vec()
        };
        looks.flat_map(of_file).find_map(|look| match look {
            HunkOutcome::LeftOut(why) | HunkOutcome::Unread(why) | HunkOutcome::Failed(why) => {
                Some(why)
            }
            HunkOutcome::TextOnly if !sees_in_text => {
                Some("the file could only be read as text".to_owned())
            }
            HunkOutcome::Reviewed | HunkOutcome::TextOnly | HunkOutcome::NotConcerned => None,
        })
    }

    /// Returns the state of a finding by its code alone. Only a model can judge whether other code
    /// is any better.
    fn status_by_tree(&self, finding: &Finding) -> FixVerdict {
        let Some(file) = &finding.file else {
            return not_verified("the finding has no file to check".to_owned());
        };
        let redacted = RedactedTree(self.change.tree());
        match redacted.exists(file) {
            Ok(true) => {}
            Ok(false) => {
                return not_verified(format!("`{file}` no longer exists; start a new review"));
            }
            Err(error) => return not_verified(error.to_string()),
        }
        let ground = Grounder::new(Some(&redacted), None);
        let holds = finding.evidence.iter().any(|quote| ground.contains_quote(file, quote));
        if let Some(error) = ground.errors().first() {
            return not_verified(error.to_string());
        }
        match holds {
            true => still_there(format!("the quoted code is still in `{file}`")),
            false => not_verified(format!(
                "the quoted code is no longer in `{file}`; start a new review"
            )),
        }
    }
}

/// Returns the numbers of the hunks of a file in a change; `None` if the file is not part of the
/// change.
fn hunks_of(change: &Change, file: &RepoPath) -> Option<Range<usize>> {
    let mut first = 0;
    for diff in &change.files {
        let hunks = first..first + diff.hunks.len().max(1);
        if diff.path() == file.as_str() {
            return Some(hunks);
        }
        first = hunks.end;
    }
    None
}

fn fixed(because: String) -> FixVerdict {
    FixVerdict { status: FixStatus::Fixed, because }
}

fn still_there(because: String) -> FixVerdict {
    FixVerdict { status: FixStatus::StillThere, because }
}

fn not_verified(because: String) -> FixVerdict {
    FixVerdict { status: FixStatus::NotVerified, because }
}
