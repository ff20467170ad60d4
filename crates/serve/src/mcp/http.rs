//! A server over streamable HTTP, at `/mcp`.
//!
//! Who comes in is the [`Door`]'s business. Beyond that, a `Host` or `Origin` that is not expected is
//! refused, so that no web page reaches it through a name that it controls. There is no CORS:
//! browsers of other origins get nothing.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::serve::ListenerExt as _;
use axum::{Router, middleware};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::handler::Handler;
use super::{MAX_MESSAGE, ServeError, Server, on_runtime};
use crate::door::{Door, ListenError, OWN_NAMES, Socket, admit};
use crate::stop::Stop;

/// An address that is listened on.
pub struct Listener {
    socket: Socket,
    door: Door,
}

impl Listener {
    /// Begins to listen; whoever comes waits until the server is there.
    pub fn bind(address: SocketAddr, door: Door) -> Result<Listener, ListenError> {
        Ok(Listener { socket: Socket::bind(address, &door)?, door })
    }

    /// Gives the address to connect to.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.socket.address)
    }

    /// Serves whoever comes until the server is stopped.
    pub fn serve(self, server: &Server, stop: &Stop) -> Result<(), ServeError> {
        on_runtime(async move {
            let listener = tokio::net::TcpListener::from_std(self.socket.listener);
            let listener = listener.map_err(ServeError::Connection)?;
            let config = config(&self.door.hosts);
            let sessions = config.cancellation_token.clone();
            let handler = Handler::new(server.clone());
            let service: StreamableHttpService<Handler, LocalSessionManager> =
                StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config);
            let routes = Router::new()
                .route_service("/mcp", service)
                .layer(middleware::from_fn_with_state(self.door, admit));
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
