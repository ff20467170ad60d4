//! Delivers messages to services, each exactly once, whatever fails meanwhile: [`Dispatcher`].
//!
//! An [`OutboundMessage`] is stored in the outbox before anything depends on it, and delivered from
//! there, now or by a later process. Delivering a message again does no harm: a review is
//! reconciled with the pull request, a comment carries a marker, and a ticket that is in the right
//! status is not moved. A message that cannot be delivered now is retried with a growing back-off.
//! A message that can never be delivered, or was not within a week, is moved to a folder for the
//! user, with the reason.

mod error;

use std::collections::BTreeSet;

use assay_base::hash::short_hash;
use assay_findings::post::{Fingerprint, ReviewDraft};
use assay_findings::write::escape::chain;
use assay_store::durable_fs::DiskError;
use assay_store::outbox::{self, Outbox, RecipientLock};
use assay_store::pulls::{RepositoryName, TicketKey};
use assay_store::task::{Moment, TaskId};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use self::error::DeliveryError;
use crate::github::{GitHub, GitHubPull};
use crate::gitlab::{GitLab, GitLabMergeRequest, ProjectPath};
use crate::jira::{CommentMarker, Jira, JiraError};
use crate::outcome::{CommentOutcome, TransitionOutcome};
use crate::post::{PostOutcome, PostReport, ReviewService, post};

/// The time for which the delivery of a message is retried.
const MAX_RETRY_TIME: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The number of hash digits in the name of a message.
const HASH_DIGITS: usize = 32;

/// The prefix of recipients that are tickets.
const TICKET_PREFIX: &str = "ticket-";

const GITHUB: &str = "GitHub";
const GITLAB: &str = "GitLab";
const JIRA: &str = "JIRA";

/// A message to a service.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OutboundMessage {
    /// A review of a pull request.
    Review(ReviewMessage),
    /// A review of a merge request.
    MergeRequestReview(MergeRequestMessage),
    /// A comment on a ticket, with an optional transition.
    Ticket(TicketMessage),
    /// The answer to a comment with commands on a pull request.
    Answer(AnswerMessage),
}

/// The answer to a comment with commands on a pull request, which is posted once.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AnswerMessage {
    /// The repository.
    pub repository: RepositoryName,
    /// The number of the pull request.
    pub number: u64,
    /// The id of the comment that is answered.
    pub comment: u64,
    /// The text of the answer, with its marker.
    pub body: String,
}

/// A review to be posted on a pull request. A later one of the same commit replaces it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReviewMessage {
    /// The repository.
    pub repository: RepositoryName,
    /// The number of the pull request.
    pub number: u64,
    /// The content of the review.
    pub draft: Box<ReviewDraft>,
    /// The message to a ticket that is sent after the review was posted; `None` if there is none.
    #[serde(default)]
    pub then: Option<TicketMessage>,
}

/// A review to be posted on a merge request. A later one of the same commit replaces it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MergeRequestMessage {
    /// The project.
    pub project: ProjectPath,
    /// The number of the merge request.
    pub number: u64,
    /// The content of the review.
    pub draft: Box<ReviewDraft>,
}

/// A comment on a ticket, with an optional transition.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TicketMessage {
    /// The key of the ticket.
    pub key: TicketKey,
    /// The id by which the comment is recognised: a comment with the same id is created once.
    pub marker: String,
    /// The text of the comment.
    pub text: String,
    /// The transition of the ticket; `None` if it stays where it is.
    pub transition: Option<String>,
    /// True if the comment was created, so that only the transition or the status comment is left.
    #[serde(default)]
    pub is_commented: bool,
    /// A second comment that is created once and updated by later messages; `None` if there is
    /// none.
    #[serde(default)]
    pub status: Option<StatusComment>,
}

/// A comment on a ticket whose text is replaced by later messages with the same marker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StatusComment {
    /// The id by which the comment is found again.
    pub marker: String,
    /// The text of the comment.
    pub text: String,
    /// True if the text replaces that of an earlier comment, and no comment is created without one.
    #[serde(default)]
    pub only_replaces: bool,
}

