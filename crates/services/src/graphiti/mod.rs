//! A Graphiti server, which remembers what it was told as a graph: [`Graphiti`].
//!
//! It is spoken to over MCP: [`Session`] searches for facts and entities, and adds an episode. What
//! comes back is somebody else's text, cut to no more than can be read; what may be sent, and what
//! is made of an answer, is for others to decide.

mod error;
mod mcp;
mod tools;

use std::time::Duration;

pub use self::error::GraphitiError;
use self::mcp::Connection;
pub use self::tools::{Episode, Fact, GroupId, Node, Query};
use crate::http::ServerUrl;

/// A Graphiti server and how long it may take.
#[derive(Debug, Clone)]
pub struct Graphiti {
    url: ServerUrl,
    time: Duration,
}

impl Graphiti {
    /// Takes the server at an address; a whole session with it may take no longer than `time`.
    pub fn new(url: ServerUrl, time: Duration) -> Graphiti {
        Graphiti { url, time }
    }

    /// Begins a session.
    pub fn connect(&self) -> Result<Session, GraphitiError> {
        Connection::open(&self.url, self.time).map(Session)
    }
}

/// A session with a server.
#[derive(Debug)]
pub struct Session(Connection);

impl Session {
    /// Ends the session. A server that does not hear it ends it on its own some day.
    pub fn close(self) {
        self.0.close();
    }
}
