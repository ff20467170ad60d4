//! The dashboard and the HTTP API: [`DashboardService`] adds their routes to the server.
//!
//! `pages` has the pages for people, which `events` keeps up to date. `api` has the operations below
//! `/api/v1`, from which `openapi` makes their description; `metrics` is `/metrics`, and
//! `screenshot` has the images of validation loops. `guard` decides
//! which requests are let through, by the token or a `session`; `form` parses queries and forms. All
//! content comes from [`assay_engine::dashboard::Dashboard`], whose calls block and so run on threads
//! of their own.

mod answer;
mod api;
mod events;
mod form;
mod guard;
mod icon;
mod metrics;
mod openapi;
mod pages;
mod screenshot;
mod session;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use assay_base::clock::Clock;
use assay_base::shutdown::Shutdown;
use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_engine::telemetry::TraceExport;
use axum::Router;
use axum::middleware;
use axum::routing::get;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval, timeout};

use self::events::EventStreams;
use self::session::Sessions;
use crate::auth::AccessPolicy;
use crate::token::{Token, TokenError};

/// The maximum number of requests that read at the same time; further ones wait.
const MAX_CONCURRENT_READS: usize = 16;

/// The maximum time that a request waits for other requests.
const WAIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum time that a page waits for the queue, the check of the ledger and statistics
/// together. A part that is not there by then is shown as being read, and follows by an event.
const PAGE_WAIT: Duration = Duration::from_millis(50);

/// The time between two looks for a change of the ledger.
const PREPARE_PERIOD: Duration = Duration::from_secs(1);

/// The dashboard of one repository, as a part of the server.
pub struct DashboardService {
    dashboard: Arc<Dashboard>,
    page_wait: Duration,
    access: AccessPolicy,
    sessions: Sessions,
    permits: Arc<Semaphore>,
    /// The export of traces of this process; `None` if no traces are sent.
    traces: Option<TraceExport>,
}

impl DashboardService {
    /// Creates the part. Requests have to pass `access`.
    pub fn new(
        dashboard: Dashboard,
        access: AccessPolicy,
        clock: &Clock,
    ) -> Result<DashboardService, TokenError> {
        // Without a token, sessions are signed by a random key.
        let key = access.token.clone().map_or_else(Token::random, Ok)?;
        Ok(DashboardService {
            dashboard: Arc::new(dashboard),
            page_wait: PAGE_WAIT,
            access,
            sessions: Sessions::new(&key, clock),
            permits: Arc::new(Semaphore::new(MAX_CONCURRENT_READS)),
            traces: None,
        })
    }

    /// Adds the export of traces, whose counts are metrics.
    pub fn with_traces(self, traces: Option<TraceExport>) -> DashboardService {
        DashboardService { traces, ..self }
    }

    /// Returns the routes of the dashboard and the API. Open event streams end with `shutdown`.
    pub(crate) fn routes(self: &Arc<DashboardService>, shutdown: Shutdown) -> Router {
        let service = Arc::clone(self);
        let streams = (service.clone(), Arc::new(EventStreams::new(shutdown)));
        let events = Router::new().route("/events", get(events::answer)).with_state(streams);
        let access = middleware::from_fn_with_state(service.clone(), guard::require_access);
        api::routes()
            .route("/api/v1/openapi.json", get(openapi::answer))
            .route("/metrics", get(metrics::answer))
            .route(screenshot::PATH, get(screenshot::answer))
            .with_state(service.clone())
            .merge(events)
            .layer(access)
            .merge(pages::routes(&service).with_state(service))
            .route(icon::PATH, get(icon::answer))
            .layer(middleware::from_fn(guard::require_same_origin))
    }

    /// Checks the ledger and computes its statistics in the background, now and after each change
    /// of the ledger, so that pages need not wait.
    pub(crate) fn keep_prepared(&self, shutdown: &Shutdown) {
        let (dashboard, shutdown) = (Arc::clone(&self.dashboard), shutdown.clone());
        tokio::spawn(async move {
            let mut ticks = interval(PREPARE_PERIOD);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            while !shutdown.is_requested() {
                ticks.tick().await;
                let dashboard = Arc::clone(&dashboard);
                // An error is shown by the page that needs the ledger.
                let _ = spawn_blocking(move || dashboard.prepare()).await;
            }
        });
    }

    /// Runs a function that blocks on a thread of its own.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Dashboard) -> Result<T, DashboardError> + Send + 'static,
    ) -> Result<T, DashboardError> {
        let busy = || DashboardError::Failed(anyhow!("too many concurrent requests; retry later"));
        let permit = timeout(WAIT_TIMEOUT, Arc::clone(&self.permits).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else { return Err(busy()) };
        let dashboard = Arc::clone(&self.dashboard);
        let done = spawn_blocking(move || {
            let _permit = permit;
            work(&dashboard)
        });
        let broken = |_| Err(DashboardError::Failed(anyhow!("the request ended unexpectedly")));
        done.await.unwrap_or_else(broken)
    }
}
