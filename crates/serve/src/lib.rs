//! Long-running servers: MCP servers, webhooks, and polling.
//!
//! - [`mcp`]: the protocol. An [`mcp::Server`] is a list of tools, each a typed function, served
//!   over a pair of streams or over HTTP.
//! - [`task_queue`], [`review`], [`electron`], [`github`], [`jira`]: the MCP servers, one file for
//!   each tool. [`servers`] opens them for a repository.
//! - [`hooks`]: webhooks and `POST /queue` become tasks. `pull_lookup`: pull requests that a
//!   trigger names. [`polling`]: one poll of the open pull requests of repositories; `assay` waits
//!   between two polls.
//! - [`lsp`]: the editor server, over a pair of streams.
//! - [`dashboard`]: the dashboard and the HTTP API of a repository.
//! - [`http_server`], `connections`: the server of `assay serve`, to which parts add their routes.
//! - [`auth`], [`token`], [`shutdown`]: the addresses that a server listens on, its access policy,
//!   and its end.
//!
//! This is the only crate that listens and the only one that is async. A tool is a plain function
//! that may block: it runs on a thread of its own and knows nothing of the protocol. Streams, the
//! environment and signals belong to `assay`. A front end converts and calls; it decides nothing.

pub mod auth;
mod connections;
pub mod dashboard;
pub mod electron;
pub mod github;
pub mod hooks;
pub mod http_server;
pub mod jira;
pub mod lsp;
pub mod mcp;
pub mod polling;
mod pull_lookup;
pub mod review;
mod runtime;
pub mod servers;
mod shutdown;
pub mod task_queue;
#[cfg(test)]
mod test_clients;
pub mod token;
