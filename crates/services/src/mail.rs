//! Delivers messages to services, each exactly once, whatever fails meanwhile: [`Mail`].
//!
//! A [`Letter`] is stored in the outbox before anything depends on it, and delivered from there,
//! now or by a later process. Delivering a message again does no harm: a review is reconciled with
//! the pull request, a comment carries a marker, and a ticket that is in the right status is not
//! moved. A message that cannot be delivered now is retried with a growing back-off. A message that
//! can never be delivered, or was not within a week, is moved to a folder for the user, with the
//! reason.

mod error;

use std::collections::BTreeSet;

use assay_base::hash::short_hash;
use assay_findings::post::{Fingerprint, ReviewDraft};
use assay_findings::write::escape::chain;
use assay_store::disk::DiskError;
use assay_store::outbox::{self, Held, Outbox};
use assay_store::pulls::{RepositoryName, TicketKey};
use assay_store::task::{Moment, TaskId};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use self::error::MailError;
use crate::github::GitHub;
use crate::github::post::{Posted, Standing, post};
use crate::jira::{Jira, Marker};
use crate::outcome::{Moved, Told};

/// The time for which the delivery of a message is retried.
const LONGEST: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The number of hash digits in the name of a message.
const HASH_DIGITS: usize = 32;

/// The prefix of recipients that are tickets.
const TICKET: &str = "ticket-";

const GITHUB: &str = "GitHub";
const JIRA: &str = "JIRA";

/// A message to a service.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Letter {
    /// A review of a pull request.
    Review(Review),
    /// A comment on a ticket, with an optional transition.
    Ticket(TicketWord),
}

/// A review to be posted on a pull request. A later one of the same commit replaces it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Review {
    /// The repository.
    pub repository: RepositoryName,
    /// The number of the pull request.
    pub number: u64,
    /// The content of the review.
    pub draft: Box<ReviewDraft>,
    /// The message to a ticket that is sent after the review was posted; `None` if there is none.
    #[serde(default)]
    pub then: Option<TicketWord>,
}

/// A comment on a ticket, with an optional transition.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TicketWord {
    /// The key of the ticket.
    pub key: TicketKey,
    /// The id by which the comment is recognised: a comment with the same id is created once.
    pub marker: String,
    /// The text of the comment.
    pub text: String,
    /// The transition of the ticket; `None` if it stays where it is.
    pub transition: Option<String>,
    /// True if the comment was created, so that only the transition is left.
    #[serde(default)]
    pub is_commented: bool,
}

impl TicketWord {
    /// Returns the message that is sent if the review was not posted: the text is not lost, but the
    /// ticket is not moved, so that a person decides.
    fn without_review(self, why: &str) -> TicketWord {
        let text = format!("The review could not be posted on GitHub: {why}\n\n{}", self.text);
        // If the review is posted later after all, the ticket gets the original message as well.
        let marker = format!("{}-unposted", self.marker);
        TicketWord { text, marker, transition: None, ..self }
    }
}

impl Letter {
    /// Returns the name of the recipient and the name of the message.
    fn names(&self) -> (TaskId, TaskId) {
        match self {
            Letter::Review(Review { repository, number, draft, .. }) => {
                let to = format!("pull-{}.{}-{number}", repository.owner(), repository.name());
                // A review that took longer must not replace a review of a later commit, nor a
                // review of the same commits against another branch.
                let against =
                    draft.base().map(|base| format!("-{}", short_hash(base, HASH_DIGITS)));
                let own = format!("review-{}{}", draft.head(), against.unwrap_or_default());
                (name(&to.to_ascii_lowercase()), name(&own))
            }
            Letter::Ticket(TicketWord { key, marker, .. }) => (ticket_addressee(key), name(marker)),
        }
    }

    /// Returns the name of the service that receives the message.
    fn service(&self) -> &'static str {
        match self {
            Letter::Review(_) => GITHUB,
            Letter::Ticket(_) => JIRA,
        }
    }
}

/// Returns true if an outbox contains messages to tickets.
pub fn has_ticket_updates(outbox: &Outbox) -> Result<bool, DiskError> {
    Ok(outbox.addressees()?.iter().any(is_ticket))
}

