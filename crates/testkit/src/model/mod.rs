//! A fake model: [`FakeModel`] imitates the APIs of providers and answers from a [`Script`].
//!
//! The fake listens on 127.0.0.1 and supports three dialects ([`Dialect`]), streamed and whole. It
//! refuses what the providers refuse, and injects faults ([`Fault`]) that are exact to the byte.
//! All requests are stored unchanged.

mod answer;
mod asked;
mod connection;
mod damaged;
mod dialect;
mod fault;
mod obedient;
mod reply;
mod rules;
mod script;
mod server;
mod small_review;

pub use answer::{Answer, Usage};
pub use asked::{Asked, Dialect};
pub use damaged::{DAMAGED_REPORTS, DamagedReport};
pub use fault::{Cut, Fault, Pause, RetryAfter};
pub use obedient::Obedient;
pub use rules::{Rule, Rules};
pub use script::{Fixed, Script, SmallReview, WithFault};
pub use server::{FakeModel, Options, Received, Told};
