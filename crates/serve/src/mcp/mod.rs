//! MCP: servers as lists of tools.
//!
//! A [`Server`] has a name and [`Tool`]s; [`stdio::serve`] and [`http::Listener`] keep it up until
//! whoever asks has left or the end is requested. The protocol itself, in the revision of 2026-07-28
//! and those before it, is the official SDK's business. Its types are known here alone
//! (`handler`, [`stdio`], [`http`]), so that a new version of it is met in one place.
//!
//! A new tool is one file and one line where its server lists its tools.

mod arguments;
mod handler;
pub mod http;
mod id_scan;
mod lines;
mod message;
pub mod stdio;
mod title;
mod tool;

use std::sync::Arc;

use crate::runtime;

pub use title::Title;
pub use tool::{Answer, Effect, Png, Refusal, Tool};

/// The most bytes that one message may have.
pub const MAX_MESSAGE: usize = 8 << 20;

/// So many tools run at the same time; further calls wait.
const AT_A_TIME: usize = 8;

/// A server: what it is called and which tools it offers.
#[derive(Clone)]
pub struct Server {
    name: &'static str,
    version: &'static str,
    instructions: String,
    tools: Arc<[Tool]>,
}

impl Server {
    /// A server of tools, with what a model is told of all of them together.
    pub fn new(
        name: &'static str,
        version: &'static str,
        instructions: impl Into<String>,
        tools: Vec<Tool>,
    ) -> Server {
        Server { name, version, instructions: instructions.into(), tools: tools.into() }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Finds one of its tools.
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }
}

/// Why a server could not be kept up.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There are no threads for it.
    #[error("could not start the threads of the server")]
    Threads(#[source] std::io::Error),
    /// The connection broke.
    #[error("the connection broke")]
    Connection(#[source] std::io::Error),
}

/// Runs a server to its end.
fn on_runtime<T>(work: impl Future<Output = Result<T, ServeError>>) -> Result<T, ServeError> {
    runtime::run(work).map_err(ServeError::Threads)?
}

#[cfg(test)]
mod tests;
