//! The fakes: the model, byte by byte, and GitHub.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod dialects;
mod faults;
mod github;
mod scripts;
mod serving;
mod strictness;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use assay_testkit::model::FakeModel;
use serde_json::{Value, json};

const MESSAGES: &str = "/v1/messages";
const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
const ALL: [&str; 3] = [MESSAGES, CHAT, RESPONSES];

/// The data that a connection received until its end.
struct HttpReply {
    status: u16,
    head: String,
    /// The body, joined from its chunks.
    body: String,
    /// True if the body is as long as its head or its last chunk says.
    is_whole: bool,
    /// True if the connection was reset.
    is_reset: bool,
}

impl HttpReply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Returns the data of each event of a stream.
    fn data(&self) -> Vec<Value> {
        let lines = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        lines
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }
}

/// Returns a valid request.
fn body(path: &str, text: &str, stream: bool) -> Value {
    let messages = json!([{ "role": "user", "content": text }]);
    match path {
        MESSAGES => {
            json!({ "model": "m", "max_tokens": 9000, "messages": messages, "stream": stream })
        }
        CHAT => json!({ "model": "m", "messages": messages, "stream": stream }),
        RESPONSES => json!({ "model": "m", "input": text, "stream": stream }),
        _ => unreachable!("there are three paths"),
    }
}

/// Formats a request that is the last one of its connection.
fn request(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nanthropic-version: 2023-06-01\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn connect(server: &FakeModel, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Reads until the connection ends.
fn read(mut stream: TcpStream) -> HttpReply {
    let mut bytes = Vec::new();
    let ended = stream.read_to_end(&mut bytes);
    let is_reset = ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset);
    let text = String::from_utf8_lossy(&bytes);
    let (head, rest) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let (body, is_whole) = match length {
        Some(length) => (rest.to_owned(), length.parse::<usize>().unwrap() == rest.len()),
        None => unchunk(rest),
    };
    HttpReply { status, head: head.to_owned(), body, is_whole, is_reset }
}

fn unchunk(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body += &after[..size];
        rest = &after[size + 2..];
    }
    (body, false)
}

fn ask(server: &FakeModel, path: &str, body: &Value) -> HttpReply {
    read(connect(server, &request(path, &body.to_string())))
}
