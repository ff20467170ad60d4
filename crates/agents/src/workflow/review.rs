//! The task handler for reviews: [`ReviewHandler`].

use std::borrow::Cow;
use std::path::Path;

use assay_change::{Scope, commit_of};
use assay_findings::post::{ticket_comment, ticket_resolutions};
use assay_findings::synthesis::ReportSummary;
use assay_store::task::Task;
use serde_json::json;

use super::follow_up::{CYCLE_KEY, after_review, cycle, cycle_in};
use super::{ChangeReviewer, ReviewOutcome, WorkflowContext, subject};
use crate::change_event::RenderedReview;
use crate::config::roster::Permission;
use crate::task_handler::{HandlerError, Job, TaskHandler, TaskOutcome};

/// The handler that reviews the change of a task, and approves it or sends it back.
pub struct ReviewHandler<R> {
    /// The shared context.
    pub workflow_context: WorkflowContext,
    /// The reviewer.
    pub reviewer: R,
}

impl<R: ChangeReviewer> TaskHandler for ReviewHandler<R> {
    fn required_permission(&self) -> Permission {
        Permission::Read
    }

    fn handle(&self, job: &Job<'_>) -> Result<TaskOutcome, HandlerError> {
        let root = &self.workflow_context.root;
        let scope = subject::scope(root, job)?;
        let before = last_commit(root, &scope);
        let reviewed = self.reviewer.review(&scope, job)?;
        log_reports(job, &reviewed);
        let head = reviewed.head.clone().or_else(|| last_commit(root, &scope));
        // A pull request is fetched for the review, so its head may differ from the one before.
        if matches!(scope, Scope::Commits(_)) && before != head {
            return Err(HandlerError::transient(
                "the branch changed during the review, so the approved commit is unknown",
            ));
        }
        let task = with_cycle(job.task, &scope, &reviewed.messages);
        let mut outcome =
            after_review(&self.workflow_context.follow_up_input(job), &task, &reviewed)?;
        let pull_request = job.context("pr_url").unwrap_or_default();
        outcome.review = Some(RenderedReview {
            ticket: ticket_comment(&reviewed.synthesis, pull_request),
            resolutions: ticket_resolutions(&reviewed.tracked, pull_request),
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
fn with_cycle<'a>(task: &'a Task, scope: &Scope, messages: &[String]) -> Cow<'a, Task> {
    let cycle_in_commits = cycle_in(messages);
    if !matches!(scope, Scope::Pull { .. }) || cycle_in_commits <= cycle(task) {
        return Cow::Borrowed(task);
    }
    let mut task = task.clone();
    task.context.insert(CYCLE_KEY.to_owned(), json!(cycle_in_commits));
    Cow::Owned(task)
}

/// Returns the last commit of a range of commits; `None` for any other change.
fn last_commit(root: &Path, scope: &Scope) -> Option<String> {
    match scope {
        Scope::Commits(range) => commit_of(root, subject::last(range)).ok(),
        Scope::Automatic
        | Scope::Against(_)
        | Scope::Staged
        | Scope::Diff { .. }
        | Scope::WholeTree
        | Scope::Pull { .. }
        | Scope::MergeRequest { .. } => None,
    }
}

/// Logs the status of each reviewer's report.
fn log_reports(job: &Job<'_>, reviewed: &ReviewOutcome) {
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
