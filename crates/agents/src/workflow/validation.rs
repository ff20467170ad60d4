//! The task handler for validation against a spec: [`ValidationWork`].

use std::path::Path;

use assay_change::{Scope, Worktree, commit_of};
use serde_json::{Map, json};

use super::fix::{TaskTree, lay_out, put_on_branch};
use super::follow_up::{Terms, escalation, review, spec};
use super::runner::in_short;
use super::{Shop, Validated, Validates, subject};
use crate::change_event::ChangeEvent;
use crate::config::roster::Permission;
use crate::work::{Failed, Job, Outcome, Work};

/// The handler that validates the branch of a task against a spec, and commits the fixes and
/// reports.
pub struct ValidationWork<V> {
    /// The shared context.
    pub shop: Shop,
    /// The validator.
    pub validates: V,
}

impl<V: Validates> Work for ValidationWork<V> {
    fn needs(&self) -> Permission {
        Permission::Edit
    }

    fn work(&self, job: &Job<'_>) -> Result<Outcome, Failed> {
        let Some(spec) = spec(job.task) else {
            return Err(Failed::lasting(
                "the task names no spec to validate by; name it as `spec` in its context, by the \
                 beginning of the name of its folder",
            ));
        };
        let root = &self.shop.root;
        check_is_here(root, job)?;
        let tree = lay_out(&self.shop, job)?;
        let TaskTree { branch, worktree, .. } = &tree;
        let base = subject::base(root, job)?;
        let validated = self.validates.validate(worktree.path(), base.as_deref(), &spec, job)?;
        let terms = self.shop.terms(job);
        match validated {
            Validated::Approved { summary } => {
                let commit = put_on_branch(job, worktree, branch, &summary)?;
                let commit = commit.map_or_else(|| unmoved(root, worktree, branch), Ok)?;
                Ok(approved(summary, &commit))
            }
            Validated::HandedOver { reason, paper } => {
                let reason = in_short(&reason);
                let summary = format!("a person has to decide: {reason}");
                put_on_branch(job, worktree, branch, &summary)?;
                Ok(handed_over(&terms, job, branch, &reason, &paper))
            }
            Validated::NotYet { missing } => Ok(not_yet(&terms, job, branch, &missing)),
        }
    }
}

/// Fails if the change of a task is not in this repository: other content must not be approved in
/// its place.
fn check_is_here(root: &Path, job: &Job<'_>) -> Result<(), Failed> {
    let scope = subject::scope(root, job)?;
    if matches!(scope, Scope::Pull { .. }) && job.context("head_commit").is_none() {
        return Err(Failed::lasting(
            "a pull request is validated at a commit that is here; name it as `head_commit` in the \
             task's context",
        ));
    }
    Ok(())
}

/// Returns the validated commit if no commit was added. Fails if the branch moved meanwhile.
fn unmoved(root: &Path, worktree: &Worktree, branch: &str) -> Result<String, Failed> {
    let validated = commit_of(worktree.path(), "HEAD").map_err(|error| subject::failed(&error))?;
    match commit_of(root, &format!("refs/heads/{branch}")) {
        Ok(now) if now != validated => Err(Failed::passing(
            "the change moved on while it was validated, so nobody can tell what was approved",
        )),
        Ok(_) | Err(_) => Ok(validated),
    }
}

fn approved(summary: String, commit: &str) -> Outcome {
    let mut context = Map::new();
    context.insert("verdict".to_owned(), json!("approved"));
    context.insert("reviewed_commit".to_owned(), json!(commit));
    let news = Some(ChangeEvent::Approved { summary: summary.clone() });
    Outcome { context, news, ..Outcome::done(summary) }
}

fn handed_over(
    terms: &Terms<'_>,
    job: &Job<'_>,
    branch: &str,
    reason: &str,
    paper: &str,
) -> Outcome {
    let mut next = escalation(terms, job.task, "validation", reason);
    let description = &mut next.task.description;
    description.push_str(&format!(
        "\n\n`{paper}` on the branch `{branch}` tells what was tried, and how to go on."
    ));
    next.task.context.insert("branch_name".to_owned(), json!(branch));
    next.task.context.insert("escalation_file".to_owned(), json!(paper));
    let mut context = Map::new();
    context.insert("verdict".to_owned(), json!("human_escalation"));
    Outcome {
        context,
        follow_ups: vec![next],
        news: Some(ChangeEvent::Escalated { reason: reason.to_owned() }),
        ..Outcome::done(format!("a person has to decide: {reason}"))
    }
}

/// Returns the outcome for an unfinished implementation: it cannot be validated, so it is reviewed.
fn not_yet(terms: &Terms<'_>, job: &Job<'_>, branch: &str, missing: &str) -> Outcome {
    let summary = format!("it is not validated yet, and reviewed instead: {missing}");
    let next = review(terms, job.task, branch, &summary);
    let news = Some(ChangeEvent::ReadyForReview { branch: branch.to_owned(), pull: None });
    Outcome { follow_ups: vec![next], news, ..Outcome::done(summary) }
}
