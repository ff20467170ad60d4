//! The log of requests to GitHub: [`LoggedRequest`].

use std::time::Duration;

use serde_json::Value;

/// A request, without its token.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedRequest {
    /// The time of the request since 1970.
    pub at: Duration,
    /// The user of the token; `None` if the token is unknown.
    pub login: Option<String>,
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The name of the GraphQL operation; `None` for REST.
    pub operation: Option<String>,
    /// The body; null if it was not JSON.
    pub body: Value,
    /// The status of the answer; `None` if the connection was cut.
    pub status: Option<u16>,
    /// True if the request changed the state.
    pub took_effect: bool,
}
