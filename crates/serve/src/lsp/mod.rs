//! The editor server: findings as diagnostics over the Language Server Protocol 3.17.
//!
//! [`serve`] reads messages from one stream and writes to another. The protocol has its types here:
//! `framing` and `message` for JSON-RPC, `position` and `uri` for places, `client` for
//! messages to the client, `settings` for its options. `diagnostics`, `hover` and
//! `code_actions` convert findings. `server` dispatches messages on one thread; `worker` has
//! one thread for each repository, which owns an `engine::editor_session::EditorSession`.
//!
//! The server decides nothing about findings, and a message of a client never ends it.

mod client;
mod code_actions;
mod diagnostics;
mod document;
mod folder;
mod framing;
mod hover;
mod message;
mod position;
mod server;
mod settings;
mod uri;
mod worker;

use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use assay_base::shutdown::Shutdown;
use assay_engine::environment::Environment;

use self::framing::{Frame, read_frame};
use self::server::{Event, LspServer};

/// The process around the server.
#[derive(Clone, Copy)]
pub struct LspContext {
    /// The environment of the process.
    pub environment: &'static Environment,
    /// The version of assay.
    pub version: &'static str,
    /// A function that returns the name of the user in a repository, for the record of a dismissal.
    pub user_name: fn(&Path) -> String,
}

/// The way in which a server ended, which decides on the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LspEnd {
    /// The client sent `shutdown` before.
    AfterShutdown,
    /// The client went away, or sent `exit` alone.
    WithoutShutdown,
}

/// Serves the client at `input` and `output`, until the client says `exit`, `input` ends, the
/// process of the client is gone or shutdown is requested. Fails if `output` cannot be written.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write,
    context: LspContext,
    shutdown: &Shutdown,
) -> io::Result<LspEnd> {
    let (sender, events) = mpsc::channel();
    let stop = sender.clone();
    // The receiver is gone if the server has ended before.
    shutdown.on_request(move || drop(stop.send(Event::Stop)));
    let frames = sender.clone();
    // A blocked read cannot be ended, so the thread is not joined; it ends with its stream.
    thread::spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let frame = read_frame(&mut input).unwrap_or(Frame::End);
            let is_end = frame == Frame::End;
            if frames.send(Event::Frame(frame)).is_err() || is_end {
                return;
            }
        }
    });
    LspServer::new(context, output, sender).run(&events)
}
