//! Reviews on pull requests: `ReviewPost` composes a review and posts it, through the outbox if
//! possible.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use assay_change::Change;
use assay_findings::post::{DraftInputs, ReadyAction, ReviewDraft, check_run, compose};
use assay_findings::synthesis::Synthesis;
use assay_findings::write::escape::chain;
use assay_findings::write::{self, FindingsDocument, OutputFormat};
use assay_rules::GrammarCheck;
use assay_services::dispatcher::{Delivery, Dispatcher, ReviewMessage};
use assay_services::github::GitHub;
use assay_store::outbox::Outbox;
use assay_store::pulls::RepositoryName;
use assay_store::task::Moment;

use crate::config::Services;
use crate::environment::Environment;
use crate::reporter::Reporter;
use crate::review_session::SavedRun;
use crate::source_columns::utf16_columns;

/// The longest wait for a service at a time, while the user is shown the reason.
const MAX_POST_WAIT: Duration = Duration::from_secs(60 * 60 + 60);

/// The longest wait at a time for messages of earlier runs.
const MAX_EARLIER_WAIT: Duration = Duration::from_secs(5);

/// The form in which a review is posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostKind {
    /// Comments on the lines, and a summary.
    Review,
    /// A check run with annotations, which requires the token of an app or of a workflow.
    CheckRun,
    /// Alerts of code scanning.
    Sarif,
}

/// A review of a pull request that is to be posted.
pub struct ReviewPost<'a> {
    /// The environment of the front end.
    pub environment: &'a Environment,
    /// The repository of the pull request.
    pub repository: RepositoryName,
    /// The number of the pull request.
    pub number: u64,
    /// The change that was reviewed.
    pub change: &'a Change,
    /// The synthesis of the review.
    pub synthesis: &'a Synthesis,
    /// The services, as configured before the change.
    pub services: &'a Services,
    /// The stored run of the review; `None` if it is not stored.
    pub saved_run: Option<&'a SavedRun>,
    /// The receiver of messages on waits and on earlier messages.
    pub reporter: Arc<dyn Reporter>,
}

impl ReviewPost<'_> {
    /// Posts the review. Returns a line about the result.
    pub fn post(&self, form: PostKind) -> anyhow::Result<String> {
        let root = &self.change.root;
        if !self.services.github.has_key() {
            bail!("missing token for GitHub: set `GITHUB_TOKEN`, or `github.token_env`");
        }
        let mail = self.mail(MAX_POST_WAIT, {
            let reporter = Arc::clone(&self.reporter);
            move |text: &str| reporter.note(text)
        })?;
        let warning = old_outbox_warning(self.environment, root);
        warning.iter().for_each(|warning| self.reporter.warn(warning));
        let head = self.change.pull_head().context("the change is not a pull request")?;
        match form {
            PostKind::Review => {
                let posted = self.post_through_outbox(&mail, head);
                self.deliver_earlier_messages();
                posted
            }
            PostKind::CheckRun => {
                let run =
                    check_run(self.synthesis, self.saved_run.and_then(replay_command).as_deref());
                let posted_run = github(&mail)?.create_check_run(
                    &self.repository,
                    "assay",
                    &head.parse()?,
                    &run,
                )?;
                let url = posted_run.html_url.map(|url| format!(": {url}")).unwrap_or_default();
                Ok(format!("created the check run{url}"))
            }
            PostKind::Sarif => {
                let columns = utf16_columns(self.change, &self.synthesis.findings);
                let document = FindingsDocument {
                    findings: Some(&self.synthesis.findings),
                    synthesis: Some(self.synthesis),
                    utf16_columns: Some(&columns),
                    version: env!("CARGO_PKG_VERSION"),
                    ..FindingsDocument::default()
                };
                let sarif = write::write(OutputFormat::Sarif, &document);
                let reference = format!("refs/pull/{}/head", self.number);
                let commit = head.parse()?;
                github(&mail)?.upload_sarif(&self.repository, &commit, &reference, &sarif)?;
                Ok("uploaded the alerts; GitHub is processing them".to_owned())
            }
        }
    }

    /// Stores the review in the outbox and delivers it from there.
    fn post_through_outbox(&self, mail: &Dispatcher, head: &str) -> anyhow::Result<String> {
        let draft = compose_draft(
            self.change,
            self.synthesis,
            self.saved_run,
            head,
            self.services.github.when_ready,
        );
        let draft = Box::new(draft);
        let (repository, number) = (self.repository.clone(), self.number);
        let review = ReviewMessage { repository, number, draft, then: None };
        match mail.deliver_review(review, Moment::now(self.environment.clock()))? {
            Delivery::Sent(done) => Ok(done),
            Delivery::Superseded(why) => bail!("{why}"),
            Delivery::Retrying(why) => {
                bail!("{}; the review is stored, and sent with the next post", chain(&why))
            }
            Delivery::DeadLettered(why, place) => {
                bail!("{}; the review is stored in `{place}`", chain(&why))
            }
        }
    }

    /// Tries to deliver messages of earlier runs. The result has no effect on the review that was
    /// just posted.
    fn deliver_earlier_messages(&self) {
        let report = |delivery: &Delivery| match delivery {
            Delivery::Sent(_) | Delivery::Superseded(_) | Delivery::Retrying(_) => {}
            Delivery::DeadLettered(why, place) => self.reporter.warn(&format!(
                "cannot send an earlier message: {}; the message is stored in `{place}`",
                chain(why)
            )),
        };
        let delivered = self
            .mail(MAX_EARLIER_WAIT, |_: &str| {})
            .and_then(|mail| Ok(mail.deliver(Moment::now(self.environment.clock()), &report)?));
        if let Err(error) = delivered {
            self.reporter.warn(&format!("cannot send earlier messages: {error:#}"));
        }
    }

    fn mail(
        &self,
        wait: Duration,
        on_wait: impl Fn(&str) + Send + Sync + Clone + 'static,
    ) -> anyhow::Result<Dispatcher> {
        open_dispatcher(self.environment, &self.change.root, self.services, wait, on_wait)
    }
}