impl TicketMessage {
    /// Returns the steps that are left after an error of a later step; `None` if all are left.
    fn without_done_steps(self, error: &DeliveryError) -> Option<TicketMessage> {
        match error {
            // A retry of the transition does not replace the text of a later message.
            DeliveryError::Transition(_) => {
                Some(TicketMessage { is_commented: true, status: None, ..self })
            }
            // A retry must not move a ticket back that a user has moved meanwhile.
            DeliveryError::Status(_) => {
                Some(TicketMessage { is_commented: true, transition: None, ..self })
            }
            DeliveryError::GitHub(_)
            | DeliveryError::Jira(_)
            | DeliveryError::NotConfigured(_)
            | DeliveryError::Unreadable(_)
            | DeliveryError::Disk(_) => None,
        }
    }

    /// Returns the message that is sent if the review was not posted: the text is not lost, but the
    /// ticket is not moved, so that a person decides.
    fn without_review(self, why: &str) -> TicketMessage {
        let text = format!("The review could not be posted on GitHub: {why}\n\n{}", self.text);
        // If the review is posted later after all, the ticket gets the original message as well.
        let marker = format!("{}-unposted", self.marker);
        TicketMessage { text, marker, transition: None, ..self }
    }
}

impl OutboundMessage {
    /// Returns the name of the recipient and the name of the message.
    fn recipient_and_name(&self) -> (TaskId, TaskId) {
        match self {
            OutboundMessage::Review(ReviewMessage { repository, number, draft, .. }) => {
                (pull_recipient(repository, *number), review_name(draft))
            }
            OutboundMessage::Answer(AnswerMessage { repository, number, comment, .. }) => {
                let name = to_task_id(&format!("answer-{comment}"));
                (pull_recipient(repository, *number), name)
            }
            OutboundMessage::MergeRequestReview(message) => {
                let MergeRequestMessage { project, number, draft } = message;
                let to = format!("merge-{}-{number}", project.as_str().replace('/', "."));
                // Different projects may have the same name after the replacement.
                let hash = short_hash(project.as_str().to_ascii_lowercase(), HASH_DIGITS);
                (to_task_id(&format!("{}-{hash}", to.to_ascii_lowercase())), review_name(draft))
            }
            OutboundMessage::Ticket(TicketMessage { key, marker, .. }) => {
                (ticket_recipient(key), to_task_id(marker))
            }
        }
    }

    /// Returns the name of the service that receives the message.
    fn service(&self) -> &'static str {
        match self {
            OutboundMessage::Review(_) | OutboundMessage::Answer(_) => GITHUB,
            OutboundMessage::MergeRequestReview(_) => GITLAB,
            OutboundMessage::Ticket(_) => JIRA,
        }
    }
}

/// Returns the name of a review. A review that took longer must not replace a review of a later
/// commit, nor a review of the same commits against another branch.
fn review_name(draft: &ReviewDraft) -> TaskId {
    let against = draft.base().map(|base| format!("-{}", short_hash(base, HASH_DIGITS)));
    to_task_id(&format!("review-{}{}", draft.head(), against.unwrap_or_default()))
}

/// Returns true if an outbox contains messages to tickets.
pub fn has_ticket_updates(outbox: &Outbox) -> Result<bool, DiskError> {
    Ok(outbox.recipients()?.iter().any(is_ticket_recipient))
}

/// Returns the recipient of messages to a pull request.
fn pull_recipient(repository: &RepositoryName, number: u64) -> TaskId {
    let to = format!("pull-{}.{}-{number}", repository.owner(), repository.name());
    to_task_id(&to.to_ascii_lowercase())
}

/// Returns the recipient of messages to a ticket.
fn ticket_recipient(key: &TicketKey) -> TaskId {
    to_task_id(&format!("{TICKET_PREFIX}{key}"))
}

