//! The client of models: [`ModelClient`], with cache, budget reservation and retries of transient
//! failures.
//!
//! A reply that is cached or recorded is returned at once. Otherwise the most that the call can
//! cost is reserved, the model is called, and called again after transient failures.

mod retry_policy;

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_base::clock::Stopwatch;

pub use self::retry_policy::{DEFAULT_ATTEMPTS, RetryPolicy};
use serde::{Deserialize, Serialize};

use crate::reply_store::ReplyKey;
use crate::{Budget, Failure, FailureClass, Model, Nonce, Prompt, Reply, ReplyStore, Spending};

/// The maximum number of retries after a stalled answer.
const MAX_STALL_RETRIES: u32 = 1;

/// A request to a model.
#[derive(Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The purpose of the request, shown to users: `bug hunter, part 2`.
    pub label: &'a str,
    /// The prompt.
    pub prompt: &'a Prompt,
    /// The random marks of the run.
    pub nonce: &'a Nonce,
    /// The timeout of the request, with all retries and delays.
    pub time: Duration,
    /// Returns true if a reply may be cached for later runs with the same request.
    pub is_cacheable: &'a dyn Fn(&Reply) -> bool,
}

/// The result of a request.
#[derive(Debug)]
pub struct ModelResponse {
    /// The reply, or the reason why there is none.
    pub outcome: Result<Reply, Failure>,
    /// The origin of the reply.
    pub source: ReplySource,
    /// The number of attempts.
    pub attempts: u32,
    /// The amount spent, on failed attempts too.
    pub spent: Spending,
    /// The reason why the reply could not be stored, or why a stored reply was refused; `None` if
    /// neither happened.
    pub store_error: Option<String>,
}

/// The origin of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplySource {
    /// The model was called, or would have been.
    Asked,
    /// The cache of earlier runs.
    Cached,
    /// The recording that is replayed.
    Recorded,
}

/// The stores of replies that a run reads and writes.
#[derive(Debug, Default)]
pub struct ReplyStores {
    /// The cache of replies, shared with other runs.
    pub cache: Option<ReplyStore>,
    /// The replies of an interrupted run that this run resumes; they are only read.
    pub earlier: Option<ReplyStore>,
    /// The recording that this run writes.
    pub record: Option<ReplyStore>,
    /// The recording that this run replays: every reply comes from it, and no model is called.
    pub replay: Option<ReplyStore>,
}

/// Calls the models of a run, with its cache, its budget and its retry policy.
#[derive(Debug)]
pub struct ModelClient {
    stores: ReplyStores,
    budget: Budget,
    retry_policy: RetryPolicy,
    fatal: Mutex<Option<Failure>>,
}

/// The attempts of one request so far.
#[derive(Debug, Default)]
struct Attempts {
    count: u32,
    spent: Spending,
    longest: Option<String>,
}

impl ModelClient {
    /// Creates a caller for a run.
    pub fn new(stores: ReplyStores, budget: Budget, retry_policy: RetryPolicy) -> ModelClient {
        ModelClient { stores, budget, retry_policy, fatal: Mutex::default() }
    }

    /// Returns the budget of the run.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Requests a reply from a model. Calls `heard` with the number of characters received so far.
    pub fn ask(
        &self,
        model: &dyn Model,
        request: &ModelRequest<'_>,
        heard: &dyn Fn(usize),
    ) -> ModelResponse {
        let span = request_span(model, request);
        let response = span.in_scope(|| self.find_or_call(model, request, heard));
        record_response(&span, &response);
        response
    }

    fn find_or_call(
        &self,
        model: &dyn Model,
        request: &ModelRequest<'_>,
        heard: &dyn Fn(usize),
    ) -> ModelResponse {
        let ModelRequest { label, prompt, nonce, .. } = *request;
        let key = ReplyKey { model: model.id(), endpoint_hash: None, label, prompt, nonce };
        if let Some(recording) = &self.stores.replay {
            tracing::debug!(label, "answer taken from the recording");
            return self.stored_response(model, recording.replay(key), ReplySource::Recorded);
        }
        let cached = ReplyKey { endpoint_hash: Some(&model.about().endpoint_hash), ..key };
        let found = self.stores.cache.as_ref().map(|cache| cache.find(cached)).transpose();
        let refused = match found {
            Ok(Some(Some(reply))) => {
                tracing::debug!(model = %model.id(), label, "answer taken from the cache");
                let store_error = self.record(key, Ok(&reply));
                return ModelResponse {
                    store_error,
                    ..self.stored_response(model, Ok(reply), ReplySource::Cached)
                };
            }
            Ok(Some(None) | None) => None,
            Err(error) => Some(error.to_string()),
        };
        let earlier = self.stores.earlier.as_ref().and_then(|store| store.find(key).ok().flatten());
        if let Some(reply) = earlier {
            tracing::debug!(model = %model.id(), label, "answer taken from the interrupted run");
            let store_error = refused.or(self.store_reply(request, cached, &reply));
            let response = self.stored_response(model, Ok(reply), ReplySource::Cached);
            return ModelResponse { store_error, ..response };
        }
        let mut attempts = Attempts::default();
        let outcome = self.call_with_retries(model, request, heard, &mut attempts);
        let outcome = outcome.map_err(|failure| attempts.with_longest(failure));
        let store_error = match &outcome {
            Ok(reply) => self.store_reply(request, cached, reply),
            Err(failure) => self.record(key, Err(failure)),
        };
        let store_error = refused.or(store_error);
        let Attempts { count, spent, .. } = attempts;
        ModelResponse { outcome, source: ReplySource::Asked, attempts: count, spent, store_error }
    }

