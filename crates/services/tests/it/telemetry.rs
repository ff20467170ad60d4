//! Spans of `tracing`, as a collector receives them.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use assay_base::clock::Clock;
use assay_services::telemetry::{ExportSummary, TraceExport, TraceLayer, TraceSettings};
use assay_testkit::collector::{CollectorBehaviour, FakeCollector, ReceivedSpan};
use tracing::{Level, info_span};
use tracing_subscriber::Registry;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

/// Replaces one word, like the detector of credentials.
fn redact(text: &str) -> Cow<'_, str> {
    match text.contains("hunter2") {
        true => Cow::Owned(text.replace("hunter2", "[redacted]")),
        false => Cow::Borrowed(text),
    }
}

fn settings(collector: &FakeCollector, variables: &[(&str, &str)]) -> TraceSettings {
    let own = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json".to_owned()),
    ];
    let given = variables.iter().map(|(name, value)| (*name, (*value).to_owned()));
    let all: Vec<(&str, String)> = own.into_iter().chain(given).collect();
    let variable = |name: &str| {
        let found = all.iter().rev().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone())
    };
    let report = TraceSettings::read(variable, redact);
    assert_eq!(report.warnings, [""; 0]);
    report.settings.unwrap()
}

/// Runs work whose spans are exported, and ends the export.
fn export(export: &TraceExport, work: impl FnOnce()) -> ExportSummary {
    let layer = TraceLayer::new(export, &Clock::system());
    // The target of these spans is the name of the test.
    let layer = layer.with_filter(filter_fn(|metadata| *metadata.level() <= Level::INFO));
    tracing::subscriber::with_default(Registry::default().with(layer), work);
    export.shut_down()
}

/// Returns the spans that work sends to a collector that accepts all.
fn spans(variables: &[(&str, &str)], work: impl FnOnce()) -> Vec<ReceivedSpan> {
    let collector = FakeCollector::start(CollectorBehaviour::Accepts);
    let summary = export(&TraceExport::new(settings(&collector, variables), None), work);
    assert_eq!(summary.warning, None);
    assert_eq!(collector.problems(), [""; 0]);
    collector.spans()
}

#[test]
fn fields_become_attributes_and_events_stay_with_their_span() {
    let spans = spans(&[], || {
        let outer = info_span!(
            "outer",
            files = 3_u64,
            ratio = 0.5,
            is_new = true,
            late = tracing::field::Empty
        );
        let _entered = outer.enter();
        outer.record("late", "yes");
        outer.record("files", 4_u64);
        info_span!("inner", otel.name = "inner 7", otel.kind = "client", otel.error = "it broke")
            .in_scope(|| tracing::warn!(attempt = 2_i64, "retrying"));
        tracing::debug_span!("hidden").in_scope(|| tracing::debug!("hidden"));
    });
    let names: Vec<&str> = spans.iter().map(|span| &*span.name).collect();
    assert_eq!(names, ["inner 7", "outer"]);
    let (inner, outer) = (&spans[0], &spans[1]);
    assert_eq!((inner.parent.as_ref(), &inner.trace), (Some(&outer.id), &outer.trace));
    assert_eq!(inner.json["kind"], 3);
    assert_eq!(inner.json["status"], serde_json::json!({ "code": 2, "message": "it broke" }));
    assert_eq!(inner.json["events"][0]["name"], "retrying");
    assert_eq!(inner.json["events"][0]["attributes"][0]["value"]["intValue"], "2");
    for (name, value) in [("files", "4"), ("ratio", "0.5"), ("is_new", "true"), ("late", "yes")] {
        assert_eq!(outer.attribute(name).as_deref(), Some(value), "{name}");
    }
}

#[test]
fn every_text_is_redacted_and_bounded() {
    let long = "x".repeat(100_000);
    let spans = spans(&[], || {
        let span = info_span!("work", otel.name = "open hunter2", key = "hunter2", long);
        let _entered = span.enter();
        span.record("otel.error", "no");
        tracing::error!(reason = ?"hunter2", "hunter2 is wrong");
        info_span!("failed", otel.error = "hunter2").in_scope(|| {});
    });
    let text = format!("{spans:?}");
    assert!(!text.contains("hunter2") && text.matches("[redacted]").count() == 6, "{text}");
    assert!(text.len() < 20_000, "{}", text.len());
}

