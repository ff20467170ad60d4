//! Gates, through the crate's front door.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests stand outside the house")]

mod command;
mod crash;
mod files;
mod impl_code;
mod impl_docs;
mod large;
mod list;
mod looking;
mod patch;
mod plan;
mod plan_code;
mod plan_docs;
mod plan_in_json;
mod plan_properties;
mod plan_structure;
mod reconcile;
mod run;
mod shown;
mod standing;
mod steps;
mod text;
