//! The core's tests, through its public interface.
#![allow(clippy::unwrap_used, clippy::panic)]

mod properties;
mod vectors;
