//! Tests of the services, through the public interface of the crate.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests stand outside the house")]

mod github;
mod graphiti;
mod jira;
mod linear;
mod mail;
#[cfg(unix)]
mod on_chromium;
mod reach;
mod stage;
