//! Traces of OpenTelemetry, as a collector receives them.

use assay_testkit::Repository;
use assay_testkit::collector::{CollectorBehaviour, FakeCollector, ReceivedSpan};

use crate::models::{Case, KEY};
use crate::{AssayRun, assay_with};

const CONFIG: &str = "config/agent-framework.yaml";

/// Returns the only span with a name.
fn span<'a>(spans: &'a [ReceivedSpan], name: &str) -> &'a ReceivedSpan {
    let mut found = spans.iter().filter(|span| span.name == name);
    match (found.next(), found.next()) {
        (Some(span), None) => span,
        _ => panic!("not one span {name:?} in {spans:#?}"),
    }
}

/// Returns a repository with a small change, whose review is ready.
fn changed() -> Repository {
    let repository = Repository::new();
    repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
    repository.commit("shop");
    repository.write("shop.py", "def total(prices):\n    return sum(prices, 0)\n");
    repository
}

fn review(repository: &Repository, variables: &[(&str, &str)]) -> AssayRun {
    assay_with(repository.path(), &["review", "--no-models"], b"", variables)
}

/// Returns the output without the id of the run.
fn without_run(stdout: &str) -> String {
    stdout.lines().filter(|line| !line.contains(".assay/runs/")).collect()
}

#[test]
fn a_review_is_one_trace_with_its_reviewers_and_model_requests() {
    let collector = FakeCollector::start(CollectorBehaviour::Accepts);
    let case = Case::new("");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.url()),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
    ];
    let ran = case.run_with(&["review", "--models"], &variables);
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{}", ran.stdout);
    assert_eq!(collector.problems(), [""; 0]);
    let spans = collector.spans();
    let review = span(&spans, "review");
    assert_eq!(review.parent, None);
    assert_eq!(review.attribute("assay.review.verdict").as_deref(), Some("ready with fixes"));
    assert_eq!(review.attribute("assay.change.files").as_deref(), Some("1"));
    assert!(spans.iter().all(|span| span.trace == review.trace), "{spans:#?}");
    for name in ["rules", "correctness", "intent", "testing"] {
        let reviewer = span(&spans, &format!("reviewer {name}"));
        assert_eq!(reviewer.parent.as_ref(), Some(&review.id));
        assert_eq!(reviewer.attribute("assay.reviewer.name").as_deref(), Some(name));
    }
    let correctness = span(&spans, "reviewer correctness");
    let requests: Vec<&ReceivedSpan> =
        spans.iter().filter(|span| span.parent.as_ref() == Some(&correctness.id)).collect();
    assert_eq!(requests.len(), 1, "{spans:#?}");
    assert_eq!(requests[0].name, "chat fake/fake-1");
    assert_eq!(requests[0].attribute("gen_ai.request.model").as_deref(), Some("fake-1"));
    assert!(requests[0].attribute("gen_ai.usage.output_tokens").is_some());
    let looks = span(&spans, "second looks");
    assert_eq!(looks.parent.as_ref(), Some(&review.id));
    assert!(spans.iter().any(|span| span.parent.as_ref() == Some(&looks.id)), "{spans:#?}");
    let text = format!("{spans:?}");
    for content in [KEY, "def mean", "You are", "shop.py"] {
        assert!(!text.contains(content), "{content} is in {text}");
    }
}

