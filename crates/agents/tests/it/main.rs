//! Agents: what is configured, how a worker goes about its tasks, and what follows from reviews.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod config;
mod follow_up;
mod seat;
mod worker;
mod workflow;
