//! How services are called: [`Api`] sends a [`Call`], waits where it is asked to, and says what came.
//!
//! A read is tried again when the service is out for a moment. A write is not: whether it took effect
//! is only known to whoever looks ([`ServiceError::is_unclear`]). Both wait where the service sets a
//! limit, for as long as the [`ServiceClock`] lets them. What goes over the wire does so through a
//! [`Transport`], and time is the clock's, so that a test can be both.

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
