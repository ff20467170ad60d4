//! Integration tests of the validation loop, through the public API of the crate.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests stand outside the house")]

mod criteria_of_projects;
mod export;
mod feedback;
mod ground;
mod ground_papers;
mod ground_tests;
mod journal;
mod killed;
mod learned;
mod manual_plan;
mod metrics;
mod moves;
mod paper;
mod paper_hostile;
mod plan;
mod run;
mod seen;
mod sign_off;
mod spec;
mod spec_found;
mod spec_properties;
mod stage;
mod state;
mod status;
mod takes_up;
mod vectors;
mod went_wrong;
mod yard;
