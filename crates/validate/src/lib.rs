//! The validation loop on a spec: does the implementation meet its acceptance criteria?
//!
//! - [`spec`], [`plan`]: the requirements, and the plan of the implementation with its progress.
//! - [`event`], [`journal`]: the events of a loop, one line each, chained and sealed. The journal
//!   is the only memory. [`loop_state`], [`loop_status`], [`step`]: the state of a loop as computed
//!   from the journal, the possible transitions, and the next step.
//! - [`run`]: executes steps until there is an ending, through the trait [`run::LoopEnvironment`].
//!   [`environment`]: its only implementation, on a real tree, with traits for the reviewer, the
//!   fixer and the observer.
//! - [`issue`], [`issues`]: defects, as found by checks, review and criteria.
//! - [`requirements`], [`surroundings`]: the requirements, which only rise, and files around the
//!   tree that influence the result.
//! - [`kept_tests`]: checks with tests that the work under test did not write.
//! - [`resume`], [`feedback`], [`decision`]: how a run resumes a loop, the feedback of a person,
//!   and the decisions of a person.
//! - [`export`], [`artifacts`], [`notification`], [`loop_summary`], [`metrics`]: the output of a
//!   loop: documents, notifications, summaries and statistics.
//!
//! A step is in the journal before the loop acts on it. The digest of a document is in the journal
//! before the document is written. So the loop distinguishes its own documents from those of a
//! person, and after a crash it takes the same steps as in any other run.

pub mod artifacts;
pub mod criterion;
pub mod decision;
pub mod e2e;
pub mod ending;
pub mod environment;
pub mod event;
pub mod export;
pub mod feedback;
pub mod file_names;
pub mod issue;
pub mod issues;
pub mod journal;
pub mod kept_tests;
pub mod loop_files;
pub mod loop_state;
pub mod loop_status;
pub mod loop_summary;
mod markdown;
pub mod metrics;
pub mod notification;
pub mod plan;
pub mod requirements;
pub mod resume;
pub mod run;
pub mod spec;
pub mod step;
pub mod surroundings;
pub mod tree_hash;
