//! What was asked of GitHub: [`Logged`].

use std::time::Duration;

use serde_json::Value;

/// A request that came, without whoever's token.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    /// When, since 1970.
    pub at: Duration,
    /// Whose token it came with; none if nobody is known by it.
    pub login: Option<String>,
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The name of the operation, of a request to GraphQL.
    pub operation: Option<String>,
    /// The body, if it was JSON.
    pub body: Value,
    /// The status that was answered; none if the connection was cut.
    pub status: Option<u16>,
    /// Whether anything on GitHub is different because of it.
    pub took_effect: bool,
}
