//! Reviewers and how they are run.
//!
//! [`roster`] decides which reviewers read a change, [`run`] has them read it side by side, each
//! giving an [`Answer`]; [`Review::synthesis`] puts the answers together. [`runs`] keeps a review
//! on disk, [`baseline`] what somebody accepted, and [`fix`] applies what is safe. How a verdict
//! comes about is `findings`' business, and what a change is, `change`'s.

pub mod baseline;
pub mod command;
pub mod fix;
mod reviewer;
pub mod roster;
mod run;
pub mod runs;

pub use reviewer::{Answer, Interest, Reviewer, Rules};
pub use run::{Review, Terms, Watch, run};
