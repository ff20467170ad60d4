//! The tests of the crate, through its public interface.
#![allow(clippy::unwrap_used, clippy::panic)]

mod damage;
mod folding;
mod generated_votes;
mod grounding;
mod memory_tree;
mod merging;
mod output_formats;
mod persona_schema;
mod posting;
mod properties;
mod reading;
mod second_look;
mod seeds;
mod tiers;
mod vectors;
mod verdicts;
mod words;
