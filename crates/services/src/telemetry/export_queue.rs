//! The queue between the spans that end and the thread that sends them: [`TraceExport`].

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_base::clock::Deadline;

use super::encoding::PartialSuccess;
use super::exporter::{EncodedBatch, ExportFailure, ExportRetry, Exporter};
use super::open_span::OpenSpans;
use super::settings::TraceSettings;
use super::span::FinishedSpan;

/// The delays before retries of an export.
const EXPORT_BACKOFF: Backoff =
    Backoff::new(Duration::from_secs(1), Duration::from_secs(30)).with_jitter(50);

/// The maximum number of times that a message is sent.
const MAX_EXPORT_ATTEMPTS: u32 = 4;

/// The longest time for which the end of the process waits for the last spans.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// A callback with the first failure of an export.
pub type OnFirstFailure = Box<dyn Fn(&str) + Send + Sync>;

/// The export of the spans of this process. Clones share one queue.
#[derive(Clone)]
pub struct TraceExport(Arc<Shared>);

struct Shared {
    settings: TraceSettings,
    state: Mutex<QueueState>,
    open: OpenSpans,
    changed: Condvar,
    counts: Counts,
    /// Called with the first failure; `None` if failures are only reported at the end.
    on_first_failure: Option<OnFirstFailure>,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<FinishedSpan>,
    /// The number of spans in the message that is being sent.
    in_flight: usize,
    has_thread: bool,
    /// The end of the last exports; `None` until the process ends.
    ends: Option<Deadline>,
    /// The reason why spans were last not sent, and whether an export has succeeded since.
    last_failure: Option<String>,
    is_failing: bool,
}

#[derive(Default)]
struct Counts {
    sent: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
}

/// The numbers of spans so far, by their outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExportCounts {
    /// The spans that the collector accepted.
    pub sent: u64,
    /// The spans that could not be sent, or that the collector refused.
    pub failed: u64,
    /// The spans that were dropped, since the queue was full or the process ended.
    pub dropped: u64,
}

/// The result of all exports of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportSummary {
    /// The numbers of spans.
    pub counts: ExportCounts,
    /// The warning for the user; `None` if all spans were sent.
    pub warning: Option<String>,
}

impl TraceExport {
    /// Creates an export. Its thread is started with the first span.
    pub fn new(settings: TraceSettings, on_first_failure: Option<OnFirstFailure>) -> TraceExport {
        TraceExport(Arc::new(Shared {
            settings,
            state: Mutex::default(),
            open: OpenSpans::default(),
            changed: Condvar::new(),
            counts: Counts::default(),
            on_first_failure,
        }))
    }

    /// Returns the numbers of spans so far.
    pub fn counts(&self) -> ExportCounts {
        self.0.counts.load()
    }

    /// Sends the spans that wait, for a bounded time, and ends the export. Call once, at the end of
    /// the process.
    ///
    /// A span that is still open, such as that of a reviewer that was interrupted, ends now.
    pub fn shut_down(&self) -> ExportSummary {
        let shared = &*self.0;
        self.0.open.end_all().into_iter().for_each(|span| self.push(span));
        let mut state = shared.state();
        // A collector that did not answer before is not waited for.
        let wait = if state.is_failing { Duration::ZERO } else { FLUSH_TIMEOUT };
        let ends = Deadline::after(wait);
        state.ends = Some(ends);
        shared.changed.notify_all();
        let is_open = |state: &mut QueueState| !state.waiting.is_empty() || state.in_flight > 0;
        let waited = shared.changed.wait_timeout_while(state, ends.left(), is_open);
        let mut state = waited.map_or_else(|broken| broken.into_inner().0, |(state, _)| state);
        let unsent = state.waiting.len() + state.in_flight;
        state.waiting.clear();
        let reason = state.last_failure.clone();
        drop(state);
        shared.counts.dropped.fetch_add(unsent as u64, Ordering::Relaxed);
        let counts = shared.counts.load();
        ExportSummary { counts, warning: shared.warning(counts, reason.as_deref()) }
    }

    pub(super) fn settings(&self) -> &TraceSettings {
        &self.0.settings
    }

    pub(super) fn open_spans(&self) -> &OpenSpans {
        &self.0.open
    }

