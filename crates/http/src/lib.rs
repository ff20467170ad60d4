//! HTTP for the crates that call out: headers that providers and services share.

pub mod retry_after;
