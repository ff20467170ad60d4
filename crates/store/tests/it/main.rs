//! What every queue promises, proved of each store; and what the stores share.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

#[cfg(debug_assertions)]
mod disk;
mod on_postgres;
mod promise;
mod script;
mod stores;
mod task;
