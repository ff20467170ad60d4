//! Integration tests of the validation loop, through the public API of the crate.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests stand outside the house")]

mod artifacts;
mod artifacts_hostile;
mod criteria_of_projects;
mod environment;
mod environment_artifacts;
mod environment_tests;
mod errors;
mod export;
mod feedback;
mod issues;
mod journal;
mod killed;
mod loop_fixture;
mod loop_simulation;
mod loop_state;
mod loop_summary;
mod manual_plan;
mod metrics;
mod plan;
mod resume;
mod run;
mod sign_off;
mod spec;
mod spec_properties;
mod spec_search;
mod status;
mod transitions;
mod vectors;
