//! The trace of a loop.

use assay_testkit::collector::{CollectorBehaviour, FakeCollector, ReceivedSpan};

use super::*;

#[test]
fn each_round_of_a_loop_is_a_span_with_its_checks_review_and_fix() {
    let collector = FakeCollector::start(CollectorBehaviour::Accepts);
    let fixture = QaFixture::with_fixer(FIX);
    let url = collector.url();
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", &*url), ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")];
    fixture.ends_with(0, &[], &variables);
    assert_eq!(collector.problems(), [""; 0]);
    let spans = collector.spans();
    let loops: Vec<&ReceivedSpan> = spans.iter().filter(|span| span.name == "loop").collect();
    assert_eq!(loops.len(), 1, "{spans:#?}");
    assert_eq!(loops[0].attribute("assay.loop.ending").as_deref(), Some("approved"));
    let parent_of = |name: &str| -> Vec<String> {
        let by_id = |id: &String| spans.iter().find(|span| span.id == *id);
        let named = spans.iter().filter(|span| span.name == name);
        let parents = named.map(|span| span.parent.as_ref().and_then(by_id).unwrap());
        let mut parents: Vec<String> = parents.map(|span| span.name.clone()).collect();
        parents.sort();
        parents.dedup();
        parents
    };
    assert_eq!(
        (parent_of("round 1"), parent_of("round 2")),
        (vec!["loop".into()], vec!["loop".into()])
    );
    // Safe fixes are found by a review of their own.
    assert_eq!(parent_of("review"), ["fix", "round 1", "round 2"]);
    assert_eq!(parent_of("fix"), ["round 1"]);
    let checks = spans.iter().filter(|span| span.name.starts_with("check "));
    let checks: std::collections::BTreeSet<&str> = checks.map(|span| &*span.name).collect();
    assert!(!checks.is_empty());
    for check in checks {
        assert_eq!(parent_of(check), ["round 1", "round 2"], "{check}");
    }
}
