//! The fake over TCP: [`Server`].

use std::io::{self, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use super::GitHub;
use crate::http::{self, Request};
use crate::listener::{Listener, OpenConnections};
use crate::web::{Answer, ServiceRequest};

/// A GitHub on 127.0.0.1. Its connections and threads end when the value is dropped.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
}

impl GitHub {
    /// Serves over TCP, on any free port. From now on, all addresses in answers begin with the
    /// server's.
    pub fn serve(self: Arc<GitHub>) -> Server {
        let github = Arc::clone(&self);
        let listener = Listener::start(0, move |open, stream| {
            // A client that disconnects is ignored.
            let _ = github.converse(open, stream);
        });
        let server = Server { listener: listener.unwrap() };
        self.state().root = server.url();
        server
    }

    fn converse(&self, open: &OpenConnections, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        while let Some(request) = Request::read(stream)? {
            self.catch_up();
            let (delay, answer) = self.answer_later(&ServiceRequest {
                method: request.method.clone(),
                target: request.target.clone(),
                headers: request.headers.clone(),
                body: request.body.clone(),
            });
            self.catch_up();
            if !open.pause(delay) {
                break;
            }
            // A connection that is closed with unread data is reset.
            let Some(answer) = answer else { break };
            request.finish(stream)?;
            send(stream, &answer)?;
            if request.header("connection") == Some("close") {
                break;
            }
        }
        Ok(())
    }
}

impl Server {
    /// Returns the root of the API: `http://127.0.0.1:4711`.
    pub fn url(&self) -> String {
        format!("http://{}", self.listener.address())
    }
}

fn send(mut stream: &TcpStream, answer: &Answer) -> io::Result<()> {
    let fields: Vec<(&str, String)> =
        answer.headers.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    stream.write_all(&http::head(answer.status, &fields, Some(answer.body.len())))?;
    stream.write_all(&answer.body)
}
