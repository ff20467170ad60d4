//! The task handler for validation against a spec: [`ValidationHandler`].

use std::path::Path;

use assay_change::{Scope, Worktree, commit_of};
use serde_json::{Map, json};

use super::fix::{TaskTree, check_out, commit_to_branch};
use super::follow_up::{FollowUpInput, escalation, review, spec};
use super::runner::to_summary;
use super::{SpecValidator, ValidationOutcome, WorkflowContext, subject};
use crate::change_event::ChangeEvent;
use crate::config::roster::Permission;
use crate::task_handler::{HandlerError, Job, TaskHandler, TaskOutcome};

/// The handler that validates the branch of a task against a spec, and commits the fixes and
/// reports.
pub struct ValidationHandler<V> {
    /// The shared context.
    pub workflow_context: WorkflowContext,
    /// The validator.
    pub validator: V,
}

impl<V: SpecValidator> TaskHandler for ValidationHandler<V> {
    fn required_permission(&self) -> Permission {
        Permission::Edit
    }

    fn handle(&self, job: &Job<'_>) -> Result<TaskOutcome, HandlerError> {
        let Some(spec) = spec(job.task) else {
            return Err(HandlerError::permanent(
                "the task names no spec; set `spec` in its context to the beginning of the name of \
                 the spec's folder",
            ));
        };
        let root = &self.workflow_context.root;
        check_change_is_here(root, job)?;
        let tree = check_out(&self.workflow_context, job)?;
        let TaskTree { branch, worktree, .. } = &tree;
        let base = subject::base(root, job)?;
        let validated = self.validator.validate(worktree.path(), base.as_deref(), &spec, job)?;
        let input = self.workflow_context.follow_up_input(job);
        match validated {
            ValidationOutcome::Approved { summary } => {
                let commit = commit_to_branch(job, worktree, branch, &summary)?;
                let commit = commit.map_or_else(|| check_unmoved(root, worktree, branch), Ok)?;
                Ok(approved(summary, &commit))
            }
            ValidationOutcome::Escalated { reason, paper } => {
                let reason = to_summary(&reason);
                let summary = format!("a person must decide: {reason}");
                commit_to_branch(job, worktree, branch, &summary)?;
                Ok(escalated(&input, job, branch, &reason, &paper))
            }
            ValidationOutcome::Unfinished { missing } => {
                Ok(unfinished(&input, job, branch, &missing))
            }
        }
    }
}

/// Fails if the change of a task is not in this repository: other content must not be approved in
/// its place.
fn check_change_is_here(root: &Path, job: &Job<'_>) -> Result<(), HandlerError> {
    let scope = subject::scope(root, job)?;
    if matches!(scope, Scope::Pull { .. }) && job.context("head_commit").is_none() {
        return Err(HandlerError::permanent(
            "the commit to validate is unknown; set `head_commit` in the context of the task",
        ));
    }
    Ok(())
}

/// Returns the validated commit if no commit was added. Fails if the branch moved meanwhile.
fn check_unmoved(root: &Path, worktree: &Worktree, branch: &str) -> Result<String, HandlerError> {
    let validated =
        commit_of(worktree.path(), "HEAD").map_err(|error| subject::git_error(&error))?;
    match commit_of(root, &format!("refs/heads/{branch}")) {
        Ok(now) if now != validated => Err(HandlerError::transient(
            "the branch changed during the validation, so the approved commit is unknown",
        )),
        Ok(_) | Err(_) => Ok(validated),
    }
}

fn approved(summary: String, commit: &str) -> TaskOutcome {
    let mut context = Map::new();
    context.insert("verdict".to_owned(), json!("approved"));
    context.insert("reviewed_commit".to_owned(), json!(commit));
    let event = Some(ChangeEvent::Approved { summary: summary.clone() });
    TaskOutcome { context, event, ..TaskOutcome::done(summary) }
}

fn escalated(
    input: &FollowUpInput<'_>,
    job: &Job<'_>,
    branch: &str,
    reason: &str,
    paper: &str,
) -> TaskOutcome {
    let mut next = escalation(input, job.task, "validation", reason);
    let description = &mut next.task.description;
    description.push_str(&format!(
        "\n\n`{paper}` on branch `{branch}` lists the attempts and the next steps."
    ));
    next.task.context.insert("branch_name".to_owned(), json!(branch));
    next.task.context.insert("escalation_file".to_owned(), json!(paper));
    let mut context = Map::new();
    context.insert("verdict".to_owned(), json!("human_escalation"));
    TaskOutcome {
        context,
        follow_ups: vec![next],
        event: Some(ChangeEvent::Escalated { reason: reason.to_owned() }),
        ..TaskOutcome::done(format!("a person must decide: {reason}"))
    }
}

/// Returns the outcome for an unfinished implementation: it cannot be validated, so it is reviewed.
fn unfinished(
    input: &FollowUpInput<'_>,
    job: &Job<'_>,
    branch: &str,
    missing: &str,
) -> TaskOutcome {
    let summary = format!("not validated yet; reviewed instead: {missing}");
    let next = review(input, job.task, branch, &summary);
    let event = Some(ChangeEvent::ReadyForReview { branch: branch.to_owned(), pull: None });
    TaskOutcome { follow_ups: vec![next], event, ..TaskOutcome::done(summary) }
}
