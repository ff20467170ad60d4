//! Models, called over real connections and in real processes.
#![allow(clippy::unwrap_used, clippy::panic)]

mod agents;
mod http;
mod server;
