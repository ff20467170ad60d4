//! Tests of the crate through its public interface.
#![allow(clippy::unwrap_used, clippy::panic)]

mod analyser_formats;
mod delegation;
mod fixing;
mod flawed;
mod known_analysers;
mod lookups;
mod memory;
mod persona_texts;
mod personas;
mod properties;
mod reviewer;
mod run_context;
mod running;
mod salvage;
mod sarif;
mod templates;
