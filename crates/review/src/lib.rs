//! Reviewers and how they are run.
//!
//! [`roster`] decides which reviewers read a change, [`run`] has them read it side by side, each
//! giving an [`Answer`]; [`Review::synthesis`] puts the answers together. [`runs`] keeps a review
//! on disk, [`ledger`] what became of findings over time, [`memory`] is what of that reviewers are told,
//! [`delegation`] has somebody else's model do
//! the reading, [`delegation::transcript`] holds the answers of that model, [`handed_in`] is what agents found besides, [`baseline`]
//! is what somebody accepted, [`fix`] applies what is safe, and a [`fixer`]
//! asks a model for the rest. How a verdict
//! comes about is `findings`' business, and what a change is, `change`'s.

pub mod baseline;
pub mod command;
pub mod compare;
pub mod delegation;
pub mod depth;
mod exchange;
pub mod fix;
pub mod fixer;
pub mod globs;
pub mod handed_in;
mod interrupt;
mod leads;
pub mod ledger;
mod lookup;
pub mod memory;
pub mod persona;
mod prompt;
pub mod recording;
mod reviewer;
pub mod roster;
mod run;
pub mod runs;
mod sanitize;
mod secrets;

pub use exchange::{Exchange, TranscriptAnswer};
pub use interrupt::Interrupt;
pub use leads::Leads;
pub use reviewer::{Answer, Estimate, Interest, Reviewer, Rules, Tell, interrupted_report};
pub use run::{AtATime, Order, Review, Terms, Watch, run, run_until};