fn is_ticket_recipient(to: &TaskId) -> bool {
    to.as_str().starts_with(TICKET_PREFIX)
}

/// Creates a name from any text: the text itself, or its hash if the text is no name.
fn to_task_id(text: &str) -> TaskId {
    text.parse().unwrap_or_else(|_| {
        format!("n-{}", short_hash(text, HASH_DIGITS)).parse().expect("it is short and plain")
    })
}

/// The result of a delivery.
#[derive(Debug)]
pub enum Delivery {
    /// The message was delivered; the text describes what was done.
    Sent(String),
    /// The message is out of date and was dropped; the text is the reason.
    Superseded(String),
    /// The delivery failed and is retried later.
    Retrying(DeliveryError),
    /// The delivery failed for good; the text is the path to which the message was moved.
    DeadLettered(DeliveryError, String),
}

/// The dispatcher of the outbox.
pub struct Dispatcher {
    /// The messages to be delivered.
    pub outbox: Outbox,
    /// The client of GitHub; `None` if it is not configured.
    pub github: Option<GitHub>,
    /// The client of GitLab; `None` if it is not configured.
    pub gitlab: Option<GitLab>,
    /// The client of JIRA; `None` if it is not configured.
    pub jira: Option<Jira>,
}

impl Dispatcher {
    /// Stores a message in the outbox. Once this returns, the message is not lost.
    pub fn enqueue(&self, message: &OutboundMessage) -> Result<(), DiskError> {
        self.store(message).map(drop)
    }

    fn store(&self, message: &OutboundMessage) -> Result<outbox::OutboxMessage, DiskError> {
        let (to, name) = message.recipient_and_name();
        self.outbox.enqueue(&to, &name, json!(message))
    }

    /// Delivers every due message, and calls `on_delivery` with each result. A failed message
    /// delays only those to the same recipient, unless its service is down: then the service is not
    /// called again this time. Recipients that another process delivers to are skipped; that
    /// process delivers our messages as well.
    pub fn deliver(&self, now: Moment, on_delivery: &dyn Fn(&Delivery)) -> Result<(), DiskError> {
        self.deliver_matching(&|_| true, now, on_delivery)
    }

    /// Delivers the messages to tickets as [`Dispatcher::deliver`] does, and no others.
    pub fn deliver_ticket_updates(
        &self,
        now: Moment,
        on_delivery: &dyn Fn(&Delivery),
    ) -> Result<(), DiskError> {
        self.deliver_matching(&is_ticket_recipient, now, on_delivery)
    }

    /// Delivers the messages to one ticket at once, in order, including those that are backing off:
    /// the caller has a new message. A comment that fails delays those after it. Waits for another
    /// process that delivers to the ticket, and returns the messages that are left afterwards.
    pub fn deliver_to_ticket(
        &self,
        key: &TicketKey,
        now: Moment,
        on_delivery: &dyn Fn(&Delivery),
    ) -> Result<Vec<outbox::OutboxMessage>, DiskError> {
        let held = self.outbox.lock_recipient(&ticket_recipient(key))?;
        for message in held.messages()? {
            let delivery = self.deliver_one(&held, message, now)?;
            on_delivery(&delivery);
            if matches!(&delivery, Delivery::Retrying(why) if !why.is_after_comment()) {
                break;
            }
        }
        held.messages()
    }

    /// Returns the messages to a ticket that are not delivered yet, the oldest first. Waits for
    /// another process that delivers to the ticket.
    pub fn waiting_ticket_updates(
        &self,
        key: &TicketKey,
    ) -> Result<Vec<outbox::OutboxMessage>, DiskError> {
        self.outbox.lock_recipient(&ticket_recipient(key))?.messages()
    }

