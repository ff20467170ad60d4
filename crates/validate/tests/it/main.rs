//! The validation loop, through the crate's front door.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests stand outside the house")]

mod export;
mod feedback;
mod journal;
mod manual_plan;
mod paper;
mod paper_hostile;
mod plan;
mod run;
mod spec;
mod spec_found;
mod spec_properties;
mod state;
mod status;
