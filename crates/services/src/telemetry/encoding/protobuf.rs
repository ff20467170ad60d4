//! The binary encoding of OTLP, with the field numbers of `opentelemetry/proto/trace/v1`.

use super::super::span::{
    Attribute, AttributeValue, FinishedSpan, SpanEvent, SpanKind, SpanStatus,
};
use super::{PartialSuccess, SCOPE, SpanBatch, VERSION, flags};

pub(super) fn encode(batch: &SpanBatch<'_>) -> Vec<u8> {
    let mut message = Message::default();
    message.message(1, |resource_spans| {
        resource_spans.message(1, |resource| attributes(resource, 1, batch.resource));
        resource_spans.message(2, |scope_spans| {
            scope_spans.message(1, |scope| {
                scope.bytes(1, SCOPE.as_bytes());
                scope.bytes(2, VERSION.as_bytes());
            });
            batch.spans.iter().for_each(|it| scope_spans.message(2, |message| span(message, it)));
        });
    });
    message.0
}

fn span(message: &mut Message, span: &FinishedSpan) {
    message.bytes(1, &span.trace.0);
    message.bytes(2, &span.id.0);
    if let Some(parent) = span.parent {
        message.bytes(4, &parent.id.0);
    }
    message.bytes(5, span.name.as_bytes());
    let kind = match span.kind {
        SpanKind::Internal => 1,
        SpanKind::Server => 2,
        SpanKind::Client => 3,
        SpanKind::Consumer => 5,
    };
    message.varint(6, kind);
    message.fixed64(7, span.start_nanos);
    message.fixed64(8, span.end_nanos);
    attributes(message, 9, &span.attributes);
    span.events.iter().for_each(|it| message.message(11, |message| event(message, it)));
    message.varint(12, u64::from(span.dropped_events));
    if let SpanStatus::Error(reason) = &span.status {
        message.message(15, |status| {
            status.bytes(2, reason.as_bytes());
            status.varint(3, 2);
        });
    }
    message.fixed32(16, flags(span));
}

fn event(message: &mut Message, event: &SpanEvent) {
    message.fixed64(1, event.nanos);
    message.bytes(2, event.name.as_bytes());
    attributes(message, 3, &event.attributes);
}

fn attributes(message: &mut Message, field: u32, attributes: &[Attribute]) {
    for attribute in attributes {
        message.message(field, |pair| {
            pair.bytes(1, attribute.name.as_bytes());
            pair.message(2, |value| match &attribute.value {
                AttributeValue::Text(text) => value.bytes(1, text.as_bytes()),
                AttributeValue::Bool(is_set) => value.varint(2, u64::from(*is_set)),
                AttributeValue::Int(number) => value.varint(3, number.cast_unsigned()),
                AttributeValue::Double(number) => value.fixed64(4, number.to_bits()),
            });
        });
    }
}

/// A message that is being written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    const VARINT: u32 = 0;
    const FIXED64: u32 = 1;
    const LENGTH_DELIMITED: u32 = 2;
    const FIXED32: u32 = 5;

    fn key(&mut self, field: u32, wire_type: u32) {
        self.number(u64::from(field << 3 | wire_type));
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn varint(&mut self, field: u32, number: u64) {
        self.key(field, Message::VARINT);
        self.number(number);
    }

    fn fixed64(&mut self, field: u32, number: u64) {
        self.key(field, Message::FIXED64);
        self.0.extend(number.to_le_bytes());
    }

    fn fixed32(&mut self, field: u32, number: u32) {
        self.key(field, Message::FIXED32);
        self.0.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, Message::LENGTH_DELIMITED);
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn message(&mut self, field: u32, write: impl FnOnce(&mut Message)) {
        let mut inner = Message::default();
        write(&mut inner);
        self.bytes(field, &inner.0);
    }
}

pub(super) fn read_answer(body: &[u8]) -> Option<PartialSuccess> {
    let Some(Field::Bytes(partial)) = find_field(body, 1)? else { return None };
    let rejected_spans = match find_field(partial, 1)? {
        Some(Field::Number(number)) => number,
        _ => 0,
    };
    let message = match find_field(partial, 2)? {
        Some(Field::Bytes(text)) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    };
    Some(PartialSuccess { rejected_spans, message })
}

/// The value of a field that is read.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

/// Returns the last value of a field; `Some(None)` if the message has none, and `None` if the
/// message is cut or invalid.
fn find_field(mut message: &[u8], wanted: u32) -> Option<Option<Field<'_>>> {
    let mut found = None;
    while !message.is_empty() {
        let key = u32::try_from(read_number(&mut message)?).ok()?;
        let field = match key & 7 {
            Message::VARINT => Field::Number(read_number(&mut message)?),
            Message::LENGTH_DELIMITED => {
                let length = usize::try_from(read_number(&mut message)?).ok()?;
                Field::Bytes(message.split_off(..length)?)
            }
            Message::FIXED64 => message.split_off(..8).map(|_| Field::Fixed)?,
            Message::FIXED32 => message.split_off(..4).map(|_| Field::Fixed)?,
            _ => return None,
        };
        if key >> 3 == wanted {
            found = Some(field);
        }
    }
    Some(found)
}

fn read_number(message: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *message.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Message)) -> Vec<u8> {
        let mut message = Message::default();
        write(&mut message);
        message.0
    }

    #[test]
    fn numbers_are_written_as_the_examples_of_protobuf_have_them() {
        assert_eq!(written(|it| it.varint(1, 150)), [0x08, 0x96, 0x01]);
        assert_eq!(written(|it| it.bytes(2, b"testing")), b"\x12\x07testing");
        assert_eq!(written(|it| it.message(3, |it| it.varint(1, 150))), [0x1a, 3, 8, 0x96, 1]);
        assert_eq!(written(|it| it.varint(3, (-2_i64).cast_unsigned())).len(), 11);
        assert_eq!(written(|it| it.fixed32(16, 1)), [0x85, 0x01, 1, 0, 0, 0]);
    }

    #[test]
    fn an_answer_has_the_number_of_refused_spans() {
        let body = written(|answer| {
            answer.fixed64(9, 1);
            answer.message(1, |partial| {
                partial.varint(1, 300);
                partial.bytes(2, b"too old");
            });
        });
        let expected = PartialSuccess { rejected_spans: 300, message: "too old".to_owned() };
        assert_eq!(read_answer(&body), Some(expected));
        assert_eq!(read_answer(&[]), None);
        for end in 1..body.len() {
            // A cut answer is read without a panic.
            let _ = read_answer(&body[..end]);
        }
        assert_eq!(read_answer(&[0xff; 40]), None);
    }
}
