//! What every queue promises, proved of each store; and what the stores share.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod postgres;
mod promise;
mod script;
mod stores;
mod task;
