//! Notifications of agents on pull requests and tickets, and publishing of their work on GitHub.

use std::path::{Path, PathBuf};

use assay_agents::change_event::RenderedReview;
use assay_agents::config::roster::AgentConfig;
use assay_agents::log::{Level, Log, TaskLog};
use assay_agents::notifier::{LogNotifier, Notification, Notifier, Notifiers};
use assay_agents::task_handler::{HandlerError, Job};
use assay_agents::workflow::{ChangePublisher, git_error};
use assay_base::clock::Clock;
use assay_base::text::first_chars;
use assay_findings::post::TicketResolutions;
use assay_findings::write::escape::{capitalize, chain, one_line};
use assay_rules::redact;
use assay_services::dispatcher::{
    Delivery, Dispatcher, OutboundMessage, ReviewMessage, StatusComment, TicketMessage,
};
use assay_services::github::{GitHub, NewPull, PullRequest, PullState};
use assay_services::http::ServiceError;
use assay_services::permit::Capability;
use assay_store::pulls::{self, CommitId, Pull, RepositoryName, TicketKey};
use assay_store::task::{Moment, Task};
use serde_json::Value;

use crate::config::agents::AgentSettings;
use crate::config::jira::JiraConfig;
use crate::config::service::SHORT_WAIT;
use crate::publish;
use crate::ticket_update::{TicketEvent, TicketUpdate};

/// The maximum length of the title of a pull request, in characters.
const MAX_TITLE: usize = 200;

/// The maximum length of a task's description in a pull request, in characters.
const MAX_BODY: usize = 4_000;

/// Returns the notifiers that receive the events of agents.
pub fn notifiers(root: &Path, settings: &AgentSettings, log: &Log) -> anyhow::Result<Notifiers> {
    let mut all: Vec<Box<dyn Notifier>> = vec![Box::new(LogNotifier)];
    let configuration = &settings.configuration;
    if configuration.github.has_key() || configuration.jira.is_configured() {
        let services = configuration.services();
        let mail = publish::open_dispatcher(
            configuration.environment(),
            root,
            &services,
            SHORT_WAIT,
            |_| {},
        )?;
        let warning = publish::old_outbox_warning(configuration.environment(), root);
        warning.iter().for_each(|warning| log.record(Level::Warning, warning));
        if mail.github.is_some() || mail.jira.is_some() {
            all.push(Box::new(OutboxNotifier {
                mail,
                jira: configuration.jira.clone(),
                clock: configuration.environment().clock().clone(),
            }));
        }
    }
    Ok(all.into())
}

/// A notifier that stores messages in the outbox until they are delivered.
pub struct OutboxNotifier {
    /// The outbox, with the services that it delivers to.
    pub mail: Dispatcher,
    /// The settings of JIRA.
    pub jira: JiraConfig,
    /// The clock for the time of delivery.
    pub clock: Clock,
}

impl OutboxNotifier {
    /// Returns the message for a notification; `None` if there is none. If a review is posted, the
    /// ticket is updated after it: a review that is superseded says nothing about the last commits.
    fn message_for(&self, word: &Notification<'_>) -> Option<OutboundMessage> {
        let ticket = self.mail.jira.as_ref().and_then(|_| self.ticket(word));
        match self.review(word) {
            Some(review) => Some(OutboundMessage::Review(ReviewMessage { then: ticket, ..review })),
            None => ticket.map(OutboundMessage::Ticket),
        }
    }

    /// Returns the review to post on the pull request; `None` if there is none, or the agent must
    /// not post.
    fn review(&self, word: &Notification<'_>) -> Option<ReviewMessage> {
        self.mail.github.as_ref()?;
        word.agent.permit().check(Capability::WriteOnGithub).ok()?;
        let draft = word.review?.draft.clone()?;
        let (repository, number) = pulls::pull_in_context(&word.task.context)?;
        Some(ReviewMessage { repository, number, draft, then: None })
    }

