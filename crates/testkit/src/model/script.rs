//! The source of answers: [`Script`].

use std::ops::{Bound, RangeBounds};

use super::{Answer, Fault, PromptRequest, small_review};

/// A source of answers to requests. Any function is a script.
///
/// A script is called from several threads at once, and must not wait: an [`Answer`] has a delay
/// for that, which ends with the server.
pub trait Script: Send + Sync {
    /// Returns the answer to a request.
    fn answer(&self, asked: &PromptRequest) -> Answer;

    /// Injects a fault into the answers to some requests, by their numbers: `1..=1` is once, `..`
    /// is always.
    fn with_fault(self, requests: impl RangeBounds<usize>, fault: Fault) -> FaultyScript<Self>
    where
        Self: Sized,
    {
        let requests = (requests.start_bound().cloned(), requests.end_bound().cloned());
        FaultyScript { script: self, requests, fault }
    }
}

impl<F: Fn(&PromptRequest) -> Answer + Send + Sync> Script for F {
    fn answer(&self, asked: &PromptRequest) -> Answer {
        self(asked)
    }
}

/// A script with faults at some requests; created by [`Script::with_fault`].
#[derive(Debug, Clone)]
pub struct FaultyScript<S> {
    script: S,
    requests: (Bound<usize>, Bound<usize>),
    fault: Fault,
}

impl<S: Script> Script for FaultyScript<S> {
    fn answer(&self, asked: &PromptRequest) -> Answer {
        let mut answer = self.script.answer(asked);
        if self.requests.contains(&asked.number) {
            answer.fault = Some(self.fault.clone());
        }
        answer
    }
}

/// A script that always returns the same text.
#[derive(Debug, Clone)]
pub struct FixedAnswer(pub String);

impl Script for FixedAnswer {
    fn answer(&self, _asked: &PromptRequest) -> Answer {
        Answer::text(self.0.as_str())
    }
}

/// A script that reads the change in the request and reports its first doubtful line, as a reviewer
/// does.
#[derive(Debug, Clone, Copy)]
pub struct SmallReview;

impl Script for SmallReview {
    fn answer(&self, asked: &PromptRequest) -> Answer {
        Answer::json(&small_review::answer(asked))
    }
}
