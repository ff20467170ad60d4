//! What can go wrong: [`Fault`].

use std::collections::VecDeque;
use std::time::Duration;

use super::random::Random;

/// How an answer goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// 422 for a request that is in order.
    Invalid,
    /// 500.
    ServerError,
    /// 502, with a web page.
    BadGateway(When),
    /// 503.
    Unavailable,
    /// 403, for asking too much.
    SecondaryLimit {
        /// How many seconds to wait, if it is said.
        retry_after: Option<u64>,
    },
    /// 422 with the code `abuse`, for asking too much.
    Abuse,
    /// 429.
    TooManyRequests {
        /// How many seconds to wait, if it is said.
        retry_after: Option<u64>,
    },
    /// The connection is cut.
    Cut(When),
    /// 401.
    Unauthorized,
    /// No, for lack of rights: 403, and in GraphQL an error with status 200.
    Forbidden,
    /// 404.
    NotFound,
    /// The answer takes its time: in process the clock moves, over TCP it is waited for.
    Slow(Duration),
    /// A web page with status 200.
    Html(When),
    /// Half of the answer, as if it were whole. The request takes effect.
    Truncated,
}

/// Whether something goes wrong before or after the request took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Nothing was done.
    BeforeEffect,
    /// It was done, and whoever asked does not know.
    AfterEffect,
}

/// What is still to go wrong.
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
    /// Says whether the request is carried out all the same.
    pub(super) fn lets_through(self) -> bool {
        match self {
            Fault::BadGateway(when) | Fault::Cut(when) | Fault::Html(when) => {
                when == When::AfterEffect
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

    /// Takes what goes wrong with a request, which is told as `POST /graphql ResolveThread`.
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
