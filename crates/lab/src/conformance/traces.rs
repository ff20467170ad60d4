//! Traces of a real review, decoded by the messages of OpenTelemetry.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use assay_testenv::workspace::{target, target_folder};
use assay_testkit::Repository;
use assay_testkit::collector::{CollectorBehaviour, FakeCollector};

use super::{Check, Outcome};
use crate::{peers, workspace};

/// Decodes a message in protobuf and one in JSON, and prints both in the same form. A field that
/// the messages do not have, a missing field or another difference is an error.
const SCRIPT: &str = r#"
import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def spans_of(request):
    [resource] = request.resource_spans
    [scope] = resource.scope_spans
    attributes = {item.key: item.value.string_value for item in resource.resource.attributes}
    assert attributes["service.name"] == "assay", attributes
    assert scope.scope.name == "assay" and scope.scope.version
    names = {span.span_id: span.name for span in scope.spans}
    for span in scope.spans:
        assert len(span.trace_id) == 16 and len(span.span_id) == 8, span
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, span
        assert span.flags & 0x101 == 0x101, span
        values = sorted(f"{item.key}:{item.value.WhichOneof('value')}" for item in span.attributes)
        events = sorted(event.name for event in span.events)
        yield [
            names.get(span.parent_span_id, ""), span.name, span.kind, span.status.code, values,
            events,
        ]


def binary(path):
    request = ExportTraceServiceRequest()
    body = open(path, "rb").read()
    request.ParseFromString(body)
    plain = ExportTraceServiceRequest()
    plain.CopyFrom(request)
    plain.DiscardUnknownFields()
    assert plain == request and plain.ByteSize() == request.ByteSize(), "unknown fields"
    # OTLP has ids in hexadecimal; the encoder of protobuf omits zeros.
    return request


def text(path):
    def convert(value):
        if isinstance(value, list):
            return [convert(item) for item in value]
        if not isinstance(value, dict):
            return value
        ids = {"traceId", "spanId", "parentSpanId"}
        return {
            key: base64.b64encode(bytes.fromhex(item)).decode() if key in ids else convert(item)
            for key, item in value.items()
        }

    request = ExportTraceServiceRequest()
    return json_format.ParseDict(convert(json.load(open(path))), request)


one, other = sorted(spans_of(binary(sys.argv[1]))), sorted(spans_of(text(sys.argv[2])))
assert one == other, f"the encodings differ:\n{one}\n{other}"
assert {span[1] for span in one} >= {"review", "reviewer rules"}, one
"#;

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    workspace::assay()?;
    let folder = target_folder("conformance")?;
    let outcome = match peers::opentelemetry_proto() {
        Ok(python) => Outcome::of(check(&python, &folder)),
        Err(error) => Outcome::unavailable(&error),
    };
    Ok(vec![("opentelemetry-proto".to_owned(), outcome)])
}

fn check(python: &Path, folder: &Path) -> anyhow::Result<()> {
    let (binary, text) = (folder.join("trace.pb"), folder.join("trace.json"));
    std::fs::write(&binary, trace_of_review("http/protobuf")?)?;
    std::fs::write(&text, trace_of_review("http/json")?)?;
    let output = Command::new(python).args(["-c", SCRIPT]).args([&binary, &text]).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Returns the only message that a review sends.
fn trace_of_review(protocol: &str) -> anyhow::Result<Vec<u8>> {
    let collector = FakeCollector::start(CollectorBehaviour::Accepts);
    let repository = Repository::new();
    repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
    repository.commit("shop");
    repository.write("shop.py", "def total(prices):\n    breakpoint()\n    return sum(prices)\n");
    let output = Command::new(target().join("debug/assay"))
        .args(["review", "--no-models"])
        .current_dir(repository.path())
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url())
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
        .output()?;
    ensure!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut messages = collector.messages().into_iter();
    let message = messages.next().context("nothing was sent")?;
    ensure!(messages.next().is_none(), "a small trace was sent in parts");
    ensure!(collector.problems().is_empty(), "{}", collector.problems().join("; "));
    Ok(message.body)
}