#[test]
fn traces_are_sent_in_protobuf_with_the_headers_unless_other_variables_say_so() {
    let collector = FakeCollector::start(CollectorBehaviour::Accepts);
    let repository = changed();
    let url = collector.url();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", &*url);
    let quiet = review(&repository, &[endpoint, ("OTEL_SDK_DISABLED", "true")]);
    let none = review(&repository, &[endpoint, ("OTEL_TRACES_EXPORTER", "none")]);
    let off = review(&repository, &[endpoint, ("OTEL_TRACES_SAMPLER", "always_off")]);
    assert!(collector.messages().is_empty());
    let variables = [
        endpoint,
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=shop%20one"),
        ("OTEL_SERVICE_NAME", "gate of the shop"),
        ("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ];
    let sent = review(&repository, &variables);
    for ran in [&quiet, &none, &off, &sent] {
        assert_eq!((ran.code, &*ran.stderr), (0, ""));
        assert_eq!(without_run(&ran.stdout), without_run(&quiet.stdout));
    }
    assert_eq!(collector.problems(), [""; 0]);
    let messages = collector.messages();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].headers["content-type"], "application/x-protobuf");
    assert_eq!(messages[0].headers["x-tenant"], "shop one");
    let has = |bytes: &[u8]| messages[0].body.windows(bytes.len()).any(|part| part == bytes);
    assert!(has(b"gate of the shop") && has(b"reviewer rules"));
    // The ids of the process that started assay.
    assert!(has(b"\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36"));
    assert!(has(b"\x00\xf0\x67\xaa\x0b\xa9\x02\xb7"));
}

#[test]
fn a_collector_that_fails_changes_nothing_but_one_warning() {
    let repository = changed();
    let plain = review(&repository, &[]);
    let check = |url: &str, reason: &str| {
        let ran = review(&repository, &[("OTEL_EXPORTER_OTLP_ENDPOINT", url)]);
        assert_eq!(ran.code, plain.code);
        assert_eq!(without_run(&ran.stdout), without_run(&plain.stdout));
        let expected = format!("not sent to `{url}/v1/traces`: {reason}");
        assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(ran.stderr.starts_with("warning: 2 of 2 spans"), "{}", ran.stderr);
    };
    for (behaviour, reason) in [
        (CollectorBehaviour::Answers(401), "the collector answered 401 Unauthorized"),
        (CollectorBehaviour::Answers(503), "the collector answered 503 Service Unavailable"),
        (CollectorBehaviour::Hangs, ""),
    ] {
        let collector = FakeCollector::start(behaviour);
        check(&collector.url(), reason);
    }
    let gone = FakeCollector::start(CollectorBehaviour::Accepts).url();
    check(&gone, "");
}

#[test]
fn spans_that_a_collector_refuses_are_counted() {
    let collector = FakeCollector::start(CollectorBehaviour::Refuses(1));
    let repository = changed();
    let url = collector.url();
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", &*url), ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")];
    let ran = review(&repository, &variables);
    assert_eq!(ran.code, 0);
    let expected = format!(
        "warning: 1 of 2 spans of the trace were not sent to `{url}/v1/traces`: too many spans\n"
    );
    assert_eq!(ran.stderr, expected);
}

#[test]
fn a_variable_that_cannot_be_followed_is_a_warning() {
    let repository = changed();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317");
    let ran = review(&repository, &[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.starts_with("warning: `OTEL_EXPORTER_OTLP_PROTOCOL` has"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1);
}

#[test]
fn no_credential_is_in_a_trace() {
    let collector = FakeCollector::start(CollectorBehaviour::Accepts);
    let repository = changed();
    let token = ["ghp", "_", "R8dY2kLmQ4vTz6WnB1xCs9Hf3JpAeU7gKo5N"].concat();
    let url = collector.url();
    let attributes = format!("note={token},password=Xq7-vR2_kkPz91tB");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*url),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_SERVICE_NAME", &*token),
        ("OTEL_RESOURCE_ATTRIBUTES", &*attributes),
    ];
    // The name of an analyser is the name of a reviewer, and its output is the reason of a failure.
    repository.write(
        CONFIG,
        format!("review:\n  commands:\n    - {{ name: lint, form: lines, run: [sh, -c, 'echo {token} >&2; exit 9'] }}\n"),
    );
    repository.git(&["add", CONFIG]);
    repository.git(&["commit", "--quiet", "-m", "lint", CONFIG]);
    assert_eq!(review(&repository, &variables).stderr, "");
    let messages = collector.messages();
    assert!(!collector.spans().is_empty());
    for message in messages {
        let text = String::from_utf8_lossy(&message.body);
        assert!(!text.contains(&token) && !text.contains("vR2_kkPz91tB"), "{text}");
    }
}
