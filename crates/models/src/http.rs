//! Models over HTTP: [`HttpModel`] of a [`Provider`].
//!
//! A stall is time without content: bytes that a provider sends only to keep the connection open do
//! not count. A body is read in a thread of its own, so that the wait for it can end.

mod fault;
mod retry_after;

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
use crate::api_error::ApiError;
use crate::wire::{
    AnswerParts, Fallback, Fallbacks, PartialAnswer, ResponseDecoder, StopReason, WireRequest,
};
use crate::{
    Dialect, Failure, FailureClass, Model, ModelDescription, Nonce, Prompt, Reply, ToolCall, Usage,
};

/// The longest time to connect to a provider.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// The longest timeout; larger values could overflow a clock.
const MAX_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The maximum number of bytes that are read of the body of an error.
const MAX_ERROR_BYTES: u64 = 64 << 10;

/// The maximum number of bytes of a stream: events are many times as long as their content.
const MAX_STREAM_BYTES: u64 = 128 << 20;

/// The capacity of the channel between the thread that reads a body and its consumer, in pieces.
const CHANNEL_CAPACITY: usize = 4;

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
        let refuse = |why: &str| {
            Err(Failure::free(FailureClass::Rejected, format!("invalid `url` of `{name}`: {why}")))
        };
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let host = match rest.map(|rest| rest.split(['/', '?']).next().unwrap_or_default()) {
            None | Some("") => return refuse("expected an address such as `https://…`"),
            Some(host) if host.contains('@') => {
                return refuse("the address contains a password; set `key_env` instead");
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
    about: ModelDescription,
    /// The longest time without content of an answer.
    stall: Duration,
    /// The concessions are stored for each model, since models of one provider take different
    /// features.
    fallbacks: Mutex<Fallbacks>,
}

impl HttpModel {
    /// Creates a model from its description; `about.id.model()` is its name at the provider.
    pub fn new(provider: Arc<Provider>, about: ModelDescription) -> HttpModel {
        let Provider { dialect, url, .. } = &*provider;
        let about = about.with_endpoint(&(dialect, dialect.endpoint(url)));
        let about = ModelDescription { takes_tools: true, ..about };
        HttpModel { provider, about, stall: MAX_TIMEOUT, fallbacks: Mutex::default() }
    }

    /// Limits the time without content of an answer, whatever else the provider sends.
    pub fn with_stall_timeout(mut self, time: Duration) -> HttpModel {
        self.stall = time.min(MAX_TIMEOUT);
        self
    }
}

impl Model for HttpModel {
    fn about(&self) -> &ModelDescription {
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
                KeyError::Unusable(_) => FailureClass::Authentication,
                KeyError::TimedOut(_) => FailureClass::TimedOut,
            };
            Failure::free(class, format!("`{}`: {error}", self.about.id))
        })?;
        let call = HttpCall { model: self, key, prompt, nonce, until, time };
        call.run(heard).map_err(|fault| call.failure(fault))
    }
}

/// A call, with the repeated requests that make concessions.
struct HttpCall<'a> {
    model: &'a HttpModel,
    key: Option<Key>,
    prompt: &'a Prompt,
    nonce: &'a Nonce,
    until: Deadline,
    time: Duration,
}

