//! Helpers for tests and chores: repositories, servers and fakes of services. No part of the
//! product.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot set itself up has failed"
)]
#![allow(clippy::disallowed_methods, reason = "tests start programs and read the environment")]

pub mod collector;
pub mod credentials;
#[cfg(unix)]
pub mod dashboard;
mod date;
#[cfg(unix)]
pub mod devtools;
pub mod github;
pub mod github_app;
pub mod gitlab;
pub mod graphiti;
mod http;
pub mod jira;
pub mod linear;
mod listener;
pub mod lsp;
pub mod model;
pub mod pages;
mod repository;
pub mod specs;
#[cfg(unix)]
pub mod storm;
pub mod web;
pub mod webhook;

pub use repository::{Repository, git};
