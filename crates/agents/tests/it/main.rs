//! Tests of agents: configuration, workers, and the follow-up of reviews.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod config;
mod follow_up;
mod instance_lock;
mod worker;
mod workflow;
