//! Access over HTTP: [`Socket`], an address that the server listens on, and [`AccessPolicy`], the
//! access policy.
//!
//! A server listens on this machine alone unless it is given the names under which other machines
//! reach it. Every request needs the token, unless the user disabled it. This module does not know
//! the routes behind the policy, nor the checks that admit a request without the token, such as
//! signatures of webhooks.

use std::io;
use std::net::{SocketAddr, TcpListener};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::token::Token;

/// Names that refer to this machine.
pub(crate) const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The reason that a server does not listen on an address.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Other machines could reach the address, and the user gave no name for it with
    /// `--allow-host`.
    #[error(
        "`{0}` is reachable from other machines; use 127.0.0.1, or set the host name with \
         `--allow-host NAME`"
    )]
    NotLoopback(SocketAddr),
    /// Other machines could use the server without a token.
    #[error("`{0}` is reachable from other machines, so it needs a token")]
    NoToken(SocketAddr),
    /// The address is not available.
    #[error("cannot listen on `{address}`")]
    Bind {
        /// The address that was requested.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The access policy of a server: its token and its host names.
#[derive(Debug, Clone)]
pub struct AccessPolicy {
    /// The token that every request must carry; `None` if requests need no token.
    pub token: Option<Token>,
    /// Names under which other machines reach the server, with or without a port.
    pub hosts: Vec<String>,
}

impl AccessPolicy {
    /// Returns true if the request carries the token, or if no token is required.
    pub(crate) fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let given = || bearer_token(headers);
        self.token.as_ref().is_none_or(|token| given().is_some_and(|given| token.matches(given)))
    }
}

/// A bound listener. Clients that connect wait until a server accepts them.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) listener: TcpListener,
    pub(crate) address: SocketAddr,
}

impl Socket {
    /// Binds the address. Fails if the address is not loopback and `access` has no host name or no
    /// token.
    pub(crate) fn bind(address: SocketAddr, access: &AccessPolicy) -> Result<Socket, ListenError> {
        if !address.ip().is_loopback() {
            if access.hosts.is_empty() {
                return Err(ListenError::NotLoopback(address));
            }
            if access.token.is_none() {
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

/// Passes requests with a valid token on; answers all others with 401.
pub(crate) async fn require_token(
    State(access): State<AccessPolicy>,
    request: Request,
    next: Next,
) -> Response {
    match access.is_authorized(request.headers()) {
        true => next.run(request).await,
        false => {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
            let message = "the header `Authorization: Bearer TOKEN` is missing or wrong\n";
            (StatusCode::UNAUTHORIZED, challenge, message).into_response()
        }
    }
}

/// Returns the bearer token of the headers. The case of the scheme does not matter.
pub(crate) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let header = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
