//! The validation loop on a spec: does the implementation do what its acceptance criteria say?
//!
//! - [`spec`], [`plan`]: what has to hold, and what was done for it.
//! - [`event`], [`journal`]: the events of a loop, one line each, chained and sealed. The journal
//!   is the only memory. [`standing`], [`state`], [`next`]: what the journal adds up to, the
//!   possible moves, and the next step.
//! - [`run`]: takes step after step until there is an ending, through the trait [`run::Site`].
//!   [`ground`]: its only implementation, on a real tree, with traits for the reviewer, the fixer
//!   and the observer.
//! - [`issue`], [`seen`]: what is wrong, as found by checks, review and criteria.
//! - [`bar`], [`surroundings`]: the requirements, which only rise, and files around the tree that
//!   influence the result.
//! - [`kept`]: checks with tests that the work under test did not write.
//! - [`opening`], [`feedback`], [`decision`]: how a run resumes a loop, what a person wrote, and
//!   what a person decides.
//! - [`export`], [`paper`], [`news`], [`learned`], [`metrics`]: what others are told of a loop.
//!
//! A step is in the journal before it is acted upon, and a paper before it is written, by its
//! digest. So the loop tells its own papers from those of a person, and after a crash it takes the
//! same steps as in any other run.

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
