//! A server that answers from a script, each request with the next answer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;

/// The reaction of a server to a request.
pub(crate) enum ServerAction {
    /// Writes these bytes and closes the connection.
    Write(String),
    /// Writes these bytes and then nothing, until the client closes the connection.
    Hang(String),
    /// Writes the first text and then the second again and again, until the client closes the
    /// connection.
    Repeat(String, String),
    /// Writes these bytes, and closes the connection so that the client sees it broken.
    Reset(String),
}

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Receiver<Request>,
    _thread: JoinHandle<()>,
}

/// A request that the server received.
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: serde_json::Value,
}

/// Returns a complete response.
pub(crate) fn respond(status: &str, headers: &str, body: &str) -> ServerAction {
    let length = body.len();
    ServerAction::Write(format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    ))
}

/// Returns the head and the beginning of a stream. The server closes the connection after each
/// response, and announces that: a client that reused the connection for its next request could get
/// a reset.
pub(crate) fn stream(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\
         connection: close\r\n\r\n{:x}\r\n{body}\r\n",
        body.len()
    )
}

impl Server {
    /// Starts a server that accepts as many requests as it has acts.
    pub(crate) fn start(acts: Vec<ServerAction>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            for act in acts {
                let (stream, _) = listener.accept().unwrap();
                sender.send(read(&stream)).unwrap();
                act.play(stream);
            }
        });
        Server { url, requests, _thread: thread }
    }

    /// Returns the next request that was received.
    pub(crate) fn request(&self) -> Request {
        self.requests.try_recv().expect("there was a request")
    }

    /// Returns true if there are more requests than were read.
    pub(crate) fn has_more(&self) -> bool {
        self.requests.try_recv().is_ok()
    }
}

impl ServerAction {
    fn play(self, mut stream: TcpStream) {
        // The client may have closed the connection already.
        match self {
            ServerAction::Write(text) => {
                let _ = stream.write_all(text.as_bytes());
            }
            ServerAction::Hang(text) => {
                let _ = stream.write_all(text.as_bytes());
                let _ = stream.read(&mut [0]);
            }
            ServerAction::Repeat(first, again) => {
                let _ = stream.write_all(first.as_bytes());
                while stream.write_all(again.as_bytes()).is_ok() {}
            }
            ServerAction::Reset(text) => {
                let _ = stream.write_all(text.as_bytes());
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
        }
    }
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "the request is cut off: {head}");
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    Request { head, body: serde_json::from_slice(&body).unwrap() }
}