    fn deliver_matching(
        &self,
        is_wanted: &dyn Fn(&TaskId) -> bool,
        now: Moment,
        on_delivery: &dyn Fn(&Delivery),
    ) -> Result<(), DiskError> {
        let (mut seen, mut services_down) = (BTreeSet::new(), BTreeSet::new());
        loop {
            // A posted review may add messages to recipients that were not listed before.
            let mut new = self.outbox.recipients()?;
            new.retain(|to| is_wanted(to) && seen.insert(to.clone()));
            if new.is_empty() {
                return Ok(());
            }
            for to in new {
                if let Some(held) = self.outbox.try_lock_recipient(&to)? {
                    self.deliver_to(&held, now, &mut services_down, on_delivery)?;
                }
            }
        }
    }

    /// Stores a review or an answer in the outbox and delivers it at once, before other messages to
    /// its pull request or merge request: of the reviews among them, at most one is about the last
    /// commit. Waits for another process that delivers there.
    pub fn deliver_now(
        &self,
        message: OutboundMessage,
        now: Moment,
    ) -> Result<Delivery, DiskError> {
        let (to, _) = message.recipient_and_name();
        self.enqueue(&message)?;
        let held = self.outbox.lock_recipient(&to)?;
        // Another process may have delivered it meanwhile; to deliver it again does no harm.
        let stored = self.store(&message)?;
        self.deliver_one(&held, stored, now)
    }

    /// Delivers to one recipient until no due message is left; `services_down` are services that
    /// are down.
    fn deliver_to(
        &self,
        held: &RecipientLock<'_>,
        now: Moment,
        services_down: &mut BTreeSet<&'static str>,
        on_delivery: &dyn Fn(&Delivery),
    ) -> Result<(), DiskError> {
        while let Some(message) = next_due(held, now)? {
            let service = parse_message(&message).ok().map(|message| message.service());
            if service.is_some_and(|service| services_down.contains(service)) {
                break;
            }
            let delivery = self.deliver_one(held, message, now)?;
            on_delivery(&delivery);
            if matches!(&delivery, Delivery::Retrying(why) if why.is_service_wide()) {
                services_down.extend(service);
            }
        }
        Ok(())
    }

    fn deliver_one(
        &self,
        held: &RecipientLock<'_>,
        mut message: outbox::OutboxMessage,
        now: Moment,
    ) -> Result<Delivery, DiskError> {
        let error = match self.send(held, &message) {
            Ok(delivery) => {
                held.remove_delivered(&message)?;
                return Ok(delivery);
            }
            Err(error) => error,
        };
        if let Ok(OutboundMessage::Ticket(update)) = parse_message(&message)
            && let Some(left) = update.without_done_steps(&error)
        {
            message.body = json!(OutboundMessage::Ticket(left));
        }
        let why = chain(&error);
        let age = now.0.duration_since(message.put_at.0);
        // A workflow may offer a transition only after an earlier one.
        let may_pass = error.is_transient()
            || error.is_transition_failure() && has_earlier_transition(held, &message)?;
        match may_pass && age < MAX_RETRY_TIME {
            true => {
                let delay = error.retry_delay(message.tries);
                let not_before = now.0.checked_add(delay).unwrap_or(Timestamp::MAX);
                held.record_failure(message, &why, Moment(not_before))?;
                Ok(Delivery::Retrying(error))
            }
            false => {
                if let Ok(OutboundMessage::Review(ReviewMessage { then: Some(update), .. })) =
                    parse_message(&message)
                {
                    self.enqueue(&OutboundMessage::Ticket(update.without_review(&why)))?;
                }
                let place = held.move_to_undelivered(message, &why)?;
                Ok(Delivery::DeadLettered(error, place.display().to_string()))
            }
        }
    }

