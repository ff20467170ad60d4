//! Agents: what is configured, and what follows from reviews.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod config;
mod follow_up;
