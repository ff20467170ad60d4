//! Asks, and sees to it that an answer comes if there is one to be had: [`Caller`].
//!
//! An answer that is there already is given at once. Otherwise what it can cost at the most is set
//! aside, the model is asked, and asked again after failures that pass.

mod patience;

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_base::clock::Stopwatch;

pub use self::patience::Patience;
use serde::{Deserialize, Serialize};

use crate::store::Question;
use crate::{Budget, Class, Failure, Model, Nonce, Prompt, Reply, Spent, Store};

/// How often a question is asked again after nothing of an answer came.
const MAX_STALL_RETRIES: u32 = 1;

/// A question.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// Who asks and why, for people: `bug hunter, part 2`.
    pub label: &'a str,
    /// What is asked.
    pub prompt: &'a Prompt,
    /// The marks of the run.
    pub nonce: &'a Nonce,
    /// How long asking may take, with all that is waited between attempts.
    pub time: Duration,
    /// Says whether an answer is worth keeping for the next run that asks the same.
    pub is_worth_keeping: &'a dyn Fn(&Reply) -> bool,
}

/// What came of a question.
#[derive(Debug)]
pub struct Answered {
    /// The answer, or why there is none.
    pub outcome: Result<Reply, Failure>,
    /// Where it comes from.
    pub source: Source,
    /// How often the model was asked.
    pub attempts: u32,
    /// What that took, failures included.
    pub spent: Spent,
    /// Why the answer could not be kept, where it should have been, or why one that was kept is not
    /// used.
    pub not_kept: Option<String>,
}

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The model was asked, or would have been.
    Asked,
    /// It was asked before.
    Cached,
    /// It is in the recording.
    Recorded,
}

/// Which answers are kept, and given again.
#[derive(Debug, Default)]
pub struct Stores {
    /// Answers of other runs, which are not asked for again.
    pub cache: Option<Store>,
    /// Where this run is recorded.
    pub record: Option<Store>,
    /// A recording that gives all answers; nobody is asked.
    pub replay: Option<Store>,
}

/// Asks models, for all who have a question in a run.
#[derive(Debug)]
pub struct Caller {
    stores: Stores,
    budget: Budget,
    patience: Patience,
    ended: Mutex<Option<Failure>>,
}

/// What came of the attempts at a question.
#[derive(Debug, Default)]
struct Attempts {
    count: u32,
    spent: Spent,
    longest: Option<String>,
}

impl Caller {
    /// Makes a caller for a run.
    pub fn new(stores: Stores, budget: Budget, patience: Patience) -> Caller {
        Caller { stores, budget, patience, ended: Mutex::default() }
    }

    /// Gives what the run may spend, and has spent.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Asks a model, and tells how many characters came so far while they come.
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

    /// Takes in what somebody else got for a question, an answer or why there is none. It is found
    /// where answers are replayed from; there is nothing to do where none are.
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

    /// Gives an answer that nobody was asked for.
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

    /// Asks until there is an answer, a failure that does not pass, or no time.
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
            // It only had what was left of the time: why it was asked again says more.
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
        // Others may have ended the run while this one waited for its turn.
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

    /// Bounds a time by what is left of the run.
    fn left(&self, time: Duration) -> Duration {
        self.budget.time_left().map_or(time, |left| left.min(time))
    }

    /// Remembers a failure after which nobody is asked any more.
    fn note_end(&self, failure: &Failure) {
        if failure.class.ends_the_run() {
            let end = Failure { partial: None, ..failure.clone() };
            self.ended().get_or_insert(end);
        }
    }

    fn ended(&self) -> MutexGuard<'_, Option<Failure>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a whole answer, and says why not where that fails. A recording has every answer, and
    /// every failure.
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

/// Emits an event before a model is asked and one with the result, so that a model that does not
/// answer is the one without a result.
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

    /// Gives a failure with the most that came of any attempt.
    fn with_longest(&mut self, failure: Failure) -> Failure {
        Failure { partial: self.longest.take(), ..failure }
    }
}

#[cfg(test)]
mod tests;
