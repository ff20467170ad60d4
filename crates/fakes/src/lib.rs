//! What tests and chores stand on; no part of the product.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
#![allow(clippy::disallowed_methods, reason = "tests stand outside the house")]

#[cfg(unix)]
pub mod chromium;
pub mod credentials;
mod date;
pub mod github;
pub mod graphiti;
mod http;
pub mod jira;
pub mod linear;
mod listener;
pub mod model;
pub mod pages;
#[cfg(unix)]
pub mod postgres;
mod repository;
pub mod specs;
#[cfg(unix)]
pub mod storm;
pub mod web;
pub mod webhook;

pub use repository::{Repository, git};
