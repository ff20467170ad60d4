//! Gates, through the crate's front door.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests stand outside the house")]

mod command;
mod crash;
mod files;
mod list;
mod patch;
mod shown;
mod standing;
mod steps;
mod text;
