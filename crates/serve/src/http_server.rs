//! The HTTP server of `assay serve`, with all routes that people and services use.
//!
//! A [`HttpServer`] is a list of parts; a further part adds its routes in [`HttpServer::routes`].
//! Each part checks its own permissions. This module only checks that the host name of a request to
//! a part is allowed, so that no web page reaches the server through a name that the page controls,
//! and refuses new requests once shutdown is requested. `GET /healthz` answers if the server runs,
//! and `GET /readyz` if it can do its work.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use assay_base::clock::Stopwatch;
use assay_base::shutdown::Shutdown;
use assay_store::queue::Queue;
use assay_store::task::QueueName;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, serve};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tracing::Instrument as _;

use crate::auth::{AccessPolicy, LOOPBACK_NAMES, ListenError, Socket};
use crate::connections::Connections;
use crate::dashboard::DashboardService;
use crate::hooks::Hooks;
use crate::runtime;
use crate::shutdown;

/// The timeout of the readiness check on the queue.
const READINESS_TIMEOUT: Duration = Duration::from_secs(3);

/// The maximum number of concurrent readiness checks.
const MAX_READINESS_CHECKS: usize = 2;

/// The reason that the server ended early.
#[derive(Debug, thiserror::Error)]
pub enum HttpServerError {
    /// The threads could not be started, or the address is gone.
    #[error("the server failed")]
    Broken(#[source] io::Error),
}

/// The parts of the server.
pub struct HttpServer {
    /// The triggers of reviews.
    pub hooks: Hooks,
    /// The dashboard and the HTTP API.
    pub dashboard: DashboardService,
    /// The queue store, for the readiness check.
    pub queue: Arc<dyn Queue>,
    /// The name of the queue that the readiness check reads.
    pub reviewer: QueueName,
}

/// A bound address, ready to serve.
#[derive(Debug)]
pub struct HttpListener {
    socket: Socket,
    access: AccessPolicy,
}

impl HttpListener {
    /// Binds the address. Clients that connect wait until the server accepts them.
    pub fn bind(address: SocketAddr, access: AccessPolicy) -> Result<HttpListener, ListenError> {
        Ok(HttpListener { socket: Socket::bind(address, &access)?, access })
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}", self.socket.address)
    }

    /// Serves clients until shutdown is requested, and then completes the requests in progress.
    pub fn serve(self, server: HttpServer, shutdown: &Shutdown) -> Result<(), HttpServerError> {
        let served = runtime::run(async move {
            let listener = tokio::net::TcpListener::from_std(self.socket.listener)?;
            let routes = server.routes(self.access, shutdown.clone());
            serve(Connections::new(listener), routes)
                .with_graceful_shutdown(shutdown::wait_until_requested(shutdown))
                .await
        });
        served.and_then(|served| served).map_err(HttpServerError::Broken)
    }
}

impl HttpServer {
    fn routes(self, access: AccessPolicy, shutdown: Shutdown) -> Router {
        let looks = Arc::new(Semaphore::new(MAX_READINESS_CHECKS));
        let ready = Readiness { queue: self.queue, reviewer: self.reviewer, looks };
        let dashboard = Arc::new(self.dashboard);
        dashboard.keep_prepared(&shutdown);
        let known = Arc::new(self.hooks)
            .routes()
            .merge(dashboard.routes(shutdown.clone()))
            .layer(middleware::from_fn_with_state(Arc::new(access), require_known_host));
        Router::new()
            .route("/healthz", get(|| async { "ok\n" }))
            .route("/readyz", get(check_readiness).with_state(ready))
            .merge(known)
            .layer(middleware::from_fn_with_state(shutdown, refuse_during_shutdown))
            .layer(middleware::from_fn(trace_request))
    }
}

/// The context of the readiness check.
#[derive(Clone)]
struct Readiness {
    queue: Arc<dyn Queue>,
    reviewer: QueueName,
    looks: Arc<Semaphore>,
}

/// Answers 200 if the queue can be read. The answer has no details of an error, which are not for
/// clients.
async fn check_readiness(State(ready): State<Readiness>) -> (StatusCode, &'static str) {
    let away = (StatusCode::SERVICE_UNAVAILABLE, "cannot read the queue\n");
    let Ok(look) = ready.looks.try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many concurrent readiness checks\n");
    };
    let (queue, reviewer) = (ready.queue, ready.reviewer);
    let looked = tokio::task::spawn_blocking(move || {
        let _look = look;
        queue.next_ready(&reviewer)
    });
    match timeout(READINESS_TIMEOUT, looked).await {
        Ok(Ok(Ok(_))) => (StatusCode::OK, "ready\n"),
        Ok(Ok(Err(_)) | Err(_)) | Err(_) => away,
    }
}

/// Passes on requests whose host name is allowed; refuses all others.
async fn require_known_host(
    State(access): State<Arc<AccessPolicy>>,
    request: Request,
    next: Next,
) -> Response {
    match is_known_host(&access, request.headers()) {
        true => next.run(request).await,
        false => {
            let message = "unknown host name; allow the name with `--allow-host NAME`\n";
            (StatusCode::MISDIRECTED_REQUEST, message).into_response()
        }
    }
}

/// Returns true if the host name of a request is allowed.
fn is_known_host(access: &AccessPolicy, headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next())
    else {
        return false;
    };
    let name = without_port(host);
    let own = LOOPBACK_NAMES.iter().any(|own| own.eq_ignore_ascii_case(name));
    own || access
        .hosts
        .iter()
        .any(|allowed| allowed.eq_ignore_ascii_case(name) || allowed.eq_ignore_ascii_case(host))
}

/// Returns a host without its port, and an IPv6 address without its brackets.
fn without_port(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// Emits an event for each request, and one with the status of its answer. The query is left out,
/// since it may contain a secret.
async fn trace_request(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    tracing::debug!(%method, path, "got a request");
    let started = Stopwatch::start();
    let span = request_span(&request);
    let response = next.run(request).instrument(span.clone()).await;
    record_response(&span, &response);
    let (status, elapsed) = (response.status().as_u16(), started.elapsed());
    tracing::debug!(%method, path, status, ?elapsed, "answered the request");
    response
}

/// Returns the span of a request, below that of the client if a header names one. Its name has the
/// route and not the path, so that the number of names has a bound.
fn request_span(request: &Request) -> tracing::Span {
    use tracing::field::Empty;
    let parent = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    let method = request.method().as_str();
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    tracing::info_span!(
        "request",
        otel.name = route.map_or_else(|| method.to_owned(), |route| format!("{method} {route}")),
        otel.kind = "server",
        otel.error = Empty,
        otel.traceparent = parent,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        url.path = request.uri().path(),
    )
}

fn record_response(span: &tracing::Span, response: &Response) {
    let status = response.status();
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.record("otel.error", tracing::field::display(status));
    }
}

/// Refuses requests on open connections once shutdown is requested.
async fn refuse_during_shutdown(
    State(shutdown): State<Shutdown>,
    request: Request,
    next: Next,
) -> Response {
    match shutdown.is_requested() {
        false => next.run(request).await,
        true => {
            let headers = [(header::RETRY_AFTER, "10"), (header::CONTENT_TYPE, "application/json")];
            let message = json!({ "state": "come_again", "reason": "the server is stopping" });
            (StatusCode::SERVICE_UNAVAILABLE, headers, format!("{message}\n")).into_response()
        }
    }
}
