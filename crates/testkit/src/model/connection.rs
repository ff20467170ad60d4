//! A connection of a client: [`Connection`] answers its requests, and injects faults of the
//! transport.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use super::reply::{Body, Reply, SendExtent};
use super::{Cut, Pause};
use crate::http::{self, Request};
use crate::listener::OpenConnections;

/// A connection of one client.
pub(super) struct Connection<'a> {
    /// Returns the reply to a request.
    reply: &'a dyn Fn(&Request) -> Reply,
    open: &'a OpenConnections,
}

/// The state of a connection after an answer.
#[derive(PartialEq, Eq)]
enum ConnectionState {
    Request,
    End,
}

impl<'a> Connection<'a> {
    pub(super) fn new(
        reply: &'a dyn Fn(&Request) -> Reply,
        open: &'a OpenConnections,
    ) -> Connection<'a> {
        Connection { reply, open }
    }

    /// Answers requests until the client or the server ends the connection.
    pub(super) fn run(self, stream: &TcpStream) {
        // A client that disconnects is ignored.
        let _ = self.converse(stream);
    }

    fn converse(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        while let Some(request) = Request::read(stream)? {
            let mut reply = (self.reply)(&request);
            if request.method == "HEAD" {
                reply.body = Body::Whole(Vec::new());
            }
            if !matches!(reply.course, SendExtent::Cut { by: Cut::Reset, .. }) {
                request.finish(stream)?;
            }
            let next = self.send(stream, &reply)?;
            if next == ConnectionState::End || request.header("connection") == Some("close") {
                break;
            }
        }
        Ok(())
    }

    fn send(&self, mut stream: &TcpStream, reply: &Reply) -> io::Result<ConnectionState> {
        if !self.open.pause(reply.delay) {
            return Ok(ConnectionState::End);
        }
        if reply.course == SendExtent::Hang(Pause::BeforeHead) {
            return hang(stream);
        }
        let pieces = pieces(reply);
        let length = match (&reply.body, reply.course) {
            (Body::Events(_), _) => None,
            (Body::Whole(body), SendExtent::Cut { after, by: Cut::Neatly }) => {
                Some(after.min(body.len()))
            }
            (Body::Whole(body), _) => Some(body.len()),
        };
        stream.write_all(&http::head(reply.status, &reply.fields, length))?;
        for piece in &pieces {
            if let SendExtent::Drip { every, .. } = reply.course
                && !self.open.pause(every)
            {
                return Ok(ConnectionState::End);
            }
            write_piece(stream, piece, length.is_none())?;
        }
        match reply.course {
            SendExtent::Through
            | SendExtent::Drip { .. }
            | SendExtent::Cut { by: Cut::Neatly, .. } => {}
            SendExtent::Hang(_) => return hang(stream),
            SendExtent::Cut { by: Cut::Close | Cut::Reset, .. } => return Ok(ConnectionState::End),
        }
        if length.is_none() {
            stream.write_all(b"0\r\n\r\n")?;
        }
        Ok(ConnectionState::Request)
    }
}

/// Returns the parts of the body to send, each written in one piece.
fn pieces(reply: &Reply) -> Vec<Vec<u8>> {
    let whole = match &reply.body {
        Body::Whole(body) => vec![body.clone()],
        Body::Events(events) => events.clone(),
    };
    match reply.course {
        SendExtent::Through => whole,
        SendExtent::Hang(Pause::BeforeHead | Pause::AfterHead) => Vec::new(),
        SendExtent::Hang(Pause::MidStream) => {
            let bytes = whole.concat();
            vec![bytes[..bytes.len() / 2].to_vec()]
        }
        SendExtent::Cut { after, .. } => {
            let mut left = after;
            let mut pieces = Vec::new();
            for mut piece in whole {
                piece.truncate(left);
                left -= piece.len();
                pieces.push(piece);
            }
            pieces
        }
        SendExtent::Drip { bytes, .. } => {
            whole.concat().chunks(bytes.max(1)).map(<[u8]>::to_vec).collect()
        }
    }
}

/// Writes a piece of a body. An empty chunk would end the stream, so it is skipped.
fn write_piece(mut stream: &TcpStream, piece: &[u8], is_chunked: bool) -> io::Result<()> {
    if piece.is_empty() {
        return Ok(());
    }
    if !is_chunked {
        return stream.write_all(piece);
    }
    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
    chunk.extend_from_slice(piece);
    chunk.extend_from_slice(b"\r\n");
    stream.write_all(&chunk)
}

/// Waits until the client disconnects or the server closes the connection.
fn hang(mut stream: &TcpStream) -> io::Result<ConnectionState> {
    let mut nothing = [0; 64];
    while stream.read(&mut nothing)? > 0 {}
    Ok(ConnectionState::End)
}
