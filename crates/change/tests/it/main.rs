//! Changes of real repositories, through the public API of the crate.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests stand outside the house")]

mod digest;
mod edited;
mod generated;
mod given_diffs;
mod hostile;
mod hostile_settings;
mod ignored;
mod lineage;
mod name;
mod numstat;
mod pull;
mod reconstruct;
mod recorded;
mod renames;
mod scopes;
mod snapshot;
mod support;
mod trees;
mod unified;
mod worktrees;
