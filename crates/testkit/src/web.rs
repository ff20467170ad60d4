//! A service of the web that is none: [`Service`] answers what it is [`Asked`], in the same process or
//! over TCP ([`Served`]).

use std::fmt;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use crate::http::{Request, head};

/// A request.
#[derive(Clone, PartialEq, Eq)]
pub struct Asked {
    /// The method, such as `GET`.
    pub method: String,
    /// The path with its query.
    pub target: String,
    /// The header fields.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The header fields have a token in them.
        f.debug_struct("Asked")
            .field("method", &self.method)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

impl Asked {
    /// Gives a header field, in whatever case its name was sent.
    pub fn header(&self, name: &str) -> Option<&str> {
        let is_meant = |(known, _): &&(String, String)| known.eq_ignore_ascii_case(name);
        self.headers.iter().find(is_meant).map(|(_, value)| value.as_str())
    }

    /// Gives the path without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Gives what the query says, in its order.
    pub fn query(&self) -> Vec<(String, String)> {
        let Some((_, query)) = self.target.split_once('?') else { return Vec::new() };
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        };
        query.split('&').filter(|it| !it.is_empty()).map(pair).collect()
    }
}

/// Takes a part of an address apart into what it says.
pub fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|two| str::from_utf8(two).ok());
        match (bytes[at], hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The header fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// An answer in JSON.
    pub fn json(status: u16, body: &serde_json::Value) -> Answer {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Answer { status, headers, body: body.to_string().into_bytes() }
    }

    /// An answer that says nothing more.
    pub fn empty(status: u16) -> Answer {
        Answer { status, headers: Vec::new(), body: Vec::new() }
    }

    /// Gives a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Adds a header field.
    pub fn with(mut self, name: &str, value: &str) -> Answer {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// Answers what it is asked; nothing is a connection that is cut.
pub trait Service: Send + Sync + 'static {
    /// Answers.
    fn answer(&self, asked: &Asked) -> Option<Answer>;
}

/// A service on this machine, for as long as the process lives.
#[derive(Debug, Clone, Copy)]
pub struct Served {
    address: SocketAddr,
}

impl Served {
    /// Starts one on any free port.
    pub fn start(service: Arc<dyn Service>) -> Served {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let service = Arc::clone(&service);
                // Whoever asked may have left.
                thread::spawn(move || drop(converse(&stream, &*service)));
            }
        });
        Served { address }
    }

    /// Gives its address.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn converse(mut stream: &TcpStream, service: &dyn Service) -> io::Result<()> {
    while let Some(request) = Request::read(stream)? {
        request.finish(stream)?;
        let Request { method, target, headers, body, .. } = request;
        let Some(answer) = service.answer(&Asked { method, target, headers, body }) else {
            return Ok(());
        };
        let fields: Vec<(&str, String)> =
            answer.headers.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        // An answer without content has no length either.
        let length = (answer.status != 204).then_some(answer.body.len());
        let mut head = head(answer.status, &fields, Some(length.unwrap_or(0)));
        if length.is_none() {
            let text = String::from_utf8(head).unwrap();
            head = text.replace("content-length: 0\r\n", "").into_bytes();
        }
        stream.write_all(&head)?;
        stream.write_all(&answer.body)?;
    }
    Ok(())
}
