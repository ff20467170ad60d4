//! Services of others, as typed clients.
//!
//! [`browser`] drives a page of Chromium or of an Electron app, [`graphiti`] asks a server that
//! remembers. What an answer means for a change is for others to judge: a client says what it asked,
//! what came back, or why nothing did.

pub mod browser;
pub mod graphiti;
