//! Why a Graphiti server cannot be used: [`GraphitiError`].

/// Why something could not be had from a Graphiti server.
#[derive(Debug, thiserror::Error)]
pub enum GraphitiError {
    /// It cannot be reached.
    #[error("could not reach the Graphiti server at `{at}`: {why}")]
    Unreached {
        /// The address.
        at: String,
        /// Why.
        why: String,
    },
    /// It took too long.
    #[error("the Graphiti server at `{at}` did not answer within {seconds} s")]
    TimedOut {
        /// The address.
        at: String,
        /// How long it was waited for.
        seconds: f32,
    },
    /// What answers is something else.
    #[error("what answers at `{at}` is no MCP server: {why}")]
    NotMcp {
        /// The address.
        at: String,
        /// What tells.
        why: String,
    },
    /// It does not do what it is asked for.
    #[error("the Graphiti server refused `{what}`: {why}")]
    Refused {
        /// What it was asked for.
        what: String,
        /// What it says.
        why: String,
    },
    /// Its answer is not what it should be.
    #[error("the answer of the Graphiti server to `{what}` cannot be read: {why}")]
    Unreadable {
        /// What it was asked for.
        what: String,
        /// What is wrong with it.
        why: String,
    },
}
