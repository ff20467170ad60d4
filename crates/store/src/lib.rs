//! Tasks and their queue, the ledger and the outbox.
//!
//! A [`task::Task`] is work for an agent; a [`queue::Queue`] is what a queue promises, kept by two
//! stores: plain files that a person can look at, and [PostgreSQL](postgres::PgQueue) for several
//! machines. What becomes of a task when it is claimed, completed or failed is decided in one place
//! ([`steps`]), so that the stores only carry it out. The task for a pull request is made in
//! [`pulls`]. The [`ledger`] remembers what reviews found, and what became of it; what is to be told
//! of it elsewhere waits in the [`outbox`]. Files are written through [`disk`], by other rooms as well.
//!
//! What a task means, and who works on it, is left to others: this room knows no change, no finding
//! and no model.

pub mod clock;
mod cycles;
pub mod disk;
pub mod files;
pub mod interval;
pub mod ledger;
pub mod outbox;
pub mod postgres;
pub mod pulls;
pub mod queue;
pub mod reports;
pub mod steps;
pub mod task;
