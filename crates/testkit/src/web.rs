//! A fake web service: [`Service`] answers a request ([`ServiceRequest`]), in process or over TCP
//! ([`RunningService`]).

use std::fmt;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use crate::http::{Request, head};

/// A request.
#[derive(Clone, PartialEq, Eq)]
pub struct ServiceRequest {
    /// The method, such as `GET`.
    pub method: String,
    /// The path with its query.
    pub target: String,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl fmt::Debug for ServiceRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The headers contain a token.
        f.debug_struct("Asked")
            .field("method", &self.method)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

impl ServiceRequest {
    /// Returns a header; the case of its name is ignored.
    pub fn header(&self, name: &str) -> Option<&str> {
        let is_meant = |(known, _): &&(String, String)| known.eq_ignore_ascii_case(name);
        self.headers.iter().find(is_meant).map(|(_, value)| value.as_str())
    }

    /// Returns the path without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Returns the parameters of the query in order.
    pub fn query(&self) -> Vec<(String, String)> {
        let Some((_, query)) = self.target.split_once('?') else { return Vec::new() };
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        };
        query.split('&').filter(|it| !it.is_empty()).map(pair).collect()
    }
}

/// Decodes percent-encoding.
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

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// Creates an answer with JSON.
    pub fn json(status: u16, body: &serde_json::Value) -> Answer {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Answer { status, headers, body: body.to_string().into_bytes() }
    }

    /// Creates an answer without a body.
    pub fn empty(status: u16) -> Answer {
        Answer { status, headers: Vec::new(), body: Vec::new() }
    }

    /// Returns a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Adds a header.
    pub fn with(mut self, name: &str, value: &str) -> Answer {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A fake service that answers requests.
pub trait Service: Send + Sync + 'static {
    /// Answers a request; `None` if the connection is cut.
    fn answer(&self, asked: &ServiceRequest) -> Option<Answer>;
}

/// A service on this machine, which runs until the process ends.
#[derive(Debug, Clone, Copy)]
pub struct RunningService {
    address: SocketAddr,
}

impl RunningService {
    /// Starts a service on any free port.
    pub fn start(service: Arc<dyn Service>) -> RunningService {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let service = Arc::clone(&service);
                // The client may have disconnected.
                thread::spawn(move || drop(converse(&stream, &*service)));
            }
        });
        RunningService { address }
    }

    /// Returns the address of the service.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn converse(mut stream: &TcpStream, service: &dyn Service) -> io::Result<()> {
    while let Some(request) = Request::read(stream)? {
        request.finish(stream)?;
        let Request { method, target, headers, body, .. } = request;
        let Some(answer) = service.answer(&ServiceRequest { method, target, headers, body }) else {
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
