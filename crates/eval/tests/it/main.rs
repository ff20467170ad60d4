//! Tests of scoring: properties and tables.

mod assignment;
mod formats;
mod mutants;
mod scoring;
mod sets;