    /// Adds a span to the queue, or drops the span if the queue is full. Never waits for the
    /// collector.
    pub(super) fn push(&self, span: FinishedSpan) {
        let shared = &self.0;
        let mut state = shared.state();
        if state.waiting.len() >= shared.settings.queue_size || state.ends.is_some() {
            shared.counts.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        state.waiting.push_back(span);
        let (own, batch) = (Arc::clone(shared), shared.settings.batch_size);
        let is_due = state.waiting.len() == 1 || state.waiting.len() >= batch;
        if !state.has_thread {
            let thread = thread::Builder::new().name("trace-export".to_owned());
            // Without a thread, spans wait until the queue is full and are dropped then.
            state.has_thread = thread.spawn(move || own.run()).is_ok();
        }
        drop(state);
        if is_due {
            shared.changed.notify_all();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends batches until the end of the process.
    fn run(&self) {
        let exporter = Exporter::new(self.settings.clone());
        while let Some(spans) = self.next_batch() {
            let number = spans.len() as u64;
            let batch = exporter.encode(spans);
            let outcome = self.send_with_retries(&exporter, &batch);
            let (rejected, reason) = match outcome {
                Ok(partial) => (partial.rejected_spans.min(number), partial.message),
                Err(failure) => (number, failure.reason),
            };
            self.counts.sent.fetch_add(number - rejected, Ordering::Relaxed);
            let mut state = self.state();
            state.in_flight = 0;
            state.is_failing = rejected == number;
            if rejected > 0 {
                self.counts.failed.fetch_add(rejected, Ordering::Relaxed);
                let is_first = state.last_failure.replace(reason.clone()).is_none();
                drop(state);
                self.report(&reason, is_first);
            }
            self.changed.notify_all();
        }
    }

    /// Waits for spans, collects more of them for a moment, and returns a batch. Returns `None`
    /// once the process ends and no span waits.
    fn next_batch(&self) -> Option<Vec<FinishedSpan>> {
        let broken = PoisonError::into_inner;
        let is_idle = |state: &mut QueueState| state.waiting.is_empty() && state.ends.is_none();
        let state = self.changed.wait_while(self.state(), is_idle).unwrap_or_else(broken);
        let batch = self.settings.batch_size;
        let collects = |state: &mut QueueState| state.waiting.len() < batch && state.ends.is_none();
        let delay = self.settings.schedule_delay;
        let waited = self.changed.wait_timeout_while(state, delay, collects);
        let mut state = waited.map_or_else(|it| it.into_inner().0, |(state, _)| state);
        let number = state.waiting.len().min(batch);
        let spans: Vec<FinishedSpan> = state.waiting.drain(..number).collect();
        state.in_flight = spans.len();
        (!spans.is_empty()).then_some(spans)
    }

    /// Sends a message, again after failures that may pass. There is no retry once the process ends.
    fn send_with_retries(
        &self,
        exporter: &Exporter,
        batch: &EncodedBatch,
    ) -> Result<PartialSuccess, ExportFailure> {
        let mut retries = 0;
        loop {
            let ends = self.state().ends;
            let time = ends.map_or(self.settings.export_timeout, |ends| {
                ends.left().min(self.settings.export_timeout)
            });
            let failure = match exporter.send(batch, time) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            tracing::debug!(reason = failure.reason, "cannot send traces");
            let ExportRetry::After(delay) = failure.retry else { return Err(failure) };
            if retries + 1 >= MAX_EXPORT_ATTEMPTS {
                return Err(failure);
            }
            let random = getrandom::u64().unwrap_or_default();
            let delay = delay.unwrap_or_else(|| EXPORT_BACKOFF.jittered_delay(retries, random));
            let mut state = self.state();
            state.is_failing = true;
            let delay = delay.min(EXPORT_BACKOFF.max());
            let runs = |state: &mut QueueState| state.ends.is_none();
            let waited = self.changed.wait_timeout_while(state, delay, runs);
            let state = waited.map_or_else(|it| it.into_inner().0, |(state, _)| state);
            if state.ends.is_some() {
                return Err(failure);
            }
            retries += 1;
        }
    }

    fn report(&self, reason: &str, is_first: bool) {
        let Some(on_first_failure) = self.on_first_failure.as_ref().filter(|_| is_first) else {
            return;
        };
        let reason = (self.settings.redact)(reason);
        let endpoint = &self.settings.endpoint;
        on_first_failure(&format!(
            "cannot send traces to `{endpoint}`: {reason}; spans that cannot be sent are dropped \
             and counted, without further warnings"
        ));
    }

    /// Returns the warning at the end of a process.
    fn warning(&self, counts: ExportCounts, reason: Option<&str>) -> Option<String> {
        let lost = counts.failed + counts.dropped;
        let all = lost + counts.sent;
        let reason = reason.map_or("no answer in time".into(), |it| (self.settings.redact)(it));
        let endpoint = &self.settings.endpoint;
        (lost > 0).then(|| {
            format!("{lost} of {all} spans of the trace were not sent to `{endpoint}`: {reason}")
        })
    }
}

impl Counts {
    fn load(&self) -> ExportCounts {
        let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ExportCounts {
            sent: number(&self.sent),
            failed: number(&self.failed),
            dropped: number(&self.dropped),
        }
    }
}
