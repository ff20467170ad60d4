//! Faults of a call over HTTP: [`Fault`], and its conversion to a `Failure` with a class and a
//! message that names the problem and the remedy.

use std::io;
use std::time::Duration;

use assay_sandbox::KeySource;

use super::HttpCall;
use crate::api_error::{ApiError, display_line};
use crate::wire::{DecodeError, PartialAnswer};
use crate::{Failure, FailureClass, Usage};

/// The fault of a call.
#[derive(Debug)]
pub(super) enum Fault {
    /// The provider rejected the request.
    Status { status: u16, api_error: ApiError, wait: Option<Duration> },
    /// The provider reported an error while it answered.
    Reported(ApiError, Box<PartialAnswer>),
    /// The connection could not be made.
    Unconnected(String),
    /// The connection broke off in the middle of the answer.
    Broken(String, Box<PartialAnswer>),
    /// The call exceeded its timeout.
    TimedOut(Box<PartialAnswer>),
    /// No content of an answer arrived for too long.
    Stalled(Box<PartialAnswer>),
    /// The model refused to answer.
    Refused(Box<PartialAnswer>),
    /// The answer was cut off.
    CutOff(Box<PartialAnswer>),
    /// The answer ended for an unknown reason.
    Stopped(String, Box<PartialAnswer>),
    /// The answer is empty.
    Empty(Usage),
    /// The response is not a valid answer.
    DecodeError(DecodeError, Box<PartialAnswer>),
}

impl Fault {
    /// Converts an error of the connection; the variant depends on the step that failed.
    pub(super) fn of(error: ureq::Error, answer: PartialAnswer) -> Fault {
        let answer = Box::new(answer);
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                Fault::Unconnected("the connection timed out".to_owned())
            }
            ureq::Error::Timeout(ureq::Timeout::RecvResponse) => Fault::Stalled(answer),
            ureq::Error::Timeout(_) => Fault::TimedOut(answer),
            ureq::Error::BodyExceedsLimit(_) => Fault::DecodeError(DecodeError::TooLong, answer),
            ureq::Error::Io(error) if is_connection_error(&error) => {
                Fault::Unconnected(error.to_string())
            }
            ureq::Error::HostNotFound => {
                Fault::Unconnected("could not resolve the host".to_owned())
            }
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
            Fault::Status { status: 400 | 422, api_error, .. }
                if matches!(
                    api_error.class(Some(400)),
                    FailureClass::Rejected | FailureClass::Budget
                ) =>
            {
                Some(api_error.words())
            }
            _ => None,
        }
    }

    /// Returns the words with which a provider rejected tools. Some do so by a status that
    /// otherwise means something else: no such model, or a server error.
    pub(super) fn refusal_of_tools(&self) -> Option<&str> {
        match self {
            Fault::Status { status: 400 | 404 | 405 | 422 | 500 | 501, api_error, .. } => {
                Some(api_error.words()).filter(|words| words.to_lowercase().contains("tool"))
            }
            _ => None,
        }
    }
}

fn is_connection_error(error: &io::Error) -> bool {
    use io::ErrorKind::{
        AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable,
    };
    matches!(
        error.kind(),
        AddrNotAvailable | ConnectionRefused | HostUnreachable | NetworkDown | NetworkUnreachable
    )
}

