//! Injected faults: [`Fault`].

use std::collections::VecDeque;
use std::time::Duration;

use super::random::Random;

/// A fault of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// 422 for a valid request.
    Invalid,
    /// 500, an internal error.
    ServerError,
    /// 502, with an HTML page.
    BadGateway(FaultTiming),
    /// 503, service unavailable.
    Unavailable,
    /// 403, for too many writes.
    SecondaryLimit {
        /// Seconds in the header `retry-after`; `None` without the header.
        retry_after: Option<u64>,
    },
    /// 422 with the code `abuse`, for too many writes.
    Abuse,
    /// 429, too many requests.
    TooManyRequests {
        /// Seconds in the header `retry-after`; `None` without the header.
        retry_after: Option<u64>,
    },
    /// The connection is cut.
    Cut(FaultTiming),
    /// 401, bad credentials.
    Unauthorized,
    /// Missing permission: 403, and in GraphQL an error with status 200.
    Forbidden,
    /// 404, not found.
    NotFound,
    /// A delay: in process the clock advances, over TCP the server waits.
    Slow(Duration),
    /// An HTML page with status 200.
    Html(FaultTiming),
    /// Half of the answer, with a matching length. The request takes effect.
    Truncated,
}

/// The order of a fault and the effect of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultTiming {
    /// The request has no effect.
    BeforeEffect,
    /// The request takes effect, and the client does not know.
    AfterEffect,
}

/// The faults that are still to occur.
#[derive(Debug, Default)]
pub(super) struct Faults {
    queue: VecDeque<(String, Fault)>,
    schedule: Option<Schedule>,
}

#[derive(Debug)]
struct Schedule {
    random: Random,
    one_in: u64,
    faults: Vec<Fault>,
}

impl Fault {
    /// Returns true if the request takes effect in spite of the fault.
    pub(super) fn lets_through(self) -> bool {
        match self {
            Fault::BadGateway(when) | Fault::Cut(when) | Fault::Html(when) => {
                when == FaultTiming::AfterEffect
            }
            Fault::Slow(_) | Fault::Truncated => true,
            Fault::Invalid
            | Fault::ServerError
            | Fault::Unavailable
            | Fault::SecondaryLimit { .. }
            | Fault::Abuse
            | Fault::TooManyRequests { .. }
            | Fault::Unauthorized
            | Fault::Forbidden
            | Fault::NotFound => false,
        }
    }
}

impl Faults {
    pub(super) fn push(&mut self, on: &str, fault: Fault) {
        self.queue.push_back((on.to_owned(), fault));
    }

    pub(super) fn schedule(&mut self, seed: u64, one_in: u64, faults: &[Fault]) {
        let random = Random::new(seed);
        self.schedule = Some(Schedule { random, one_in, faults: faults.to_vec() });
    }

    pub(super) fn clear(&mut self) {
        *self = Faults::default();
    }

    /// Removes and returns the fault for a request, which is described as
    /// `POST /graphql ResolveThread`.
    pub(super) fn take(&mut self, request: &str) -> Option<Fault> {
        let fits = |on: &str| on.split_whitespace().all(|word| request.contains(word));
        if let Some(first) = self.queue.iter().position(|(on, _)| fits(on)) {
            return self.queue.remove(first).map(|(_, fault)| fault);
        }
        let schedule = self.schedule.as_mut()?;
        if schedule.random.below(schedule.one_in) > 0 {
            return None;
        }
        let which = schedule.random.below(schedule.faults.len() as u64) as usize;
        schedule.faults.get(which).copied()
    }
}
