//! Who decides what is said: [`Script`].

use std::ops::{Bound, RangeBounds};

use super::{Answer, Asked, Fault, small_review};

/// Decides what is said to each request. Any function does.
///
/// A script is called from several threads at once, and does not wait: an [`Answer`] has a delay
/// for that, which ends with the server.
pub trait Script: Send + Sync {
    /// Gives the answer to a request.
    fn answer(&self, asked: &Asked) -> Answer;

    /// Lets the answers to some requests go wrong, by their numbers: `1..=1` is once, `..` is
    /// always.
    fn with_fault(self, requests: impl RangeBounds<usize>, fault: Fault) -> WithFault<Self>
    where
        Self: Sized,
    {
        let requests = (requests.start_bound().cloned(), requests.end_bound().cloned());
        WithFault { script: self, requests, fault }
    }
}

impl<F: Fn(&Asked) -> Answer + Send + Sync> Script for F {
    fn answer(&self, asked: &Asked) -> Answer {
        self(asked)
    }
}

/// A script whose answers go wrong at some requests; [`Script::with_fault`] makes it.
#[derive(Debug, Clone)]
pub struct WithFault<S> {
    script: S,
    requests: (Bound<usize>, Bound<usize>),
    fault: Fault,
}

impl<S: Script> Script for WithFault<S> {
    fn answer(&self, asked: &Asked) -> Answer {
        let mut answer = self.script.answer(asked);
        if self.requests.contains(&asked.number) {
            answer.fault = Some(self.fault.clone());
        }
        answer
    }
}

/// Says the same to everything.
#[derive(Debug, Clone)]
pub struct Fixed(pub String);

impl Script for Fixed {
    fn answer(&self, _asked: &Asked) -> Answer {
        Answer::text(self.0.as_str())
    }
}

/// Reads the change in the request and reports its first line that looks doubtful, as a reviewer
/// would.
#[derive(Debug, Clone, Copy)]
pub struct SmallReview;

impl Script for SmallReview {
    fn answer(&self, asked: &Asked) -> Answer {
        Answer::json(&small_review::answer(asked))
    }
}