    fn send(
        &self,
        held: &RecipientLock<'_>,
        message: &outbox::OutboxMessage,
    ) -> Result<Delivery, DeliveryError> {
        match parse_message(message)? {
            OutboundMessage::Review(review) => {
                let ReviewMessage { repository, number, draft, then } = &review;
                let github = self.github.as_ref().ok_or(DeliveryError::NotConfigured(GITHUB))?;
                let pull = GitHubPull { github, repository, number: *number };
                self.post_review(held, &pull, draft, then.as_ref())
            }
            OutboundMessage::MergeRequestReview(message) => {
                let MergeRequestMessage { project, number, draft } = &message;
                let gitlab = self.gitlab.as_ref().ok_or(DeliveryError::NotConfigured(GITLAB))?;
                let request = GitLabMergeRequest::new(gitlab, project, *number);
                self.post_review(held, &request, draft, None)
            }
            OutboundMessage::Answer(AnswerMessage { repository, number, comment, body }) => {
                let github = self.github.as_ref().ok_or(DeliveryError::NotConfigured(GITHUB))?;
                let place = format!("{repository}#{number}");
                Ok(Delivery::Sent(
                    match github.answer_once(&repository, number, comment, &body)? {
                        CommentOutcome::Created => format!("answered comment {comment} on {place}"),
                        CommentOutcome::Existing | CommentOutcome::Updated => {
                            format!("comment {comment} on {place} was answered before")
                        }
                    },
                ))
            }
            OutboundMessage::Ticket(update) => {
                let done = self.update_ticket(&update);
                let has_moved = matches!(done, Ok(_) | Err(DeliveryError::Status(_)));
                if has_moved && update.transition.is_some() {
                    remove_all(held, &earlier_remainders(held, message, |it| &it.transition)?)?;
                }
                if done.is_ok() && update.status.is_some() {
                    remove_all(held, &earlier_remainders(held, message, |it| &it.status)?)?;
                }
                Ok(Delivery::Sent(done?))
            }
        }
    }

    /// Posts a review. The message that follows from it is stored before the review is removed.
    fn post_review(
        &self,
        held: &RecipientLock<'_>,
        service: &dyn ReviewService,
        draft: &ReviewDraft,
        then: Option<&TicketMessage>,
    ) -> Result<Delivery, DeliveryError> {
        let mut known = known_findings(held)?;
        let place = service.place();
        match post(service, draft, &known)? {
            PostOutcome::Posted(report) => {
                let words = describe_report(&report, service.name());
                // A comment that a user deleted is no longer visible, and is not created again.
                known.extend(report.visible);
                held.set_recipient_data(&json!(known))?;
                if let Some(update) = then {
                    self.enqueue(&OutboundMessage::Ticket(update.clone()))?;
                }
                Ok(Delivery::Sent(format!("posted the review on {place}: {words}")))
            }
            PostOutcome::Superseded(moved) => Ok(Delivery::Superseded(format!("{place} {moved}"))),
        }
    }

    /// Comments on a ticket, moves it and updates its status comment. Returns the description of
    /// what was done. The status comment does not stop the transition: it has no new decision.
    fn update_ticket(&self, update: &TicketMessage) -> Result<String, DeliveryError> {
        let TicketMessage { key, marker, text, transition, is_commented, status } = update;
        let jira = self.jira.as_ref().ok_or(DeliveryError::NotConfigured(JIRA))?;
        let comment = || jira.comment_once(key, &CommentMarker::from_text(marker), text);
        let said = match if *is_commented { CommentOutcome::Existing } else { comment()? } {
            CommentOutcome::Created => "received the comment",
            CommentOutcome::Existing | CommentOutcome::Updated => "already had the comment",
        };
        let updated =
            status.as_ref().map_or(Ok(()), |status| update_status_comment(jira, key, status));
        let moved = match transition {
            Some(transition) => {
                match jira.transition(key, transition).map_err(DeliveryError::Transition)? {
                    TransitionOutcome::Moved { from, to } => {
                        format!(", and moved from {from} to {to}")
                    }
                    TransitionOutcome::Unchanged { status } => format!(", and is in {status}"),
                }
            }
            None => String::new(),
        };
        updated.map_err(DeliveryError::Status)?;
        Ok(format!("{key} {said}{moved}"))
    }
}

