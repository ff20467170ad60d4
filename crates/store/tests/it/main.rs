//! Tests of the guarantees of a queue, on each store, and of the code that the stores share.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

#[cfg(debug_assertions)]
mod durable_fs;
mod on_postgres;
mod promise;
mod script;
mod stores;
mod task;
