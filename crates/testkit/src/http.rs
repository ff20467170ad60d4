//! A minimal HTTP/1.1, written by hand, since a fault has to be exact to the byte.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) target: String,
    /// The headers, with names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// The maximum size of a head, in bytes.
const MAX_HEAD_BYTES: usize = 256 * 1024;

impl Request {
    /// Reads a request, except for the last byte of its body: a connection that is closed with
    /// unread data is reset, which is how the fakes produce a reset. [`Request::finish`] reads the
    /// byte.
    ///
    /// Returns `None` if the client has disconnected.
    pub(crate) fn read(mut stream: &TcpStream) -> io::Result<Option<Request>> {
        let Some(head) = read_head(stream)? else { return Ok(None) };
        let Some(mut request) = parse_head(head) else {
            write_plain(stream, 400, "this is not HTTP/1.1")?;
            return Ok(None);
        };
        if request.header("transfer-encoding").is_some() {
            write_plain(stream, 411, "a body needs a content-length here")?;
            return Ok(None);
        }
        if request.header("expect").is_some() {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let length = request.header("content-length").map_or(Ok(0), str::parse::<u64>);
        let Ok(length) = length else {
            write_plain(stream, 400, "the content-length is no number")?;
            return Ok(None);
        };
        if length > 0 {
            stream.take(length - 1).read_to_end(&mut request.body)?;
            let mut last = [0];
            if request.body.len() as u64 != length - 1 || stream.peek(&mut last)? != 1 {
                return Ok(None);
            }
            request.body.push(last[0]);
        }
        Ok(Some(request))
    }

    /// Reads the byte that [`Request::read`] left, so that another request can follow.
    pub(crate) fn finish(&self, mut stream: &TcpStream) -> io::Result<()> {
        let rest = usize::from(!self.body.is_empty());
        stream.read_exact(&mut [0][..rest])
    }

    /// Returns a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the path without its query.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// Reads up to the empty line, byte by byte, so that the body stays unread.
fn read_head(mut stream: &TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && head.len() < MAX_HEAD_BYTES {
        match stream.read_exact(&mut byte) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        head.push(byte[0]);
    }
    Ok(Some(head))
}

fn parse_head(head: Vec<u8>) -> Option<Request> {
    let text = str::from_utf8(&head).ok()?.strip_suffix("\r\n\r\n")?;
    let mut lines = text.split("\r\n");
    let mut start = lines.next()?.split(' ');
    let (method, target) = (start.next()?.to_owned(), start.next()?.to_owned());
    if start.next() != Some("HTTP/1.1") {
        return None;
    }
    let field = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let headers = lines.map(field).collect::<Option<_>>()?;
    Some(Request { method, target, headers, head, body: Vec::new() })
}

/// Answers an invalid request, after which the connection is closed.
fn write_plain(mut stream: &TcpStream, status: u16, text: &str) -> io::Result<()> {
    let fields = [("content-type", "text/plain".to_owned()), ("connection", "close".to_owned())];
    stream.write_all(&head(status, &fields, Some(text.len())))?;
    stream.write_all(text.as_bytes())
}

/// Formats the head of an answer; without a length, the body is chunked.
pub(crate) fn head(status: u16, fields: &[(&str, String)], length: Option<usize>) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in fields {
        head += &format!("{name}: {value}\r\n");
    }
    head += &match length {
        Some(length) => format!("content-length: {length}\r\n"),
        None => "transfer-encoding: chunked\r\n".to_owned(),
    };
    head += "\r\n";
    head.into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        411 => "Length Required",
        413 => "Request Entity Too Large",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        // 529 is specific to Anthropic, and has no reason phrase.
        _ => "",
    }
}
