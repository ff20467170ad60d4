//! Sends spans to a collector: [`Exporter`] sends one message, and decides whether a failure is
//! worth a retry.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use assay_http::retry_after::parse_retry_after;
use flate2::Compression;
use flate2::write::GzEncoder;
use ureq::http::{Request, StatusCode, header};
use ureq::{Agent, Body};

use super::encoding::{PartialSuccess, SpanBatch};
use super::settings::TraceSettings;
use super::span::FinishedSpan;

/// The maximum size of an answer that is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 64 << 10;

/// Sends messages to a collector.
pub(super) struct Exporter {
    agent: Agent,
    settings: TraceSettings,
}

/// The reason why a message was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExportFailure {
    pub(super) reason: String,
    pub(super) retry: ExportRetry,
}

/// The decision whether a message that was not accepted is sent once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExportRetry {
    Never,
    /// After a delay; `None` if the collector names none.
    After(Option<Duration>),
}

/// A message that is ready to be sent.
pub(super) struct EncodedBatch {
    body: Vec<u8>,
}

impl Exporter {
    pub(super) fn new(settings: TraceSettings) -> Exporter {
        Exporter { agent: crate::http::agent(&settings.endpoint), settings }
    }

    /// Redacts and encodes spans.
    pub(super) fn encode(&self, mut spans: Vec<FinishedSpan>) -> EncodedBatch {
        spans.iter_mut().for_each(|span| span.redact(self.settings.redact));
        let batch = SpanBatch { resource: &self.settings.resource, spans: &spans };
        let body = self.settings.encoding.encode(&batch);
        EncodedBatch { body: if self.settings.is_compressed { compress(body) } else { body } }
    }

    /// Sends a message within a time.
    pub(super) fn send(
        &self,
        batch: &EncodedBatch,
        time: Duration,
    ) -> Result<PartialSuccess, ExportFailure> {
        let settings = &self.settings;
        let mut request = Request::post(settings.endpoint.uri())
            .header(header::CONTENT_TYPE, settings.encoding.content_type());
        if settings.is_compressed {
            request = request.header(header::CONTENT_ENCODING, "gzip");
        }
        for (name, value) in &settings.headers {
            request = request.header(name, value);
        }
        let request = request.body(&batch.body[..]).map_err(|error| ExportFailure {
            reason: error.to_string(),
            retry: ExportRetry::Never,
        })?;
        let request = self.agent.configure_request(request).timeout_global(Some(time)).build();
        let response = self.agent.run(request).map_err(|error| ExportFailure {
            reason: match error {
                ureq::Error::Timeout(_) => "timeout".to_owned(),
                error => error.to_string(),
            },
            retry: ExportRetry::After(None),
        })?;
        match response.status() {
            status if status.is_success() => {
                Ok(settings.encoding.read_answer(&read_body(response.into_body())))
            }
            status => Err(refused(status, response.headers())),
        }
    }
}

/// Returns the failure for a status. The statuses that are worth a retry are those of the
/// specification of OTLP/HTTP.
fn refused(status: StatusCode, headers: &ureq::http::HeaderMap) -> ExportFailure {
    let retry = match status.as_u16() {
        429 | 502 | 503 | 504 => {
            let value = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
            ExportRetry::After(value.and_then(|value| parse_retry_after(value, None)))
        }
        _ => ExportRetry::Never,
    };
    ExportFailure { reason: format!("the collector answered {status}"), retry }
}

/// Reads an answer. A part that is lost refuses nothing.
fn read_body(body: Body) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = body.into_with_config().limit(MAX_ANSWER_BYTES).reader().read_to_end(&mut bytes);
    bytes
}

fn compress(body: Vec<u8>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let written = encoder.write_all(&body).and_then(|()| encoder.finish());
    written.expect("writing to memory does not fail")
}
