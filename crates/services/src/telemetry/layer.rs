//! The spans of `tracing` as spans of OpenTelemetry: [`TraceLayer`].
//!
//! Fields of a span become attributes. These fields have a meaning of their own, and the names of
//! `tracing-opentelemetry`:
//!
//! - `otel.name`: the name of the span, which may have variable parts;
//! - `otel.kind`: `server`, `client` or `consumer`;
//! - `otel.error`: the reason why the operation failed;
//! - `otel.traceparent`: the parent in another process.

use std::borrow::Cow;
use std::fmt;

use assay_base::clock::{Clock, Stopwatch};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::export_queue::TraceExport;
use super::span::{
    Attribute, AttributeValue, FinishedSpan, ParentSpan, SpanEvent, SpanKind, SpanStatus,
};
use super::trace_context::{SpanId, TraceContext, TraceId};

/// The maximum number of events of one span.
const MAX_EVENTS: usize = 128;

/// A layer that exports spans, with the events in them.
pub struct TraceLayer {
    export: TraceExport,
    clock: Clock,
}

/// A span that has not ended.
pub(super) struct OpenSpan {
    context: TraceContext,
    /// The content of the span; `None` if its trace is not sent.
    record: Option<Box<SpanRecord>>,
}

/// The content of a span that has not ended.
struct SpanRecord {
    started: Stopwatch,
    span: FinishedSpan,
}

impl TraceLayer {
    /// Creates a layer for an export.
    pub fn new(export: &TraceExport, clock: &Clock) -> TraceLayer {
        TraceLayer { export: export.clone(), clock: clock.clone() }
    }

    /// Returns true for spans and events that are exported: those of this workspace from the level
    /// `info` on. Those of dependencies hold whole requests and answers.
    pub fn is_exported(metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("assay") && *metadata.level() <= Level::INFO
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.clock.now().as_nanosecond()).unwrap_or(0)
    }

    /// Begins a span below its parent in this process, or else in another one.
    fn begin(&self, name: &str, fields: Fields, local: Option<TraceContext>) -> OpenSpan {
        let settings = self.export.settings();
        let remote = fields.parent.or(settings.parent).filter(|_| local.is_none());
        let parent = local.or(remote);
        let trace = parent.map_or_else(TraceId::random, |parent| parent.trace);
        let is_sampled = match local {
            Some(local) => local.is_sampled,
            None => settings.sampler.is_sampled(trace, remote.as_ref()),
        };
        let context = TraceContext { trace, span: SpanId::random(), is_sampled };
        let record = is_sampled.then(|| {
            let mut span = FinishedSpan {
                trace,
                id: context.span,
                parent: parent
                    .map(|parent| ParentSpan { id: parent.span, is_remote: local.is_none() }),
                name: name.to_owned(),
                kind: SpanKind::Internal,
                start_nanos: self.nanos(),
                end_nanos: 0,
                attributes: Vec::new(),
                events: Vec::new(),
                dropped_events: 0,
                status: SpanStatus::Unset,
            };
            fields.add_to(&mut span);
            Box::new(SpanRecord { started: Stopwatch::start(), span })
        });
        OpenSpan { context, record }
    }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for TraceLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let open = self.export.open_spans();
        let parent = span
            .parent()
            .and_then(|parent| open.with(parent.id().into_u64(), |parent| parent.context));
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        open.insert(id.into_u64(), self.begin(span.name(), fields, parent));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        self.export.open_spans().with(id.into_u64(), |open| {
            open.record.as_mut().map(|record| fields.add_to(&mut record.span));
        });
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let Some(span) = context.event_span(event) else { return };
        let nanos = self.nanos();
        self.export.open_spans().with(span.id().into_u64(), |open| {
            open.record.as_mut().map(|record| record.add_event(event, nanos));
        });
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let open = self.export.open_spans().remove(id.into_u64());
        open.and_then(OpenSpan::end).into_iter().for_each(|span| self.export.push(span));
    }
}

impl OpenSpan {
    /// Ends the span. Returns `None` if its trace is not sent.
    fn end(self) -> Option<FinishedSpan> {
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
    fn add_event(&mut self, event: &Event<'_>, nanos: u64) {
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

/// The fields of a span or an event.
#[derive(Default)]
struct Fields {
    message: String,
    name: Option<String>,
    kind: Option<SpanKind>,
    error: Option<String>,
    parent: Option<TraceContext>,
    attributes: Vec<Attribute>,
}

impl Fields {
    /// Adds the fields to a span; a value that was recorded before is replaced.
    fn add_to(self, span: &mut FinishedSpan) {
        if let Some(name) = self.name {
            span.name = name;
        }
        if let Some(kind) = self.kind {
            span.kind = kind;
        }
        if let Some(error) = self.error {
            span.status = SpanStatus::Error(error);
        }
        for attribute in self.attributes {
            span.attributes.retain(|known| known.name != attribute.name);
            span.attributes.push(attribute);
        }
    }

    fn add(&mut self, field: &Field, value: AttributeValue) {
        self.attributes.push(Attribute { name: Cow::Borrowed(field.name()), value });
    }

    fn add_text(&mut self, field: &Field, text: String) {
        match field.name() {
            "message" => self.message = text,
            "otel.name" => self.name = Some(text),
            "otel.kind" => {
                self.kind = match &*text {
                    "server" => Some(SpanKind::Server),
                    "client" => Some(SpanKind::Client),
                    "consumer" => Some(SpanKind::Consumer),
                    _ => None,
                }
            }
            "otel.error" => self.error = Some(text),
            "otel.traceparent" => self.parent = text.parse().ok(),
            _ => self.add(field, AttributeValue::Text(text)),
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add_text(field, value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add_text(field, format!("{value:?}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, AttributeValue::Int(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        // OTLP has no unsigned integers.
        self.add(field, AttributeValue::Int(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, AttributeValue::Double(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, AttributeValue::Bool(value));
    }
}
