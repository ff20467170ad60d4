//! The purpose of a change beyond its commits: the text of its pull request, and of the task and the ticket
//! that it is made for.
//!
//! The texts are told to models as material, between marks. A service that cannot be asked costs only
//! its text, and the user is told.

use anyhow::Context;
use assay_agents::work::Job;
use assay_change::Scope;
use assay_store::pulls::{RepositoryName, TicketKey};

use crate::config::Services;
use crate::config::service::A_MOMENT;

/// Returns the title and the body of the pull request that a scope names. `None` where the scope names no
/// pull request, and where there is no token for GitHub.
pub(crate) fn of_pull(services: &Services, scope: &Scope) -> anyhow::Result<Option<String>> {
    let Scope::Pull { repository, number, .. } = scope else { return Ok(None) };
    let Some(github) = services.github.open(A_MOMENT, |_| {})? else { return Ok(None) };
    let name: RepositoryName = repository.parse()?;
    let pull = github
        .pull(&name, *number)
        .with_context(|| format!("could not read pull request {repository}#{number}"))?;
    Ok(Some(format!("{}\n\n{}", pull.title.trim(), pull.body.trim())))
}

/// Returns the title and the description of the task of a job.
pub(crate) fn of_task(job: &Job<'_>) -> String {
    format!("{}\n\n{}", job.task.title.trim(), job.task.description.trim())
}

/// Returns the title and the description of the ticket that a job is for. `None` where the job names no
/// ticket, and where no JIRA is configured.
pub(crate) fn of_ticket(services: &Services, job: &Job<'_>) -> anyhow::Result<Option<String>> {
    let Some(key) = job.context("jira_key") else { return Ok(None) };
    let Ok(ticket) = key.parse::<TicketKey>() else { return Ok(None) };
    let Some(jira) = services.jira.open(A_MOMENT, |_| {})? else { return Ok(None) };
    let issue =
        jira.issue(&ticket, 0).with_context(|| format!("could not read ticket {ticket}"))?;
    let (summary, text) = (issue.listed.summary, issue.description);
    Ok(Some(format!("{ticket}: {}\n\n{}", summary.trim(), text.trim())))
}
