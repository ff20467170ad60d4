//! Models, asked over real connections and in real processes.

mod http;
mod server;