fn update_status_comment(
    jira: &Jira,
    key: &TicketKey,
    status: &StatusComment,
) -> Result<(), JiraError> {
    let StatusComment { marker, text, only_replaces } = status;
    let marker = CommentMarker::from_text(marker);
    match only_replaces {
        true => jira.replace_comment(key, &marker, text).map(drop),
        false => jira.put_comment(key, &marker, text).map(drop),
    }
}

fn parse_message(message: &outbox::OutboxMessage) -> Result<OutboundMessage, DeliveryError> {
    serde_json::from_value(message.body.clone())
        .map_err(|error| DeliveryError::Unreadable(error.to_string()))
}

/// Removes messages that a later one makes obsolete: they would move the ticket back, or replace the
/// text of the status comment by an older one.
fn remove_all(
    held: &RecipientLock<'_>,
    messages: &[outbox::OutboxMessage],
) -> Result<(), DiskError> {
    messages.iter().try_for_each(|message| held.remove_delivered(message))
}

fn has_earlier_transition(
    held: &RecipientLock<'_>,
    later: &outbox::OutboxMessage,
) -> Result<bool, DiskError> {
    Ok(!earlier_remainders(held, later, |update| &update.transition)?.is_empty())
}

/// Returns the messages before another one of which only one step is left.
fn earlier_remainders<T>(
    held: &RecipientLock<'_>,
    later: &outbox::OutboxMessage,
    step: fn(&TicketMessage) -> &Option<T>,
) -> Result<Vec<outbox::OutboxMessage>, DiskError> {
    let mut messages = held.messages()?;
    let before = messages.iter().position(|message| message.name == later.name);
    messages.truncate(before.unwrap_or(messages.len()));
    messages.retain(|message| match parse_message(message) {
        Ok(OutboundMessage::Ticket(update)) => update.is_commented && step(&update).is_some(),
        Ok(
            OutboundMessage::Review(_)
            | OutboundMessage::MergeRequestReview(_)
            | OutboundMessage::Answer(_),
        )
        | Err(_) => false,
    });
    Ok(messages)
}

/// Returns the next due message to a recipient. Messages to a ticket are delivered in order, so a
/// message that is backing off delays the others, unless its comment was created. Reviews and
/// answers do not delay each other: at most one review is about the last commit.
fn next_due(
    held: &RecipientLock<'_>,
    now: Moment,
) -> Result<Option<outbox::OutboxMessage>, DiskError> {
    for message in held.messages()? {
        match (message.is_delayed(now), parse_message(&message)) {
            (false, _) => return Ok(Some(message)),
            (
                true,
                Ok(
                    OutboundMessage::Review(_)
                    | OutboundMessage::MergeRequestReview(_)
                    | OutboundMessage::Answer(_),
                ),
            ) => {}
            (true, Ok(OutboundMessage::Ticket(update))) if update.is_commented => {}
            (true, Ok(OutboundMessage::Ticket(_)) | Err(_)) => return Ok(None),
        }
    }
    Ok(None)
}

/// Returns the findings that are known to have had a comment.
fn known_findings(held: &RecipientLock<'_>) -> Result<BTreeSet<Fingerprint>, DiskError> {
    let memory = held.recipient_data()?.unwrap_or_default();
    Ok(serde_json::from_value(memory).unwrap_or_default())
}

/// Formats the result of posting a review.
fn describe_report(report: &PostReport, service: &str) -> String {
    let rejected = format!("in the summary, since {service} rejected the comment");
    let PostReport { added, resolved, reopened, refused, not_permitted, .. } = report;
    let counted = [
        (*added, "new"),
        (*resolved, "resolved"),
        (*reopened, "reopened"),
        (*refused, rejected.as_str()),
        (*not_permitted, "unchanged, since a change is not permitted"),
    ];
    let words: Vec<String> = counted
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, label)| format!("{count} {label}"))
        .collect();
    match words.is_empty() {
        true => "nothing to change".to_owned(),
        false => words.join(", "),
    }
}
