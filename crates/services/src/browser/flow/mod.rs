//! Interactions of a user with an app, written as steps: a [`Flow`] has the steps, and [`replay()`]
//! runs them. [`visit()`] checks pages that only have to open.
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
//! The result has one entry per step ([`FlowOutcome`]), with screenshots in a folder of the caller.
//! The caller decides whether the result is good enough.

mod base_url;
mod expect;
mod file;
mod replay;
mod visit;

pub use base_url::{BaseUrl, BaseUrlError};
pub use file::{Flow, FlowError, Start, Step, Wait, parse_flows};
pub use replay::{FlowOutcome, ReplayContext, StepOutcome, StepStatus, replay};
pub use visit::{PageVisit, visit};
