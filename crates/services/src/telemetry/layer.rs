//! The spans of `tracing` as spans of OpenTelemetry: [`TraceLayer`].
//!
//! Fields of a span become attributes. These fields have a meaning of their own, and the names of
//! `tracing-opentelemetry`:
//!
//! - `otel.name`: the name of the span, which may have variable parts;
//! - `otel.kind`: `server`, `client` or `consumer`;
//! - `otel.error`: the reason why the operation failed;
//! - `otel.traceparent`: the parent in another process.

use assay_base::clock::{Clock, Stopwatch};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::export_queue::TraceExport;
use super::fields::Fields;
use super::open_span::{OpenSpan, SpanRecord};
use super::span::{FinishedSpan, ParentSpan, SpanKind, SpanStatus};
use super::trace_context::{SpanId, TraceContext, TraceId};

/// A layer that exports spans, with the events in them.
pub struct TraceLayer {
    export: TraceExport,
    clock: Clock,
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
            if let Some(record) = &mut open.record {
                fields.add_to(&mut record.span);
            }
        });
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let Some(span) = context.event_span(event) else { return };
        let nanos = self.nanos();
        self.export.open_spans().with(span.id().into_u64(), |open| {
            if let Some(record) = &mut open.record {
                record.add_event(event, nanos);
            }
        });
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let open = self.export.open_spans().remove(id.into_u64());
        open.and_then(OpenSpan::end).into_iter().for_each(|span| self.export.push(span));
    }
}
