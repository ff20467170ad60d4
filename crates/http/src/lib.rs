//! HTTP for the crates that send requests: the set-up of an agent, and the headers that providers
//! and services share.

pub mod agent;
pub mod retry_after;
