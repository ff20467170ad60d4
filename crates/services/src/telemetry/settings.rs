//! The variables of OpenTelemetry as a value: [`TraceSettings`].

use std::borrow::Cow;
use std::time::Duration;

use assay_base::percent;
use ureq::http::{HeaderName, HeaderValue};

use super::encoding::Encoding;
use super::sampler::Sampler;
use super::span::{Attribute, AttributeValue, redact_attributes};
use super::trace_context::TraceContext;
use crate::http::ServerUrl;

/// The path of traces below `OTEL_EXPORTER_OTLP_ENDPOINT`.
const TRACES_PATH: &str = "v1/traces";

/// The timeout of one export, unless a variable sets another.
const DEFAULT_EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// The time for which spans are collected before an export, unless a variable sets another.
const DEFAULT_SCHEDULE_DELAY: Duration = Duration::from_secs(5);

/// The number of spans that wait for an export, unless a variable sets another.
const DEFAULT_QUEUE_SIZE: usize = 2_048;

/// The number of spans of one export, unless a variable sets another.
const DEFAULT_BATCH_SIZE: usize = 512;

/// The maximum number of spans that wait for an export.
const MAX_QUEUE_SIZE: usize = 65_536;

/// The settings of the export of traces.
#[derive(Clone)]
pub struct TraceSettings {
    pub(super) endpoint: ServerUrl,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) encoding: Encoding,
    pub(super) is_compressed: bool,
    pub(super) export_timeout: Duration,
    pub(super) schedule_delay: Duration,
    pub(super) queue_size: usize,
    pub(super) batch_size: usize,
    pub(super) resource: Vec<Attribute>,
    pub(super) sampler: Sampler,
    pub(super) parent: Option<TraceContext>,
    pub(super) redact: fn(&str) -> Cow<'_, str>,
}

/// The result of reading the variables.
#[derive(Default)]
pub struct SettingsReport {
    /// The settings; `None` if traces are not exported.
    pub settings: Option<TraceSettings>,
    /// The variables that are ignored, or that prevent the export, each with the reason.
    pub warnings: Vec<String>,
}

impl TraceSettings {
    /// Reads the variables of OpenTelemetry. Each text of a span is passed through `redact` before
    /// it is sent.
    ///
    /// A variable that cannot be read never fails a command: it is ignored with a warning. If the
    /// spans could be sent to another place than the user means, there is no export.
    pub fn read(
        variable: impl Fn(&str) -> Option<String>,
        redact: fn(&str) -> Cow<'_, str>,
    ) -> SettingsReport {
        let mut reader = Reader { variable, warnings: Vec::new() };
        let settings = match reader.is_requested() {
            true => reader.settings(redact),
            false => None,
        };
        SettingsReport { settings, warnings: reader.warnings }
    }
}

/// The variables, and the warnings so far.
struct Reader<V> {
    variable: V,
    warnings: Vec<String>,
}

