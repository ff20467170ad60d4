//! A GitHub that is none: [`GitHub`] keeps repositories and pull requests, and speaks REST and
//! GraphQL about them.
//!
//! It is stricter than the real one: what the real one would misplace, cut or ignore is refused.
//! It keeps the real one's limits on a [`Clock`] of its own, breaks down on demand ([`Fault`]), and
//! notes what it was asked ([`Logged`]) and how hard it was pressed ([`Busiest`]). It can be asked
//! in process ([`GitHub::answer`]) or over TCP ([`GitHub::serve`]).

mod answering;
mod call;
mod clock;
mod diff;
mod fault;
mod follow;
mod graphql;
mod gzip;
mod limits;
mod log;
mod random;
mod refusal;
mod rest;
mod server;
mod setup;
mod shape;
mod state;
mod view;

pub use clock::Clock;
pub use fault::{Fault, When};
pub use limits::Busiest;
pub use log::Logged;
pub use random::sha;
pub use server::Server;
pub use setup::NewPull;
pub use state::{Access, Sarif};
pub use view::{SeenComment, SeenReview, SeenThread};

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use state::State;

/// A GitHub with all that is on it.
pub struct GitHub {
    clock: Arc<Clock>,
    state: Mutex<State>,
}

impl GitHub {
    /// Makes one with nothing on it.
    pub fn new(clock: Arc<Clock>) -> GitHub {
        GitHub::seeded(clock, 0)
    }

    /// Makes one with nothing on it, whose choices follow from a seed.
    pub fn seeded(clock: Arc<Clock>, seed: u64) -> GitHub {
        GitHub { clock, state: Mutex::new(State::new(seed)) }
    }

    /// Gives its clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A test that set up nonsense has failed already.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for GitHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The state has tokens in it.
        f.debug_struct("GitHub").field("clock", &self.clock).finish_non_exhaustive()
    }
}
