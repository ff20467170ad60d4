//! A fake model: [`FakeModel`] imitates the APIs of providers and answers from a [`Script`].
//!
//! The fake listens on 127.0.0.1 and supports three dialects ([`Dialect`]), streamed and whole. It
//! refuses what the providers refuse, and injects faults ([`Fault`]) that are exact to the byte.
//! All requests are stored unchanged.

mod answer;
mod connection;
mod damaged_reports;
mod dialect;
mod fault;
mod obedient_model;
mod reply;
mod request;
mod rules;
mod script;
mod server;
mod small_review;

pub use answer::{Answer, Usage};
pub use damaged_reports::{DAMAGED_REPORTS, DamagedReport};
pub use fault::{Cut, Fault, Pause, RetryAfter};
pub use obedient_model::ObedientModel;
pub use request::{Dialect, PromptRequest};
pub use rules::{Rule, Rules};
pub use script::{FaultyScript, FixedAnswer, Script, SmallReview};
pub use server::{FakeModel, Options, ReceivedRequest, RequestObserver};
