//! Typed clients of external services.
//!
//! - [`browser`]: a page of Chromium or of an Electron app. [`graphiti`]: a Graphiti server over
//!   MCP.
//! - [`github`]: pull requests, comments, reviews, checks, branches and SARIF, one file each.
//!   [`gitlab`]: merge requests, discussions and approvals. [`post`]: posts a review on a pull
//!   request of either exactly once, whatever fails.
//! - [`jira`], [`linear`]: tickets.
//! - [`dispatcher`]: the messages of agents and loops to GitHub and JIRA; each stays in the outbox
//!   until it is delivered.
//! - [`http`], [`graphql`]: one call to a service, with its retries and back-off for all services.
//!   Reads are retried and writes are not; rate limits are waited for. [`permit`]: the permissions
//!   of an agent, checked before a call. [`outcome`]: the results of idempotent writes.
//! - [`telemetry`]: traces of OpenTelemetry, sent to a collector.
//!
//! No write takes effect twice: if its response was lost, the client searches for the result before
//! it sends the write again. A comment in JIRA ends with a line by which it is found, and an object
//! in Linear has an id that is derived from the spec or the message that it represents.
//!
//! The meaning of an answer for a change is not decided here. `cargo xtask conformance services`
//! compares the calls with the services' own descriptions; a new call is added there as well.

pub mod browser;
pub mod dispatcher;
pub mod github;
pub mod gitlab;
pub mod graphiti;
pub mod graphql;
pub mod http;
pub mod jira;
pub mod linear;
pub mod outcome;
pub mod permit;
pub mod post;
pub mod telemetry;
