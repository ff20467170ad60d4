//! The standing of a finished review's findings: [`Finished`] and [`Since`].
//!
//! The standing is told from the work tree and from the reviewers that need no model. The words of an
//! agent about a fix count for nothing, and a finding that only a model can judge stays open until the
//! next review.

use std::collections::BTreeSet;
use std::ops::Range;

use assay_change::state::State;
use assay_change::{Change, Scope, Selection};
use assay_findings::coverage::{Look, Looks};
use assay_findings::finding::Finding;
use assay_findings::ground::{Ground, Tree};
use assay_findings::path::RepoPath;
use assay_findings::synthesis::Synthesis;
use assay_rules::{Redacted, reads_text_only};
use serde::Serialize;

use super::error::shown;
use super::folder::{About, Folder, Stage};
use super::{DelegationError, ReviewId, Unwatched};
use crate::reviewer::Reviewer;
use crate::run::{AtATime, Order, Review, Terms, run};
use crate::runs;

/// A finished review.
pub struct Finished {
    about: About,
    id: ReviewId,
    synthesis: Synthesis,
}

/// The work tree as it is since a review.
pub struct Since<'a> {
    finished: &'a Finished,
    change: &'a Change,
    review: Review,
    synthesis: Synthesis,
}

/// The standing of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The reviewers that found it looked again and find it no more.
    Fixed,
    /// The finding is there as it was.
    StillThere,
    /// Only a new review can judge it.
    NotVerified,
}

/// The standing of a finding, and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The standing.
    pub standing: Standing,
    /// The reason for the standing.
    pub because: String,
}

/// The finding that is to be fixed next, and the progress so far.
#[derive(Debug)]
pub struct NextFix<'a> {
    /// The worst finding that is still there.
    pub next: Option<&'a Finding>,
    /// The findings that are still there, the worst among them.
    pub still_there: Vec<&'a Finding>,
    /// The findings that are gone.
    pub fixed: Vec<&'a Finding>,
    /// The findings that only a new review can judge.
    pub not_verified: Vec<&'a Finding>,
}

/// Opens a finished review.
pub fn finished(state: &State, id: &ReviewId) -> Result<Finished, DelegationError> {
    let folder = Folder::new(state, id)?;
    let _held = folder.hold()?;
    let about = folder.about()?;
    let Stage::Done { run } = &about.stage else {
        return Err(DelegationError::NotFinished { id: id.to_string() });
    };
    let synthesis = runs::synthesis(&runs::find(state, Some(run))?)?;
    Ok(Finished { id: id.clone(), about, synthesis })
}

impl Finished {
    /// Returns the id of the review, which is the id of its run.
    pub fn id(&self) -> &ReviewId {
        &self.id
    }

    /// Returns the synthesis of the review.
    pub fn synthesis(&self) -> &Synthesis {
        &self.synthesis
    }

    /// Returns the scope to open for the standing of the findings: from before the change to the work
    /// tree, fixes included.
    pub fn scope(&self) -> Result<(Scope, Selection), DelegationError> {
        match &self.about.base {
            Some(base) => Ok((Scope::Against(base.clone()), self.about.selection.clone())),
            None => Err(DelegationError::NotHere { title: self.about.title.clone() }),
        }
    }

    /// Returns the title of the change.
    pub fn title(&self) -> &str {
        &self.about.title
    }

    /// Returns the paths that the review was limited to; none where it was not.
    pub fn limited_to(&self) -> &[String] {
        &self.about.selection.paths
    }

    /// Has the rules look again, and the other reviewers that need no model and found something.
    pub fn since<'a>(
        &'a self,
        change: &'a Change,
        mut reviewers: Vec<Box<dyn Reviewer>>,
        at_a_time: usize,
    ) -> Since<'a> {
        let found = self.synthesis.findings.iter().flat_map(|finding| &finding.reviewers);
        let found: BTreeSet<&str> =
            found.map(String::as_str).chain([assay_rules::REVIEWER]).collect();
        reviewers.retain(|by| found.contains(by.name()));
        let at_a_time = AtATime { local: at_a_time, models: 1, order: Order::AllAtOnce };
        let review = run(change, &reviewers, at_a_time, &Unwatched);
        let synthesis = review.synthesis(change, &Terms::default());
        Since { finished: self, change, review, synthesis }
    }

    fn finding(&self, id: &str) -> Result<&Finding, DelegationError> {
        let findings = &self.synthesis.findings;
        findings.iter().find(|finding| finding.id == id).ok_or_else(|| {
            let known: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            DelegationError::UnknownFinding { id: shown(id), known }
        })
    }

    /// Returns true if the review had a finding, of any kind, of the same code in the same file.
    fn had(&self, other: &Finding) -> bool {
        everything(&self.synthesis)
            .any(|finding| finding.fingerprint == other.fingerprint && finding.file == other.file)
    }
}

