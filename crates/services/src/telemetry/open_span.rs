//! The spans that have not ended: [`OpenSpans`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use assay_base::clock::Stopwatch;
use tracing::Event;

use super::fields::Fields;
use super::span::{Attribute, AttributeValue, FinishedSpan, SpanEvent};
use super::trace_context::TraceContext;

/// The maximum number of events of one span.
const MAX_EVENTS: usize = 128;

/// The spans that have not ended, by their ids in this process.
#[derive(Default)]
pub(super) struct OpenSpans(Mutex<HashMap<u64, OpenSpan>>);

/// A span that has not ended.
pub(super) struct OpenSpan {
    pub(super) context: TraceContext,
    /// The content of the span; `None` if its trace is not sent.
    pub(super) record: Option<Box<SpanRecord>>,
}

/// The content of a span that has not ended.
pub(super) struct SpanRecord {
    pub(super) started: Stopwatch,
    pub(super) span: FinishedSpan,
}

impl OpenSpans {
    fn spans(&self) -> MutexGuard<'_, HashMap<u64, OpenSpan>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a span under the id that it has in this process.
    pub(super) fn insert(&self, id: u64, span: OpenSpan) {
        self.spans().insert(id, span);
    }

    /// Removes a span that has ended.
    pub(super) fn remove(&self, id: u64) -> Option<OpenSpan> {
        self.spans().remove(&id)
    }

    /// Calls a function with a span, and returns its result; `None` if there is no such span.
    pub(super) fn with<T>(&self, id: u64, edit: impl FnOnce(&mut OpenSpan) -> T) -> Option<T> {
        self.spans().get_mut(&id).map(edit)
    }

    /// Removes all spans, and returns those that are sent, marked as interrupted.
    pub(super) fn end_all(&self) -> Vec<FinishedSpan> {
        let open = std::mem::take(&mut *self.spans());
        open.into_values().filter_map(OpenSpan::interrupt).collect()
    }
}

impl OpenSpan {
    /// Ends the span. Returns `None` if its trace is not sent.
    pub(super) fn end(self) -> Option<FinishedSpan> {
        let SpanRecord { started, mut span } = *self.record?;
        // The time of day can be set back while the span runs.
        let elapsed = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        span.end_nanos = span.start_nanos.saturating_add(elapsed);
        Some(span)
    }

    /// Ends a span whose work was abandoned, or goes on when the process ends.
    pub(super) fn interrupt(self) -> Option<FinishedSpan> {
        let mut span = self.end()?;
        let name = Cow::Borrowed("assay.interrupted");
        span.attributes.push(Attribute { name, value: AttributeValue::Bool(true) });
        Some(span)
    }
}

impl SpanRecord {
    pub(super) fn add_event(&mut self, event: &Event<'_>, nanos: u64) {
        if self.span.events.len() >= MAX_EVENTS {
            self.span.dropped_events += 1;
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        let (name, value) = (Cow::Borrowed("level"), AttributeValue::Text(level));
        fields.attributes.push(Attribute { name, value });
        let (name, attributes) = (fields.message, fields.attributes);
        self.span.events.push(SpanEvent { nanos, name, attributes });
    }
}
