//! Reviews of pull requests: a task that names one becomes the one that all triggers make.

use assay_findings::write::plain::chain;
use assay_store::pulls::{Pull, RepositoryName, named_in};
use assay_store::task::{Kind, Task};
use serde_json::{Map, Value};

use super::Desk;
use crate::mcp::Refusal;
use crate::pulls::{self, PullError};

/// What would have something else reviewed than the pull request.
const ELSEWHERE: [&str; 6] =
    ["commit", "base", "worktree_branch", "implementation_branch", "_own_branch", "spec"];

/// Makes a task that asks for the review of a pull request the one that there is for its last commit,
/// and completes what it knows of it. Any other stays as it is, and so does one where nobody can look.
///
/// Where GitHub does not say what the last commit is, nothing is to be queued: whoever asks GitHub
/// later would make a second task for the same review.
pub(super) fn complete(desk: &Desk, task: &mut Task) -> Result<(), Refusal> {
    let (Some(github), Some((repository, number))) = (&desk.github, subject(task)) else {
        return Ok(());
    };
    if pulls::own(&desk.repositories, &repository).is_none() {
        return Ok(());
    }
    let pull = pulls::find(github, &repository, number).map_err(|error| match error {
        PullError::Closed { .. } => Refusal::new(format!("nothing was queued: {error}")),
        PullError::Service(error) => Refusal::new(format!(
            "nothing was queued: the last commit of {repository}#{number} is not known: {}",
            chain(&error)
        )),
    })?;
    // The one review of this head must be of this head, and must not wait for what never comes.
    task.context.retain(|key, _| !ELSEWHERE.contains(&key.as_str()));
    if !task.depends_on.is_empty() {
        let message = "nothing was queued: the review of a pull request depends on nothing";
        return Err(Refusal::new(message));
    }
    add(&mut task.context, &pull);
    task.id = pull.task_id();
    Ok(())
}

/// The pull request that a task asks a review of.
fn subject(task: &Task) -> Option<(RepositoryName, u64)> {
    let review: Kind = "review".parse().expect("it is a name");
    named_in(&task.context).filter(|_| task.kind == review)
}

/// Adds what is known of a pull request to a context. The ticket is the one that the context names, if
/// it does: whoever made the task may know better than the branch's name.
fn add(context: &mut Map<String, Value>, pull: &Pull) {
    let has_ticket = context.contains_key("jira_key");
    let is_new = |key: &str| !(has_ticket && matches!(key, "jira_key" | "jira_project"));
    context.extend(pull.context().into_iter().filter(|(key, _)| is_new(key)));
}
