//! What is told to services, each once, whatever breaks down meanwhile: [`Mail`].
//!
//! A [`Letter`] is put into the outbox before anything depends on it and delivered from there, now or
//! by whoever comes next. To deliver one again does no harm: a review is made to stand, a comment
//! carries a marker, and a ticket that is where it should be stays. What cannot be delivered is put
//! aside for people, with the reason.

use std::collections::BTreeSet;

use assay_findings::post::{Draft, Fingerprint};
use assay_store::disk::DiskError;
use assay_store::outbox::{self, Held, Outbox};
use assay_store::pulls::{RepositoryName, TicketKey};
use assay_store::task::TaskId;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::github::GitHub;
use crate::github::post::{Posted, Standing, post};
use crate::http::ServiceError;
use crate::jira::{Jira, JiraError, Marker};
use crate::outcome::{Moved, Told};

/// How often it is tried to deliver a letter.
const TRIES: u32 = 50;

/// Something to be told.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Letter {
    /// A review, to stand on a pull request. The next one takes its place.
    Review {
        /// The repository.
        repository: RepositoryName,
        /// The number of the pull request.
        number: u64,
        /// The review.
        draft: Box<Draft>,
    },
    /// A word on a ticket, and where it goes.
    Ticket {
        /// The ticket.
        key: TicketKey,
        /// What the word is told again by: a word of the same name is told once.
        marker: String,
        /// The word.
        text: String,
        /// The transition that the ticket is to make, if any.
        transition: Option<String>,
    },
}

impl Letter {
    /// Names whom it is for, and the letter itself.
    fn names(&self) -> (TaskId, TaskId) {
        match self {
            Letter::Review { repository, number, .. } => {
                let to = format!("pull-{}.{}-{number}", repository.owner(), repository.name());
                (name(&to.to_ascii_lowercase()), name("review"))
            }
            Letter::Ticket { key, marker, .. } => (name(&format!("ticket-{key}")), name(marker)),
        }
    }
}

/// Makes a name of a text, whatever it is.
fn name(text: &str) -> TaskId {
    text.parse().unwrap_or_else(|_| {
        let hash = blake3::hash(text.as_bytes()).to_hex();
        format!("n-{}", &hash[..32]).parse().expect("it is short and plain")
    })
}

/// Why a letter did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// GitHub did not take it.
    #[error(transparent)]
    GitHub(#[from] ServiceError),
    /// JIRA did not take it.
    #[error(transparent)]
    Jira(#[from] JiraError),
    /// Nobody knows the way.
    #[error("{0} is not configured, so nothing can be told there")]
    NotConfigured(&'static str),
    /// It is no letter that this version knows.
    #[error("it is no letter that this version knows: {0}")]
    Unreadable(String),
    /// It cannot be kept track of it.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl MailError {
    /// Says whether trying again later may help.
    pub fn is_passing(&self) -> bool {
        match self {
            MailError::GitHub(error) => error.is_passing() || error.is_unclear(),
            MailError::Jira(JiraError::Service(error)) => error.is_passing() || error.is_unclear(),
            MailError::Disk(_) => true,
            // Somebody may configure it.
            MailError::NotConfigured(_) => true,
            MailError::Jira(_) | MailError::Unreadable(_) => false,
        }
    }
}

/// What came of a letter.
#[derive(Debug)]
pub enum Delivery {
    /// It arrived: what was done, in words.
    Arrived(String),
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
        let (to, name) = letter.names();
        self.outbox.put(&to, &name, json!(letter))
    }

    /// Delivers all that waits, and tells of each letter what came of it. One that has to wait holds
    /// up only those to the same addressee.
    pub fn deliver(&self, told: &dyn Fn(&Delivery)) -> Result<(), DiskError> {
        for to in self.outbox.addressees()? {
            let held = self.outbox.hold(&to)?;
            while let Some(letter) = held.next()? {
                let delivery = self.deliver_one(&held, letter)?;
                told(&delivery);
                if matches!(delivery, Delivery::Waits(_)) {
                    break;
                }
            }
        }
        Ok(())
    }

    fn deliver_one(&self, held: &Held<'_>, letter: outbox::Letter) -> Result<Delivery, DiskError> {
        let error = match self.hand_over(held, &letter) {
            Ok(done) => {
                held.arrived(&letter)?;
                return Ok(Delivery::Arrived(done));
            }
            Err(error) => error,
        };
        let why = error.to_string();
        match error.is_passing() && letter.tries < TRIES {
            true => {
                held.failed(letter, &why)?;
                Ok(Delivery::Waits(error))
            }
            false => {
                let place = held.give_up(letter, &why)?;
                Ok(Delivery::GivenUp(error, place.display().to_string()))
            }
        }
    }

    fn hand_over(&self, held: &Held<'_>, letter: &outbox::Letter) -> Result<String, MailError> {
        let letter: Letter = serde_json::from_value(letter.body.clone())
            .map_err(|error| MailError::Unreadable(error.to_string()))?;
        match letter {
            Letter::Review { repository, number, draft } => {
                let github = self.github.as_ref().ok_or(MailError::NotConfigured("GitHub"))?;
                let known = known(held)?;
                let posted = post(github, &repository, number, &draft, &known)?;
                let place = format!("{repository}#{number}");
                Ok(match posted {
                    Posted::Stands(standing) => {
                        held.remember(&json!(standing.visible))?;
                        format!("the review stands on {place}: {}", in_words(&standing))
                    }
                    Posted::Superseded { head } => format!(
                        "the review is not posted: {place} has moved on to {}",
                        head.short()
                    ),
                })
            }
            Letter::Ticket { key, marker, text, transition } => {
                let jira = self.jira.as_ref().ok_or(MailError::NotConfigured("JIRA"))?;
                let marker = Marker::of(&marker);
                let said = match jira.comment_once(&key, &marker, &text)? {
                    Told::Now => "was told",
                    Told::Before => "had been told",
                };
                let moved = match transition {
                    Some(transition) => match jira.transition(&key, &transition)? {
                        Moved::Now { from, to } => format!(", and moved from {from} to {to}"),
                        Moved::Before { status } => format!(", and is in {status}"),
                    },
                    None => String::new(),
                };
                Ok(format!("{key} {said}{moved}"))
            }
        }
    }
}

/// Gives the findings that are known to have had a comment.
fn known(held: &Held<'_>) -> Result<BTreeSet<Fingerprint>, DiskError> {
    let memory = held.memory()?.unwrap_or_default();
    Ok(serde_json::from_value(memory).unwrap_or_default())
}

/// Says what was done about a review.
fn in_words(standing: &Standing) -> String {
    let Standing { added, resolved, reopened, refused, .. } = standing;
    let counted = [
        (*added, "new"),
        (*resolved, "resolved"),
        (*reopened, "opened again"),
        (*refused, "in the summary, as no comment was taken"),
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
