//! Carries out the commands of a comment: [`CommandSession`].

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use assay_change::{Scope, Selection};
use assay_findings::finding::Finding;
use assay_findings::gate::ReviewMode;
use assay_findings::post::{ExplainedVote, answer, explain};
use assay_findings::write::escape;
use assay_rules::redact;
use assay_services::dispatcher::{AnswerMessage, Delivery, OutboundMessage};
use assay_services::github::{GitHub, PullState, Reaction};
use assay_store::ledger::query::{History, IdMatch, ReviewerVote};
use assay_store::ledger::{FindingKey, FindingState};
use assay_store::pulls::Pull;
use assay_store::queue::{Queue, QueueError};
use assay_store::task::{Moment, QueueName};

use super::command::CommentCommand;
use super::request::CommentRequest;
use crate::config::Services;
use crate::config::service::SHORT_WAIT;
use crate::environment::Environment;
use crate::finding_ledger::{DismissRequest, FindingLedger};
use crate::models::{CachePolicy, ModelOptions, ReviewOptions};
use crate::publish::{PostKind, ReviewPost, open_dispatcher};
use crate::reporter::Reporter;
use crate::review_session::ReviewSession;

/// The commands, as the answer to `/assay help` lists them.
const HELP: &str = "| command | effect |
|---|---|
| `/assay review` | reviews the last commit again |
| `/assay explain ID` | explains a finding: claim, evidence, data flow, fix and votes |
| `/assay dismiss ID REASON` | dismisses a finding, so that reviews do not report it |
| `/assay help` | lists the commands |

`ID` is the id in the last line of a finding, or its first digits. Each command is a line of its own.";

/// The outcome of the commands of a comment.
#[derive(Debug)]
pub enum CommandOutcome {
    /// The comment was answered before, so its commands were carried out.
    AnsweredBefore {
        /// The pull request that the commands may ask to review; `None` if they do not.
        review: Option<Pull>,
    },
    /// The author may not write to the repository. The comment has a reaction that says so.
    NotPermitted {
        /// The reason why the reaction is missing; `None` if the comment has it.
        warning: Option<String>,
    },
    /// The commands were carried out, and the answer is posted or stored.
    Answered {
        /// The result of the delivery of the answer.
        delivery: Delivery,
        /// The pull request to review; `None` if no review was started.
        review: Option<Pull>,
        /// The reason why a review failed; `None` if it is queued or posted, or not needed.
        failure: Option<String>,
    },
}

/// The state of a review that a command started.
#[derive(Debug)]
pub enum ReviewStart {
    /// The review is queued for agents.
    Queued,
    /// The review is posted.
    Posted,
    /// The pull request was not reviewed, for this reason.
    Failed(String),
}

/// Carries out the commands of comments on pull requests.
pub struct CommandSession<'a> {
    /// The environment of the front end.
    pub environment: &'a Environment,
    /// The work tree with the ledger of the reviews.
    pub root: &'a Path,
    /// The services, as configured in the work tree.
    pub services: &'a Services,
    /// The client of GitHub.
    pub github: &'a GitHub,
}

/// The result of one command.
struct CommandResult {
    text: String,
    /// True if the pull request is to be reviewed.
    needs_review: bool,
}

impl CommandResult {
    fn text(text: impl Into<String>) -> CommandResult {
        CommandResult { text: text.into(), needs_review: false }
    }
}

