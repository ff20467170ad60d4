//! A model that is none: [`FakeModel`] speaks like the providers and says what a [`Script`] tells it.
//!
//! It listens on 127.0.0.1 and knows three dialects ([`Dialect`]), streamed and whole. It refuses
//! what the providers refuse, and breaks down on demand ([`Fault`]), byte by byte as they do. What
//! it was sent is kept as it came.

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
