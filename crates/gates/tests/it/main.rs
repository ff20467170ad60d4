//! Integration tests of gates, through the public API of the crate.
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

use std::path::Path;

use assay_change::state::State;
use assay_gates::keep::Keep;
use assay_gates::phase::Phase;

/// Returns the store of a gate in a folder that the user named, with its seals in a folder next to
/// it.
fn keep(folder: &Path) -> Keep {
    let state = State::new(&folder.join("tree"), Some(&folder.join("home")));
    Keep::new(state.open_folder(folder, &[]).unwrap(), Phase::PlanStructure)
}
