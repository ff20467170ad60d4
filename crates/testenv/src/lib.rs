//! The environment of tests and chores: the workspace's folders, a private PostgreSQL, a private
//! Chromium, and a record of tests that could not run.
//!
//! This crate has no dependencies, because `xtask` needs it: a crate without dependencies is
//! compiled once, whatever other packages are built with it. Fakes and repositories are in
//! `assay-testkit`.

#![allow(clippy::disallowed_methods, reason = "tests start programs and read the environment")]

#[cfg(unix)]
pub mod chromium;
#[cfg(unix)]
mod folder;
pub mod not_run;
#[cfg(unix)]
pub mod postgres;
pub mod workspace;

/// Returns the number of cases for a property test: `PROPTEST_CASES` if it is set, as by `cargo
/// xtask soak`, else `usual`. The configuration of proptest ignores the variable if the
/// configuration itself contains a number.
pub fn cases(default: u32) -> u32 {
    let variable = std::env::var("PROPTEST_CASES").ok();
    variable.and_then(|cases| cases.parse().ok()).unwrap_or(default)
}
