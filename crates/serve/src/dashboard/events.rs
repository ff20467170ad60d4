//! `/events`: server-sent events with a mark of the state, so that open pages show changes.
//!
//! The stream says that the state changed, and not what changed: a page then reads itself again.
//! Each stream ends after a time, before its connection counts as idle, and the browser connects
//! again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use assay_base::shutdown::Shutdown;
use assay_engine::dashboard::{Dashboard, DashboardError, StateMark};
use axum::extract::State;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, interval};
use tokio_stream::wrappers::ReceiverStream;

use super::DashboardService;
use super::answer::{ApiError, ApiErrorKind, PRIVATE_HEADERS};

/// The time between two reads of the state.
const PERIOD: Duration = Duration::from_secs(1);

/// The length of a stream.
const MAX_STREAM: Duration = Duration::from_secs(25);

/// The maximum number of streams at the same time.
const MAX_STREAMS: usize = 64;

/// The streams of a server, which share the reads of the state.
pub(super) struct EventStreams {
    newest: Mutex<Option<(Instant, StateMark)>>,
    permits: Arc<Semaphore>,
    shutdown: Shutdown,
}

impl EventStreams {
    pub(super) fn new(shutdown: Shutdown) -> EventStreams {
        let permits = Arc::new(Semaphore::new(MAX_STREAMS));
        EventStreams { newest: Mutex::default(), permits, shutdown }
    }

    /// Returns the mark of the state, at most one period old.
    async fn mark(&self, service: &DashboardService) -> Result<StateMark, DashboardError> {
        let mut newest = self.newest.lock().await;
        if let Some((at, mark)) = newest.as_ref().filter(|(at, _)| at.elapsed() < PERIOD) {
            tracing::trace!(?at, "the mark is still new");
            return Ok(mark.clone());
        }
        let mark = service.run(Dashboard::mark).await?;
        *newest = Some((Instant::now(), mark.clone()));
        Ok(mark)
    }
}

pub(super) async fn answer(
    State((service, streams)): State<(Arc<DashboardService>, Arc<EventStreams>)>,
) -> Response {
    let Ok(permit) = Arc::clone(&streams.permits).try_acquire_owned() else {
        let message = "too many open event streams; close other pages of the dashboard";
        return ApiError::new(ApiErrorKind::Failed, message).into_response();
    };
    let (sender, receiver) = mpsc::channel(2);
    tokio::spawn(send_marks(service, streams, sender, permit));
    (PRIVATE_HEADERS, Sse::new(ReceiverStream::new(receiver))).into_response()
}

type EventSender = mpsc::Sender<Result<Event, Infallible>>;

/// Sends the mark at once, and again after each change, until the stream ends.
async fn send_marks(
    service: Arc<DashboardService>,
    streams: Arc<EventStreams>,
    sender: EventSender,
    _permit: OwnedSemaphorePermit,
) {
    let (until, mut ticks) = (Instant::now() + MAX_STREAM, interval(PERIOD));
    let mut last = None;
    while Instant::now() < until && !streams.shutdown.is_requested() {
        tokio::select! {
            _ = ticks.tick() => {}
            () = sender.closed() => return,
        }
        // While the state cannot be read, the page stays as it is.
        let Ok(mark) = streams.mark(&service).await else { continue };
        if last.as_ref() == Some(&mark) {
            continue;
        }
        let event = Event::default().event("mark").data(&mark.0).retry(PERIOD);
        if sender.send(Ok(event)).await.is_err() {
            return;
        }
        last = Some(mark);
    }
}
