//! Reviews of pull requests: a task that names a pull request becomes the same task that all
//! triggers create.

use assay_findings::write::escape::chain;
use assay_store::pulls::{Pull, RepositoryName, pull_in_context};
use assay_store::task::{Task, TaskKind};
use serde_json::{Map, Value};

use super::TaskTools;
use crate::mcp::Refusal;
use crate::pull_lookup::{self, PullError};

/// The context keys that would direct a review to something else than the pull request.
const OTHER_SUBJECT_KEYS: [&str; 6] =
    ["commit", "base", "worktree_branch", "implementation_branch", "_own_branch", "spec"];

/// Turns a request to review a pull request into the unique task for its head commit, and completes
/// its context. Leaves other tasks unchanged, and all tasks if GitHub is not configured or the
/// repository is not.
///
/// Fails if GitHub does not return the head commit: a trigger that asks GitHub later would create a
/// second task for the same review.
pub(super) fn complete_review_task(tools: &TaskTools, task: &mut Task) -> Result<(), Refusal> {
    let (Some(github), Some((repository, number))) = (&tools.github, subject(task)) else {
        return Ok(());
    };
    if pull_lookup::find_configured(&tools.repositories, &repository).is_none() {
        return Ok(());
    }
    let pull =
        pull_lookup::find_open(github, &repository, number).map_err(|error| match error {
            PullError::Closed { .. } => Refusal::new(format!("nothing was queued: {error}")),
            PullError::Service(error) => Refusal::new(format!(
                "nothing was queued: cannot read the head commit of {repository}#{number}: {}",
                chain(&error)
            )),
        })?;
    // The unique review of a head must be of this head, and must not wait for a dependency.
    task.context.retain(|key, _| !OTHER_SUBJECT_KEYS.contains(&key.as_str()));
    if !task.depends_on.is_empty() {
        let message = "nothing was queued: the review of a pull request cannot have `depends_on`";
        return Err(Refusal::new(message));
    }
    add(&mut task.context, &pull);
    task.id = pull.task_id();
    Ok(())
}

/// Returns the pull request that a task asks to review, if any.
fn subject(task: &Task) -> Option<(RepositoryName, u64)> {
    let review: TaskKind = "review".parse().expect("it is a name");
    pull_in_context(&task.context).filter(|_| task.kind == review)
}

/// Adds the facts of a pull request to a context. A ticket in the context has precedence: the
/// creator of the task may know better than the name of the branch.
fn add(context: &mut Map<String, Value>, pull: &Pull) {
    let has_ticket = context.contains_key("jira_key");
    let is_new = |key: &str| !(has_ticket && matches!(key, "jira_key" | "jira_project"));
    context.extend(pull.context().into_iter().filter(|(key, _)| is_new(key)));
}
