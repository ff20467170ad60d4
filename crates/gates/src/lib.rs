//! Quality-review gates: is this artifact good enough to go on?
//!
//! A gate is a list of [`item`]s for one [`phase`], made from a [`plan`] or a change by the
//! [`checks`] that are built in. Each item is verified by code where code can, by a command or by a
//! model; whether the gate is passed is derived from what the items say, and is nobody's claim.

pub mod answer;
pub mod attempt;
pub mod bar;
pub mod beside;
pub mod checks;
pub mod claim;
pub mod command;
mod covered;
pub mod digest;
mod facts;
pub mod gate;
pub mod guide;
pub mod headline;
pub mod held;
pub mod item;
pub mod keep;
mod kinds;
pub mod list;
pub mod machine_record;
pub mod model;
pub mod phase;
pub mod plan;
pub mod plan_bar;
mod quote;
pub mod reconcile;
pub mod record;
pub mod result;
pub mod run;
pub mod standing;
pub mod state;
pub mod store_error;
pub mod subject;
pub mod text;
pub mod unique_json;
pub mod verifier;
pub mod verify;
