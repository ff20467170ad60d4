//! A fake GitHub: [`GitHub`] holds repositories and pull requests, and serves REST and GraphQL.
//!
//! The fake is stricter than the real GitHub: it refuses anything that the real one would misplace,
//! truncate or ignore. It enforces the real rate limits on its own [`GitHubClock`], injects faults
//! ([`Fault`]), and records requests ([`LoggedRequest`]) and the peak load ([`PeakLoad`]). It can
//! be called in process ([`GitHub::answer`]) or over TCP ([`GitHub::serve`]).

mod call;
mod clock;
mod diff;
mod fault;
mod followed_repository;
mod graphql;
mod gzip;
mod json;
mod limits;
mod log;
mod random;
mod refusal;
mod responder;
mod rest;
mod server;
mod setup;
mod state;
mod view;

pub use clock::GitHubClock;
pub use fault::{Fault, FaultTiming};
pub use limits::PeakLoad;
pub use log::LoggedRequest;
pub use random::sha;
pub use server::Server;
pub use setup::NewPull;
pub use state::{Access, Sarif};
pub use view::{CommentView, ReviewView, ThreadView};

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use state::State;

/// A GitHub with all of its data.
pub struct GitHub {
    clock: Arc<GitHubClock>,
    state: Mutex<State>,
}

impl GitHub {
    /// Creates an empty GitHub.
    pub fn new(clock: Arc<GitHubClock>) -> GitHub {
        GitHub::seeded(clock, 0)
    }

    /// Creates an empty GitHub whose random choices follow from a seed.
    pub fn seeded(clock: Arc<GitHubClock>, seed: u64) -> GitHub {
        GitHub { clock, state: Mutex::new(State::new(seed)) }
    }

    /// Returns the clock of the fake.
    pub fn clock(&self) -> &GitHubClock {
        &self.clock
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A test that panicked with the lock has failed already.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for GitHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The state contains tokens.
        f.debug_struct("GitHub").field("clock", &self.clock).finish_non_exhaustive()
    }
}
