//! The client of models: [`Caller`], with cache, budget reservation and retries of transient
//! failures.
//!
//! A reply that is cached or recorded is returned at once. Otherwise the most that the call can
//! cost is reserved, the model is called, and called again after transient failures.

mod patience;

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_base::clock::Stopwatch;

pub use self::patience::Patience;
use serde::{Deserialize, Serialize};

use crate::store::Question;
use crate::{Budget, Class, Failure, Model, Nonce, Prompt, Reply, Spent, Store};

/// The maximum number of retries after a stalled answer.
const MAX_STALL_RETRIES: u32 = 1;

/// A request to a model.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The purpose of the request, shown to users: `bug hunter, part 2`.
    pub label: &'a str,
    /// The prompt.
    pub prompt: &'a Prompt,
    /// The random marks of the run.
    pub nonce: &'a Nonce,
    /// The timeout of the request, with all retries and delays.
    pub time: Duration,
    /// Returns true if a reply may be cached for later runs with the same request.
    pub is_worth_keeping: &'a dyn Fn(&Reply) -> bool,
}

/// The result of a request.
#[derive(Debug)]
pub struct Answered {
    /// The reply, or the reason why there is none.
    pub outcome: Result<Reply, Failure>,
    /// The origin of the reply.
    pub source: Source,
    /// The number of attempts.
    pub attempts: u32,
    /// The amount spent, on failed attempts too.
    pub spent: Spent,
    /// The reason why the reply could not be stored, or why a stored reply was refused; `None` if
    /// neither happened.
    pub not_kept: Option<String>,
}

/// The origin of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The model was called, or would have been.
    Asked,
    /// The cache of earlier runs.
    Cached,
    /// The recording that is replayed.
    Recorded,
}

/// The stores of replies that a run reads and writes.
#[derive(Debug, Default)]
pub struct Stores {
    /// The cache of replies, shared with other runs.
    pub cache: Option<Store>,
    /// The recording that this run writes.
    pub record: Option<Store>,
    /// The recording that this run replays: every reply comes from it, and no model is called.
    pub replay: Option<Store>,
}

/// Calls the models of a run, with its cache, its budget and its retry policy.
#[derive(Debug)]
pub struct Caller {
    stores: Stores,
    budget: Budget,
    patience: Patience,
    ended: Mutex<Option<Failure>>,
}

/// The attempts of one request so far.
#[derive(Debug, Default)]
struct Attempts {
    count: u32,
    spent: Spent,
    longest: Option<String>,
}

impl Caller {
    /// Creates a caller for a run.
    pub fn new(stores: Stores, budget: Budget, patience: Patience) -> Caller {
        Caller { stores, budget, patience, ended: Mutex::default() }
    }

    /// Returns the budget of the run.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Requests a reply from a model. Calls `heard` with the number of characters received so far.
    pub fn ask(&self, model: &dyn Model, ask: &Ask<'_>, heard: &dyn Fn(usize)) -> Answered {
        let Ask { label, prompt, nonce, .. } = *ask;
        let question = Question { model: model.id(), reached: None, label, prompt, nonce };
        if let Some(recording) = &self.stores.replay {
            tracing::debug!(label, "answer taken from the recording");
            return self.given(model, recording.replay(question), Source::Recorded);
        }
        let cached = Question { reached: Some(&model.about().reached), ..question };
        let found = self.stores.cache.as_ref().map(|cache| cache.find(cached)).transpose();
        let refused = match found {
            Ok(Some(Some(reply))) => {
                tracing::debug!(model = %model.id(), label, "answer taken from the cache");
                let not_kept = self.record(question, Ok(&reply));
                return Answered { not_kept, ..self.given(model, Ok(reply), Source::Cached) };
            }
            Ok(Some(None) | None) => None,
            Err(error) => Some(error.to_string()),
        };
        let mut attempts = Attempts::default();
        let outcome = self.attempt(model, ask, heard, &mut attempts);
        let outcome = outcome.map_err(|failure| attempts.with_longest(failure));
        let not_kept = match &outcome {
            Ok(reply) => self.keep(ask, cached, reply),
            Err(failure) => self.record(question, Err(failure)),
        };
        let not_kept = refused.or(not_kept);
        let Attempts { count, spent, .. } = attempts;
        Answered { outcome, source: Source::Asked, attempts: count, spent, not_kept }
    }

    /// Stores the outcome of a request that was made elsewhere, such as by an agent, in the
    /// recording that is replayed. Does nothing if no recording is replayed.
    pub fn hand_in(
        &self,
        model: &dyn Model,
        ask: &Ask<'_>,
        outcome: Result<&Reply, &Failure>,
    ) -> io::Result<()> {
        let Some(recording) = &self.stores.replay else { return Ok(()) };
        let Ask { label, prompt, nonce, .. } = *ask;
        let question = Question { model: model.id(), reached: None, label, prompt, nonce };
        match outcome {
            Ok(reply) => recording.keep(question, reply),
            Err(failure) => recording.keep_failure(question, failure),
        }
    }

