//! Helpers that every crate may use: the lowest layer, without files, sockets or environment.
//!
//! A helper that two crates need and that belongs to neither is here, once.

pub mod backoff;
pub mod clock;
pub mod csv;
pub mod hash;
pub mod markdown;
pub mod nearest;
pub mod percent;
pub mod shutdown;
pub mod text;
