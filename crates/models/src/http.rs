//! Models over HTTP: [`HttpModel`] of a [`Provider`].
//!
//! A stall is time without content: bytes that a provider sends only to keep the connection open do
//! not count. A body is read in a thread of its own, so that the wait for it can end.

mod fault;
mod wait;

use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use assay_base::clock::{Deadline, Stopwatch};
use assay_http::agent::agent;
use assay_sandbox::{Key, KeyError, KeySource, Keys};
use ureq::http::uri::Authority;
use ureq::http::{HeaderValue, Response};
use ureq::{Agent, Body};

use self::fault::Fault;
use crate::complaint::Complaint;
use crate::wire::{Answer, AnswerParts, Asked, Concession, Concessions, Intake, Stop};
use crate::{Class, Description, Dialect, Failure, Model, Nonce, Prompt, Reply, ToolCall, Usage};

/// The longest time to connect to a provider.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// The longest timeout; larger values could overflow a clock.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The maximum number of bytes that are read of the body of an error.
const ERROR_BODY: u64 = 64 << 10;

/// The maximum number of bytes of a stream: events are many times as long as their content.
const STREAM: u64 = 128 << 20;

/// The capacity of the channel between the thread that reads a body and its consumer, in pieces.
const WAITING_PIECES: usize = 4;

/// A provider of models over HTTP.
#[derive(Debug)]
pub struct Provider {
    name: String,
    dialect: Dialect,
    url: String,
    keys: Keys,
    agent: Agent,
}

impl Provider {
    /// Creates a provider from its base URL: without `/v1` at the end for Anthropic's dialect, with
    /// it for those of OpenAI.
    pub fn new(
        name: &str,
        dialect: Dialect,
        url: &str,
        key: KeySource,
    ) -> Result<Provider, Failure> {
        let refuse =
            |why: &str| Err(Failure::free(Class::Rejected, format!("the `url` of `{name}` {why}")));
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let host = match rest.map(|rest| rest.split(['/', '?']).next().unwrap_or_default()) {
            None | Some("") => return refuse("is no address: write `https://…`"),
            Some(host) if host.contains('@') => {
                return refuse("holds a password: name a `key_env` instead");
            }
            Some(host) => host,
        };
        // A host that cannot be parsed fails with the first request.
        let authority = host.parse::<Authority>();
        let host = authority.as_ref().map_or(host, Authority::host);
        Ok(Provider {
            name: name.to_owned(),
            dialect,
            url: url.to_owned(),
            keys: Keys::new(key),
            agent: agent(host, CONNECT_TIMEOUT),
        })
    }
}

/// A model of a provider.
#[derive(Debug)]
pub struct HttpModel {
    provider: Arc<Provider>,
    about: Description,
    /// The longest time without content of an answer.
    stall: Duration,
    /// The concessions are stored for each model, since models of one provider take different
    /// features.
    conceded: Mutex<Concessions>,
}

impl HttpModel {
    /// Creates a model from its description; `about.id.model()` is its name at the provider.
    pub fn new(provider: Arc<Provider>, about: Description) -> HttpModel {
        let Provider { dialect, url, .. } = &*provider;
        let about = about.reached_by(&(dialect, dialect.address(url)));
        let about = Description { takes_tools: true, ..about };
        HttpModel { provider, about, stall: LONGEST, conceded: Mutex::default() }
    }

    /// Limits the time without content of an answer, whatever else the provider sends.
    pub fn stalls_after(mut self, time: Duration) -> HttpModel {
        self.stall = time.min(LONGEST);
        self
    }
}

impl Model for HttpModel {
    fn about(&self) -> &Description {
        &self.about
    }

    fn ask(
        &self,
        prompt: &Prompt,
        nonce: &Nonce,
        time: Duration,
        heard: &dyn Fn(usize),
    ) -> Result<Reply, Failure> {
        let until = Deadline::after(time);
        let key = self.provider.keys.get(time).map_err(|error| {
            let class = match error {
                KeyError::Unusable(_) => Class::Authentication,
                KeyError::TimedOut(_) => Class::TimedOut,
            };
            Failure::free(class, format!("`{}`: {error}", self.about.id))
        })?;
        let call = Call { model: self, key, prompt, nonce, until, time };
        call.run(heard).map_err(|fault| call.failure(fault))
    }
}

