//! Reviews where their change is discussed: what is to stand on a pull request, and how it gets there.

use std::path::Path;

use anyhow::Context;
use assay_change::{Change, commit_of};
use assay_findings::post::{Draft, Surroundings, WhenReady, compose};
use assay_findings::synthesis::Synthesis;
use assay_rules::Grammars;
use assay_services::mail::Mail;
use assay_store::outbox::Outbox;

use crate::doors::own_folder;
use crate::services::{self, A_MOMENT};
use crate::settings::Configuration;

/// Gives the last commit of a pull request as it was fetched for a review.
pub(crate) fn head(root: &Path, number: u64) -> anyhow::Result<String> {
    let name = format!("refs/assay/pull/{number}/head");
    commit_of(root, &name).with_context(|| format!("`{name}` was not fetched"))
}

/// Composes the review of a pull request, as it is to stand there.
pub(crate) fn draft(
    change: &Change,
    synthesis: &Synthesis,
    head: &str,
    when_ready: WhenReady,
) -> Draft {
    let diff = change.commentable();
    let around = Surroundings {
        diff: &diff,
        tree: Some(change.tree()),
        parses: Some(&Grammars),
        head,
        when_ready,
        resolved: &[],
        run: None,
    };
    compose(synthesis, &around)
}

/// Gives the way to GitHub and JIRA, as far as they are configured.
pub(crate) fn mail(
    root: &Path,
    configuration: &Configuration,
    told: impl Fn(&str) + Send + Sync + Clone + 'static,
) -> anyhow::Result<Mail> {
    // Whoever made the repository must not have anything posted.
    let outbox = Outbox::in_folder(own_folder(root)?.join("outbox"));
    let github = &configuration.github;
    let github = match github.has_key() {
        true => Some(services::github(github, A_MOMENT, told.clone())?),
        false => None,
    };
    let jira = configuration.jira.open(A_MOMENT, told)?;
    Ok(Mail { outbox, github, jira })
}
