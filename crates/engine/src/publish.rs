//! Reviews on pull requests and merge requests: `ReviewPost` composes a review and posts it, through
//! the outbox if possible.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use assay_change::{Change, Scope};
use assay_findings::post::{
    CommentDialect, DraftInputs, ReadyAction, ReviewDraft, check_run, compose,
};
use assay_findings::synthesis::Synthesis;
use assay_findings::write::escape::chain;
use assay_findings::write::{self, FindingsDocument, OutputFormat};
use assay_rules::GrammarCheck;
use assay_services::dispatcher::{
    Delivery, Dispatcher, MergeRequestMessage, OutboundMessage, ReviewMessage,
};
use assay_services::github::GitHub;
use assay_services::gitlab::ProjectPath;
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

/// The place that a review is posted on.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PostTarget {
    /// A pull request of GitHub.
    Pull { repository: RepositoryName, number: u64 },
    /// A merge request of GitLab.
    MergeRequest { project: ProjectPath, number: u64 },
}

impl PostTarget {
    /// Returns the target that the scope of a review names. Fails if it names none.
    fn of(scope: &Scope) -> anyhow::Result<PostTarget> {
        match scope {
            Scope::Pull { repository, number, .. } => {
                Ok(PostTarget::Pull { repository: repository.parse()?, number: *number })
            }
            Scope::MergeRequest { project, number } => {
                Ok(PostTarget::MergeRequest { project: project.parse()?, number: *number })
            }
            Scope::Automatic
            | Scope::Against(_)
            | Scope::Staged
            | Scope::Commits(_)
            | Scope::Diff { .. }
            | Scope::WholeTree => bail!(
                "reviews can be posted only on a pull request or merge request; name it with \
                 `--pr` or `--mr`"
            ),
        }
    }
}

/// A review of a pull request or a merge request that is to be posted.
pub struct ReviewPost<'a> {
    /// The environment of the front end.
    pub environment: &'a Environment,
    /// The scope of the review, which names the pull request or merge request.
    pub scope: &'a Scope,
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
        let target = PostTarget::of(self.scope)?;
        self.check_token(&target)?;
        let mail = self.mail(MAX_POST_WAIT, {
            let reporter = Arc::clone(&self.reporter);
            move |text: &str| reporter.note(text)
        })?;
        let warning = old_outbox_warning(self.environment, root);
        warning.iter().for_each(|warning| self.reporter.warn(warning));
        let head = self.change.pull_head().context("the change is not a pull request")?;
        let (repository, number) = match (form, &target) {
            (PostKind::Review, _) => {
                let posted = self.post_through_outbox(&mail, head, target);
                self.deliver_earlier_messages();
                return posted;
            }
            (PostKind::CheckRun | PostKind::Sarif, PostTarget::MergeRequest { .. }) => bail!(
                "GitLab has no check runs and takes no SARIF; post a review with `--post`, or \
                 write a code-quality report with `--format gitlab`"
            ),
            (PostKind::CheckRun | PostKind::Sarif, PostTarget::Pull { repository, number }) => {
                (repository, *number)
            }
        };
        match form {
            PostKind::Review | PostKind::CheckRun => {
                let run =
                    check_run(self.synthesis, self.saved_run.and_then(replay_command).as_deref());
                let posted_run =
                    github(&mail)?.create_check_run(repository, "assay", &head.parse()?, &run)?;
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
                let reference = format!("refs/pull/{number}/head");
                let commit = head.parse()?;
                github(&mail)?.upload_sarif(repository, &commit, &reference, &sarif)?;
                Ok("uploaded the alerts; GitHub is processing them".to_owned())
            }
        }
    }

    /// Fails if no token is configured for the service of a target.
    fn check_token(&self, target: &PostTarget) -> anyhow::Result<()> {
        match target {
            PostTarget::Pull { .. } if !self.services.github.has_key() => {
                bail!("missing token for GitHub: set `GITHUB_TOKEN`, or `github.token_env`")
            }
            PostTarget::MergeRequest { .. } if !self.services.gitlab.has_key() => {
                bail!("missing token for GitLab: set `GITLAB_TOKEN`, or `gitlab.token_env`")
            }
            PostTarget::Pull { .. } | PostTarget::MergeRequest { .. } => Ok(()),
        }
    }

    /// Stores the review in the outbox and delivers it from there.
    fn post_through_outbox(
        &self,
        mail: &Dispatcher,
        head: &str,
        target: PostTarget,
    ) -> anyhow::Result<String> {
        let Services { github, gitlab, .. } = self.services;
        let draft = |when_ready, dialect| {
            let terms = DraftTerms { head, when_ready, dialect };
            Box::new(compose_draft(self.change, self.synthesis, self.saved_run, terms))
        };
        let review = match target {
            PostTarget::Pull { repository, number } => {
                let draft = draft(github.when_ready, CommentDialect::GitHub);
                OutboundMessage::Review(ReviewMessage { repository, number, draft, then: None })
            }
            PostTarget::MergeRequest { project, number } => {
                let draft = draft(gitlab.when_ready, CommentDialect::GitLab);
                OutboundMessage::MergeRequestReview(MergeRequestMessage { project, number, draft })
            }
        };
        match mail.deliver_now(review, Moment::now(self.environment.clock()))? {
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

/// The terms of a draft that the service and its configuration decide.
pub(crate) struct DraftTerms<'a> {
    /// The commit that was reviewed.
    pub(crate) head: &'a str,
    /// The review of a change that is ready.
    pub(crate) when_ready: ReadyAction,
    /// The Markdown of the service.
    pub(crate) dialect: CommentDialect,
}

/// Composes the review to post on a pull request or merge request.
pub(crate) fn compose_draft(
    change: &Change,
    synthesis: &Synthesis,
    saved_run: Option<&SavedRun>,
    terms: DraftTerms<'_>,
) -> ReviewDraft {
    let DraftTerms { head, when_ready, dialect } = terms;
    let diff = change.commentable_lines();
    let run = saved_run.and_then(replay_command);
    let around = DraftInputs {
        diff: &diff,
        tree: Some(change.tree()),
        parses: Some(&GrammarCheck),
        head,
        dialect,
        when_ready,
        resolved: saved_run.map_or(&[], |saved_run| &saved_run.gone),
        tracked: saved_run.map_or(&[], |saved_run| &saved_run.tracked),
        run: run.as_deref(),
    };
    compose(synthesis, &around)
}

/// Opens GitHub, GitLab and JIRA, if they are configured, and the outbox for all. `wait` is the longest
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
    let gitlab = services.gitlab.open(wait, on_wait.clone())?;
    let jira = services.jira.open(wait, on_wait)?;
    Ok(Dispatcher { outbox, github, gitlab, jira })
}

/// Returns the warning that messages in the work tree are not sent; `None` if there are none, or
/// the user was warned before.
pub(crate) fn old_outbox_warning(environment: &Environment, root: &Path) -> Option<String> {
    environment.state_of(root).refuse_old_outbox().map(|refused| refused.to_string())
}
