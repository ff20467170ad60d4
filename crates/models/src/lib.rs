//! Calls of language models: [`ModelClient`] sends a prompt and returns the reply, within a budget.
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
//! - `budget`: spending limits. `reply_store`: stored replies, as a cache or a recording. `client`:
//!   all of these together, with retries.

mod agent;
mod api_error;
mod budget;
mod client;
mod failure;
mod http;
mod json;
mod mark;
mod model;
mod model_spec;
mod price;
mod prompt;
mod reply;
mod reply_store;
mod tool;
mod wire;

pub use agent::{Agent, AgentKind, AgentModel, AgentOutputFormat, Custom};
pub use budget::{Budget, Caps, DailyBudget, Spending};
pub use client::{
    DEFAULT_ATTEMPTS, ModelClient, ModelRequest, ModelResponse, ReplySource, ReplyStores,
    RetryPolicy,
};
pub use failure::{Failure, FailureClass};
pub use http::{HttpModel, Provider};
pub use mark::{Mark, Nonce, Piece, contains_word};
pub use model::{Model, ModelDescription, ModelId, OfflineModel};
pub use price::Price;
pub use prompt::{Prompt, PromptBlock};
pub use reply::{Reply, Usage};
pub use reply_store::{ReplySeals, ReplyStore};
pub use tool::{CallResult, Tool, ToolCall, Turn};
pub use wire::Dialect;
