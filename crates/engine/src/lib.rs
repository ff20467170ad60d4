//! The application: configuration with the trust rule, the sessions for review, delegated review, loop
//! and gate, publishing and notifying.
//!
//! The command line and the servers call these sessions; a front end converts and calls, and decides
//! nothing. This crate writes nothing to the terminal and does not read the environment: it is given
//! an [`environment::Environment`], and reports through [`reporter::Reporter`] and
//! [`review_progress::ReviewProgress`].

pub mod agent_work;
pub mod config;
pub mod dates;
pub mod delegated_review;
pub mod diagnosis;
pub mod environment;
pub mod evaluation;
pub mod gate_run;
pub mod gate_session;
pub mod loop_session;
mod memory;
pub mod models;
pub mod notify;
pub mod publish;
mod purpose;
pub mod queues;
pub mod reporter;
pub mod review_progress;
pub mod review_session;
pub mod safe_fixes;
pub mod throwaway;
pub mod unknown;
pub mod wording;
