//! HTTP for the crates that call out: how an agent is set up, and headers that providers and services
//! share.

pub mod agent;
pub mod retry_after;
