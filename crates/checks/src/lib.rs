//! Tests and coverage of the project under review: finds how it is tested, runs that, and reads the
//! results.
//!
//! - [`discovery`]: how a project is tested and built, in all its packages; one file for each
//!   language. Nothing is run for it. [`verification`]: what a spec says about that.
//! - [`required`]: the checks that a level of risk requires, from both. [`command`]: a command line
//!   as people write it. [`check`]: a check, and its outcome.
//! - [`programs`], [`loaded`], [`output_folders`]: which programs of the tree checks may use, which
//!   files change what a runner loads, and which folders hold installed packages and build output.
//! - [`run`]: runs one check within limits.
//! - [`results`]: the result of each test; one file for each format. [`coverage`]: the lines that
//!   the tests reach; one file for each format.
//! - [`kept`]: which files, and which parts of files, decide the result of a test run. It decides
//!   from text alone.
//!
//! Nothing here judges an implementation. A check passes only by what was seen of it: its exit code
//! is 0, no test failed and the results are complete; for a check of tests, tests also ran, and the
//! report that was asked for was written. A check that could not be run is never a pass, and
//! neither is a run in which nothing was tested.

pub mod check;
pub mod command;
pub mod coverage;
pub mod discovery;
pub mod kept;
pub mod loaded;
pub mod output_folders;
pub mod programs;
pub mod required;
pub mod results;
pub mod run;
mod text;
pub mod verification;
mod xml;
