//! A span that has ended: [`FinishedSpan`].

use std::borrow::Cow;

use super::trace_context::{SpanId, TraceId};

/// The maximum length of a text in a span, in characters.
const MAX_TEXT_CHARS: usize = 4_096;

/// A span that has ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FinishedSpan {
    pub(super) trace: TraceId,
    pub(super) id: SpanId,
    /// The parent; `None` for the first span of a trace.
    pub(super) parent: Option<ParentSpan>,
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) start_nanos: u64,
    pub(super) end_nanos: u64,
    pub(super) attributes: Vec<Attribute>,
    pub(super) events: Vec<SpanEvent>,
    /// The number of events that were left out, since there were too many.
    pub(super) dropped_events: u32,
    pub(super) status: SpanStatus,
}

/// The parent of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ParentSpan {
    pub(super) id: SpanId,
    /// True if the parent is a span of another process.
    pub(super) is_remote: bool,
}

/// The role of a span in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SpanKind {
    #[default]
    Internal,
    /// The span answers a request.
    Server,
    /// The span sends a request.
    Client,
    /// The span processes a message of a queue.
    Consumer,
}

/// The status of a span.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum SpanStatus {
    #[default]
    Unset,
    /// The operation failed, with the reason, which may be empty.
    Error(String),
}

/// A named value of a span or an event.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attribute {
    pub(super) name: Cow<'static, str>,
    pub(super) value: AttributeValue,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AttributeValue {
    Text(String),
    Int(i64),
    Double(f64),
    Bool(bool),
}

/// An event during a span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpanEvent {
    pub(super) nanos: u64,
    pub(super) name: String,
    pub(super) attributes: Vec<Attribute>,
}

impl FinishedSpan {
    /// Redacts and bounds each text of the span.
    pub(super) fn redact(&mut self, redact: fn(&str) -> Cow<'_, str>) {
        self.name = redact_text(redact, &self.name);
        redact_attributes(redact, &mut self.attributes);
        for event in &mut self.events {
            event.name = redact_text(redact, &event.name);
            redact_attributes(redact, &mut event.attributes);
        }
        if let SpanStatus::Error(reason) = &mut self.status {
            *reason = redact_text(redact, reason);
        }
    }
}

/// Redacts and bounds the texts of attributes. A text is redacted together with its name, since a
/// name such as `password` is what makes a short value a credential.
pub(super) fn redact_attributes(redact: fn(&str) -> Cow<'_, str>, attributes: &mut [Attribute]) {
    for Attribute { name, value } in attributes {
        let AttributeValue::Text(text) = value else { continue };
        let whole = format!("{name}={text}");
        let redacted = redact_text(redact, &whole);
        let own = redacted.strip_prefix(&**name).and_then(|rest| rest.strip_prefix('='));
        *text = own.unwrap_or("[redacted]").to_owned();
    }
}

fn redact_text(redact: fn(&str) -> Cow<'_, str>, text: &str) -> String {
    let redacted = redact(text);
    match redacted.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => format!("{}…", &redacted[..end]),
        None => redacted.into_owned(),
    }
}
