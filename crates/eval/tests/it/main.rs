//! Laws and tables of scoring.

mod assignment;
mod formats;
mod scoring;
mod sets;
