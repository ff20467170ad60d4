//! Reviewers, and the code that runs them.
//!
//! [`roster`] decides which reviewers read a change. [`run()`] runs them side by side, and each
//! returns a [`ReviewerAnswer`]: its report and a look for each hunk. Looks add up to the coverage,
//! which is part of the verdict. A reviewer that fails returns an answer without looks, so that
//! "not reviewed" is a result like any other. [`Review::synthesis`] combines the answers;
//! `findings` decides the verdict.
//!
//! - [`command`]: external analysers. [`persona`]: models with a role. `lookup`: the read-only
//!   tools that models are offered. `prompt`: the prompts of models. [`prompt_preview`]: prompts in
//!   files, without a call. `leads`: the findings of the
//!   rules, as models get them. `sanitize`: the redaction of credentials, and the removal of
//!   instructions to reviewers, before text is sent to a model.
//! - [`runs`]: reviews on disk. [`run_context`]: the code and the votes that a run keeps. [`recording`]: a review that can be replayed offline. [`compare`]:
//!   the differences between two runs, and their causes.
//! - [`resume`]: the answers of an interrupted review.
//! - [`ledger`]: the history of findings, and which review resolves a finding. [`memory`]: the part
//!   of that history that models get. [`baseline`]: findings that a person accepted.
//! - [`delegation`]: reviews that the model of an agent reads. [`delegation::transcript`]: the
//!   answers of that model. [`external_reports`]: reports that agents submit for tasks.
//! - [`templates`]: texts that all findings of one kind share.
//! - [`fix`]: applies safe fixes. [`staged_fix`]: the same in the index. [`fixer`]: asks a model for other fixes.

pub mod baseline;
pub mod command;
pub mod compare;
pub mod delegation;
pub mod depth;
mod exchange;
pub mod external_reports;
pub mod fix;
pub mod fixer;
pub mod globs;
mod leads;
pub mod ledger;
mod lookup;
pub mod memory;
pub mod persona;
mod prompt;
pub mod prompt_preview;
pub mod recording;
pub mod resume;
mod reviewer;
pub mod roster;
mod run;
pub mod run_context;
pub mod runs;
mod sanitize;
mod secrets;
pub mod staged_fix;
pub mod templates;

pub use exchange::{Exchange, TranscriptAnswer};
pub use leads::Leads;
pub use reviewer::{
    Estimate, OnProgress, ReadDecision, Reviewer, ReviewerAnswer, RuleReviewer, interrupted_report,
};
pub use run::{Concurrency, Review, ReviewObserver, ReviewPolicy, StartOrder, run, run_until};