impl CommandSession<'_> {
    /// Carries out the commands of a comment and answers them, unless the comment was answered
    /// before. `start_review` starts a review of the pull request before the answer is posted.
    pub fn run(
        &self,
        request: &CommentRequest,
        start_review: &dyn Fn(&Pull) -> ReviewStart,
    ) -> anyhow::Result<CommandOutcome> {
        let CommentRequest { repository, number, comment } = request;
        let pull = || -> anyhow::Result<Option<Pull>> {
            if !comment.commands.iter().any(CommentCommand::may_review) {
                return Ok(None);
            }
            let pull = self.github.pull(repository, *number)?;
            Ok((pull.state == PullState::Open).then(|| pull.pull(repository)))
        };
        if self.github.has_answer(repository, *number, comment.id)? {
            return Ok(CommandOutcome::AnsweredBefore { review: pull()? });
        }
        if !self.github.may_write(repository, &comment.author)? {
            let reacted = self.github.react(repository, comment.id, Reaction::Confused);
            let warning = reacted.err().map(|error| escape::chain(&error));
            return Ok(CommandOutcome::NotPermitted { warning });
        }
        let pull = pull()?;
        let results = comment.commands.iter().map(|command| {
            let result = self.carry_out(command, request, pull.is_some())?;
            let quote = escape::escape_comment(&command.to_string());
            let text = format!("> {quote}\n\n{}", result.text).trim_end().to_owned();
            Ok(CommandResult { text, ..result })
        });
        let results = results.collect::<anyhow::Result<Vec<_>>>()?;
        let review = pull.filter(|_| results.iter().any(|result| result.needs_review));
        let started = review.as_ref().map(|pull| (pull, start_review(pull)));
        let mut texts: Vec<String> = results.into_iter().map(|result| result.text).collect();
        texts.extend(started.as_ref().map(|(pull, start)| review_text(pull, start)));
        let failure = started.and_then(|(_, start)| match start {
            ReviewStart::Failed(why) => Some(why),
            ReviewStart::Queued | ReviewStart::Posted => None,
        });
        let delivery = self.deliver(request, &texts)?;
        Ok(CommandOutcome::Answered { delivery, review, failure })
    }

    /// Stores the answer in the outbox and posts it.
    fn deliver(&self, request: &CommentRequest, texts: &[String]) -> anyhow::Result<Delivery> {
        let mail = open_dispatcher(self.environment, self.root, self.services, SHORT_WAIT, |_| {})?;
        let body = redact(&answer(request.comment.id, texts)).into_owned();
        let message = OutboundMessage::Answer(AnswerMessage {
            repository: request.repository.clone(),
            number: request.number,
            comment: request.comment.id,
            body,
        });
        Ok(mail.deliver_now(message, Moment::now(self.environment.clock()))?)
    }

    fn carry_out(
        &self,
        command: &CommentCommand,
        request: &CommentRequest,
        is_open: bool,
    ) -> anyhow::Result<CommandResult> {
        match command {
            CommentCommand::Review if is_open => {
                Ok(CommandResult { text: String::new(), needs_review: true })
            }
            CommentCommand::Review => Ok(CommandResult::text(
                "The pull request is closed, so it is not reviewed. Reopen it first.",
            )),
            CommentCommand::Explain { finding } => {
                self.with_finding(finding, request, |ledger, key| {
                    Ok(CommandResult::text(explanation(&ledger.history_of(key)?)))
                })
            }
            CommentCommand::Dismiss { finding, reason } => {
                self.with_finding(finding, request, |ledger, key| {
                    let text = self.dismiss(ledger, key, &request.comment.author, reason)?;
                    let closed = if is_open { "" } else { CLOSED_REVIEW };
                    Ok(CommandResult { text: format!("{text}{closed}"), needs_review: is_open })
                })
            }
            CommentCommand::Help => Ok(CommandResult::text(HELP)),
            CommentCommand::Invalid { problem, .. } => {
                let problem = escape::capitalize(&escape::escape_comment(problem));
                Ok(CommandResult::text(format!("{problem}.\n\n{HELP}")))
            }
        }
    }

    /// Calls `work` with the finding of the pull request that an id names. Returns a text with the
    /// reason if there is none.
    fn with_finding(
        &self,
        id: &str,
        request: &CommentRequest,
        work: impl FnOnce(&mut FindingLedger, FindingKey) -> anyhow::Result<CommandResult>,
    ) -> anyhow::Result<CommandResult> {
        let Some(mut ledger) = FindingLedger::open_if_any(self.environment, self.root)? else {
            return Ok(CommandResult::text(
                "There is no ledger of findings here, so no finding is known. A pull request has \
                 to be reviewed first, by the checkout that carries out this command or with a \
                 shared ledger.",
            ));
        };
        match ledger.find_in_branch(id, &request.pull_name())? {
            IdMatch::One(key) => work(&mut ledger, key),
            IdMatch::None => Ok(CommandResult::text(format!(
                "No finding of this pull request has the id `{id}`. The id is in the last line of \
                 each finding.",
            ))),
            IdMatch::Ambiguous(ids) => {
                let some: Vec<String> = ids.iter().take(5).map(|id| format!("`{id}`")).collect();
                Ok(CommandResult::text(format!(
                    "Several findings have an id that begins with `{id}`: {}. Use more digits.",
                    some.join(", ")
                )))
            }
        }
    }

    /// Dismisses a finding, unless it is dismissed by the same user for the same reason: the
    /// command may be carried out again after a crash.
    fn dismiss(
        &self,
        ledger: &mut FindingLedger,
        key: FindingKey,
        by: &str,
        reason: &str,
    ) -> anyhow::Result<String> {
        let dismissal = DismissRequest::new(self.environment, reason, None)?;
        let History { entry, decisions, .. } = ledger.history_of(key)?;
        let is_done = decisions.last().is_some_and(|last| {
            last.ended.is_none() && last.by == by && last.reason == redact(reason.trim())
        });
        if !is_done {
            ledger.dismiss_keys(&[key], by, &dismissal)?;
        }
        let (title, by) = (escape::escape_comment(entry.heading()), escape::escape_comment(by));
        let place = entry.file.as_deref().map(|file| match entry.line {
            Some(line) => format!(" ({})", escape::to_code_span(&format!("{file}:{line}"))),
            None => format!(" ({})", escape::to_code_span(file)),
        });
        let (id, place) = (escape::to_code_span(&entry.id), place.unwrap_or_default());
        let reason = escape::escape_comment(reason);
        Ok(format!(
            "Dismissed {id} {title}{place}, by {by}: {reason}\n\nThe dismissal holds for reviews \
             with this ledger until the code of the finding is edited. `assay findings reopen {}` \
             reverts the dismissal.",
            entry.id
        ))
    }

    /// Fails if repositories are configured and the comment is on a pull request of another one.
    pub fn check_repository(&self, request: &CommentRequest) -> anyhow::Result<()> {
        let own = &self.services.github.repositories;
        let repository = &request.repository;
        if own.is_empty() || own.iter().any(|own| own.is(repository)) {
            return Ok(());
        }
        bail!("`{repository}` is not among `github.repositories`")
    }

    /// Queues the review of a pull request for agents, once for each comment.
    pub fn queue_review(
        &self,
        request: &CommentRequest,
        pull: &Pull,
        queue: &dyn Queue,
        reviewer: &QueueName,
    ) -> ReviewStart {
        let now = Moment::now(self.environment.clock());
        match queue.push(vec![request.review_task(pull, reviewer, now)]) {
            Ok(()) | Err(QueueError::AlreadyExists { .. }) => ReviewStart::Queued,
            Err(error) => ReviewStart::Failed(escape::chain(&error)),
        }
    }

    /// Reviews a pull request in this process, and posts the review.
    pub fn review_here(&self, pull: &Pull, reporter: Arc<dyn Reporter>) -> ReviewStart {
        match self.review_and_post(pull, Arc::clone(&reporter)) {
            Ok(posted) => {
                reporter.note(&posted);
                ReviewStart::Posted
            }
            Err(error) => ReviewStart::Failed(format!("{error:#}")),
        }
    }

    fn review_and_post(&self, pull: &Pull, reporter: Arc<dyn Reporter>) -> anyhow::Result<String> {
        let scope = Scope::Pull {
            repository: pull.repository.to_string(),
            number: pull.number,
            head: Some(pull.head.to_string()),
            base: Some(pull.base.clone()),
        };
        let models = ModelOptions::if_configured();
        let options = ReviewOptions {
            models: &models,
            cache_policy: CachePolicy::On,
            model_session: None,
            also: None,
        };
        let selection = Selection::default();
        let session =
            ReviewSession::open(self.environment, self.root, &scope, &selection, options)?;
        session.memory_warning().into_iter().for_each(|warning| reporter.warn(warning));
        let reviewed = session.review_without_progress(ReviewMode::ReportOnly);
        let saved = reviewed.save(&session)?;
        saved.warning.iter().for_each(|warning| reporter.warn(warning));
        let post = ReviewPost {
            environment: self.environment,
            scope: &scope,
            change: &session.change,
            synthesis: &reviewed.synthesis,
            services: &session.services,
            saved_run: Some(&saved),
            reporter,
        };
        post.post(PostKind::Review)
    }
}