/// Returns the recipient of messages to a ticket.
fn ticket_addressee(key: &TicketKey) -> TaskId {
    name(&format!("{TICKET}{key}"))
}

fn is_ticket(to: &TaskId) -> bool {
    to.as_str().starts_with(TICKET)
}

/// Creates a name from any text: the text itself, or its hash if the text is no name.
fn name(text: &str) -> TaskId {
    text.parse().unwrap_or_else(|_| {
        format!("n-{}", short_hash(text, HASH_DIGITS)).parse().expect("it is short and plain")
    })
}

/// The result of a delivery.
#[derive(Debug)]
pub enum Delivery {
    /// The message was delivered; the text describes what was done.
    Arrived(String),
    /// The message is out of date and was dropped; the text is the reason.
    Superseded(String),
    /// The delivery failed and is retried later.
    Waits(MailError),
    /// The delivery failed for good; the text is the path to which the message was moved.
    GivenUp(MailError, String),
}

/// The dispatcher of the outbox.
pub struct Mail {
    /// The messages to be delivered.
    pub outbox: Outbox,
    /// The client of GitHub; `None` if it is not configured.
    pub github: Option<GitHub>,
    /// The client of JIRA; `None` if it is not configured.
    pub jira: Option<Jira>,
}

impl Mail {
    /// Stores a message in the outbox. Once this returns, the message is not lost.
    pub fn put(&self, letter: &Letter) -> Result<(), DiskError> {
        self.keep(letter).map(drop)
    }

    fn keep(&self, letter: &Letter) -> Result<outbox::Letter, DiskError> {
        let (to, name) = letter.names();
        self.outbox.put(&to, &name, json!(letter))
    }

    /// Delivers every due message, and calls `told` with each result. A failed message delays only
    /// those to the same recipient, unless its service is down: then the service is not called
    /// again this time. Recipients that another process delivers to are skipped; that process
    /// delivers our messages as well.
    pub fn deliver(&self, now: Moment, told: &dyn Fn(&Delivery)) -> Result<(), DiskError> {
        self.deliver_where(&|_| true, now, told)
    }

    /// Delivers the messages to tickets as [`Mail::deliver`] does, and no others.
    pub fn deliver_ticket_updates(
        &self,
        now: Moment,
        told: &dyn Fn(&Delivery),
    ) -> Result<(), DiskError> {
        self.deliver_where(&is_ticket, now, told)
    }

    /// Delivers the messages to one ticket at once, in order, including those that are backing off:
    /// the caller has a new message. A comment that fails delays those after it. Waits for another
    /// process that delivers to the ticket, and returns the messages that are left afterwards.
    pub fn deliver_to_ticket(
        &self,
        key: &TicketKey,
        now: Moment,
        told: &dyn Fn(&Delivery),
    ) -> Result<Vec<outbox::Letter>, DiskError> {
        let held = self.outbox.hold(&ticket_addressee(key))?;
        for letter in held.letters()? {
            let delivery = self.deliver_one(&held, letter, now)?;
            told(&delivery);
            if matches!(&delivery, Delivery::Waits(why) if !why.is_about_a_transition()) {
                break;
            }
        }
        held.letters()
    }

    /// Returns the messages to a ticket that are not delivered yet, the oldest first. Waits for
    /// another process that delivers to the ticket.
    pub fn waiting_ticket_updates(
        &self,
        key: &TicketKey,
    ) -> Result<Vec<outbox::Letter>, DiskError> {
        self.outbox.hold(&ticket_addressee(key))?.letters()
    }

    fn deliver_where(
        &self,
        is_wanted: &dyn Fn(&TaskId) -> bool,
        now: Moment,
        told: &dyn Fn(&Delivery),
    ) -> Result<(), DiskError> {
        let (mut seen, mut out) = (BTreeSet::new(), BTreeSet::new());
        loop {
            // A posted review may add messages to recipients that were not listed before.
            let mut new = self.outbox.addressees()?;
            new.retain(|to| is_wanted(to) && seen.insert(to.clone()));
            if new.is_empty() {
                return Ok(());
            }
            for to in new {
                if let Some(held) = self.outbox.try_hold(&to)? {
                    self.deliver_to(&held, now, &mut out, told)?;
                }
            }
        }
    }

