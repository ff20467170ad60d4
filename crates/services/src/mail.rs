//! What is told to services, each once, whatever breaks down meanwhile: [`Mail`].
//!
//! A [`Letter`] is put into the outbox before anything depends on it and delivered from there, now or
//! by whoever comes next. To deliver one again does no harm: a review is made to stand, a comment
//! carries a marker, and a ticket that is where it should be stays. What does not arrive now rests
//! longer each time; what cannot arrive, or did not for a week, is put aside for people, with the
//! reason.

mod error;

use std::collections::BTreeSet;

use assay_base::hash::short_hash;
use assay_findings::post::{Draft, Fingerprint};
use assay_findings::write::plain::chain;
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

/// How long it is tried to deliver a letter.
const LONGEST: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Digits of a hash in the name of a letter.
const HASH_DIGITS: usize = 32;

/// The start of the names of addressees that are tickets.
const TICKET: &str = "ticket-";

const GITHUB: &str = "GitHub";
const JIRA: &str = "JIRA";

/// Something to be told.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Letter {
    /// A review, to stand on a pull request.
    Review(Review),
    /// A word on a ticket, and where it goes.
    Ticket(TicketWord),
}

/// A review that is to stand on a pull request. Another one of the same commit takes its place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Review {
    /// The repository.
    pub repository: RepositoryName,
    /// The number of the pull request.
    pub number: u64,
    /// The review.
    pub draft: Box<Draft>,
    /// What a ticket is told once it stands, and not before.
    #[serde(default)]
    pub then: Option<TicketWord>,
}

/// A word on a ticket, and where it goes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TicketWord {
    /// The ticket.
    pub key: TicketKey,
    /// What the word is told again by: a word of the same name is told once.
    pub marker: String,
    /// The word.
    pub text: String,
    /// The transition that the ticket is to make, if any.
    pub transition: Option<String>,
    /// Whether the comment was made, so that the transition alone is left.
    #[serde(default)]
    pub is_commented: bool,
}

impl TicketWord {
    /// Makes it one that goes out although its review does not stand anywhere: what it says is not
    /// lost, but the ticket stays where it is, for people.
    fn without_review(self, why: &str) -> TicketWord {
        let text = format!("The review could not be posted on GitHub: {why}\n\n{}", self.text);
        // If it is posted one day after all, the ticket hears of that as well.
        let marker = format!("{}-unposted", self.marker);
        TicketWord { text, marker, transition: None, ..self }
    }
}

impl Letter {
    /// Names whom it is for, and the letter itself.
    fn names(&self) -> (TaskId, TaskId) {
        match self {
            Letter::Review(Review { repository, number, draft, .. }) => {
                let to = format!("pull-{}.{}-{number}", repository.owner(), repository.name());
                // A review that took longer must not take the place of one of a later commit, nor
                // of one that held the same commits against another branch.
                let against =
                    draft.base().map(|base| format!("-{}", short_hash(base, HASH_DIGITS)));
                let own = format!("review-{}{}", draft.head(), against.unwrap_or_default());
                (name(&to.to_ascii_lowercase()), name(&own))
            }
            Letter::Ticket(TicketWord { key, marker, .. }) => (ticket_addressee(key), name(marker)),
        }
    }

    /// Names the service that it goes to.
    fn service(&self) -> &'static str {
        match self {
            Letter::Review(_) => GITHUB,
            Letter::Ticket(_) => JIRA,
        }
    }
}

/// Returns true if messages to tickets wait in an outbox.
pub fn has_ticket_updates(outbox: &Outbox) -> Result<bool, DiskError> {
    Ok(outbox.addressees()?.iter().any(is_ticket))
}

/// Returns the addressee of messages to a ticket.
fn ticket_addressee(key: &TicketKey) -> TaskId {
    name(&format!("{TICKET}{key}"))
}

fn is_ticket(to: &TaskId) -> bool {
    to.as_str().starts_with(TICKET)
}

/// Makes a name of a text, whatever it is.
fn name(text: &str) -> TaskId {
    text.parse().unwrap_or_else(|_| {
        format!("n-{}", short_hash(text, HASH_DIGITS)).parse().expect("it is short and plain")
    })
}