fn github(mail: &Dispatcher) -> anyhow::Result<&GitHub> {
    mail.github.as_ref().context("GitHub is not configured")
}

/// Returns the command that shows the whole review, which may be too long for the pull request;
/// `None` if the review cannot be replayed.
fn replay_command(saved_run: &SavedRun) -> Option<String> {
    saved_run.is_recorded.then(|| format!("assay replay {}", saved_run.id))
}

/// Composes the review to post on a pull request.
pub(crate) fn compose_draft(
    change: &Change,
    synthesis: &Synthesis,
    saved_run: Option<&SavedRun>,
    head: &str,
    when_ready: ReadyAction,
) -> ReviewDraft {
    let diff = change.commentable_lines();
    let run = saved_run.and_then(replay_command);
    let around = DraftInputs {
        diff: &diff,
        tree: Some(change.tree()),
        parses: Some(&GrammarCheck),
        head,
        when_ready,
        resolved: saved_run.map_or(&[], |saved_run| &saved_run.gone),
        tracked: saved_run.map_or(&[], |saved_run| &saved_run.tracked),
        run: run.as_deref(),
    };
    compose(synthesis, &around)
}

/// Opens GitHub and JIRA, if they are configured, and the outbox for both. `wait` is the longest
/// wait for a service at a time.
///
/// The outbox lies outside of the work tree: tests and fixers run inside, and messages that they
/// write must not be sent with the user's token.
pub(crate) fn open_dispatcher(
    environment: &Environment,
    root: &Path,
    services: &Services,
    wait: Duration,
    on_wait: impl Fn(&str) + Send + Sync + Clone + 'static,
) -> anyhow::Result<Dispatcher> {
    let outbox =
        Outbox::in_folder(environment.state_of(root).home_folder("outbox")?, environment.clock());
    let github = services.github.open(wait, on_wait.clone())?;
    let jira = services.jira.open(wait, on_wait)?;
    Ok(Dispatcher { outbox, github, jira })
}

/// Returns the warning that messages in the work tree are not sent; `None` if there are none, or
/// the user was warned before.
pub(crate) fn old_outbox_warning(environment: &Environment, root: &Path) -> Option<String> {
    environment.state_of(root).refuse_old_outbox().map(|refused| refused.to_string())
}
