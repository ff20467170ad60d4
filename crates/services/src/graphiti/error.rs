//! Errors of a Graphiti server: [`GraphitiError`].

/// The reason why a call to a Graphiti server failed.
#[derive(Debug, thiserror::Error)]
pub enum GraphitiError {
    /// The server cannot be reached.
    #[error("cannot reach the Graphiti server at `{at}`: {why}")]
    ConnectionFailed {
        /// The address.
        at: String,
        /// The cause.
        why: String,
    },
    /// The server did not answer in time.
    #[error("the Graphiti server at `{at}` did not answer within {seconds} s")]
    TimedOut {
        /// The address.
        at: String,
        /// The timeout, in seconds.
        seconds: f32,
    },
    /// The server is no MCP server.
    #[error("the server at `{at}` is not an MCP server: {why}")]
    NotMcp {
        /// The address.
        at: String,
        /// The unexpected answer.
        why: String,
    },
    /// The server refused a call.
    #[error("the Graphiti server refused `{what}`: {why}")]
    Refused {
        /// The tool or method that was called.
        what: String,
        /// The error message of the server.
        why: String,
    },
    /// The answer cannot be parsed.
    #[error("cannot parse the answer of the Graphiti server to `{what}`: {why}")]
    Unreadable {
        /// The tool or method that was called.
        what: String,
        /// The fault in the answer.
        why: String,
    },
}
