//! Models: [`Caller`] asks one and gives its answer, within a budget.
//!
//! A [`Prompt`] goes to a [`Model`]: a provider over HTTP, or an agent's command line as a
//! sub-process. Errors are classed ([`Failure`]): some are waited out, some end the run. What was
//! asked before is not paid for twice. What an answer means is the caller's business; nothing here
//! knows what a review is.

mod agent;
mod budget;
mod caller;
mod complaint;
mod failure;
mod http;
mod json;
mod known;
mod mark;
mod model;
mod price;
mod prompt;
mod reply;
mod store;
mod tool;
mod wire;

pub use agent::{Agent, AgentKind, AgentModel, Custom, Form};
pub use budget::{Budget, Caps, Day, Spent};
pub use caller::{Answered, Ask, Caller, Patience, Source, Stores};
pub use failure::{Class, Failure};
pub use http::{HttpModel, Provider};
pub use mark::{Mark, Nonce, Piece, says};
pub use model::{Absent, Description, Model, ModelId};
pub use price::Price;
pub use prompt::{Block, Prompt};
pub use reply::{Reply, Usage};
pub use store::{AnswerSeals, Store};
pub use tool::{AnsweredCall, Tool, ToolCall, Turn};
pub use wire::Dialect;