    /// Returns the update of the ticket; `None` if the task has no ticket, or the agent must not
    /// write there.
    fn ticket(&self, word: &Notification<'_>) -> Option<TicketMessage> {
        let key: TicketKey = context_text(word.task, "jira_key")?.parse().ok()?;
        let permit = word.agent.permit();
        permit.check(Capability::WriteInJira).ok()?;
        let names = self.jira.step_names(Some(word.agent));
        let had_pull = pulls::pull_in_context(&word.task.context).is_some();
        let event = TicketEvent::Change { event: word.event, review: word.review, had_pull };
        let TicketUpdate { kind, text, transition } = event.update(names);
        Some(TicketMessage {
            key,
            marker: format!("{}-{kind}", word.task.id),
            text,
            transition: transition.filter(|name| permit.check_transition(name).is_ok()),
            is_commented: false,
            status: word.review.and_then(|review| status_comment(word.task, review)),
        })
    }

    fn deliver(&self, tell: &dyn Fn(Level, &str)) {
        let told = |delivery: &Delivery| match delivery {
            Delivery::Sent(done) => tell(Level::Info, &capitalize(done)),
            Delivery::Superseded(why) => tell(Level::Info, &format!("Not posted: {why}")),
            Delivery::Retrying(why) => {
                tell(Level::Warning, &format!("Not delivered, retrying later: {}", chain(why)));
            }
            Delivery::DeadLettered(why, place) => {
                tell(
                    Level::Error,
                    &format!("Not delivered: {}; the message is stored in {place}", chain(why)),
                );
            }
        };
        if let Err(error) = self.mail.deliver(Moment::now(&self.clock), &told) {
            tell(Level::Error, &chain(&error));
        }
    }
}

impl Notifier for OutboxNotifier {
    fn store(&self, word: &Notification<'_>, log: &TaskLog<'_>) -> Result<(), HandlerError> {
        if let Some(letter) = self.message_for(word) {
            self.mail.enqueue(&letter).map_err(|error| {
                let why = chain(&error);
                HandlerError::transient(format!("cannot store the notification: {why}"))
            })?;
        }
        self.deliver(&|level, text| log.record(level, text));
        Ok(())
    }

    fn notify_settled(&self, _: &Notification<'_>, _: &TaskLog<'_>) {}

    fn deliver_pending(&self, log: &Log) {
        self.deliver(&|level, text| log.record(level, text));
    }
}

/// Returns the comment on a ticket that has the outcomes of the findings of a pull request, and is
/// updated by later reviews; `None` if no review found anything.
fn status_comment(task: &Task, review: &RenderedReview) -> Option<StatusComment> {
    let TicketResolutions { text, is_news } = review.resolutions.as_ref()?;
    let (repository, number) = pulls::pull_in_context(&task.context)?;
    let pull = format!("{}-{}-{number}", repository.owner(), repository.name());
    let marker = format!("findings-{}", pull.to_ascii_lowercase());
    Some(StatusComment { marker, text: redact(text).into_owned(), only_replaces: !is_news })
}

/// A publisher that pushes to GitHub and opens pull requests.
pub struct GithubPublisher {
    /// The root of the repository.
    pub root: PathBuf,
    /// The client of GitHub.
    pub github: GitHub,
    /// The repositories that may be pushed to.
    pub repositories: Vec<RepositoryName>,
}

impl std::fmt::Debug for GithubPublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnGithub").field("repositories", &self.repositories).finish_non_exhaustive()
    }
}

impl ChangePublisher for GithubPublisher {
    fn pull_head(&self, job: &Job<'_>) -> Result<Option<String>, HandlerError> {
        let Some((_, number)) = pulls::pull_in_context(&job.task.context) else { return Ok(None) };
        let Some(repository) = self.repository(job.task) else { return Ok(None) };
        if !may_publish(job.agent) {
            return Ok(None);
        }
        let pull = self.open_pull(&repository, number)?;
        let branch = &pull.head.branch;
        let head = assay_change::fetch_branch(&self.root, repository.as_str(), branch);
        head.map(Some).map_err(|error| git_error(&error))
    }

