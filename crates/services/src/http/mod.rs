//! Calls of HTTP services: [`Api`] sends a [`Call`], waits for rate limits, and returns the answer.
//!
//! A read is retried if the service fails for a moment. A write is not: whether it took effect is
//! only known after reading the state ([`ServiceError::is_unclear`]). Both wait for rate limits,
//! for as long as the [`ServiceClock`] allows. Requests are sent through a [`Transport`], and waits
//! go through the clock, so that a test can replace both.

mod address;
mod api;
mod clock;
mod error;
mod limit;
mod wire;

pub use self::address::{NoServerUrl, ServerUrl};
pub use self::api::{Api, Authorization, Call, path_segment};
pub use self::clock::{NotWaited, Patience, ServiceClock};
pub use self::error::ServiceError;
pub(crate) use self::wire::agent;
pub use self::wire::{Effect, Lost, Method, Request, Response, Transport, Wire};
