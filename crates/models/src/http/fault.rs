//! Faults of a call over HTTP: [`Fault`], and its conversion to a `Failure` with a class and a
//! message that names the problem and the remedy.

use std::io;
use std::time::Duration;

use assay_sandbox::KeySource;

use super::Call;
use crate::complaint::{Complaint, shown};
use crate::wire::{Answer, Bad};
use crate::{Class, Failure, Usage};

/// The fault of a call.
#[derive(Debug)]
pub(super) enum Fault {
    /// The provider rejected the request.
    Status { status: u16, complaint: Complaint, wait: Option<Duration> },
    /// The provider reported an error while it answered.
    Complained(Complaint, Box<Answer>),
    /// The connection could not be made.
    Unconnected(String),
    /// The connection broke off in the middle of the answer.
    Broken(String, Box<Answer>),
    /// The call exceeded its timeout.
    TimedOut(Box<Answer>),
    /// No content of an answer arrived for too long.
    Stalled(Box<Answer>),
    /// The model refused to answer.
    Refused(Box<Answer>),
    /// The answer was cut off.
    CutOff(Box<Answer>),
    /// The answer ended for an unknown reason.
    Stopped(String, Box<Answer>),
    /// The answer is empty.
    Empty(Usage),
    /// The response is not a valid answer.
    Bad(Bad, Box<Answer>),
}

impl Fault {
    /// Converts an error of the connection; the variant depends on the step that failed.
    pub(super) fn of(error: ureq::Error, answer: Answer) -> Fault {
        let answer = Box::new(answer);
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                Fault::Unconnected("it does not answer".to_owned())
            }
            ureq::Error::Timeout(ureq::Timeout::RecvResponse) => Fault::Stalled(answer),
            ureq::Error::Timeout(_) => Fault::TimedOut(answer),
            ureq::Error::BodyExceedsLimit(_) => Fault::Bad(Bad::TooLong, answer),
            ureq::Error::Io(error) if is_unconnected(&error) => {
                Fault::Unconnected(error.to_string())
            }
            ureq::Error::HostNotFound => Fault::Unconnected("there is no such host".to_owned()),
            ureq::Error::BadUri(_)
            | ureq::Error::Http(_)
            | ureq::Error::InvalidProxyUrl
            | ureq::Error::ConnectProxyFailed(_)
            | ureq::Error::ConnectionFailed
            | ureq::Error::Tls(_)
            | ureq::Error::Rustls(_) => Fault::Unconnected(error.to_string()),
            other => Fault::Broken(other.to_string(), answer),
        }
    }

    /// Returns the provider's words if it rejected the request in a way that a concession may
    /// solve.
    pub(super) fn refusal(&self) -> Option<&str> {
        match self {
            // A message that seems to be about an empty account may be about an unknown field.
            Fault::Status { status: 400 | 422, complaint, .. }
                if matches!(complaint.class(Some(400)), Class::Rejected | Class::Budget) =>
            {
                Some(complaint.words())
            }
            _ => None,
        }
    }

    /// Returns the words with which a provider rejected tools. Some do so by a status that
    /// otherwise means something else: no such model, or a server error.
    pub(super) fn refusal_of_tools(&self) -> Option<&str> {
        match self {
            Fault::Status { status: 400 | 404 | 405 | 422 | 500 | 501, complaint, .. } => {
                Some(complaint.words()).filter(|words| words.to_lowercase().contains("tool"))
            }
            _ => None,
        }
    }
}

fn is_unconnected(error: &io::Error) -> bool {
    use io::ErrorKind::{
        AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable,
    };
    matches!(
        error.kind(),
        AddrNotAvailable | ConnectionRefused | HostUnreachable | NetworkDown | NetworkUnreachable
    )
}