    fn publish(
        &self,
        commit: &str,
        branch: &str,
        base: Option<&str>,
        job: &Job<'_>,
    ) -> Result<Option<Pull>, HandlerError> {
        let Some(repository) = self.repository(job.task) else { return Ok(None) };
        if !may_publish(job.agent) {
            job.log.info("Not pushed: the agent needs both permissions, `push` and `github`");
            return Ok(None);
        }
        let head: CommitId = commit
            .parse()
            .map_err(|_| HandlerError::permanent("cannot push the change: invalid commit id"))?;
        let pull = match pulls::pull_in_context(&job.task.context) {
            Some((_, number)) => self.push_to_pull(&repository, number, commit)?,
            None => {
                self.push(&repository, commit, branch)?;
                self.pull_for(&repository, branch, base, job)?
            }
        };
        job.log.info(&format!("Pushed {} to {}", head.short(), pull.url));
        // GitHub may not have noticed the push yet.
        Ok(Some(Pull { head, ..pull.pull(&repository) }))
    }
}

impl GithubPublisher {
    /// Returns the repository that a task belongs to; `None` if it must not be pushed to.
    fn repository(&self, task: &Task) -> Option<RepositoryName> {
        match context_text(task, "github_repo") {
            Some(named) => {
                let named: RepositoryName = named.parse().ok()?;
                self.repositories.iter().find(|own| own.is(&named)).cloned()
            }
            None => match self.repositories.as_slice() {
                [only] => Some(only.clone()),
                _ => None,
            },
        }
    }

    fn push(
        &self,
        repository: &RepositoryName,
        commit: &str,
        branch: &str,
    ) -> Result<(), HandlerError> {
        let pushed = assay_change::push(&self.root, repository.as_str(), commit, branch);
        pushed.map_err(|error| git_error(&error))
    }

    /// Returns a pull request that can be pushed to: it is open, and from the repository itself.
    fn open_pull(
        &self,
        repository: &RepositoryName,
        number: u64,
    ) -> Result<PullRequest, HandlerError> {
        let pull = self.github.pull(repository, number).map_err(|error| task_error(&error))?;
        check_pushable(&pull, repository)?;
        Ok(pull)
    }

    /// Pushes to the branch of a pull request.
    fn push_to_pull(
        &self,
        repository: &RepositoryName,
        number: u64,
        commit: &str,
    ) -> Result<PullRequest, HandlerError> {
        let pull = self.open_pull(repository, number)?;
        self.push(repository, commit, &pull.head.branch)?;
        Ok(pull)
    }

    /// Returns the open pull request of a branch, or opens one.
    fn pull_for(
        &self,
        repository: &RepositoryName,
        branch: &str,
        base: Option<&str>,
        job: &Job<'_>,
    ) -> Result<PullRequest, HandlerError> {
        let find = || {
            let found = self.github.pull_of_branch(repository, branch);
            found.map(|found| found.filter(|pull| pull.state == PullState::Open))
        };
        if let Some(pull) = find().map_err(|error| task_error(&error))? {
            return Ok(pull);
        }
        let base = self.base(repository, base).map_err(|error| task_error(&error))?;
        let opened = self.github.open_pull(repository, &new_pull(job.task, branch, base));
        opened.or_else(|error| {
            // The pull request may have been opened in spite of the error, or by another process
            // just now.
            match find() {
                Ok(Some(pull)) => Ok(pull),
                Ok(None) | Err(_) => Err(task_error(&error)),
            }
        })
    }

    /// Returns the base branch of a pull request: the branch on which the work began if GitHub has
    /// it, otherwise the default branch.
    fn base(
        &self,
        repository: &RepositoryName,
        began: Option<&str>,
    ) -> Result<String, ServiceError> {
        let began = began.map(|name| name.strip_prefix("origin/").unwrap_or(name));
        if let Some(name) = began
            && self.github.branch(repository, name)?.is_some()
        {
            return Ok(name.to_owned());
        }
        self.github.default_branch(repository)
    }
}

