//! Quality-review gates: is this artifact good enough to go on?
//!
//! A gate is a list of [`item`]s for one [`phase`], made from a [`plan`] or a change by the
//! [`checks`] that are built in. Each item is verified by code where code can, by a command or by a
//! model; whether the gate is passed is derived from what the items say, and is nobody's claim.

pub mod checks;
pub mod item;
pub mod phase;
pub mod plan;
pub mod subject;