impl Call<'_> {
    /// Converts a fault to a failure.
    pub(super) fn failure(&self, fault: Fault) -> Failure {
        let mut failure = match fault {
            Fault::Status { status, complaint, wait } => {
                let class = complaint.class(Some(status));
                let mut message = self.message(class, &self.said(Some(status), &complaint));
                if let Some(wait) = wait {
                    message.push_str(&format!(" (it asks to wait {} s)", wait.as_secs()));
                }
                Failure { wait, ..Failure::free(class, message) }
            }
            Fault::Complained(complaint, answer) => {
                let class = complaint.class(None);
                let message = self.message(class, &self.said(None, &complaint));
                // Before the first word, only the usage that the provider has reported is billed.
                let usage = (answer.heard == 0).then_some(answer.usage);
                Failure { usage, ..self.broken_off(class, message, *answer) }
            }
            Fault::Unconnected(why) => {
                let why = format!(" ({})", self.shown(&why));
                Failure::free(Class::Network, self.unconnected(&why))
            }
            Fault::Broken(why, answer) => {
                let message = self.message(Class::Network, &format!(" ({})", self.shown(&why)));
                self.broken_off(Class::Network, message, *answer)
            }
            Fault::TimedOut(answer) => {
                self.broken_off(Class::TimedOut, self.message(Class::TimedOut, ""), *answer)
            }
            Fault::Stalled(answer) => {
                self.broken_off(Class::Stalled, self.message(Class::Stalled, ""), *answer)
            }
            Fault::Refused(answer) => {
                let why = match answer.refusal.trim() {
                    "" => String::new(),
                    refusal => format!(": {}", self.shown(refusal)),
                };
                self.ended(Class::Refusal, self.message(Class::Refusal, &why), *answer)
            }
            Fault::CutOff(answer) => {
                self.ended(Class::CutOff, self.message(Class::CutOff, ""), *answer)
            }
            Fault::Stopped(reason, answer) => {
                let message = format!(
                    "`{}`: the answer ended for a reason that is not known (`{}`); try again, or \
                     choose another model",
                    self.model.about.id,
                    self.shown(&reason)
                );
                self.ended(Class::Garbage, message, *answer)
            }
            Fault::Empty(usage) => {
                let message = self.message(Class::Empty, "");
                Failure { usage: Some(usage), ..Failure::new(Class::Empty, message) }
            }
            Fault::Bad(Bad::TooLong, answer) => {
                let message = self.message(Class::Garbage, " (it has no end)");
                self.broken_off(Class::Garbage, message, *answer)
            }
            Fault::Bad(Bad::Garbled(head), answer) => {
                let message = self.message(Class::Garbage, &format!(" (`{}`)", self.shown(&head)));
                self.broken_off(Class::Garbage, message, *answer)
            }
        };
        failure.partial = failure.partial.map(|partial| self.scrub(&partial));
        failure
    }

    /// Creates a failure from a complete answer: its usage is known.
    fn ended(&self, class: Class, message: String, answer: Answer) -> Failure {
        let usage = Some(self.used(&answer));
        Failure { usage, ..Failure::new(class, message) }.with_partial(self.text_of(answer))
    }

    /// Creates a failure from an incomplete answer: its usage is unknown.
    fn broken_off(&self, class: Class, message: String, answer: Answer) -> Failure {
        Failure::new(class, message).with_partial(self.text_of(answer))
    }

    fn text_of(&self, answer: Answer) -> String {
        answer.into_parts(self.has_tools()).text
    }

    /// Formats the message of a provider, in parentheses.
    fn said(&self, status: Option<u16>, complaint: &Complaint) -> String {
        let words = match complaint.words().trim() {
            "" => complaint.kind.as_str(),
            message => message,
        };
        match (status, self.shown(words)) {
            (Some(status), words) if words.is_empty() => format!(" ({status})"),
            (Some(status), words) => format!(" ({status}: {words})"),
            (None, words) => format!(" ({words})"),
        }
    }

    /// Formats a foreign message for display, with the key redacted.
    fn shown(&self, words: &str) -> String {
        shown(&self.scrub(words))
    }

    fn unconnected(&self, why: &str) -> String {
        let url = &self.model.provider.url;
        let id = &self.model.about.id;
        format!("`{id}`: no connection to `{url}`{why}; check the network and the `url`")
    }

    /// Formats the message of a failure: the problem and the remedy.
    fn message(&self, class: Class, said: &str) -> String {
        let provider = &self.model.provider;
        let (id, name, url) = (&self.model.about.id, &provider.name, &provider.url);
        // Rounded up, so that a fraction of a second is not shown as 0 s.
        let seconds = self.time.as_secs_f64().ceil();
        let rest = match class {
            Class::Authentication => match provider.keys.source() {
                KeySource::None => {
                    format!("`{name}` wants a key{said}; name one in the configuration")
                }
                source => format!("`{name}` does not accept the key{said}; check {source}"),
            },
            Class::Budget => format!(
                "the account at `{name}` has nothing left to spend{said}; top it up, or choose \
                 another model"
            ),
            Class::NotFound => {
                format!("no such model or address at `{url}`{said}; check `model` and `url`")
            }
            Class::Rejected => {
                format!("`{name}` does not take the request{said}; check the model's settings")
            }
            Class::TooLong => format!(
                "the prompt is longer than the model takes{said}; review less at once, or choose a \
                 model that takes more"
            ),
            Class::RateLimit => format!(
                "too many requests for `{name}`{said}; try again later, or ask fewer at once"
            ),
            Class::Overload => format!("`{name}` has no room at the moment{said}; try again later"),
            Class::Server => format!("`{name}` broke down{said}; try again later"),
            Class::Network => {
                format!("the connection to `{name}` ended in the middle{said}; try again")
            }
            Class::TimedOut => format!(
                "no whole answer within {seconds} s{said}; give it more time, or review less at once"
            ),
            Class::Stalled => format!(
                "nothing of an answer came from `{name}` for {} s{said}; try again later, choose \
                 another model, or raise `models.stall_seconds`",
                self.model.stall.as_secs_f64().ceil()
            ),
            Class::Refusal => format!("the model will not answer{said}; choose another model"),
            Class::CutOff => format!(
                "the answer was cut off at {} tokens; allow a longer answer, or review less at once",
                self.model.about.output_for(self.prompt)
            ),
            Class::Empty => "the answer is empty; try again, or choose another model".to_owned(),
            Class::Garbage => {
                format!("what came from `{url}` is no answer of a model{said}; check the `url`")
            }
            Class::Program | Class::NotRecorded => said.to_owned(),
        };
        format!("`{id}`: {rest}")
    }
}
