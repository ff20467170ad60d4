//! Laws and tables of scoring.

mod assignment;
mod formats;
mod mutants;
mod scoring;
mod sets;
