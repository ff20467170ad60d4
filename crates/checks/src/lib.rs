//! Tests and coverage of somebody's project: how it is tested, running that, and what came of it.
//!
//! [`discovery`] finds how a project is tested, [`verification`] what a spec says about that, and
//! [`required`] which checks a risk requires of both. [`run`] runs one within limits; [`results`] reads
//! what became of each test, [`coverage`] which lines the tests reach.
//!
//! Nothing here judges an implementation: a check says what ran, how it ended and what it showed.
//! A check that could not be run is never a pass, and neither is a run in which nothing was tested.

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