impl HttpCall<'_> {
    /// Converts a fault to a failure.
    pub(super) fn failure(&self, fault: Fault) -> Failure {
        let mut failure = match fault {
            Fault::Status { status, api_error, wait } => {
                let class = api_error.class(Some(status));
                let mut message = self.message(class, &self.error_detail(Some(status), &api_error));
                if let Some(wait) = wait {
                    message.push_str(&format!(
                        " (the server asks to retry after {} s)",
                        wait.as_secs()
                    ));
                }
                Failure { wait, ..Failure::free(class, message) }
            }
            Fault::Reported(api_error, answer) => {
                let class = api_error.class(None);
                let message = self.message(class, &self.error_detail(None, &api_error));
                // Before the first word, only the usage that the provider has reported is billed.
                let usage = (answer.received_chars == 0).then_some(answer.usage);
                Failure { usage, ..self.partial_answer_failure(class, message, *answer) }
            }
            Fault::Unconnected(why) => {
                let why = format!(" ({})", self.display_line(&why));
                Failure::free(FailureClass::Network, self.connection_message(&why))
            }
            Fault::Broken(why, answer) => {
                let message =
                    self.message(FailureClass::Network, &format!(" ({})", self.display_line(&why)));
                self.partial_answer_failure(FailureClass::Network, message, *answer)
            }
            Fault::TimedOut(answer) => self.partial_answer_failure(
                FailureClass::TimedOut,
                self.message(FailureClass::TimedOut, ""),
                *answer,
            ),
            Fault::Stalled(answer) => self.partial_answer_failure(
                FailureClass::Stalled,
                self.message(FailureClass::Stalled, ""),
                *answer,
            ),
            Fault::Refused(answer) => {
                let why = match answer.refusal.trim() {
                    "" => String::new(),
                    refusal => format!(": {}", self.display_line(refusal)),
                };
                self.complete_answer_failure(
                    FailureClass::Refusal,
                    self.message(FailureClass::Refusal, &why),
                    *answer,
                )
            }
            Fault::CutOff(answer) => self.complete_answer_failure(
                FailureClass::CutOff,
                self.message(FailureClass::CutOff, ""),
                *answer,
            ),
            Fault::Stopped(reason, answer) => {
                let message = format!(
                    "`{}`: the answer ended with the unknown stop reason `{}`; try again, or \
                     choose another model",
                    self.model.about.id,
                    self.display_line(&reason)
                );
                self.complete_answer_failure(FailureClass::Garbage, message, *answer)
            }
            Fault::Empty(usage) => {
                let message = self.message(FailureClass::Empty, "");
                Failure { usage: Some(usage), ..Failure::new(FailureClass::Empty, message) }
            }
            Fault::DecodeError(DecodeError::TooLong, answer) => {
                let message =
                    self.message(FailureClass::Garbage, " (the response exceeds the size limit)");
                self.partial_answer_failure(FailureClass::Garbage, message, *answer)
            }
            Fault::DecodeError(DecodeError::Garbled(head), answer) => {
                let message = self
                    .message(FailureClass::Garbage, &format!(" (`{}`)", self.display_line(&head)));
                self.partial_answer_failure(FailureClass::Garbage, message, *answer)
            }
        };
        failure.partial = failure.partial.map(|partial| self.scrub(&partial));
        failure
    }

    /// Creates a failure from a complete answer: its usage is known.
    fn complete_answer_failure(
        &self,
        class: FailureClass,
        message: String,
        answer: PartialAnswer,
    ) -> Failure {
        let usage = Some(self.usage_of(&answer));
        Failure { usage, ..Failure::new(class, message) }.with_partial(self.text_of(answer))
    }

    /// Creates a failure from an incomplete answer: its usage is unknown.
    fn partial_answer_failure(
        &self,
        class: FailureClass,
        message: String,
        answer: PartialAnswer,
    ) -> Failure {
        Failure::new(class, message).with_partial(self.text_of(answer))
    }

    fn text_of(&self, answer: PartialAnswer) -> String {
        answer.into_parts(self.has_tools()).text
    }

    /// Formats the message of a provider, in parentheses.
    fn error_detail(&self, status: Option<u16>, api_error: &ApiError) -> String {
        let words = match api_error.words().trim() {
            "" => api_error.kind.as_str(),
            message => message,
        };
        match (status, self.display_line(words)) {
            (Some(status), words) if words.is_empty() => format!(" ({status})"),
            (Some(status), words) => format!(" ({status}: {words})"),
            (None, words) => format!(" ({words})"),
        }
    }

    /// Formats a foreign message for display, with the key redacted.
    fn display_line(&self, words: &str) -> String {
        display_line(&self.scrub(words))
    }

    fn connection_message(&self, why: &str) -> String {
        let url = &self.model.provider.url;
        let id = &self.model.about.id;
        format!("`{id}`: cannot connect to `{url}`{why}; check the network and the `url`")
    }

    /// Formats the message of a failure: the problem and the remedy.
    fn message(&self, class: FailureClass, detail: &str) -> String {
        let provider = &self.model.provider;
        let (id, name, url) = (&self.model.about.id, &provider.name, &provider.url);
        // Rounded up, so that a fraction of a second is not shown as 0 s.
        let seconds = self.time.as_secs_f64().ceil();
        let rest = match class {
            FailureClass::Authentication => match provider.keys.source() {
                KeySource::None => {
                    format!(
                        "`{name}` requires an API key{detail}; set `key_env` or `key_command` for \
                         the model"
                    )
                }
                source => format!("`{name}` rejected the API key{detail}; check {source}"),
            },
            FailureClass::Budget => format!(
                "the account at `{name}` has no credit left{detail}; top up the account, or choose \
                 another model"
            ),
            FailureClass::NotFound => {
                format!("no such model or address at `{url}`{detail}; check `model` and `url`")
            }
            FailureClass::Rejected => {
                format!("`{name}` rejected the request{detail}; check the model's settings")
            }
            FailureClass::TooLong => format!(
                "the prompt exceeds the model's context window{detail}; review a smaller change, \
                 or choose a model with a larger context window"
            ),
            FailureClass::RateLimit => format!(
                "rate limit exceeded at `{name}`{detail}; try again later, or lower \
                 `models.at_a_time`"
            ),
            FailureClass::Overload => {
                format!("`{name}` is overloaded{detail}; try again later")
            }
            FailureClass::Server => {
                format!("`{name}` failed with a server error{detail}; try again later")
            }
            FailureClass::Network => {
                format!("the connection to `{name}` broke off during the answer{detail}; try again")
            }
            FailureClass::TimedOut => format!(
                "no complete answer within {seconds} s{detail}; raise `models.seconds` or the \
                 run's time limit, or review a smaller change"
            ),
            FailureClass::Stalled => format!(
                "`{name}` sent no data for {} s{detail}; try again later, choose another model, or \
                 raise `models.stall_seconds`",
                self.model.stall.as_secs_f64().ceil()
            ),
            FailureClass::Refusal => {
                format!("the model refused to answer{detail}; choose another model")
            }
            FailureClass::CutOff => format!(
                "the answer was cut off at {} tokens; raise `max_output_tokens`, or review a \
                 smaller change",
                self.model.about.max_output_for(self.prompt)
            ),
            FailureClass::Empty => {
                "the answer is empty; try again, or choose another model".to_owned()
            }
            FailureClass::Garbage => {
                format!(
                    "the response from `{url}` is not an answer of a model{detail}; check the `url`"
                )
            }
            FailureClass::Program | FailureClass::NotRecorded => detail.to_owned(),
        };
        format!("`{id}`: {rest}")
    }
}
