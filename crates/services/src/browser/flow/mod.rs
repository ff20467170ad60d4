//! What a user does with an app, written down as steps: [`Flow`], replayed with [`replay()`]; and
//! pages that only have to open, looked at with [`visit()`].
//!
//! A flow is YAML:
//!
//! ```yaml
//! flows:
//!   - name: create a task
//!     start: "#create"
//!     steps:
//!       - fill_input: { placeholder: Describe your task, value: Add login }
//!       - click_by_text: Create
//!       - expect_text: Task created
//!       - screenshot: created
//! ```
//!
//! What comes of it is told step by step ([`Outcome`]), with pictures in a folder of the caller's.
//! Whether that is good enough for anything is for others to judge.

mod base;
mod expect;
mod file;
mod replay;
mod visit;

pub use base::{BadBase, Base};
pub use file::{Flow, FlowError, Start, Step, Wait, read};
pub use replay::{Outcome, Setting, Standing, StepOutcome, replay};
pub use visit::{Visit, visit};
