//! The fields of spans and events of `tracing`: [`Fields`].

use std::borrow::Cow;
use std::fmt;

use tracing::field::{Field, Visit};

use super::span::{Attribute, AttributeValue, FinishedSpan, SpanKind, SpanStatus};
use super::trace_context::TraceContext;

/// The fields of a span or an event.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) message: String,
    pub(super) name: Option<String>,
    pub(super) kind: Option<SpanKind>,
    pub(super) error: Option<String>,
    pub(super) parent: Option<TraceContext>,
    pub(super) attributes: Vec<Attribute>,
}

impl Fields {
    /// Adds the fields to a span; a value that was recorded before is replaced.
    pub(super) fn add_to(self, span: &mut FinishedSpan) {
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
