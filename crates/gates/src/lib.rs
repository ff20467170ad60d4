//! Quality-review gates: is this artifact good enough to go on?
//!
//! A gate is a list of [`item`]s for one [`phase`], made from a [`plan`] or a change by the
//! [`checks`] that are built in. Each item is verified by code where code can, by a command or by a
//! model. Whether the gate is passed is derived from the items each time, and is never stored or
//! claimed.
//!
//! - [`plan`]: a plan, read from Markdown or JSON. [`subject`]: what a gate looks at. `facts`: what
//!   several checks read of a plan, a change and a tree. [`claim`]: the part of a criterion that
//!   code can decide.
//! - [`list`], [`beside`], [`keep`]: the list, its sidecar, and both on disk. [`record`]: the list
//!   compared with what was recorded.
//! - [`plan_bar`], [`machine_record`], [`held`]: everything that a plan ever asked for, recorded
//!   outside of the work tree.
//! - [`state`], [`standing`], [`bar`], [`attempt`]: the states of an item, the status of the gate,
//!   and the bar of each attempt.
//! - [`gate`], [`verify`], [`run`]: the steps. [`command`], [`model`], [`verifier`]: the verifiers
//!   for items that code cannot decide; the answer of a model counts only with lines that exist.
//! - [`text`], [`answer`], [`guide`]: the output for agents, the output for programs, and the
//!   instructions for fixes.
//! - [`reconcile`]: milestones and criteria against a tree.

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
