//! Calls of language models: [`Caller`] sends a prompt and returns the reply, within a budget.
//!
//! A [`Prompt`] goes to a [`Model`], which is a provider over HTTP or the command line of an agent.
//! The meaning of a reply belongs to the caller: this crate does not know what a review is.
//!
//! - `prompt`, `reply`, `failure`: the request, the reply, and the class of failure if there is
//!   none. Some failures are retried, some end the run.
//! - `mark`: values of a prompt that are random in each run. `tool`: tools that a prompt offers,
//!   the calls of a model, and earlier turns with their results.
//! - `wire`: one dialect for each API of providers. `http`: one call over HTTP. `agent`: `claude`,
//!   `codex` and other programs, each run in an empty folder.
//! - `budget`: spending limits. `store`: stored replies, as a cache or a recording. `caller`: all
//!   of these together, with retries.

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
