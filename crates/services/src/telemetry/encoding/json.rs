//! The JSON encoding of OTLP: ids are hexadecimal, and 64-bit integers are strings.

use serde_json::{Value, json};

use super::super::span::{
    Attribute, AttributeValue, FinishedSpan, SpanEvent, SpanKind, SpanStatus,
};
use super::{PartialSuccess, SCOPE, SpanBatch, VERSION, flags};

pub(super) fn encode(batch: &SpanBatch<'_>) -> Vec<u8> {
    let spans: Vec<Value> = batch.spans.iter().map(span).collect();
    let message = json!({ "resourceSpans": [{
        "resource": { "attributes": attributes(batch.resource) },
        "scopeSpans": [{ "scope": { "name": SCOPE, "version": VERSION }, "spans": spans }],
    }] });
    message.to_string().into_bytes()
}

fn span(span: &FinishedSpan) -> Value {
    let mut value = json!({
        "traceId": span.trace.to_string(),
        "spanId": span.id.to_string(),
        "name": span.name,
        "kind": match span.kind {
            SpanKind::Internal => 1,
            SpanKind::Server => 2,
            SpanKind::Client => 3,
            SpanKind::Consumer => 5,
        },
        "startTimeUnixNano": span.start_nanos.to_string(),
        "endTimeUnixNano": span.end_nanos.to_string(),
        "attributes": attributes(&span.attributes),
        "events": span.events.iter().map(event).collect::<Vec<_>>(),
        "droppedEventsCount": span.dropped_events,
        "status": match &span.status {
            SpanStatus::Unset => json!({}),
            SpanStatus::Error(reason) => json!({ "code": 2, "message": reason }),
        },
        "flags": flags(span),
    });
    if let Some(parent) = span.parent {
        value["parentSpanId"] = parent.id.to_string().into();
    }
    value
}

fn event(event: &SpanEvent) -> Value {
    json!({
        "timeUnixNano": event.nanos.to_string(),
        "name": event.name,
        "attributes": attributes(&event.attributes),
    })
}

fn attributes(attributes: &[Attribute]) -> Vec<Value> {
    let attribute = |attribute: &Attribute| {
        let value = match &attribute.value {
            AttributeValue::Text(text) => json!({ "stringValue": text }),
            AttributeValue::Int(number) => json!({ "intValue": number.to_string() }),
            AttributeValue::Double(number) => json!({ "doubleValue": number }),
            AttributeValue::Bool(is_set) => json!({ "boolValue": is_set }),
        };
        json!({ "key": attribute.name, "value": value })
    };
    attributes.iter().map(attribute).collect()
}

pub(super) fn read_answer(body: &[u8]) -> Option<PartialSuccess> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let partial = answer.get("partialSuccess")?;
    let rejected = partial.get("rejectedSpans");
    let number = rejected.and_then(|it| it.as_u64().or_else(|| it.as_str()?.parse().ok()));
    let message = partial.get("errorMessage").and_then(Value::as_str).unwrap_or_default();
    Some(PartialSuccess { rejected_spans: number.unwrap_or(0), message: message.to_owned() })
}
