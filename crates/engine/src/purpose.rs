//! The purpose of a change beyond its commits: the texts of its pull request, its task and its
//! ticket.
//!
//! The texts are passed to models as material, between marks. If a service fails, only its text is
//! missing, and the user is warned.

use anyhow::Context;
use assay_agents::task_handler::Job;
use assay_change::Scope;
use assay_store::pulls::{RepositoryName, TicketKey};

use crate::config::Services;
use crate::config::service::SHORT_WAIT;

/// Returns the title and the body of the pull request or merge request that a scope names; `None`
/// if the scope names none, or there is no token for the service.
pub(crate) fn of_pull(services: &Services, scope: &Scope) -> anyhow::Result<Option<String>> {
    let (repository, number) = match scope {
        Scope::Pull { repository, number, .. } => (repository, number),
        Scope::MergeRequest { project, number } => {
            return of_merge_request(services, project, *number);
        }
        Scope::Automatic
        | Scope::Against(_)
        | Scope::Staged
        | Scope::Commits(_)
        | Scope::Diff { .. }
        | Scope::WholeTree => return Ok(None),
    };
    let Some(github) = services.github.open(SHORT_WAIT, |_| {})? else { return Ok(None) };
    let name: RepositoryName = repository.parse()?;
    let pull = github
        .pull(&name, *number)
        .with_context(|| format!("cannot read pull request {repository}#{number}"))?;
    Ok(Some(format!("{}\n\n{}", pull.title.trim(), pull.body.trim())))
}

fn of_merge_request(
    services: &Services,
    project: &str,
    number: u64,
) -> anyhow::Result<Option<String>> {
    let Some(gitlab) = services.gitlab.open(SHORT_WAIT, |_| {})? else { return Ok(None) };
    let request = gitlab
        .merge_request(&project.parse()?, number)
        .with_context(|| format!("cannot read merge request {project}!{number}"))?;
    let text = request.description.unwrap_or_default();
    Ok(Some(format!("{}\n\n{}", request.title.trim(), text.trim())))
}

/// Returns the title and the description of the task of a job.
pub(crate) fn of_task(job: &Job<'_>) -> String {
    format!("{}\n\n{}", job.task.title.trim(), job.task.description.trim())
}

/// Returns the title and the description of the ticket that a job is for; `None` if the job names
/// no ticket, or JIRA is not configured.
pub(crate) fn of_ticket(services: &Services, job: &Job<'_>) -> anyhow::Result<Option<String>> {
    let Some(key) = job.context("jira_key") else { return Ok(None) };
    let Ok(ticket) = key.parse::<TicketKey>() else { return Ok(None) };
    let Some(jira) = services.jira.open(SHORT_WAIT, |_| {})? else { return Ok(None) };
    let issue = jira.issue(&ticket, 0).with_context(|| format!("cannot read ticket {ticket}"))?;
    let (summary, text) = (issue.header.summary, issue.description);
    Ok(Some(format!("{ticket}: {}\n\n{}", summary.trim(), text.trim())))
}
