//! Connections with a timeout: [`Connections`].
//!
//! Without the timeout and the limit, a client that opens many connections and sends nothing would
//! block all other clients.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// The maximum number of open connections; further ones wait.
const MAX_CONNECTIONS: usize = 512;

/// The timeout of a connection that receives no data: longer than any request takes to be answered.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// A listener that limits the number of its connections and the time that each may be silent.
pub(crate) struct Connections {
    listener: TcpListener,
    room: Arc<Semaphore>,
    silence: Duration,
}

impl Connections {
    pub(crate) fn new(listener: TcpListener) -> Connections {
        Connections {
            listener,
            room: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
            silence: IDLE_TIMEOUT,
        }
    }
}

impl Listener for Connections {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let room = Arc::clone(&self.room).acquire_owned().await;
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // An answer is small and the client waits for it, so it is sent without delay.
        drop(stream.set_nodelay(true));
        let until = Box::pin(sleep(self.silence));
        let room = room.expect("nobody closes it");
        (Connection { stream, until, silence: self.silence, _room: room }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that fails with `TimedOut` when it receives no data for too long.
pub(crate) struct Connection {
    stream: TcpStream,
    until: Pin<Box<Sleep>>,
    silence: Duration,
    _room: OwnedSemaphorePermit,
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Connection>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(context, into) {
            let until = Instant::now() + self.silence;
            self.until.as_mut().reset(until);
            return Poll::Ready(read);
        }
        self.until.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Connection>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Connection>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Connection>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Connection>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use axum::Router;
    use axum::routing::get;

    use super::*;
    use crate::runtime;

    #[test]
    fn a_silent_connection_is_closed_and_makes_room_for_another() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let requests = std::thread::spawn(move || {
            let mut silent = std::net::TcpStream::connect(address).unwrap();
            silent.write_all(b"GET / HTT").unwrap();
            let mut other = std::net::TcpStream::connect(address).unwrap();
            other.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
            let mut answer = String::new();
            other.read_to_string(&mut answer).unwrap();
            let mut nothing = Vec::new();
            // The connection is closed, or reset because of bytes that were not read.
            let _ = silent.read_to_end(&mut nothing);
            (answer, nothing.len())
        });
        let served = runtime::run(async {
            let connections = Connections {
                listener: TcpListener::from_std(listener)?,
                room: Arc::new(Semaphore::new(1)),
                silence: Duration::from_millis(50),
            };
            let routes = Router::new().route("/", get(|| async { "there" }));
            let over = tokio::task::spawn_blocking(move || requests.join().unwrap());
            tokio::select! {
                ended = axum::serve(connections, routes).into_future() => ended.map(|()| None),
                answers = over => Ok(answers.ok()),
            }
        });
        let (answer, rest) = served.unwrap().unwrap().unwrap();
        assert!(answer.ends_with("there"), "{answer}");
        assert!(rest < 200, "{rest}");
    }
}