/// Returns all findings of a synthesis, whatever was decided on them.
fn everything(synthesis: &Synthesis) -> impl Iterator<Item = &Finding> {
    let open = synthesis.findings.iter().chain(&synthesis.pre_existing);
    open.chain(&synthesis.held_back).chain(&synthesis.dismissed)
}

impl<'a> Since<'a> {
    /// Returns the worst finding that is still there, but for those to skip.
    pub fn next_fix(&self, skip: &BTreeSet<String>) -> NextFix<'a> {
        let mut findings: Vec<&Finding> = self.finished.synthesis.findings.iter().collect();
        findings.sort_by(|a, b| a.by_weight(b));
        let (mut still_there, mut fixed, mut not_verified) = (Vec::new(), Vec::new(), Vec::new());
        for finding in findings {
            match self.standing(finding).standing {
                Standing::StillThere => still_there.push(finding),
                Standing::Fixed => fixed.push(finding),
                Standing::NotVerified => not_verified.push(finding),
            }
        }
        let next = still_there.iter().find(|finding| !skip.contains(&finding.id)).copied();
        NextFix { next, still_there, fixed, not_verified }
    }

    /// Returns the standing of a finding.
    pub fn verify(&self, id: &str) -> Result<Verified, DelegationError> {
        Ok(self.standing(self.finished.finding(id)?))
    }

    /// Returns the findings of now that were not found in the review.
    pub fn new_findings(&self) -> Vec<&Finding> {
        let then = || self.finished.synthesis.findings.iter();
        let is_new =
            |now: &&Finding| !self.finished.had(now) && !then().any(|then| self.is_same(then, now));
        self.synthesis.findings.iter().filter(is_new).collect()
    }

    fn standing(&self, finding: &Finding) -> Verified {
        let judges: Vec<&str> =
            self.review.looks.iter().map(|looks| looks.reviewer.as_str()).collect();
        let judges: Vec<&str> = finding
            .reviewers
            .iter()
            .map(String::as_str)
            .filter(|name| judges.contains(name))
            .collect();
        if judges.is_empty() {
            return self.told_by_the_tree(finding);
        }
        let told = self.told_by(&judges, finding);
        let others = finding.reviewers.iter().map(String::as_str);
        let others: Vec<&str> = others.filter(|name| !judges.contains(name)).collect();
        match told.standing == Standing::Fixed && !others.is_empty() {
            true => self.told_without(&others, &judges, finding),
            false => told,
        }
    }

    /// Returns the standing of a finding that the reviewers who looked again find no more, and that
    /// others found too.
    fn told_without(&self, others: &[&str], judges: &[&str], finding: &Finding) -> Verified {
        let told = self.told_by_the_tree(finding);
        match told.standing {
            Standing::StillThere => told,
            Standing::Fixed | Standing::NotVerified => not_verified(format!(
                "{} did not find it again, but {} found it too and did not look again; a new review \
                 asks",
                judges.join(" and "),
                others.join(" and ")
            )),
        }
    }

    /// Returns the standing of a finding by the reviewers that need no model to find it again.
    fn told_by(&self, judges: &[&str], finding: &Finding) -> Verified {
        let again = everything(&self.synthesis).find(|now| self.is_same(finding, now));
        if let Some(now) = again {
            let place = now.place().unwrap_or_else(|| "the change".to_owned());
            return match &now.dismissal {
                Some(why) => {
                    still_there(format!("it is found again at {place}, and hidden: {why}"))
                }
                None => still_there(format!("it is found again at {place}")),
            };
        }
        let reports = self.review.reports.iter();
        let mut failed = reports.filter(|r| judges.contains(&r.reviewer.name.as_str()));
        if let Some(why) = failed.find_map(|report| report.unusable.as_ref()) {
            return not_verified(format!("who found it could not look again: {why}"));
        }
        let names = judges.join(" and ");
        let Some(file) = &finding.file else {
            return fixed(format!(
                "the change was looked at again by {names}, and it is found no more"
            ));
        };
        match self.change.tree().exists(file) {
            Ok(true) => {}
            Ok(false) => return fixed(format!("`{file}` is gone")),
            Err(error) => return not_verified(error.to_string()),
        }
        let Some(hunks) = hunks_of(self.change, file) else { return self.told_by_the_base(file) };
        match self.not_looked_at(judges, hunks, finding.rule.as_deref()) {
            Some(why) => not_verified(format!("`{file}` was not looked at again: {why}")),
            None => {
                fixed(format!("`{file}` was looked at again by {names}, and it is found no more"))
            }
        }
    }

    /// Returns the standing of a finding in a file that is not part of the change any more.
    fn told_by_the_base(&self, file: &RepoPath) -> Verified {
        match (self.change.tree().read(file), self.change.base().read(file)) {
            (Err(error), _) | (_, Err(error)) => not_verified(error.to_string()),
            (Ok(after), Ok(before)) if after == before => {
                fixed(format!("`{file}` is again as it was before the change"))
            }
            (Ok(_), Ok(_)) => not_verified(format!(
                "`{file}` is not part of the change any more, so no reviewer looked at it again"
            )),
        }
    }

    /// Returns true if a finding of now is one of the review: the same code, or the same rule on code
    /// that is new in the file.
    fn is_same(&self, then: &Finding, now: &Finding) -> bool {
        let is_new = !self.finished.had(now);
        match now.fingerprint == then.fingerprint {
            true => now.file == then.file || is_new,
            false => {
                let same_rule = now.rule.is_some() && now.rule == then.rule;
                same_rule && now.file == then.file && is_new
            }
        }
    }

    /// Returns the reason why one of some hunks was not looked at for a rule; `None` where all were.
    fn not_looked_at(
        &self,
        judges: &[&str],
        hunks: Range<usize>,
        rule: Option<&str>,
    ) -> Option<String> {
        let sees_in_text = rule.is_some_and(reads_text_only);
        let looks = self.review.looks.iter();
        let looks = looks.filter(|looks| judges.contains(&looks.reviewer.as_str()));
        let of_file =
            |looks: &'_ Looks| looks.hunks.get(hunks.clone()).unwrap_or_default().to_vec();
        looks.flat_map(of_file).find_map(|look| match look {
            Look::LeftOut(why) | Look::Unread(why) | Look::Failed(why) => Some(why),
            Look::TextOnly if !sees_in_text => Some("it could only be read as text".to_owned()),
            Look::Reviewed | Look::TextOnly | Look::NotConcerned => None,
        })
    }

    /// Returns the standing of a finding by its code alone. Whether other code is any better, only a
    /// model can judge.
    fn told_by_the_tree(&self, finding: &Finding) -> Verified {
        let Some(file) = &finding.file else {
            return not_verified("it is about no place that could be looked up".to_owned());
        };
        let redacted = Redacted(self.change.tree());
        match redacted.exists(file) {
            Ok(true) => {}
            Ok(false) => {
                return not_verified(format!(
                    "`{file}` is gone; a new review judges what is there now"
                ));
            }
            Err(error) => return not_verified(error.to_string()),
        }
        let ground = Ground::new(Some(&redacted), None);
        let holds = finding.evidence.iter().any(|quote| ground.holds(file, quote));
        if let Some(error) = ground.errors().first() {
            return not_verified(error.to_string());
        }
        match holds {
            true => still_there(format!("the code that it quotes stands in `{file}` as it did")),
            false => not_verified(format!(
                "the code that it quotes is no longer in `{file}`; a new review judges what is \
                 there now"
            )),
        }
    }
}

/// Returns the numbers of a file's hunks in a change; `None` where the file is not part of the change.
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

fn fixed(because: String) -> Verified {
    Verified { standing: Standing::Fixed, because }
}

fn still_there(because: String) -> Verified {
    Verified { standing: Standing::StillThere, because }
}

fn not_verified(because: String) -> Verified {
    Verified { standing: Standing::NotVerified, because }
}
