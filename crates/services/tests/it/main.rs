//! Tests of the services, through the public interface of the crate.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests stand outside the house")]

mod dispatcher;
mod fixtures;
mod github;
mod gitlab;
mod graphiti;
mod jira;
mod linear;
#[cfg(unix)]
mod on_chromium;
mod reach;
mod telemetry;
