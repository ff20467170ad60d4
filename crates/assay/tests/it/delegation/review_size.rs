//! The cost of a whole review: calls and bytes.

use assay_testkit::Repository;

use super::*;

/// The maximum number of calls in a review of about 100 lines.
const MAX_CALLS: usize = 8;

/// The maximum number of bytes that a model writes and reads in a review of about 100 lines.
const MAX_BYTES: usize = 60_000;

/// The maximum length of one result, in characters.
const MAX_ANSWER: usize = 28_000;

const PLAN: &str = include_str!("plan.md");
const ORDERS: &str = include_str!("orders.py.txt");
const REFUNDS: &str = include_str!("refunds.py.txt");

/// The arguments and answers of a review as a model sees them.
struct Session {
    repository: Repository,
    calls: Vec<(String, usize, usize)>,
}

impl Session {
    /// Sets up a change of about 100 lines with a plan that its commit names.
    fn new() -> Session {
        let repository = Repository::new();
        repository.write("docs/plan.md", PLAN);
        repository.write("shop/orders.py", ORDERS);
        repository.commit("shop: orders");
        repository.git(&["switch", "--quiet", "--create", "refunds"]);
        repository.write("shop/refunds.py", REFUNDS);
        repository.commit("shop: refunds as docs/plan.md wants them");
        let added = REFUNDS.lines().count();
        assert!((90..=120).contains(&added), "{added} lines");
        Session { repository, calls: Vec::new() }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = result_of(self.repository.path(), tool, arguments);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] != true, "{tool}: {text}");
        assert!(text.chars().count() <= MAX_ANSWER, "{tool}: {} characters", text.len());
        self.calls.push((tool.to_owned(), arguments.to_string().len(), text.len()));
        result["structuredContent"].clone()
    }

    /// Prints the calls with their sizes. Fails if their sum exceeds the limits.
    fn check(&self) {
        let bytes: usize = self.calls.iter().map(|(_, asked, answered)| asked + answered).sum();
        let calls = self.calls.len();
        println!("{calls} calls, {bytes} bytes: {:?}", self.calls);
        assert!(
            calls <= MAX_CALLS && bytes <= MAX_BYTES,
            "{calls} calls, {bytes} bytes: {:?}",
            self.calls
        );
    }
}

fn finding(title: &str, line: &str) -> Value {
    let number = REFUNDS.lines().position(|text| text.trim() == line).unwrap() + 1;
    json!({
        "title": title, "severity": "P1", "file": "shop/refunds.py", "line": number,
        "why_it_matters": "A customer gets more back than was paid, on an ordinary day: two refunds \
                           of one order that come at the same time both pass the check.",
        "evidence": [format!("`{line}`")], "confidence": 75, "autofix_class": "manual",
        "owner": "downstream-resolver", "requires_verification": true,
        "suggested_fix": "Read the order for update inside of the transaction.",
        "pre_existing": false,
    })
}

/// Returns the report of a reading of the change.
fn report(persona: &Value) -> Value {
    let findings = match persona.as_str().unwrap() {
        "general" => json!([
            finding(
                "The limit counts refunds of other days",
                "if refunded + amount > order.total:"
            ),
            finding("A refund rounds against the customer", "return int(amount * rate)"),
        ]),
        _ => json!([finding("Any clerk can refund any order", "order = orders.find(order_id)")]),
    };
    json!({
        "reviewer": persona, "findings": findings,
        "residual_risks": ["The bank may answer twice."],
        "testing_gaps": ["No test refunds twice."],
    })
}

fn looks(findings: usize) -> Value {
    let look = |number: usize| {
        json!({
            "finding": number, "answer": "confirm", "consequence": "block",
            "why": "The plan says it in other words.", "quote": null, "file": null,
        })
    };
    json!({ "looks": (1..=findings).map(look).collect::<Vec<Value>>() })
}

/// Reviews the change with additional personas, and returns the outcome and the texts for readers.
fn review(session: &mut Session, readers: &str, personas: &[&str]) -> (Value, String) {
    let is_delegated = readers == "sub-agents";
    let mut texts = String::new();
    let started = session.call(
        "start_review",
        &json!({
            "base": "main", "readers": readers, "purpose": "Refunds, by docs/plan.md",
            "personas": personas,
        }),
    );
    texts.push_str(&started["change"][0]["text"].to_string());
    let id = started["review"].clone();
    let tasks = started["tasks"].as_array().unwrap().clone();
    assert_eq!(tasks.len(), 1 + personas.len());
    let mut brief = |session: &mut Session, task: &Value| {
        let asked = json!({ "review": id, "persona": task["persona"], "part": task["part"] });
        let brief = session.call("read_brief", &asked);
        assert_eq!((&brief["next_offset"], &brief["bytes"]), (&Value::Null, &task["bytes"]));
        texts.push_str(brief["text"].as_str().unwrap());
    };
    for task in &tasks {
        match is_delegated {
            true => brief(session, task),
            false => assert!(task["text"].is_string(), "{task}"),
        }
    }
    let reports: Vec<Value> = tasks
        .iter()
        .map(|task| {
            let persona = &task["persona"];
            json!({ "persona": persona, "part": task["part"], "report": report(persona) })
        })
        .collect();
    let handed = session
        .call("report_findings", &json!({ "review": id, "reports": reports, "finish": true }));
    let ending = &handed["finish"];
    assert_eq!(ending["state"], "second_looks", "{handed}");
    let look = ending["second_looks"]["tasks"].as_array().unwrap();
    assert_eq!(look.len(), 1, "one task for all findings");
    match is_delegated {
        true => brief(session, &look[0]),
        false => assert_eq!(ending["second_looks"]["change_is_in"], "start_review", "{handed}"),
    }
    let found: usize =
        reports.iter().map(|r| r["report"]["findings"].as_array().unwrap().len()).sum();
    let look = json!({ "persona": look[0]["persona"], "report": looks(found) });
    let handed = session
        .call("report_findings", &json!({ "review": id, "reports": [look], "finish": true }));
    for look in handed["reports"][0]["looks"].as_array().unwrap() {
        assert_eq!(look["answer"], "confirm", "{handed}");
    }
    assert_eq!(handed["finish"]["state"], "finished", "{handed}");
    (handed["finish"]["outcome"].clone(), texts)
}

/// Reviews the change in both ways, and checks the limits.
fn check(personas: &[&str]) {
    let mut outcomes = Vec::new();
    for readers in ["myself", "sub-agents"] {
        let mut session = Session::new();
        let (outcome, texts) = review(&mut session, readers, personas);
        session.check();
        assert!(texts.contains("A refund is paid out once"), "readers get the plan");
        assert_eq!(outcome["verdict"], "not ready", "{outcome}");
        assert_eq!(outcome["incomplete"], false, "{outcome}");
        let titles = outcome["findings"].as_array().unwrap().iter();
        outcomes.push(titles.map(|finding| finding["title"].clone()).collect::<Vec<Value>>());
        assert_eq!(outcome["folded"]["residual_risks"], 1, "{outcome}");
    }
    assert_eq!(outcomes[0], outcomes[1], "both ways come to the same");
}

#[test]
fn a_review_of_100_lines_takes_at_most_8_calls_and_60_kb() {
    check(&[]);
}

#[test]
fn a_review_of_100_lines_with_a_second_reading_has_the_same_limits() {
    check(&["exposure"]);
}