/// What came of a letter.
#[derive(Debug)]
pub enum Delivery {
    /// It arrived: what was done, in words.
    Arrived(String),
    /// It is out of date, so nothing was told: why.
    Superseded(String),
    /// It waits for another try: why.
    Waits(MailError),
    /// It was put aside: why, and where.
    GivenUp(MailError, String),
}

/// What is told to services.
pub struct Mail {
    /// Where letters wait.
    pub outbox: Outbox,
    /// GitHub, where it is configured.
    pub github: Option<GitHub>,
    /// JIRA, where it is configured.
    pub jira: Option<Jira>,
}

impl Mail {
    /// Puts a letter in. Once this returns, it is not lost.
    pub fn put(&self, letter: &Letter) -> Result<(), DiskError> {
        self.keep(letter).map(drop)
    }

    fn keep(&self, letter: &Letter) -> Result<outbox::Letter, DiskError> {
        let (to, name) = letter.names();
        self.outbox.put(&to, &name, json!(letter))
    }

    /// Delivers all that waits and does not rest, and tells of each letter what came of it. One that
    /// has to wait holds up only those to the same addressee, unless its service is out: that one is
    /// not asked again this time. Whoever delivers to somebody just now takes what we have as well.
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

    /// Delivers the messages to one ticket at once, in order, also those that rest: the caller has a new
    /// message. A comment that fails holds up those after it. Waits for another process that delivers to
    /// the ticket, and returns the messages that wait afterwards.
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

    /// Returns the messages to a ticket that wait, the first first. Waits for another process that
    /// delivers to the ticket.
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
            // What stands may have others told, who were not there before.
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

    /// Puts a review in and delivers it at once, before what else waits for its pull request, of
    /// which at most one is about the last commit. Waits for whoever delivers there.
    pub fn deliver_review(&self, review: Review, now: Moment) -> Result<Delivery, DiskError> {
        let letter = Letter::Review(review);
        let (to, _) = letter.names();
        self.put(&letter)?;
        let held = self.outbox.hold(&to)?;
        // Whoever delivered there meanwhile knows what came of it; to tell it again does no harm.
        let kept = self.keep(&letter)?;
        self.deliver_one(&held, kept, now)
    }

    /// Delivers to somebody until nothing is left that can be; `out` are services that are out.
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

    /// Makes a review stand. What follows from it is in the outbox before the review is taken out.
    fn post(&self, held: &Held<'_>, review: &Review) -> Result<Delivery, MailError> {
        let Review { repository, number, draft, then } = review;
        let github = self.github.as_ref().ok_or(MailError::NotConfigured(GITHUB))?;
        let mut known = known(held)?;
        let place = format!("{repository}#{number}");
        match post(github, repository, *number, draft, &known)? {
            Posted::Stands(standing) => {
                let words = in_words(&standing);
                // One that somebody deleted is not seen any more, and stays deleted.
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

    /// Tells a ticket a word, moves it, and says what was done.
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

/// Takes out the letters before one that moved their ticket, of which the transition alone is left: it
/// would move the ticket back.
fn end_earlier_transitions(held: &Held<'_>, moved: &outbox::Letter) -> Result<(), DiskError> {
    earlier_transitions(held, moved)?.iter().try_for_each(|letter| held.arrived(letter))
}

fn has_earlier_transition(held: &Held<'_>, later: &outbox::Letter) -> Result<bool, DiskError> {
    Ok(!earlier_transitions(held, later)?.is_empty())
}

/// Returns the letters before another one, of which the transition alone is left.
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

/// Gives the next letter to somebody that does not rest. What a ticket is told goes in order, so one
/// that rests holds up the others, unless its transition alone is left; of reviews, at most one is about
/// the last commit.
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

/// Gives the findings that are known to have had a comment.
fn known(held: &Held<'_>) -> Result<BTreeSet<Fingerprint>, DiskError> {
    let memory = held.memory()?.unwrap_or_default();
    Ok(serde_json::from_value(memory).unwrap_or_default())
}

/// Says what was done about a review.
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
