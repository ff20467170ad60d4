//! Tasks and their queue, the ledger and the outbox.
//!
//! - [`task`], [`queue`], [`transitions`]: a task, the guarantees of a queue as a trait, and the
//!   transitions of a task. A store only stores the result of a transition. `tests/it/promise/`
//!   checks the guarantees on each store.
//! - [`files`]: the store of plain files that a person can read and edit. [`postgres`]: the store
//!   for several machines.
//! - [`pulls`]: the task that reviews a pull request. [`reports`]: reports that agents submit.
//! - [`ledger`]: the findings of all reviews and their history, in a file or in PostgreSQL.
//!   [`outbox`]: messages to other services, stored until they are delivered.
//! - [`durable_fs`]: durable writes, also for other crates.
//!
//! This crate does not know the meaning of a task: it knows no change, no finding and no model.

mod boot;
mod cycles;
pub mod durable_fs;
pub mod files;
pub mod interval;
pub mod ledger;
pub mod outbox;
pub mod postgres;
pub mod pulls;
pub mod queue;
pub mod reports;
pub mod task;
pub mod transitions;
