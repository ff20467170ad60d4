//! Quality-review gates: is this artifact good enough to go on?
//!
//! A gate is a list of [`item`]s for one [`phase`], made from a [`plan`] or a change by the
//! built-in [`checks`]. Each item is verified by code if code can decide it, otherwise by a command
//! or a model. Whether the gate is passed is computed from the items each time, and is never stored
//! or claimed.
//!
//! - [`plan`]: a plan, parsed from Markdown or JSON. [`subject`]: the plan, change and tree that a
//!   gate verifies. `facts`: facts about them that several checks use. [`claim`]: the part of a
//!   criterion that code can decide.
//! - [`list`], [`sidecar`], [`gate_store`]: the list, its sidecar, and the store of both.
//!   [`record`]: the list compared with its record in the sidecar.
//! - [`plan_requirements`], [`machine_record`], [`foreign_items`]: all requirements that a plan
//!   ever had, recorded outside of the work tree.
//! - [`gate_state`], [`gate_status`], [`blocking_policy`], [`attempt`]: the states of an item, the
//!   status of the gate, and the blocking policy of each attempt.
//! - [`gate`], [`verify`], [`run`]: the steps. [`command`], [`model`], [`verifier`]: the verifiers
//!   for items that code cannot decide; the answer of a model counts only with lines that exist.
//! - [`text`], [`answer`], [`guide`]: the output for agents, the output for programs, and the
//!   instructions for fixes.
//! - [`reconcile`]: compares milestones and criteria with a tree.

pub mod answer;
pub mod attempt;
pub mod blocking_policy;
pub mod checks;
pub mod claim;
pub mod command;
mod content_digests;
pub mod digest;
mod facts;
mod file_kinds;
pub mod foreign_items;
pub mod gate;
pub mod gate_state;
pub mod gate_status;
pub mod gate_store;
pub mod guide;
pub mod headline;
pub mod item;
pub mod list;
pub mod machine_record;
pub mod model;
pub mod phase;
pub mod plan;
pub mod plan_requirements;
mod quote;
pub mod reconcile;
pub mod record;
pub mod result;
pub mod run;
pub mod sidecar;
pub mod store_error;
pub mod subject;
pub mod text;
pub mod unique_json;
pub mod verifier;
pub mod verify;
