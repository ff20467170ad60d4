//! The HTTP reply of the model: [`Reply`], decided before a byte of it is written.

use std::time::Duration;

use serde_json::{Value, json};

use super::dialect::{ApiRefusal, FinalAnswer, Stop};
use super::{Answer, Cut, Dialect, Fault, Pause, PromptRequest, Usage};

/// An HTTP reply, and the fault of its transport.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) body: Body,
    pub(super) delay: Duration,
    pub(super) course: SendExtent,
}

/// The body of an answer.
#[derive(Debug)]
pub(super) enum Body {
    Whole(Vec<u8>),
    /// The events of a stream; each is written on its own.
    Events(Vec<Vec<u8>>),
}

/// The extent to which a reply is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendExtent {
    Through,
    Hang(Pause),
    Cut { after: usize, by: Cut },
    Drip { bytes: usize, every: Duration },
}

impl Reply {
    /// Creates a reply with JSON.
    pub(super) fn json(status: u16, value: &Value) -> Reply {
        Reply::new(status, "application/json", Body::Whole(value.to_string().into_bytes()))
    }

    /// Creates a reply with an error.
    pub(super) fn refusal(dialect: Dialect, refused: &ApiRefusal) -> Reply {
        Reply::json(refused.status, &dialect.error(refused))
    }

    /// Creates the reply to a request from the script's answer, with its fault.
    pub(super) fn to(asked: &PromptRequest, answer: &Answer) -> Reply {
        let reply = match &answer.fault {
            None => said(asked, answer),
            Some(fault) => faulty(asked, answer, fault),
        };
        Reply { delay: answer.delay, ..reply }
    }

    fn new(status: u16, content_type: &str, body: Body) -> Reply {
        Reply {
            status,
            fields: vec![
                ("content-type", content_type.to_owned()),
                ("request-id", "req_011CfakeFakeFakeFakeFake".to_owned()),
            ],
            body,
            delay: Duration::ZERO,
            course: SendExtent::Through,
        }
    }

    fn events(events: Vec<Vec<u8>>) -> Reply {
        let mut reply = Reply::new(200, "text/event-stream; charset=utf-8", Body::Events(events));
        reply.fields.push(("cache-control", "no-cache".to_owned()));
        reply
    }
}

/// Returns the final form of an answer: its text, its usage and the reason for its end.
fn settle<'a>(
    asked: &'a PromptRequest,
    answer: &'a Answer,
    text: String,
    stop: Stop,
) -> FinalAnswer<'a> {
    let usage = answer.usage.unwrap_or_else(|| Usage {
        input: asked.body.to_string().len() as u64 / 4,
        output: text.len() as u64 / 4 + 1,
        ..Usage::default()
    });
    let (tool, thinking, chunks) = (answer.tool.as_deref(), &answer.thinking, &answer.chunks);
    FinalAnswer { asked, text, tool, thinking, stop, usage, chunks }
}

fn said(asked: &PromptRequest, answer: &Answer) -> Reply {
    write(asked, &settle(asked, answer, answer.text.clone(), Stop::Done))
}

fn write(asked: &PromptRequest, said: &FinalAnswer<'_>) -> Reply {
    match asked.is_streamed() {
        true => Reply::events(asked.dialect.events(said)),
        false => Reply::json(200, &asked.dialect.whole(said)),
    }
}

fn faulty(asked: &PromptRequest, answer: &Answer, fault: &Fault) -> Reply {
    let dialect = asked.dialect;
    let course = |course| Reply { course, ..said(asked, answer) };
    let ending = |text: &str, stop| write(asked, &settle(asked, answer, text.to_owned(), stop));
    match fault {
        Fault::Status { code, retry_after } => {
            let mut reply = Reply::refusal(dialect, &dialect.error_for(*code));
            reply.fields.extend(retry_after.map(|wait| ("retry-after", wait.header())));
            reply
        }
        Fault::PromptTooLong => Reply::refusal(dialect, &dialect.too_long()),
        Fault::NoCredit => Reply::refusal(dialect, &dialect.no_credit()),
        Fault::NoTools => {
            Reply::refusal(dialect, &ApiRefusal::invalid("this model does not support tools"))
        }
        Fault::Hang(pause) => course(SendExtent::Hang(*pause)),
        Fault::Cut { after, by } => course(SendExtent::Cut { after: *after, by: *by }),
        Fault::Drip { bytes, every } => course(SendExtent::Drip { bytes: *bytes, every: *every }),
        Fault::BadEvents => broken(said(asked, answer)),
        Fault::Garbage => {
            let page = b"<!DOCTYPE html>\n<title>502</title>\n<p>The gateway is out. \xff\xfe\n";
            Reply::new(200, "text/html", Body::Whole(page.to_vec()))
        }
        Fault::Empty => ending("", Stop::Done),
        Fault::Refusal => ending("I can't help with that.", Stop::Refusal),
        Fault::CutOff => {
            let half = answer.text.chars().count() / 2;
            ending(&answer.text.chars().take(half).collect::<String>(), Stop::CutOff)
        }
        Fault::ErrorEvent => broken_off(asked, answer),
        Fault::NotStreamed => {
            let said = settle(asked, answer, answer.text.clone(), Stop::Done);
            Reply::json(200, &dialect.whole(&said))
        }
        Fault::WrongSchema => {
            let other = json!({ "findings": "none", "of_no_schema": [1, null, { "a": true }] });
            ending(&other.to_string(), Stop::Done)
        }
    }
}

/// Breaks the JSON in the middle of an answer.
fn broken(mut reply: Reply) -> Reply {
    match &mut reply.body {
        Body::Whole(body) => body.truncate(body.len() / 2),
        Body::Events(events) => {
            let middle = events.len() / 2;
            let event = &mut events[middle];
            event.truncate(event.len() / 2);
            event.extend(b"\n\n");
        }
    }
    reply
}

/// Returns a stream that ends half-way with the provider's error event.
fn broken_off(asked: &PromptRequest, answer: &Answer) -> Reply {
    let dialect = asked.dialect;
    if !asked.is_streamed() {
        return Reply::refusal(dialect, &dialect.error_for(500));
    }
    let said = settle(asked, answer, answer.text.clone(), Stop::Done);
    let mut events = dialect.events(&said);
    events.truncate(events.len() / 2);
    events.push(dialect.error_event(&said));
    Reply::events(events)
}
