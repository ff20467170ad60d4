//! A server over streamable HTTP, at `/mcp`.
//!
//! It listens on this machine alone unless it is told the names under which others reach it. Every
//! request needs the token, unless somebody decided otherwise; a `Host` or `Origin` that is not
//! expected is refused, so that no web page reaches it through a name that it controls. There is no
//! CORS: browsers of other origins get nothing.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::handler::Handler;
use super::token::Token;
use super::{MAX_MESSAGE, ServeError, Server, Stop, on_runtime};

/// Names under which this machine knows itself.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

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

/// An address that is listened on.
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    door: Door,
}

impl Listener {
    /// Begins to listen; whoever comes waits until the server is there.
    pub fn bind(address: SocketAddr, door: Door) -> Result<Listener, ListenError> {
        if !address.ip().is_loopback() {
            if door.hosts.is_empty() {
                return Err(ListenError::NotLoopback(address));
            }
            if door.token.is_none() {
                return Err(ListenError::NoToken(address));
            }
        }
        let fail = |source| ListenError::Bind { address, source };
        let socket = TcpListener::bind(address).map_err(fail)?;
        socket.set_nonblocking(true).map_err(fail)?;
        let address = socket.local_addr().map_err(fail)?;
        Ok(Listener { socket, address, door })
    }

    /// Gives the address to connect to.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Serves whoever comes until the server is stopped.
    pub fn serve(self, server: &Server, stop: &Stop) -> Result<(), ServeError> {
        on_runtime(async move {
            let listener =
                tokio::net::TcpListener::from_std(self.socket).map_err(ServeError::Connection)?;
            let config = config(&self.door.hosts);
            let sessions = config.cancellation_token.clone();
            let handler = Handler::new(server.clone());
            let service: StreamableHttpService<Handler, LocalSessionManager> =
                StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config);
            let routes = Router::new()
                .route_service("/mcp", service)
                .layer(middleware::from_fn_with_state(self.door.token, admit));
            let ended = async {
                stop.requested().await;
                // Streams that wait for news would hold the server up for ever.
                sessions.cancel();
            };
            let stop = stop.clone();
            // An answer is small and waited for: it goes out at once.
            let listener = listener.tap_io(|client| drop(client.set_nodelay(true)));
            let serving = axum::serve(listener, routes)
                .with_graceful_shutdown(async move { stop.requested().await });
            let (served, ()) = tokio::join!(serving.into_future(), ended);
            served.map_err(ServeError::Connection)
        })
    }
}

fn config(hosts: &[String]) -> StreamableHttpServerConfig {
    let own = OWN_NAMES.map(str::to_owned);
    let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(own.into_iter().chain(hosts.iter().cloned()))
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_MESSAGE)
}

/// Lets in whoever has the token.
async fn admit(State(token): State<Option<Token>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION);
    let given = given.and_then(|value| value.to_str().ok()).and_then(bearer);
    match token {
        Some(token) if !given.is_some_and(|given| token.is(given)) => {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
            let message = "the header `Authorization: Bearer TOKEN` is missing or wrong\n";
            (StatusCode::UNAUTHORIZED, challenge, message).into_response()
        }
        _ => next.run(request).await,
    }
}

/// Takes the token out of a header; the word before it is known in any case.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
