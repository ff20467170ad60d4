//! Services, through the crate's front door.
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
