//! The way in over HTTP: [`Socket`], an address that is listened on, and [`Door`], who may come in.
//!
//! A server listens on this machine alone unless it is told the names under which others reach it,
//! and every request needs the token, unless somebody decided otherwise. What is served behind the
//! door is the business of others, and so is whatever lets somebody in without the token.

use std::io;
use std::net::{SocketAddr, TcpListener};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::token::Token;

/// Names under which this machine knows itself.
pub(crate) const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Why nothing listens.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Others could reach it, and nobody said that they may.
    #[error(
        "`{0}` can be reached from other machines; use 127.0.0.1, or say under which name it is \
         reached with `--allow-host NAME`"
    )]
    NotLoopback(SocketAddr),
    /// Others could use it.
    #[error("`{0}` can be reached from other machines, so it needs a token")]
    NoToken(SocketAddr),
    /// The address cannot be had.
    #[error("could not listen on `{address}`")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

/// Who may come in.
#[derive(Debug, Clone)]
pub struct Door {
    /// What every request has to carry; if `None`, nothing.
    pub token: Option<Token>,
    /// Names under which other machines reach the server, with or without a port.
    pub hosts: Vec<String>,
}

impl Door {
    /// Says whether a request carries the token, where one is needed.
    pub(crate) fn lets_in(&self, headers: &HeaderMap) -> bool {
        let given = || bearer(headers);
        self.token.as_ref().is_none_or(|token| given().is_some_and(|given| token.is(given)))
    }
}

/// An address that is listened on; whoever comes waits until a server is there.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
}

impl Socket {
    /// Begins to listen where the door allows it.
    pub(crate) fn bind(address: SocketAddr, door: &Door) -> Result<Socket, ListenError> {
        if !address.ip().is_loopback() {
            if door.hosts.is_empty() {
                return Err(ListenError::NotLoopback(address));
            }
            if door.token.is_none() {
                return Err(ListenError::NoToken(address));
            }
        }
        let fail = |source| ListenError::Bind { address, source };
        let listener = TcpListener::bind(address).map_err(fail)?;
        listener.set_nonblocking(true).map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        Ok(Socket { listener, address })
    }
}

/// Lets in whoever has the token.
pub(crate) async fn admit(State(door): State<Door>, request: Request, next: Next) -> Response {
    match door.lets_in(request.headers()) {
        true => next.run(request).await,
        false => {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
            let message = "the header `Authorization: Bearer TOKEN` is missing or wrong\n";
            (StatusCode::UNAUTHORIZED, challenge, message).into_response()
        }
    }
}

/// Takes the token out of the headers; the word before it is known in any case.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let header = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