/// The sentence behind a dismissal on a closed pull request.
const CLOSED_REVIEW: &str = " The pull request is closed, so its posted review stays as it is.";

/// Returns the sentence about a review that was started.
fn review_text(pull: &Pull, start: &ReviewStart) -> String {
    let commit = escape::to_code_span(pull.head.short());
    match start {
        ReviewStart::Queued => format!(
            "A review of {commit} is queued. It updates the comments, the summary and the verdict."
        ),
        ReviewStart::Posted => format!(
            "{commit} was reviewed again. The comments, the summary and the verdict are updated."
        ),
        ReviewStart::Failed(why) => {
            format!("{commit} could not be reviewed: {}", escape::escape_comment(why))
        }
    }
}

/// Explains a finding by its history.
fn explanation(history: &History) -> String {
    let entry = &history.entry;
    let decision = history.decisions.iter().rfind(|decision| decision.ended.is_none());
    let outcome = match (entry.state, decision) {
        (FindingState::Dismissed, Some(decision)) => {
            format!("dismissed by {}: {}", decision.by, decision.reason)
        }
        (state, _) => state.as_str().to_owned(),
    };
    let last = history.looks.iter().rfind(|look| !look.votes.is_empty());
    let votes = last.map(|look| look.votes.iter().map(explained_vote).collect());
    let votes: Vec<ExplainedVote> = votes.unwrap_or_default();
    match serde_json::from_value::<Finding>(history.finding.clone()) {
        Ok(finding) => explain(&finding, &outcome, &votes),
        // A ledger of another version may have other fields.
        Err(_) => format!(
            "**{}**: {}",
            escape::escape_comment(entry.heading()),
            escape::escape_comment(&outcome)
        ),
    }
}

fn explained_vote(vote: &ReviewerVote) -> ExplainedVote {
    let claim = vote.vote.get("title").and_then(serde_json::Value::as_str);
    ExplainedVote {
        reviewer: vote.reviewer.clone(),
        severity: vote.severity.clone(),
        confidence: vote.confidence,
        claim: claim.unwrap_or_default().to_owned(),
    }
}
