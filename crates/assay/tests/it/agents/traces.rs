//! The traces of tasks.

use assay_testkit::collector::{CollectorBehaviour, FakeCollector};

use super::*;

#[test]
fn a_task_is_a_trace_with_the_review_in_it() {
    let collector = FakeCollector::start(CollectorBehaviour::Accepts);
    let repository =
        with_change(QUICK, "shop.py", "def total(prices):\n    return sum(prices, 0)\n");
    let url = collector.url();
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", &*url), ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")];
    let mut agents = Agents::start_with(&repository, &["qa"], &variables);
    drop_in(&repository, "qa", &review_task("t", &json!({ "branch_name": "topic" })));
    agents.wait_for_line("Review completed (");
    assert_eq!(agents.stop(), 0);
    assert_eq!(collector.problems(), [""; 0]);
    let spans = collector.spans();
    let task = spans.iter().find(|span| span.name == "task review").unwrap();
    assert_eq!((&task.parent, &task.json["kind"]), (&None, &json!(5)));
    assert_eq!(task.attribute("assay.task.id").as_deref(), Some("t"));
    assert_eq!(task.attribute("messaging.destination.name").as_deref(), Some("qa"));
    let review = spans.iter().find(|span| span.name == "review").unwrap();
    assert_eq!((review.parent.as_ref(), &review.trace), (Some(&task.id), &task.trace));
}