    /// Returns a reply that was stored, or the failure to find one.
    fn given(
        &self,
        model: &dyn Model,
        outcome: Result<Reply, Failure>,
        source: Source,
    ) -> Answered {
        let cached = u64::from(outcome.is_ok());
        if outcome.is_ok() {
            self.budget.count_cached(model.id());
        }
        let spent = Spent { cached, ..Spent::default() };
        Answered { outcome, source, attempts: 0, spent, not_kept: None }
    }

    /// Calls the model until there is a reply, a permanent failure, or no time or attempt left.
    fn attempt(
        &self,
        model: &dyn Model,
        ask: &Ask<'_>,
        heard: &dyn Fn(usize),
        attempts: &mut Attempts,
    ) -> Result<Reply, Failure> {
        let started = Stopwatch::start();
        let (mut passed, mut waited) = (Duration::ZERO, Duration::ZERO);
        let mut earlier = None;
        let mut stalls = 0;
        loop {
            let failure = match self.attempt_once(model, ask, passed, heard, attempts) {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            attempts.keep_longest(&failure);
            stalls += u32::from(failure.class == Class::Stalled);
            if stalls > MAX_STALL_RETRIES {
                return Err(failure);
            }
            // The retry only had the remaining time: the failure before it says more.
            let failure = match earlier.take() {
                Some(earlier) if failure.class == Class::TimedOut => earlier,
                _ => failure,
            };
            let left = self.left(ask.time.saturating_sub(started.elapsed().max(waited)));
            match self.patience.wait(&failure, attempts.count, left) {
                Some(wait) => {
                    tracing::warn!(
                        model = %model.id(),
                        label = ask.label,
                        attempt = attempts.count,
                        ?wait,
                        error = %failure,
                        "retrying the question after a failure"
                    );
                    self.patience.pause(wait);
                    waited += wait;
                    passed = started.elapsed().max(waited);
                    earlier = Some(failure);
                }
                None => return Err(failure),
            }
        }
    }

    fn attempt_once(
        &self,
        model: &dyn Model,
        ask: &Ask<'_>,
        passed: Duration,
        heard: &dyn Fn(usize),
        attempts: &mut Attempts,
    ) -> Result<Reply, Failure> {
        if let Some(end) = self.ended().clone() {
            return Err(end);
        }
        let about = model.about();
        let reservation =
            self.budget.reserve(about, ask.prompt).inspect_err(|failure| self.note_end(failure))?;
        // Another request may have ended the run while this one waited for its reservation.
        if let Some(end) = self.ended().clone() {
            reservation.release();
            return Err(end);
        }
        attempts.count += 1;
        let time = self.left(ask.time.saturating_sub(passed));
        let outcome = traced(model, ask, time, || model.ask(ask.prompt, ask.nonce, time, heard));
        let spent = match &outcome {
            Ok(reply) => reservation.settle(about, reply),
            Err(failure) => reservation.settle_failed(about, failure.usage),
        };
        attempts.spent = attempts.spent.plus(spent);
        outcome.inspect_err(|failure| self.note_end(failure))
    }

    /// Bounds a time by the time that is left of the run.
    fn left(&self, time: Duration) -> Duration {
        self.budget.time_left().map_or(time, |left| left.min(time))
    }

    /// Stores a failure after which the run calls no model any more.
    fn note_end(&self, failure: &Failure) {
        if failure.class.ends_the_run() {
            let end = Failure { partial: None, ..failure.clone() };
            self.ended().get_or_insert(end);
        }
    }

    fn ended(&self) -> MutexGuard<'_, Option<Failure>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a reply in the recording, and in the cache if `is_worth_keeping` allows it. Returns
    /// the reason if that fails. A recording gets every reply and every failure.
    fn keep(&self, ask: &Ask<'_>, question: Question<'_>, reply: &Reply) -> Option<String> {
        let cache = self.stores.cache.as_ref().filter(|_| (ask.is_worth_keeping)(reply));
        let cache = cache.and_then(|cache| {
            let kept = cache.keep_for_a_while(question, reply);
            kept.err().map(|error| format!("could not keep an answer in the cache: {error}"))
        });
        self.record(question, Ok(reply)).or(cache)
    }

    fn record(&self, question: Question<'_>, outcome: Result<&Reply, &Failure>) -> Option<String> {
        let recording = self.stores.record.as_ref()?;
        let question = Question { reached: None, ..question };
        let kept = match outcome {
            Ok(reply) => recording.keep(question, reply),
            Err(failure) => recording.keep_failure(question, failure),
        };
        kept.err().map(|error| format!("could not record an answer: {error}"))
    }
}

/// Emits one event before a model is called and one with the result, so that a call that hangs is
/// the one without a result.
fn traced(
    model: &dyn Model,
    ask: &Ask<'_>,
    timeout: Duration,
    request: impl FnOnce() -> Result<Reply, Failure>,
) -> Result<Reply, Failure> {
    let (id, label) = (model.id(), ask.label);
    tracing::debug!(model = %id, label, ?timeout, "asking the model");
    let started = Stopwatch::start();
    let outcome = request();
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
