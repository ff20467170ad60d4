//! Tests and coverage of the project under review: finds its tests, runs them, and reads the
//! results.
//!
//! - [`discovery`]: the test frameworks and builds of a project, in all its packages; one file for
//!   each language. It runs nothing. [`verification`]: the tests that a spec names.
//! - [`check_plan`]: the checks that a level of risk requires, from both. [`command`]: a command
//!   line as people write it. [`check`]: a check, and its outcome.
//! - [`programs`], [`module_loading`], [`output_folders`]: programs of the tree that checks may
//!   use, files that change what a runner loads, and folders that hold installed packages and build
//!   output.
//! - [`run`]: runs one check within limits.
//! - [`results`]: the result of each test; one file for each format. [`coverage`]: the lines that
//!   the tests reach; one file for each format.
//! - [`kept`]: the files, and the parts of files, that decide the result of a test run. It decides
//!   from text alone.
//!
//! This crate does not judge an implementation. A check passes only by evidence: its exit code is
//! 0, no test failed and the results are complete; for a check of tests, tests also ran, and the
//! requested report was written. A check that could not be run is never a pass, and neither is a
//! run in which nothing was tested.

pub mod check;
pub mod check_plan;
pub mod command;
pub mod coverage;
pub mod discovery;
pub mod kept;
pub mod module_loading;
pub mod output_folders;
pub mod programs;
pub mod results;
pub mod run;
mod text;
pub mod verification;
mod xml;
