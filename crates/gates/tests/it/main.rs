//! Integration tests of gates, through the public API of the crate.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests stand outside the house")]

mod answers;
mod check_runner;
mod command;
mod crash;
mod files;
mod gate_status;
mod impl_code;
mod impl_docs;
mod large;
mod list;
mod patch;
mod plan;
mod plan_code;
mod plan_docs;
mod plan_in_json;
mod plan_properties;
mod plan_structure;
mod reconcile;
mod run;
mod steps;
mod text;

use std::path::Path;

use assay_change::state::State;
use assay_gates::gate_store::GateStore;
use assay_gates::phase::Phase;

/// Returns the store of a gate in a folder that the user named, with its seals in a folder next to
/// it.
fn keep(folder: &Path) -> GateStore {
    let state = State::new(&folder.join("tree"), Some(&folder.join("home")));
    GateStore::new(state.open_folder(folder, &[]).unwrap(), Phase::PlanStructure)
}