/// A call, with the repeated requests that make concessions.
struct Call<'a> {
    model: &'a HttpModel,
    key: Option<Key>,
    prompt: &'a Prompt,
    nonce: &'a Nonce,
    until: Deadline,
    time: Duration,
}

impl Call<'_> {
    fn run(&self, heard: &dyn Fn(usize)) -> Result<Reply, Fault> {
        loop {
            let conceded = self.conceded().clone();
            let response = self.send(&conceded)?;
            if response.status().is_success() {
                let reply = self.reply(self.take(response, heard)?)?;
                let is_refused = conceded.contains(Concession::NoTools);
                let tools_refused = is_refused && !self.prompt.tools.is_empty();
                return Ok(Reply { tools_refused, ..reply });
            }
            let fault = self.refused(response);
            let of_tools = || fault.refusal_of_tools().filter(|_| self.has_tools());
            let Some(words) = fault.refusal().or_else(of_tools) else { return Err(fault) };
            // Another call may have made the same concession meanwhile; the request is repeated all
            // the same.
            match conceded.next(self.model.provider.dialect, words, self.has_tools()) {
                Some(concession) => self.conceded().insert(concession),
                None => return Err(fault),
            }
        }
    }

    /// Returns true if the prompt offers tools or carries earlier calls.
    fn has_tools(&self) -> bool {
        !self.prompt.tools.is_empty() || !self.prompt.turns.is_empty()
    }

    fn conceded(&self) -> std::sync::MutexGuard<'_, Concessions> {
        self.model.conceded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, conceded: &Concessions) -> Result<Response<Body>, Fault> {
        let Provider { dialect, url, agent, .. } = &*self.model.provider;
        let about = &self.model.about;
        let body = dialect.request(&Asked {
            model: about.id.model(),
            prompt: self.prompt,
            nonce: self.nonce,
            max_output_tokens: about.output_for(self.prompt),
            conceded,
        });
        let left = self.until.left();
        if left.is_zero() {
            return Err(Fault::TimedOut(Box::default()));
        }
        let mut request = agent.post(dialect.address(url));
        for (name, value) in dialect.headers(self.key.as_ref()) {
            let mut value = HeaderValue::try_from(value).expect("a key is made of plain letters");
            // Code that logs requests leaves out a sensitive value.
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        let request = request
            .header("content-type", "application/json")
            .config()
            .timeout_global(Some(left))
            // The head arrives with the first content, or before it.
            .timeout_recv_response(Some(self.model.stall).filter(|stall| *stall < left))
            .build();
        request.send(body.to_string()).map_err(|error| Fault::of(error, Answer::default()))
    }

    /// Reads the reason why a request was rejected.
    fn refused(&self, response: Response<Body>) -> Fault {
        let (head, body) = response.into_parts();
        let pieces = pieces(body.into_reader().take(ERROR_BODY));
        let mut body = Vec::new();
        // Half an explanation is better than none.
        while let Ok(Ok(piece)) = pieces.recv_timeout(self.wait_since(Stopwatch::start())) {
            body.extend(piece);
        }
        let complaint = serde_json::from_slice(&body).ok().as_ref().and_then(Complaint::read);
        let location = head.headers.get("location").and_then(|to| to.to_str().ok());
        let page = || Complaint {
            kind: String::new(),
            message: location.map_or_else(|| plain(&body), |to| format!("it leads to {to}")),
        };
        Fault::Status {
            status: head.status.as_u16(),
            complaint: complaint.unwrap_or_else(page),
            wait: wait::requested_delay(&head.headers),
        }
    }

    /// Reads the answer from the body of a response.
    fn take(&self, response: Response<Body>, heard: &dyn Fn(usize)) -> Result<Answer, Fault> {
        let pieces = pieces(response.into_body().into_with_config().limit(STREAM).reader());
        let mut intake = Intake::new(self.model.provider.dialect);
        let mut last_content = Stopwatch::start();
        loop {
            let wait = self.wait_since(last_content);
            let piece = match pieces.recv_timeout(wait) {
                Ok(Ok(piece)) if !wait.is_zero() => piece,
                Err(RecvTimeoutError::Disconnected) => break,
                // The answer is complete; only the end of the stream is missing.
                _ if intake.answer().stop.is_some() => break,
                Ok(Err(error)) => return Err(Fault::of(error.into(), intake.into_answer())),
                Ok(Ok(_)) | Err(RecvTimeoutError::Timeout) => {
                    let answer = Box::new(intake.into_answer());
                    return Err(match self.until.has_passed() {
                        true => Fault::TimedOut(answer),
                        false => Fault::Stalled(answer),
                    });
                }
            };
            let (before, content) = (intake.answer().heard, intake.content());
            if let Err(bad) = intake.feed(&piece) {
                return Err(Fault::Bad(bad, Box::new(intake.into_answer())));
            }
            if intake.content() != content {
                last_content = Stopwatch::start();
            }
            if intake.answer().heard != before {
                heard(intake.answer().heard);
            }
            if intake.answer().ended || intake.answer().complaint.is_some() {
                break;
            }
        }
        let answer = intake.finish().map_err(|bad| Fault::Bad(bad, Box::default()))?;
        heard(answer.heard);
        Ok(answer)
    }

    /// Returns the time to wait for the next content, given the time since the last.
    fn wait_since(&self, last_content: Stopwatch) -> Duration {
        last_content.deadline(self.model.stall).min(self.until).left()
    }

    /// Converts an answer to a reply, or to the fault that makes it unusable.
    fn reply(&self, answer: Answer) -> Result<Reply, Fault> {
        if let Some(complaint) = answer.complaint.clone() {
            return Err(Fault::Complained(complaint, Box::new(answer)));
        }
        match &answer.stop {
            Some(Stop::Unknown(reason)) => {
                return Err(Fault::Stopped(reason.clone(), Box::new(answer)));
            }
            Some(Stop::Refused) => return Err(Fault::Refused(Box::new(answer))),
            Some(Stop::CutOff) => return Err(Fault::CutOff(Box::new(answer))),
            Some(Stop::Finished) => {}
            None if answer.ended => {}
            None => {
                return Err(Fault::Broken(
                    "the stream ended too early".to_owned(),
                    Box::new(answer),
                ));
            }
        }
        let usage = self.used(&answer);
        let thoughts = answer.signed_thoughts().cloned().collect();
        // A model that was offered no tools has none to call: the arguments of its calls are its
        // answer.
        let AnswerParts { text, aside, calls } = answer.into_parts(!self.prompt.tools.is_empty());
        if text.trim().is_empty() && calls.is_empty() {
            return Err(Fault::Empty(usage));
        }
        let call = |call: ToolCall| ToolCall {
            name: self.scrub(&call.name),
            arguments: self.scrub(&call.arguments),
        };
        let (aside, calls) = (self.scrub(&aside), calls.into_iter().map(call).collect());
        Ok(Reply { aside, calls, thoughts, ..Reply::new(self.scrub(&text), usage) })
    }

    /// Returns the usage of an answer. If the provider does not report it, the bytes are counted,
    /// since no token is shorter than a byte.
    fn used(&self, answer: &Answer) -> Usage {
        match answer.usage.total() {
            0 => {
                let input = self.prompt.bytes() as u64;
                let handed = answer.arguments().map(str::len).sum::<usize>();
                let output = (answer.text.len() + handed) as u64;
                Usage { input, output, ..Usage::default() }
            }
            _ => answer.usage,
        }
    }

    fn scrub(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text))
    }
}

/// Reads a body in a thread of its own, so that a wait for the next piece can time out. The thread
/// ends with the body, with the timeout of the call, or when the receiver is dropped.
fn pieces(mut body: impl Read + Send + 'static) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, pieces) = mpsc::sync_channel(WAITING_PIECES);
    thread::spawn(move || {
        let mut buffer = vec![0; 16 << 10];
        loop {
            let piece = match body.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => Ok(buffer[..count].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let is_end = piece.is_err();
            if sender.send(piece).is_err() || is_end {
                return;
            }
        }
    });
    pieces
}

/// Returns the text of an HTML page, without its tags.
fn plain(body: &[u8]) -> String {
    let page = String::from_utf8_lossy(body);
    let mut inside = false;
    let words = page.chars().filter(|&letter| {
        let mark = letter == '<' || letter == '>';
        inside = letter == '<' || (inside && letter != '>');
        !inside && !mark
    });
    words.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}
