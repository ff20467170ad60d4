//! A client of a Graphiti server, which stores knowledge as a graph: [`Graphiti`].
//!
//! The server is called over MCP: [`Session`] searches for facts and entities, and adds an episode.
//! Text in a result is untrusted and is truncated. The caller decides what may be sent, and how a
//! result is used.

mod error;
mod mcp;
mod tools;

use std::time::Duration;

pub use self::error::GraphitiError;
use self::mcp::Connection;
pub use self::tools::{Episode, Fact, GroupId, Node, SearchQuery};
use crate::http::ServerUrl;

/// The address of a Graphiti server, and the timeout of a session.
#[derive(Debug, Clone)]
pub struct Graphiti {
    url: ServerUrl,
    time: Duration,
}

impl Graphiti {
    /// Creates a client of the server at an address; a whole session takes at most `time`.
    pub fn new(url: ServerUrl, time: Duration) -> Graphiti {
        Graphiti { url, time }
    }

    /// Starts a session.
    pub fn connect(&self) -> Result<Session, GraphitiError> {
        Connection::open(&self.url, self.time).map(Session)
    }
}

/// A session with a server.
#[derive(Debug)]
pub struct Session(Connection);

impl Session {
    /// Ends the session. A server that does not get the request ends the session itself after some
    /// time.
    pub fn close(self) {
        self.0.close();
    }
}
