//! Models: [`Caller`] asks one and gives its answer, within a budget.
//!
//! A [`Prompt`] goes to a [`Model`]: a provider over HTTP, or an agent's command line as a
//! sub-process. Errors are classed ([`Failure`]): some are waited out, some end the run. What was
//! asked before is not paid for twice. What an answer means is the caller's business; nothing here
//! knows what a review is.

mod failure;
mod prompt;
mod reply;

pub use failure::{Class, Failure};
pub use prompt::{Block, Mark, Nonce, Piece, Prompt};
pub use reply::{Reply, Usage};
