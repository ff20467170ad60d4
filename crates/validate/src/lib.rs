//! The validation loop on a spec: does the implementation meet its acceptance criteria?
//!
//! - [`spec`], [`plan`]: the requirements, and the plan of the implementation with its progress.
//! - [`event`], [`journal`]: the events of a loop, one line each, chained and sealed. The journal
//!   is the only memory. [`standing`], [`state`], [`next`]: the state of a loop as computed from
//!   the journal, the possible transitions, and the next step.
//! - [`run`]: executes steps until there is an ending, through the trait [`run::Site`].
//!   [`ground`]: its only implementation, on a real tree, with traits for the reviewer, the fixer
//!   and the observer.
//! - [`issue`], [`seen`]: defects, as found by checks, review and criteria.
//! - [`bar`], [`surroundings`]: the requirements, which only rise, and files around the tree that
//!   influence the result.
//! - [`kept`]: checks with tests that the work under test did not write.
//! - [`opening`], [`feedback`], [`decision`]: how a run resumes a loop, the feedback of a person,
//!   and the decisions of a person.
//! - [`export`], [`paper`], [`news`], [`learned`], [`metrics`]: the output of a loop: documents,
//!   notifications, summaries and statistics.
//!
//! A step is in the journal before the loop acts on it. The digest of a document is in the journal
//! before the document is written. So the loop distinguishes its own documents from those of a
//! person, and after a crash it takes the same steps as in any other run.

pub mod bar;
pub mod criterion;
pub mod decision;
pub mod ending;
pub mod event;
pub mod export;
pub mod feedback;
pub mod file_names;
pub mod ground;
pub mod issue;
pub mod journal;
pub mod kept;
pub mod learned;
mod markdown;
pub mod metrics;
pub mod news;
pub mod next;
pub mod opening;
pub mod own;
pub mod paper;
pub mod plan;
pub mod run;
pub mod seen;
pub mod spec;
pub mod standing;
pub mod state;
pub mod surroundings;
pub mod tree_hash;
pub mod tryout;