fn new_pull(task: &Task, branch: &str, base: String) -> NewPull {
    let ticket = context_text(task, "jira_key").filter(|key| key.parse::<TicketKey>().is_ok());
    let title = match ticket.filter(|key| !task.title.contains(key)) {
        Some(key) => format!("[{key}] {}", task.title),
        None => task.title.clone(),
    };
    let description = first_chars(&task.description, MAX_BODY);
    let body = format!("{description}\n\nTask: `{}`", task.id);
    NewPull {
        // The title of a task may contain invisible characters.
        title: first_chars(&redact(&one_line(&title)), MAX_TITLE).to_owned(),
        body: redact(body.trim_start()).into_owned(),
        head: branch.to_owned(),
        base,
        draft: false,
    }
}

/// Fails if a pull request must not be pushed to: it is closed, or from a fork.
fn check_pushable(pull: &PullRequest, repository: &RepositoryName) -> Result<(), HandlerError> {
    let place = format!("{repository}#{}", pull.number);
    if pull.state == PullState::Closed {
        return Err(HandlerError::permanent(format!(
            "{place} is closed, so nothing is pushed; reopen the pull request, or cancel the task"
        )));
    }
    if !pull.is_from(repository) {
        return Err(HandlerError::permanent(format!(
            "{place} is from a fork, which agents cannot push to, so nothing was changed; a person \
             must send the findings to the author, or copy the branch to {repository}"
        )));
    }
    Ok(())
}

fn may_publish(agent: &AgentConfig) -> bool {
    let permit = agent.permit();
    [Capability::Push, Capability::WriteOnGithub].iter().all(|deed| permit.check(*deed).is_ok())
}

fn context_text<'a>(task: &'a Task, key: &str) -> Option<&'a str> {
    task.context.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn task_error(error: &ServiceError) -> HandlerError {
    let is_transient = error.is_transient() || error.is_outcome_unknown();
    HandlerError { error: chain(error), is_transient }
}

#[cfg(test)]
mod tests {
    use assay_services::github::{Association, Head};

    use super::*;

    fn pull(state: PullState, from: Option<&str>) -> PullRequest {
        let head = |name: Option<&str>| Head {
            branch: "topic".to_owned(),
            commit: "0123456789abcdef0123456789abcdef01234567".parse().unwrap(),
            repository: name.map(|name| name.parse().unwrap()),
        };
        PullRequest {
            number: 7,
            title: String::new(),
            body: String::new(),
            state,
            draft: false,
            merged: false,
            labels: Vec::new(),
            author: "octocat".to_owned(),
            is_by_bot: false,
            association: Association::Member,
            head: head(from),
            base: head(Some("acme/shop")),
            url: String::new(),
        }
    }

    /// Returns the reason why a pull request must not be pushed to; empty if it may be.
    fn refusal(state: PullState, from: Option<&str>) -> String {
        let checked = check_pushable(&pull(state, from), &"acme/shop".parse().unwrap());
        checked.err().map(|failed| failed.error).unwrap_or_default()
    }

    #[test]
    fn only_open_pull_requests_of_the_repository_are_pushed_to() {
        assert_eq!(refusal(PullState::Open, Some("acme/shop")), "");
        assert_eq!(refusal(PullState::Open, Some("ACME/Shop")), "");
        assert!(refusal(PullState::Closed, Some("acme/shop")).contains("#7 is closed"));
        assert!(refusal(PullState::Open, Some("mallory/shop")).contains("#7 is from a fork"));
        // A deleted fork.
        assert!(refusal(PullState::Open, None).contains("#7 is from a fork"));
    }

    #[test]
    fn server_errors_and_unknown_outcomes_are_transient() {
        let refused = |status, is_outcome_unknown| ServiceError::Refused {
            service: "GitHub",
            what: "push".to_owned(),
            status,
            message: String::new(),
            is_outcome_unknown,
        };
        let is_transient = |error: &ServiceError| task_error(error).is_transient;
        assert!(!is_transient(&refused(404, false)));
        assert!(is_transient(&refused(502, false)));
        // The write may have succeeded, so the next attempt checks.
        assert!(is_transient(&refused(404, true)));
    }
}
