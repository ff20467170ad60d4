//! The task handler for reviews: [`ReviewWork`].

use std::borrow::Cow;
use std::path::Path;

use assay_change::{Scope, commit_of};
use assay_findings::post::ticket_comment;
use assay_findings::synthesis::ReportSummary;
use assay_store::task::Task;
use serde_json::json;

use super::follow_up::{CYCLE, after_review, cycle, cycle_in};
use super::{Reviewed, Reviews, Shop, subject};
use crate::change_event::RenderedReview;
use crate::config::roster::Permission;
use crate::work::{Failed, Job, Outcome, Work};

/// The handler that reviews the change of a task, and approves it or sends it back.
pub struct ReviewWork<R> {
    /// The shared context.
    pub shop: Shop,
    /// The reviewer.
    pub reviews: R,
}

impl<R: Reviews> Work for ReviewWork<R> {
    fn needs(&self) -> Permission {
        Permission::Read
    }

    fn work(&self, job: &Job<'_>) -> Result<Outcome, Failed> {
        let root = &self.shop.root;
        let scope = subject::scope(root, job)?;
        let before = tip(root, &scope);
        let reviewed = self.reviews.review(&scope, job)?;
        tell(job, &reviewed);
        let head = reviewed.head.clone().or_else(|| tip(root, &scope));
        // A pull request is fetched for the review, so its head may differ from the one before.
        if matches!(scope, Scope::Commits(_)) && before != head {
            return Err(Failed::passing(
                "the change moved on while it was reviewed, so nobody can tell what was approved",
            ));
        }
        let task = in_its_cycle(job.task, &scope, &reviewed.messages);
        let mut outcome = after_review(&self.shop.terms(job), &task, &reviewed)?;
        outcome.review = Some(RenderedReview {
            ticket: ticket_comment(&reviewed.synthesis, job.context("pr_url").unwrap_or_default()),
            draft: reviewed.draft,
        });
        let Some(head) = head else { return Ok(outcome) };
        outcome.context.insert("reviewed_commit".to_owned(), json!(head));
        // A fix of a pull request without a branch starts at the reviewed commit.
        if matches!(scope, Scope::Pull { .. }) {
            for next in &mut outcome.follow_ups {
                next.task.context.insert("head_commit".to_owned(), json!(head));
            }
        }
        Ok(outcome)
    }
}

/// Returns the task with the number of times that its change was sent back. The commits of a pull
/// request have the number if the task does not: a trigger may create the task before the agent
/// that pushed them does.
fn in_its_cycle<'a>(task: &'a Task, scope: &Scope, messages: &[String]) -> Cow<'a, Task> {
    let told = cycle_in(messages);
    if !matches!(scope, Scope::Pull { .. }) || told <= cycle(task) {
        return Cow::Borrowed(task);
    }
    let mut task = task.clone();
    task.context.insert(CYCLE.to_owned(), json!(told));
    Cow::Owned(task)
}

/// Returns the last commit of a range of commits; `None` for any other change.
fn tip(root: &Path, scope: &Scope) -> Option<String> {
    match scope {
        Scope::Commits(range) => commit_of(root, subject::last(range)).ok(),
        Scope::Automatic | Scope::Against(_) | Scope::Staged | Scope::Pull { .. } => None,
    }
}

/// Logs the status of each reviewer's report.
fn tell(job: &Job<'_>, reviewed: &Reviewed) {
    let reports = &reviewed.synthesis.reports;
    job.log.info(&format!("parsing findings: {} of {} reports", usable(reports), reports.len()));
    for report in reports {
        let name = &report.reviewer;
        if let Some(why) = &report.unusable {
            job.log.warning(&format!("Failed to parse code fence JSON findings of {name}: {why}"));
        }
        for why in report.incomplete.iter().map(|reason| &reason.text) {
            job.log.warning(&format!("The report of {name} is not complete: {why}"));
        }
        for rejected in &report.rejected {
            let why = &rejected.reason;
            job.log.warning(&format!("Failed to parse code fence JSON findings of {name}: {why}"));
        }
    }
}

fn usable(reports: &[ReportSummary]) -> usize {
    reports.iter().filter(|report| report.unusable.is_none()).count()
}
