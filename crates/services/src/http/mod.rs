//! Calls of HTTP services: [`Api`] sends a [`Call`], waits for rate limits, and returns the answer.
//!
//! A read is retried if the service fails for a moment. A write is not: whether it took effect is
//! only known after reading the state ([`ServiceError::is_outcome_unknown`]). Both wait for rate
//! limits, for as long as the [`ServiceClock`] allows. Requests are sent through a [`Transport`],
//! and waits go through the clock, so that a test can replace both.

mod api;
mod clock;
mod error;
mod pages;
mod rate_limit;
mod rate_limiter;
mod server_url;
mod transport;

pub use self::api::{Api, Authorization, Call, encode_path_segment};
pub use self::clock::{ServiceClock, SystemClock, WaitRefused};
pub use self::error::ServiceError;
pub(crate) use self::rate_limiter::RateLimitedTransport;
pub use self::rate_limiter::{RateLimiter, WriteLimits};
pub use self::server_url::{ServerUrl, ServerUrlError};
pub(crate) use self::transport::agent;
pub use self::transport::{
    HttpTransport, Method, Request, RequestEffect, Response, Transport, TransportError,
};
