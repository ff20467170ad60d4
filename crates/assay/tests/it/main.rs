//! The binary, run for real.