impl<V: Fn(&str) -> Option<String>> Reader<V> {
    /// Returns the value of the first variable that is set, with its name.
    fn first<'n>(&self, names: &[&'n str]) -> Option<(&'n str, String)> {
        names.iter().find_map(|name| Some((*name, (self.variable)(name)?.trim().to_owned())))
    }

    fn warn(&mut self, name: &str, problem: &str) {
        self.warnings.push(format!("`{name}` {problem}"));
    }

    /// Returns true if an endpoint is set and the export is not switched off.
    fn is_requested(&mut self) -> bool {
        let is_disabled = (self.variable)("OTEL_SDK_DISABLED")
            .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        if is_disabled || self.first(&ENDPOINTS).is_none() {
            return false;
        }
        let Some((name, exporters)) = self.first(&["OTEL_TRACES_EXPORTER"]) else { return true };
        let mut exporters = exporters.split(',').map(str::trim);
        if exporters.clone().any(|exporter| exporter == "otlp") {
            return true;
        }
        if !exporters.all(|exporter| exporter == "none") {
            self.warn(
                name,
                "has no exporter that assay supports, so no traces are sent; use `otlp`",
            );
        }
        false
    }

    fn settings(&mut self, redact: fn(&str) -> Cow<'_, str>) -> Option<TraceSettings> {
        let endpoint = self.endpoint()?;
        let encoding = self.encoding()?;
        let headers = self.headers()?;
        if !headers.is_empty() && !endpoint.is_secure() {
            let problem = "is sent in clear text to another machine, so no traces are sent; use an \
                           `https` endpoint, or a collector on this machine";
            self.warn("OTEL_EXPORTER_OTLP_HEADERS", problem);
            return None;
        }
        let queue_size = self.number("OTEL_BSP_MAX_QUEUE_SIZE", DEFAULT_QUEUE_SIZE);
        let queue_size = queue_size.min(MAX_QUEUE_SIZE);
        let batch_size = self.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", DEFAULT_BATCH_SIZE);
        let mut resource = self.resource();
        redact_attributes(redact, &mut resource);
        Some(TraceSettings {
            endpoint,
            headers,
            encoding,
            is_compressed: self.is_compressed(),
            export_timeout: self.millis(&TIMEOUTS, DEFAULT_EXPORT_TIMEOUT),
            schedule_delay: self.millis(&["OTEL_BSP_SCHEDULE_DELAY"], DEFAULT_SCHEDULE_DELAY),
            queue_size,
            batch_size: batch_size.min(queue_size),
            resource,
            sampler: self.sampler(),
            parent: self.parent(),
            redact,
        })
    }

    /// Returns the address of traces. The address for traces alone is used as it is.
    fn endpoint(&mut self) -> Option<ServerUrl> {
        let (name, text) = self.first(&ENDPOINTS)?;
        let url = text.parse::<ServerUrl>().and_then(|url| match name == ENDPOINTS[0] {
            true => Ok(url),
            false => {
                let query = url.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
                format!("{}/{TRACES_PATH}{query}", url.to_string().trim_end_matches('/')).parse()
            }
        });
        url.inspect_err(|error| {
            self.warn(name, &format!("is not usable, so no traces are sent: {error}"));
        })
        .ok()
    }

    fn encoding(&mut self) -> Option<Encoding> {
        let Some((name, protocol)) = self.first(&PROTOCOLS) else {
            return Some(Encoding::Protobuf);
        };
        match &*protocol {
            "http/protobuf" => Some(Encoding::Protobuf),
            "http/json" => Some(Encoding::Json),
            _ => {
                let problem = "has a protocol that assay does not support, so no traces are sent; \
                               use `http/protobuf` or `http/json`, on port 4318 of most collectors";
                self.warn(name, problem);
                None
            }
        }
    }

    /// Returns the headers of each request: `NAME=VALUE` separated by commas, with values in
    /// percent-encoding.
    fn headers(&mut self) -> Option<Vec<(HeaderName, HeaderValue)>> {
        let Some((name, text)) = self.first(&HEADERS) else { return Some(Vec::new()) };
        let header = |pair: &str| {
            let (name, value) = pair.split_once('=')?;
            let name = HeaderName::try_from(name.trim()).ok()?;
            let mut value = HeaderValue::try_from(percent::decode(value.trim())).ok()?;
            value.set_sensitive(true);
            Some((name, value))
        };
        let pairs = text.split(',').filter(|pair| !pair.trim().is_empty());
        let headers: Option<Vec<_>> = pairs.map(header).collect();
        if headers.is_none() {
            self.warn(name, "is not `NAME=VALUE,…`, so no traces are sent");
        }
        headers
    }

    fn is_compressed(&mut self) -> bool {
        let Some((name, value)) = self.first(&COMPRESSIONS) else { return false };
        if !matches!(&*value, "gzip" | "none") {
            self.warn(name, "is neither `gzip` nor `none`, so traces are not compressed");
        }
        value == "gzip"
    }

    fn sampler(&mut self) -> Sampler {
        let Some((name, sampler)) = self.first(&["OTEL_TRACES_SAMPLER"]) else {
            return Sampler::DEFAULT;
        };
        let ratio = (self.variable)("OTEL_TRACES_SAMPLER_ARG");
        Sampler::parse(&sampler, ratio.as_deref()).unwrap_or_else(|| {
            let problem = "is unknown, or its ratio in `OTEL_TRACES_SAMPLER_ARG` is not from 0 to \
                           1, so all traces are sent";
            self.warn(name, problem);
            Sampler::DEFAULT
        })
    }

    /// Returns the span in which the process was started.
    fn parent(&mut self) -> Option<TraceContext> {
        let (name, text) = self.first(&["TRACEPARENT"])?;
        let parent = text.parse();
        parent.inspect_err(|error| self.warn(name, &format!("is ignored: {error}"))).ok()
    }

    /// Returns the attributes of the process.
    fn resource(&mut self) -> Vec<Attribute> {
        let mut pairs: Vec<(String, String)> = [
            ("service.name", "assay"),
            ("service.version", env!("CARGO_PKG_VERSION")),
            ("telemetry.sdk.language", "rust"),
            ("telemetry.sdk.name", "assay"),
            ("telemetry.sdk.version", env!("CARGO_PKG_VERSION")),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let mut set = |name: &str, value: String| {
            pairs.retain(|(known, _)| known != name);
            pairs.push((name.to_owned(), value));
        };
        if let Some((name, text)) = self.first(&["OTEL_RESOURCE_ATTRIBUTES"]) {
            for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
                match pair.split_once('=') {
                    Some((key, value)) => set(key.trim(), percent::decode(value.trim())),
                    None => self.warn(name, "has a part that is not `NAME=VALUE`"),
                }
            }
        }
        if let Some((_, service)) = self.first(&["OTEL_SERVICE_NAME"]) {
            set("service.name", service);
        }
        let attribute = |(name, value): (String, String)| Attribute {
            name: Cow::Owned(name),
            value: AttributeValue::Text(value),
        };
        pairs.into_iter().map(attribute).collect()
    }

    /// Returns a number that is not zero.
    fn number(&mut self, name: &str, default: usize) -> usize {
        let Some((_, text)) = self.first(&[name]) else { return default };
        text.parse().ok().filter(|number| *number > 0).unwrap_or_else(|| {
            self.warn(name, &format!("is no positive number; {default} is used"));
            default
        })
    }

    /// Returns a time that is given in milliseconds.
    fn millis(&mut self, names: &[&str], default: Duration) -> Duration {
        let Some((name, text)) = self.first(names) else { return default };
        text.parse().map(Duration::from_millis).unwrap_or_else(|_| {
            let millis = default.as_millis();
            self.warn(name, &format!("is no number of milliseconds; {millis} is used"));
            default
        })
    }
}

/// The variables with the address, the one for traces alone first.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
const HEADERS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
const TIMEOUTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
const COMPRESSIONS: [&str; 2] =
    ["OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION"];

#[cfg(test)]
mod tests;
