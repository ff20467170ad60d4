//! Workers, their supervisor, and the review, fix, review workflow.
//!
//! A [`worker::Worker`] takes tasks from a queue and has them done by whatever its table of kinds of
//! work ([`work::Works`]) has for them; a [`supervisor::Supervisor`] keeps workers going, each in a
//! process of its own.
//!
//! How a review is made, how code is fixed and where the queue is kept is left to others: all of
//! that arrives from outside.

pub mod change_event;
pub mod config;
pub mod log;
pub mod news;
pub mod patience;
pub mod seat;
pub mod stop;
pub mod supervisor;
pub mod tail;
pub mod work;
pub mod worker;
pub mod workflow;
