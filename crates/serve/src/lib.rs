//! What stays up: MCP servers, and triggers that listen or ask.
//!
//! [`mcp`] speaks the protocol: an [`mcp::Server`] is a list of tools, each a typed function, served
//! over a pair of streams or over HTTP. [`task_queue`] is the server for tasks, [`review`] the
//! one for reviews that an agent thinks through, [`electron`] the one for apps that an agent tries out,
//! [`github`] the one for pull requests, [`jira`] the one for tickets; [`servers`] opens them for a
//! repository. [`hooks`] makes tasks of
//! webhooks, and [`site`] is the server that `assay serve` keeps up with them. Who comes in over HTTP
//! is decided at the [`door`]. [`polling`] looks for pull requests that are to be reviewed.
//!
//! This is the only room that listens and the only one that is async; what a tool does is the
//! business of other rooms, and blocking. A front end converts and calls; it decides nothing.

#[cfg(test)]
mod clients;
mod connections;
pub mod door;
pub mod electron;
pub mod github;
pub mod hooks;
pub mod jira;
pub mod mcp;
pub mod polling;
mod pulls;
pub mod review;
mod runtime;
pub mod servers;
pub mod site;
pub mod stop;
pub mod task_queue;
pub mod token;