#[test]
fn a_span_in_another_process_is_the_parent_and_decides_whether_the_trace_is_sent() {
    let parent =
        |flags: &str| format!("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{flags}");
    let of_request = |flags: &str| {
        spans(&[], || {
            let span = info_span!("request", otel.traceparent = parent(flags));
            span.in_scope(|| info_span!("inner").in_scope(|| {}));
        })
    };
    let sent = of_request("01");
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().all(|span| span.trace == "4bf92f3577b34da6a3ce929d0e0e4736"));
    assert_eq!(sent[1].parent.as_deref(), Some("00f067aa0ba902b7"));
    assert_eq!((&sent[0].json["flags"], &sent[1].json["flags"]), (&0x101.into(), &0x301.into()));
    assert_eq!(of_request("00"), []);
    let of_process = spans(&[("TRACEPARENT", &parent("01"))], || drop(info_span!("work")));
    assert_eq!(of_process[0].parent.as_deref(), Some("00f067aa0ba902b7"));
    assert_eq!(spans(&[("TRACEPARENT", &parent("00"))], || drop(info_span!("work"))), []);
}

#[test]
fn a_span_that_is_open_at_the_end_is_sent_as_interrupted() {
    let mut open = None;
    let spans = spans(&[], || {
        let outer = info_span!("outer");
        open = Some(outer.in_scope(|| info_span!("inner")));
    });
    assert_eq!(spans.len(), 2);
    assert!(spans.iter().all(|span| span.attribute("assay.interrupted").is_some()), "{spans:?}");
    drop(open);
}

#[test]
fn more_spans_than_the_queue_holds_are_dropped_and_counted() {
    let collector = FakeCollector::start(CollectorBehaviour::Hangs);
    let small = [("OTEL_BSP_MAX_QUEUE_SIZE", "10"), ("OTEL_BSP_SCHEDULE_DELAY", "600000")];
    let traces = TraceExport::new(settings(&collector, &small), None);
    let summary = export(&traces, || (0..1_000).for_each(|_| drop(info_span!("work"))));
    assert_eq!(summary.counts.sent, 0);
    assert_eq!(summary.counts.failed + summary.counts.dropped, 1_000);
    assert!(summary.warning.unwrap().starts_with("1000 of 1000 spans"));
}

#[test]
fn a_full_batch_is_sent_before_the_end_and_compressed_if_asked() {
    let collector = FakeCollector::start(CollectorBehaviour::Accepts);
    let variables = [
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4"),
        ("OTEL_BSP_SCHEDULE_DELAY", "600000"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "none"),
    ];
    let traces = TraceExport::new(settings(&collector, &variables), None);
    let summary = export(&traces, || {
        (0..4).for_each(|_| drop(info_span!("work")));
        assert_eq!(collector.wait_for_spans(4).len(), 4);
    });
    assert_eq!((summary.counts.sent, summary.warning), (4, None));
    let gzip = FakeCollector::start(CollectorBehaviour::Accepts);
    let compressed = settings(&gzip, &[("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")]);
    let summary = export(&TraceExport::new(compressed, None), || drop(info_span!("work")));
    assert_eq!(summary.counts.sent, 1);
    let message = &gzip.messages()[0];
    assert_eq!(message.headers["content-encoding"], "gzip");
    assert_eq!(message.body[..2], [0x1f, 0x8b]);
}

#[test]
fn the_first_failure_is_reported_at_once_and_only_once() {
    let collector = FakeCollector::start(CollectorBehaviour::Answers(403));
    let reported: Arc<Mutex<Vec<String>>> = Arc::default();
    let (sender, receiver) = std::sync::mpsc::channel();
    let own = Arc::clone(&reported);
    let report = move |text: &str| {
        own.lock().unwrap().push(text.to_owned());
        let _ = sender.send(());
    };
    let each = [("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")];
    let traces = TraceExport::new(settings(&collector, &each), Some(Box::new(report)));
    let summary = export(&traces, || {
        drop(info_span!("one"));
        receiver.recv().unwrap();
        drop(info_span!("two"));
    });
    assert_eq!(summary.counts.sent, 0);
    assert_eq!(summary.counts.failed + summary.counts.dropped, 2);
    let reported = reported.lock().unwrap();
    assert_eq!(reported.len(), 1);
    assert!(reported[0].contains("/v1/traces`: the collector answered 403"), "{reported:?}");
}