    /// Stores the outcome of a request that was made elsewhere, such as by an agent, in the
    /// recording that is replayed. Does nothing if no recording is replayed.
    pub fn store_outcome(
        &self,
        model: &dyn Model,
        request: &ModelRequest<'_>,
        outcome: Result<&Reply, &Failure>,
    ) -> io::Result<()> {
        let Some(recording) = &self.stores.replay else { return Ok(()) };
        let ModelRequest { label, prompt, nonce, .. } = *request;
        let key = ReplyKey { model: model.id(), endpoint_hash: None, label, prompt, nonce };
        match outcome {
            Ok(reply) => recording.save(key, reply),
            Err(failure) => recording.save_failure(key, failure),
        }
    }

    /// Returns a reply that was stored, or the failure to find one.
    fn stored_response(
        &self,
        model: &dyn Model,
        outcome: Result<Reply, Failure>,
        source: ReplySource,
    ) -> ModelResponse {
        let cached = u64::from(outcome.is_ok());
        if outcome.is_ok() {
            self.budget.count_cached(model.id());
        }
        let spent = Spending { cached, ..Spending::default() };
        ModelResponse { outcome, source, attempts: 0, spent, store_error: None }
    }

    /// Calls the model until there is a reply, a permanent failure, or no time or attempt left.
    fn call_with_retries(
        &self,
        model: &dyn Model,
        request: &ModelRequest<'_>,
        heard: &dyn Fn(usize),
        attempts: &mut Attempts,
    ) -> Result<Reply, Failure> {
        let started = Stopwatch::start();
        let (mut passed, mut waited) = (Duration::ZERO, Duration::ZERO);
        let mut earlier = None;
        let mut stalls = 0;
        loop {
            let failure = match self.call_once(model, request, passed, heard, attempts) {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            attempts.keep_longest(&failure);
            stalls += u32::from(failure.class == FailureClass::Stalled);
            if stalls > MAX_STALL_RETRIES {
                return Err(failure);
            }
            // The retry only had the remaining time: the failure before it says more.
            let failure = match earlier.take() {
                Some(earlier) if failure.class == FailureClass::TimedOut => earlier,
                _ => failure,
            };
            let left =
                self.clamp_to_deadline(request.time.saturating_sub(started.elapsed().max(waited)));
            match self.retry_policy.retry_delay(&failure, attempts.count, left) {
                Some(wait) => {
                    tracing::warn!(
                        model = %model.id(),
                        label = request.label,
                        attempt = attempts.count,
                        ?wait,
                        error = %failure,
                        "retrying the model call after a failure"
                    );
                    self.retry_policy.pause(wait);
                    waited += wait;
                    passed = started.elapsed().max(waited);
                    earlier = Some(failure);
                }
                None => return Err(failure),
            }
        }
    }

    fn call_once(
        &self,
        model: &dyn Model,
        request: &ModelRequest<'_>,
        passed: Duration,
        heard: &dyn Fn(usize),
        attempts: &mut Attempts,
    ) -> Result<Reply, Failure> {
        if let Some(end) = self.fatal_failure().clone() {
            return Err(end);
        }
        let about = model.about();
        let reservation = self
            .budget
            .reserve(about, request.prompt)
            .inspect_err(|failure| self.record_fatal(failure))?;
        // Another request may have ended the run while this one waited for its reservation.
        if let Some(end) = self.fatal_failure().clone() {
            reservation.release();
            return Err(end);
        }
        attempts.count += 1;
        let time = self.clamp_to_deadline(request.time.saturating_sub(passed));
        let outcome = trace_call(model, request, time, || {
            model.ask(request.prompt, request.nonce, time, heard)
        });
        let spent = match &outcome {
            Ok(reply) => reservation.settle(about, reply),
            Err(failure) => reservation.settle_failed(about, failure.usage),
        };
        attempts.spent = attempts.spent.plus(spent);
        outcome.inspect_err(|failure| self.record_fatal(failure))
    }

    /// Bounds a time by the time that is left of the run.
    fn clamp_to_deadline(&self, time: Duration) -> Duration {
        self.budget.time_left().map_or(time, |left| left.min(time))
    }

    /// Stores a failure after which the run calls no model any more.
    fn record_fatal(&self, failure: &Failure) {
        if failure.class.is_fatal() {
            let end = Failure { partial: None, ..failure.clone() };
            self.fatal_failure().get_or_insert(end);
        }
    }

    fn fatal_failure(&self) -> MutexGuard<'_, Option<Failure>> {
        self.fatal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a reply in the recording, and in the cache if `is_cacheable` allows it. Returns
    /// the reason if that fails. A recording gets every reply and every failure.
    fn store_reply(
        &self,
        request: &ModelRequest<'_>,
        key: ReplyKey<'_>,
        reply: &Reply,
    ) -> Option<String> {
        let cache = self.stores.cache.as_ref().filter(|_| (request.is_cacheable)(reply));
        let cache = cache.and_then(|cache| {
            let stored = cache.save_and_evict(key, reply);
            stored.err().map(|error| format!("cannot write an answer to the cache: {error}"))
        });
        self.record(key, Ok(reply)).or(cache)
    }

    fn record(&self, key: ReplyKey<'_>, outcome: Result<&Reply, &Failure>) -> Option<String> {
        let recording = self.stores.record.as_ref()?;
        let key = ReplyKey { endpoint_hash: None, ..key };
        let stored = match outcome {
            Ok(reply) => recording.save(key, reply),
            Err(failure) => recording.save_failure(key, failure),
        };
        stored.err().map(|error| format!("cannot write an answer to the recording: {error}"))
    }
}

/// Returns the span of a request, with the attributes that OpenTelemetry defines for generative
/// models. It has no text of the prompt or the reply.
fn request_span(model: &dyn Model, request: &ModelRequest<'_>) -> tracing::Span {
    use tracing::field::Empty;
    let id = model.id();
    tracing::info_span!(
        "chat",
        otel.name = format!("chat {id}"),
        otel.kind = "client",
        otel.error = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = id.provider(),
        gen_ai.request.model = id.model(),
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        assay.request.label = request.label,
        assay.request.attempts = Empty,
        assay.reply.source = Empty,
        error.r#type = Empty,
    )
}

fn record_response(span: &tracing::Span, response: &ModelResponse) {
    span.record("assay.request.attempts", response.attempts);
    let source = match response.source {
        ReplySource::Asked => "asked",
        ReplySource::Cached => "cached",
        ReplySource::Recorded => "recorded",
    };
    span.record("assay.reply.source", source);
    match &response.outcome {
        Ok(Reply { usage, .. }) => {
            let input = usage.input + usage.cache_read + usage.cache_write;
            span.record("gen_ai.usage.input_tokens", input);
            span.record("gen_ai.usage.output_tokens", usage.output);
        }
        Err(failure) => {
            span.record("error.type", tracing::field::debug(failure.class));
            span.record("otel.error", tracing::field::display(failure));
        }
    }
}

/// Emits one event before a model is called and one with the result, so that a call that hangs is
/// the one without a result.
fn trace_call(
    model: &dyn Model,
    request: &ModelRequest<'_>,
    timeout: Duration,
    call: impl FnOnce() -> Result<Reply, Failure>,
) -> Result<Reply, Failure> {
    let (id, label) = (model.id(), request.label);
    tracing::debug!(model = %id, label, ?timeout, "calling the model");
    let started = Stopwatch::start();
    let outcome = call();
    let elapsed = started.elapsed();
    match &outcome {
        Ok(reply) => {
            let chars = reply.text.len();
            tracing::debug!(model = %id, label, ?elapsed, bytes = chars, "the model answered");
        }
        Err(failure) => {
            tracing::debug!(model = %id, label, ?elapsed, error = %failure, "the model failed");
        }
    }
    outcome
}

impl Attempts {
    fn keep_longest(&mut self, failure: &Failure) {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        if length(&failure.partial) > length(&self.longest) {
            self.longest.clone_from(&failure.partial);
        }
    }

    /// Returns a failure with the longest partial answer of all attempts.
    fn with_longest(&mut self, failure: Failure) -> Failure {
        Failure { partial: self.longest.take(), ..failure }
    }
}

#[cfg(test)]
mod tests;
