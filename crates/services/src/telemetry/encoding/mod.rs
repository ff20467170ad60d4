//! The encodings of OTLP: [`Encoding`] writes spans as a message, and reads the answer to it.

mod json;
mod protobuf;

use super::span::{Attribute, FinishedSpan};

/// An encoding of OTLP over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Protobuf,
    Json,
}

/// The spans of one message, with the attributes of the process.
pub(super) struct SpanBatch<'a> {
    pub(super) resource: &'a [Attribute],
    pub(super) spans: &'a [FinishedSpan],
}

/// The name of the instrumentation scope of all spans.
const SCOPE: &str = "assay";

/// The version of the instrumentation scope.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The spans of a message that a collector refused.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PartialSuccess {
    pub(super) rejected_spans: u64,
    pub(super) message: String,
}

impl Encoding {
    /// Returns the content type of a message.
    pub(super) fn content_type(self) -> &'static str {
        match self {
            Encoding::Protobuf => "application/x-protobuf",
            Encoding::Json => "application/json",
        }
    }

    /// Writes a message.
    pub(super) fn encode(self, batch: &SpanBatch<'_>) -> Vec<u8> {
        match self {
            Encoding::Protobuf => protobuf::encode(batch),
            Encoding::Json => json::encode(batch),
        }
    }

    /// Reads the answer to a message that was accepted. An answer that cannot be read refuses
    /// nothing.
    pub(super) fn read_answer(self, body: &[u8]) -> PartialSuccess {
        let answer = match self {
            Encoding::Protobuf => protobuf::read_answer(body),
            Encoding::Json => json::read_answer(body),
        };
        answer.unwrap_or_default()
    }
}

/// The flags of a span: sampled, and whether its parent is a span of another process.
fn flags(span: &FinishedSpan) -> u32 {
    const SAMPLED: u32 = 1;
    const HAS_IS_REMOTE: u32 = 0x100;
    const IS_REMOTE: u32 = 0x200;
    let is_remote = span.parent.is_some_and(|parent| parent.is_remote);
    SAMPLED | HAS_IS_REMOTE | if is_remote { IS_REMOTE } else { 0 }
}
