//! What went wrong with a call ([`Fault`]), and the failure that it is: its class, and a message
//! that says what happened and what to do.

use std::io;
use std::time::Duration;

use super::Call;
use crate::wire::{Answer, Bad, Complaint};
use crate::{Class, Failure, KeySource, Usage};

/// How much of a provider's own words is shown.
const SHOWN: usize = 300;

/// What went wrong with a call.
#[derive(Debug)]
pub(super) enum Fault {
    /// The request was refused.
    Status { status: u16, complaint: Complaint, wait: Option<Duration> },
    /// Something went wrong at the provider while it answered.
    Complained(Complaint, Answer),
    /// There was no connection.
    Unconnected(String),
    /// The connection ended in the middle.
    Broken(String, Answer),
    /// It took too long.
    TimedOut(Answer),
    /// The model will not answer.
    Refused(Answer),
    /// The answer was cut off.
    CutOff(Answer),
    /// The answer is empty.
    Empty(Usage),
    /// What came is no answer.
    Bad(Bad, Answer),
}

impl Fault {
    /// Tells an error of the connection by when it came.
    pub(super) fn of(error: ureq::Error, answer: Answer) -> Fault {
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
                Fault::Unconnected("it does not answer".to_owned())
            }
            ureq::Error::Timeout(_) => Fault::TimedOut(answer),
            ureq::Error::BodyExceedsLimit(_) => Fault::Bad(Bad::TooLong, answer),
            ureq::Error::Io(error) if is_unconnected(&error) => {
                Fault::Unconnected(error.to_string())
            }
            ureq::Error::HostNotFound => Fault::Unconnected("there is no such host".to_owned()),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl => {
                Fault::Unconnected(error.to_string())
            }
            other => Fault::Broken(other.to_string(), answer),
        }
    }

    /// Gives the words with which a request was refused, where asking otherwise may help.
    pub(super) fn refusal(&self) -> Option<&str> {
        match self {
            Fault::Status { status: 400 | 422, complaint, .. }
                if class(Some(400), complaint) == Class::Rejected =>
            {
                Some(&complaint.message)
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

/// Words that tell that a prompt is too long.
const TOO_LONG: [&str; 9] = [
    "context length", "context_length", "context window", "context size", "maximum context",
    "prompt is too long", "input is too long", "too many tokens", "reduce the length",
];

/// Words that tell that an account has nothing left.
const UNPAID: [&str; 6] =
    ["credit balance", "billing", "insufficient_quota", "quota", "payment", "insufficient balance"];

/// Tells the class by the status, or by the provider's own name for what went wrong.
fn class(status: Option<u16>, complaint: &Complaint) -> Class {
    let kind = complaint.kind.as_str();
    let words = format!("{kind} {}", complaint.message).to_lowercase();
    let has = |known: &[&str]| known.iter().any(|known| words.contains(known));
    match status.or_else(|| kind.parse().ok()).unwrap_or_else(|| status_of(kind)) {
        // Rate limits are called quotas too; only this name means that waiting does not help.
        429 if kind == "insufficient_quota" => Class::Budget,
        429 => Class::RateLimit,
        402 => Class::Budget,
        400 | 403 | 422 if has(&UNPAID) => Class::Budget,
        400 | 422 if has(&TOO_LONG) => Class::TooLong,
        413 => Class::TooLong,
        401 | 403 => Class::Authentication,
        // The address is wrong where it leads elsewhere or takes no questions.
        404 | 405 | 410 | 300..=399 => Class::NotFound,
        408 => Class::TimedOut,
        503 | 529 => Class::Overload,
        500..=599 => Class::Server,
        _ => Class::Rejected,
    }
}

/// Gives the status that stands for a provider's own name for what went wrong.
fn status_of(kind: &str) -> u16 {
    match kind {
        "authentication_error" | "invalid_api_key" => 401,
        "permission_error" => 403,
        "billing_error" | "insufficient_quota" => 402,
        "not_found_error" | "model_not_found" => 404,
        "request_too_large" | "context_length_exceeded" => 413,
        "invalid_request_error" | "invalid_prompt" => 400,
        "rate_limit_error" | "rate_limit_exceeded" => 429,
        "overloaded_error" | "server_overloaded" => 529,
        "timeout_error" => 408,
        _ => 500,
    }
}

impl Call<'_> {
    /// Makes a failure of a fault.
    pub(super) fn failure(&self, fault: Fault) -> Failure {
        let mut failure = match fault {
            Fault::Status { status, complaint, wait } => {
                let class = class(Some(status), &complaint);
                let message = self.message(class, &self.said(Some(status), &complaint));
                Failure { wait, ..Failure::free(class, message) }
            }
            Fault::Complained(complaint, answer) => {
                let class = class(None, &complaint);
                let message = self.message(class, &self.said(None, &complaint));
                self.broken_off(class, message, answer)
            }
            Fault::Unconnected(why) => {
                let why = format!(" ({})", self.shown(&why));
                Failure::free(Class::Network, self.unconnected(&why))
            }
            Fault::Broken(why, answer) => {
                let message = self.message(Class::Network, &format!(" ({})", self.shown(&why)));
                self.broken_off(Class::Network, message, answer)
            }
            Fault::TimedOut(answer) => {
                self.broken_off(Class::TimedOut, self.message(Class::TimedOut, ""), answer)
            }
            Fault::Refused(answer) => {
                let why = match answer.refusal.trim() {
                    "" => String::new(),
                    refusal => format!(": {}", self.shown(refusal)),
                };
                self.ended(Class::Refusal, self.message(Class::Refusal, &why), answer)
            }
            Fault::CutOff(answer) => {
                self.ended(Class::CutOff, self.message(Class::CutOff, ""), answer)
            }
            Fault::Empty(usage) => {
                let message = self.message(Class::Empty, "");
                Failure { usage: Some(usage), ..Failure::new(Class::Empty, message) }
            }
            Fault::Bad(Bad::TooLong, answer) => {
                let message = self.message(Class::Garbage, " (it has no end)");
                self.broken_off(Class::Garbage, message, answer)
            }
            Fault::Bad(Bad::Garbled(head), answer) => {
                let message = self.message(Class::Garbage, &format!(" (`{}`)", self.shown(&head)));
                self.broken_off(Class::Garbage, message, answer)
            }
        };
        failure.partial = failure.partial.map(|partial| self.scrub(&partial));
        failure
    }

    /// Makes a failure of an answer that came to its end: what it took is known.
    fn ended(&self, class: Class, message: String, answer: Answer) -> Failure {
        let usage = Some(self.used(&answer));
        Failure { usage, ..Failure::new(class, message) }.with_partial(answer.into_text())
    }

    /// Makes a failure of an answer that did not: nobody knows what it took.
    fn broken_off(&self, class: Class, message: String, answer: Answer) -> Failure {
        Failure::new(class, message).with_partial(answer.into_text())
    }

    /// Gives a provider's words, in brackets.
    fn said(&self, status: Option<u16>, complaint: &Complaint) -> String {
        let words = match complaint.message.trim() {
            "" => complaint.kind.as_str(),
            message => message,
        };
        match (status, self.shown(words)) {
            (Some(status), words) if words.is_empty() => format!(" ({status})"),
            (Some(status), words) => format!(" ({status}: {words})"),
            (None, words) => format!(" ({words})"),
        }
    }

    /// Makes somebody else's words fit to be shown: short, on one line, and without the key.
    fn shown(&self, words: &str) -> String {
        let words = self.scrub(words);
        let words = words.split(|letter: char| letter.is_whitespace() || letter.is_control());
        let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(SHOWN) {
            Some((at, _)) => format!("{}…", &line[..at]),
            None => line,
        }
    }

    fn unconnected(&self, why: &str) -> String {
        let url = &self.model.provider.url;
        let id = &self.model.about.id;
        format!("`{id}`: no connection to `{url}`{why}; check the network and the `url`")
    }

    /// Says what happened and what to do.
    fn message(&self, class: Class, said: &str) -> String {
        let provider = &self.model.provider;
        let (id, name, url) = (&self.model.about.id, &provider.name, &provider.url);
        let seconds = self.time.as_secs();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_classed_by_status_and_words() {
        let cases = [
            (401, "", "", Class::Authentication),
            (403, "", "not yours", Class::Authentication),
            (404, "", "", Class::NotFound),
            (302, "", "", Class::NotFound),
            (413, "", "", Class::TooLong),
            (400, "", "prompt is too long: 300000 tokens", Class::TooLong),
            (400, "context_length_exceeded", "", Class::TooLong),
            (400, "", "unknown field", Class::Rejected),
            (400, "", "Your credit balance is too low", Class::Budget),
            (402, "", "", Class::Budget),
            (429, "insufficient_quota", "You exceeded your quota", Class::Budget),
            (429, "", "You exceeded your quota", Class::RateLimit),
            (503, "", "", Class::Overload),
            (529, "", "", Class::Overload),
            (500, "", "", Class::Server),
            (502, "", "", Class::Server),
        ];
        for (status, kind, message, expected) in cases {
            let complaint = Complaint { kind: kind.into(), message: message.into() };
            assert_eq!(class(Some(status), &complaint), expected, "{status} {kind} {message}");
        }
    }

    #[test]
    fn failures_in_a_stream_are_classed_by_their_names() {
        let cases = [
            ("overloaded_error", Class::Overload),
            ("rate_limit_exceeded", Class::RateLimit),
            ("authentication_error", Class::Authentication),
            ("insufficient_quota", Class::Budget),
            ("api_error", Class::Server),
            ("429", Class::RateLimit),
            ("", Class::Server),
        ];
        for (kind, expected) in cases {
            let complaint = Complaint { kind: kind.into(), message: String::new() };
            assert_eq!(class(None, &complaint), expected, "{kind}");
        }
    }
}
