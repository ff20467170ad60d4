//! MCP: servers as lists of tools.
//!
//! A [`Server`] has a name and [`Tool`]s. [`stdio::serve`] and [`http::McpListener`] run it until the
//! client disconnects or shutdown is requested. The protocol itself, in the revision of 2026-07-28
//! and earlier ones, is implemented by the official SDK. Only this module uses its types
//! (`handler`, [`stdio`], [`http`]), so that a new version of the SDK affects one place.
//!
//! A new tool is one file and one line in the list of its server.

mod argument_schema;
mod handler;
pub mod http;
mod id_scan;
mod line_transport;
mod message;
pub mod stdio;
mod title;
mod tool;

use std::sync::Arc;

use crate::runtime;

pub use title::Title;
pub use tool::{Effect, Png, Refusal, Tool, ToolAnswer};

/// The maximum size of a message in bytes.
pub const MAX_MESSAGE: usize = 8 << 20;

/// The maximum number of concurrent tool calls; further calls wait.
const MAX_CONCURRENT_CALLS: usize = 8;

/// A server: its name, its instructions and its tools.
#[derive(Clone)]
pub struct Server {
    name: &'static str,
    version: &'static str,
    instructions: String,
    tools: Arc<[Tool]>,
}

impl Server {
    /// Creates a server. A model reads `instructions` together with the tools.
    pub fn new(
        name: &'static str,
        version: &'static str,
        instructions: impl Into<String>,
        tools: Vec<Tool>,
    ) -> Server {
        Server { name, version, instructions: instructions.into(), tools: tools.into() }
    }

    /// Returns the name of the server.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the tool of this name.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }
}

/// The reason that a server ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The threads of the runtime could not be started.
    #[error("cannot start the threads of the server")]
    Threads(#[source] std::io::Error),
    /// The connection failed.
    #[error("the connection was lost")]
    Connection(#[source] std::io::Error),
}

/// Runs a future to its end on a new runtime.
fn on_runtime<T>(work: impl Future<Output = Result<T, ServeError>>) -> Result<T, ServeError> {
    runtime::run(work).map_err(ServeError::Threads)?
}

#[cfg(test)]
mod tests;