    /// Stores a review in the outbox and delivers it at once, before other messages to its pull
    /// request, of which at most one is about the last commit. Waits for another process that
    /// delivers there.
    pub fn deliver_review(&self, review: Review, now: Moment) -> Result<Delivery, DiskError> {
        let letter = Letter::Review(review);
        let (to, _) = letter.names();
        self.put(&letter)?;
        let held = self.outbox.hold(&to)?;
        // Another process may have delivered it meanwhile; to deliver it again does no harm.
        let kept = self.keep(&letter)?;
        self.deliver_one(&held, kept, now)
    }

    /// Delivers to one recipient until no due message is left; `out` are services that are down.
    fn deliver_to(
        &self,
        held: &Held<'_>,
        now: Moment,
        out: &mut BTreeSet<&'static str>,
        told: &dyn Fn(&Delivery),
    ) -> Result<(), DiskError> {
        while let Some(letter) = next(held, now)? {
            let service = read(&letter).ok().map(|letter| letter.service());
            if service.is_some_and(|service| out.contains(service)) {
                break;
            }
            let delivery = self.deliver_one(held, letter, now)?;
            told(&delivery);
            if matches!(&delivery, Delivery::Waits(why) if why.is_about_the_service()) {
                out.extend(service);
            }
        }
        Ok(())
    }

    fn deliver_one(
        &self,
        held: &Held<'_>,
        mut letter: outbox::Letter,
        now: Moment,
    ) -> Result<Delivery, DiskError> {
        let error = match self.hand_over(held, &letter) {
            Ok(delivery) => {
                held.arrived(&letter)?;
                return Ok(delivery);
            }
            Err(error) => error,
        };
        if error.is_about_a_transition()
            && let Ok(Letter::Ticket(word)) = read(&letter)
        {
            letter.body = json!(Letter::Ticket(TicketWord { is_commented: true, ..word }));
        }
        let why = chain(&error);
        let age = now.0.duration_since(letter.put_at.0);
        // A workflow may offer a transition only after an earlier one.
        let may_pass = error.is_passing()
            || error.is_about_a_transition() && has_earlier_transition(held, &letter)?;
        match may_pass && age < LONGEST {
            true => {
                let rest = error.rest(letter.tries);
                let not_before = now.0.checked_add(rest).unwrap_or(Timestamp::MAX);
                held.failed(letter, &why, Moment(not_before))?;
                Ok(Delivery::Waits(error))
            }
            false => {
                if let Ok(Letter::Review(Review { then: Some(word), .. })) = read(&letter) {
                    self.put(&Letter::Ticket(word.without_review(&why)))?;
                }
                let place = held.give_up(letter, &why)?;
                Ok(Delivery::GivenUp(error, place.display().to_string()))
            }
        }
    }

    fn hand_over(&self, held: &Held<'_>, letter: &outbox::Letter) -> Result<Delivery, MailError> {
        match read(letter)? {
            Letter::Review(review) => self.post(held, &review),
            Letter::Ticket(word) => {
                let done = self.tell(&word)?;
                if word.transition.is_some() {
                    end_earlier_transitions(held, letter)?;
                }
                Ok(Delivery::Arrived(done))
            }
        }
    }

    /// Posts a review. The message that follows from it is stored before the review is removed.
    fn post(&self, held: &Held<'_>, review: &Review) -> Result<Delivery, MailError> {
        let Review { repository, number, draft, then } = review;
        let github = self.github.as_ref().ok_or(MailError::NotConfigured(GITHUB))?;
        let mut known = known(held)?;
        let place = format!("{repository}#{number}");
        match post(github, repository, *number, draft, &known)? {
            Posted::Stands(standing) => {
                let words = in_words(&standing);
                // A comment that a user deleted is no longer visible, and is not created again.
                known.extend(standing.visible);
                held.remember(&json!(known))?;
                if let Some(word) = then {
                    self.put(&Letter::Ticket(word.clone()))?;
                }
                Ok(Delivery::Arrived(format!("the review stands on {place}: {words}")))
            }
            Posted::Superseded(moved) => Ok(Delivery::Superseded(format!("{place} {moved}"))),
        }
    }

