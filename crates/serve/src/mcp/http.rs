//! A server over streamable HTTP, at `/mcp`.
//!
//! The [`AccessPolicy`] decides on access. In addition, a request with an unexpected `Host` or
//! `Origin` is refused, so that no web page reaches the server through a name that the page
//! controls. There is no CORS: browsers get nothing for other origins.

use assay_base::shutdown::Shutdown;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::serve::ListenerExt as _;
use axum::{Router, middleware};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use super::handler::Handler;
use super::id_scan::IdScan;
use super::message::{MessageCheck, check_message, empty_body_error, too_long_error};
use super::{MAX_MESSAGE, ServeError, Server, on_runtime};
use crate::auth::{AccessPolicy, LOOPBACK_NAMES, ListenError, Socket, require_token};
use crate::shutdown;

/// A bound address, ready to serve.
pub struct McpListener {
    socket: Socket,
    access: AccessPolicy,
}

impl McpListener {
    /// Binds the address. Clients that connect wait until the server accepts them.
    pub fn bind(address: SocketAddr, access: AccessPolicy) -> Result<McpListener, ListenError> {
        Ok(McpListener { socket: Socket::bind(address, &access)?, access })
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.socket.address)
    }

    /// Serves clients until shutdown is requested.
    pub fn serve(self, server: &Server, shutdown: &Shutdown) -> Result<(), ServeError> {
        on_runtime(async move {
            let listener = tokio::net::TcpListener::from_std(self.socket.listener);
            let listener = listener.map_err(ServeError::Connection)?;
            let config = config(&self.access.hosts);
            let sessions = config.cancellation_token.clone();
            let handler = Handler::new(server.clone());
            let service: StreamableHttpService<Handler, LocalSessionManager> =
                StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config);
            let routes = Router::new()
                .route_service("/mcp", service)
                .layer(middleware::from_fn(check_request))
                .layer(middleware::from_fn_with_state(self.access, require_token));
            let requested = shutdown::wait_until_requested(shutdown);
            let close_connection = async {
                requested.await;
                // Open event streams would delay the end of the server for ever.
                sessions.cancel();
            };
            // An answer is small and the client waits for it, so it is sent without delay.
            let listener = listener.tap_io(|client| drop(client.set_nodelay(true)));
            let serving = axum::serve(listener, routes)
                .with_graceful_shutdown(shutdown::wait_until_requested(shutdown));
            let (served, ()) = tokio::join!(serving.into_future(), close_connection);
            served.map_err(ServeError::Connection)
        })
    }
}

/// Answers a message that cannot be parsed with an error, as over a stream, by its id if the id can
/// be recovered. The end of a session is answered without content.
async fn check_request(request: Request, next: Next) -> Response {
    match *request.method() {
        Method::POST => {}
        Method::DELETE => return close_connection(next.run(request).await),
        _ => return next.run(request).await,
    }
    let (parts, body) = request.into_parts();
    let body = match read(body).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    if body.trim_ascii().is_empty() {
        return error_response(StatusCode::BAD_REQUEST, &empty_body_error());
    }
    match check_message(&body) {
        MessageCheck::Message(_) => next.run(Request::from_parts(parts, Body::from(body))).await,
        MessageCheck::Passed => StatusCode::ACCEPTED.into_response(),
        MessageCheck::Refused(mut answers) => {
            let answer = match answers.len() {
                1 => answers.remove(0),
                _ => Value::Array(answers),
            };
            error_response(StatusCode::BAD_REQUEST, &answer)
        }
    }
}

/// Reads a body to its end. Retains at most the maximum size of a message.
async fn read(body: Body) -> Result<Vec<u8>, Response> {
    let mut body = body;
    let (mut kept, mut passed_over) = (Vec::new(), None::<IdScan>);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| StatusCode::BAD_REQUEST.into_response())?;
        let Ok(piece) = frame.into_data() else { continue };
        match &mut passed_over {
            Some(scan) => scan.feed(&piece),
            None => kept.extend_from_slice(&piece),
        }
        if kept.len() > MAX_MESSAGE {
            passed_over = Some(IdScan::scan(&std::mem::take(&mut kept)));
        }
    }
    match passed_over {
        None => Ok(kept),
        Some(scan) => {
            let answer = too_long_error(scan.id(), MAX_MESSAGE);
            Err(error_response(StatusCode::PAYLOAD_TOO_LARGE, &answer))
        }
    }
}

fn error_response(status: StatusCode, answer: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

fn close_connection(mut response: Response) -> Response {
    if response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

fn config(hosts: &[String]) -> StreamableHttpServerConfig {
    let own = LOOPBACK_NAMES.map(str::to_owned);
    let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(own.into_iter().chain(hosts.iter().cloned()))
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_MESSAGE)
}
