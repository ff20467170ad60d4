//! Services of others, as typed clients.
//!
//! [`browser`] drives a page of Chromium or of an Electron app, [`graphiti`] asks a server that
//! remembers, [`jira`] keeps tickets. Services of the web are called by way of [`http`], and [`permit`] says what an agent
//! may do with them. What an answer means for a change is for others to judge: a client says what it
//! asked, what came back, or why nothing did.

pub mod browser;
pub mod github;
pub mod graphiti;
pub mod graphql;
pub mod http;
pub mod jira;
pub mod permit;