impl HttpCall<'_> {
    fn run(&self, heard: &dyn Fn(usize)) -> Result<Reply, Fault> {
        loop {
            let fallbacks = self.fallbacks().clone();
            let response = self.send(&fallbacks)?;
            if response.status().is_success() {
                let reply = self.reply_from(self.read_answer(response, heard)?)?;
                let is_refused = fallbacks.contains(Fallback::NoTools);
                let tools_refused = is_refused && !self.prompt.tools.is_empty();
                return Ok(Reply { tools_refused, ..reply });
            }
            let fault = self.read_error(response);
            let of_tools = || fault.refusal_of_tools().filter(|_| self.has_tools());
            let Some(words) = fault.refusal().or_else(of_tools) else { return Err(fault) };
            // Another call may have made the same concession meanwhile; the request is repeated all
            // the same.
            match fallbacks.next(self.model.provider.dialect, words, self.has_tools()) {
                Some(fallback) => self.fallbacks().insert(fallback),
                None => return Err(fault),
            }
        }
    }

    /// Returns true if the prompt offers tools or carries earlier calls.
    fn has_tools(&self) -> bool {
        !self.prompt.tools.is_empty() || !self.prompt.turns.is_empty()
    }

    fn fallbacks(&self) -> std::sync::MutexGuard<'_, Fallbacks> {
        self.model.fallbacks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, fallbacks: &Fallbacks) -> Result<Response<Body>, Fault> {
        let Provider { dialect, url, agent, .. } = &*self.model.provider;
        let about = &self.model.about;
        let body = dialect.request(&WireRequest {
            model: about.id.model(),
            prompt: self.prompt,
            nonce: self.nonce,
            max_output_tokens: about.max_output_for(self.prompt),
            fallbacks,
        });
        let left = self.until.left();
        if left.is_zero() {
            return Err(Fault::TimedOut(Box::default()));
        }
        let mut request = agent.post(dialect.endpoint(url));
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
        request.send(body.to_string()).map_err(|error| Fault::of(error, PartialAnswer::default()))
    }

    /// Reads the reason why a request was rejected.
    fn read_error(&self, response: Response<Body>) -> Fault {
        let (head, body) = response.into_parts();
        let pieces = spawn_body_reader(body.into_reader().take(MAX_ERROR_BYTES));
        let mut body = Vec::new();
        // Half an explanation is better than none.
        while let Ok(Ok(piece)) = pieces.recv_timeout(self.wait_since(Stopwatch::start())) {
            body.extend(piece);
        }
        let api_error = serde_json::from_slice(&body).ok().as_ref().and_then(ApiError::parse);
        let location = head.headers.get("location").and_then(|to| to.to_str().ok());
        let page = || ApiError {
            kind: String::new(),
            message: location.map_or_else(|| strip_tags(&body), |to| format!("redirect to {to}")),
        };
        Fault::Status {
            status: head.status.as_u16(),
            api_error: api_error.unwrap_or_else(page),
            wait: retry_after::retry_after(&head.headers),
        }
    }

    /// Reads the answer from the body of a response.
    fn read_answer(
        &self,
        response: Response<Body>,
        heard: &dyn Fn(usize),
    ) -> Result<PartialAnswer, Fault> {
        let pieces = spawn_body_reader(
            response.into_body().into_with_config().limit(MAX_STREAM_BYTES).reader(),
        );
        let mut decoder = ResponseDecoder::new(self.model.provider.dialect);
        let mut last_content = Stopwatch::start();
        loop {
            let wait = self.wait_since(last_content);
            let piece = match pieces.recv_timeout(wait) {
                Ok(Ok(piece)) if !wait.is_zero() => piece,
                Err(RecvTimeoutError::Disconnected) => break,
                // The answer is complete; only the end of the stream is missing.
                _ if decoder.answer().stop.is_some() => break,
                Ok(Err(error)) => return Err(Fault::of(error.into(), decoder.into_answer())),
                Ok(Ok(_)) | Err(RecvTimeoutError::Timeout) => {
                    let answer = Box::new(decoder.into_answer());
                    return Err(match self.until.has_passed() {
                        true => Fault::TimedOut(answer),
                        false => Fault::Stalled(answer),
                    });
                }
            };
            let (before, content) = (decoder.answer().received_chars, decoder.content());
            if let Err(bad) = decoder.feed(&piece) {
                return Err(Fault::DecodeError(bad, Box::new(decoder.into_answer())));
            }
            if decoder.content() != content {
                last_content = Stopwatch::start();
            }
            if decoder.answer().received_chars != before {
                heard(decoder.answer().received_chars);
            }
            if decoder.answer().ended || decoder.answer().api_error.is_some() {
                break;
            }
        }
        let answer = decoder.finish().map_err(|bad| Fault::DecodeError(bad, Box::default()))?;
        heard(answer.received_chars);
        Ok(answer)
    }

    /// Returns the time to wait for the next content, given the time since the last.
    fn wait_since(&self, last_content: Stopwatch) -> Duration {
        last_content.deadline(self.model.stall).min(self.until).left()
    }

    /// Converts an answer to a reply, or to the fault that makes it unusable.
    fn reply_from(&self, answer: PartialAnswer) -> Result<Reply, Fault> {
        if let Some(api_error) = answer.api_error.clone() {
            return Err(Fault::Reported(api_error, Box::new(answer)));
        }
        match &answer.stop {
            Some(StopReason::Unknown(reason)) => {
                return Err(Fault::Stopped(reason.clone(), Box::new(answer)));
            }
            Some(StopReason::Refused) => return Err(Fault::Refused(Box::new(answer))),
            Some(StopReason::CutOff) => return Err(Fault::CutOff(Box::new(answer))),
            Some(StopReason::Finished) => {}
            None if answer.ended => {}
            None => {
                return Err(Fault::Broken(
                    "the stream ended before the answer was complete".to_owned(),
                    Box::new(answer),
                ));
            }
        }
        let usage = self.usage_of(&answer);
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
    fn usage_of(&self, answer: &PartialAnswer) -> Usage {
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
fn spawn_body_reader(mut body: impl Read + Send + 'static) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, pieces) = mpsc::sync_channel(CHANNEL_CAPACITY);
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
fn strip_tags(body: &[u8]) -> String {
    let page = String::from_utf8_lossy(body);
    let mut inside = false;
    let words = page.chars().filter(|&letter| {
        let mark = letter == '<' || letter == '>';
        inside = letter == '<' || (inside && letter != '>');
        !inside && !mark
    });
    assay_base::text::single_spaced(&words.collect::<String>())
}
