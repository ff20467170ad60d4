//! Services of others, as typed clients.
//!
//! [`browser`] drives a page of Chromium or of an Electron app, [`graphiti`] asks a server that
//! remembers, [`github`] has pull requests, [`jira`] and [`linear`] have tickets; what is told to
//! GitHub and JIRA of a review goes by [`mail`], so that it arrives once. Services of the web are
//! called by way of [`http`], and [`permit`] says what an agent may do with them. What an answer means
//! for a change is for others to judge: a client says what it asked, what came back, or why nothing
//! did.

pub mod browser;
pub mod github;
pub mod graphiti;
pub mod graphql;
pub mod http;
pub mod jira;
pub mod linear;
pub mod mail;
pub mod outcome;
pub mod permit;