    /// Comments on a ticket and moves it. Returns the description of what was done.
    fn tell(&self, word: &TicketWord) -> Result<String, MailError> {
        let TicketWord { key, marker, text, transition, is_commented } = word;
        let jira = self.jira.as_ref().ok_or(MailError::NotConfigured(JIRA))?;
        let comment = || jira.comment_once(key, &Marker::of(marker), text);
        let said = match if *is_commented { Told::Before } else { comment()? } {
            Told::Now => "was told",
            Told::Before => "had been told",
        };
        let moved = match transition {
            Some(transition) => {
                match jira.transition(key, transition).map_err(MailError::Transition)? {
                    Moved::Now { from, to } => format!(", and moved from {from} to {to}"),
                    Moved::Before { status } => format!(", and is in {status}"),
                }
            }
            None => String::new(),
        };
        Ok(format!("{key} {said}{moved}"))
    }
}

fn read(letter: &outbox::Letter) -> Result<Letter, MailError> {
    serde_json::from_value(letter.body.clone())
        .map_err(|error| MailError::Unreadable(error.to_string()))
}

/// Removes earlier messages of which only the transition is left: they would move the ticket back.
fn end_earlier_transitions(held: &Held<'_>, moved: &outbox::Letter) -> Result<(), DiskError> {
    earlier_transitions(held, moved)?.iter().try_for_each(|letter| held.arrived(letter))
}

fn has_earlier_transition(held: &Held<'_>, later: &outbox::Letter) -> Result<bool, DiskError> {
    Ok(!earlier_transitions(held, later)?.is_empty())
}

/// Returns the messages before another one of which only the transition is left.
fn earlier_transitions(
    held: &Held<'_>,
    later: &outbox::Letter,
) -> Result<Vec<outbox::Letter>, DiskError> {
    let mut letters = held.letters()?;
    let before = letters.iter().position(|letter| letter.name == later.name);
    letters.truncate(before.unwrap_or(letters.len()));
    letters.retain(|letter| {
        matches!(read(letter), Ok(Letter::Ticket(TicketWord { is_commented: true, .. })))
    });
    Ok(letters)
}

/// Returns the next due message to a recipient. Messages to a ticket are delivered in order, so a
/// message that is backing off delays the others, unless only its transition is left. Reviews do
/// not delay each other: at most one is about the last commit.
fn next(held: &Held<'_>, now: Moment) -> Result<Option<outbox::Letter>, DiskError> {
    for letter in held.letters()? {
        match (letter.rests(now), read(&letter)) {
            (false, _) => return Ok(Some(letter)),
            (true, Ok(Letter::Review(_))) => {}
            (true, Ok(Letter::Ticket(word))) if word.is_commented => {}
            (true, Ok(Letter::Ticket(_)) | Err(_)) => return Ok(None),
        }
    }
    Ok(None)
}

/// Returns the findings that are known to have had a comment.
fn known(held: &Held<'_>) -> Result<BTreeSet<Fingerprint>, DiskError> {
    let memory = held.memory()?.unwrap_or_default();
    Ok(serde_json::from_value(memory).unwrap_or_default())
}

/// Formats the result of posting a review.
fn in_words(standing: &Standing) -> String {
    let Standing { added, resolved, reopened, refused, not_permitted, .. } = standing;
    let counted = [
        (*added, "new"),
        (*resolved, "resolved"),
        (*reopened, "opened again"),
        (*refused, "in the summary, as no comment was taken"),
        (*not_permitted, "left as they are, as it is not permitted to change them"),
    ];
    let words: Vec<String> = counted
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match words.is_empty() {
        true => "nothing had to be changed".to_owned(),
        false => words.join(", "),
    }
}
