//! Workers, their supervisor, and the review, fix, review workflow.

pub mod config;
