//! Tests of the crate through its public interface.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]
#![allow(clippy::print_stdout, reason = "what did not run says so")]
#![allow(clippy::disallowed_methods, reason = "tests stand outside the house")]

mod command;
mod coverage;
mod coverage_paths;
mod discovery;
mod hostile_coverage;
mod hostile_results;
mod required;
mod results;
mod run;
mod toolchains;
