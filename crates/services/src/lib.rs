//! Services of others, as typed clients.
//!
//! [`browser`] drives a page of Chromium or of an Electron app. What an answer means for a change is
//! for others to judge: a client says what it asked, what came back, or why nothing did.

pub mod browser;
