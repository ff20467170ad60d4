//! The loop with a model, which reads the change, judges criteria, and fixes the rest.

use std::fs;

use assay_testkit::model::{Answer, FakeModel, Options, PromptRequest};
use serde_json::json;

use super::{PLAN, QaFixture, RUNNER};

/// The key that the server requires.
pub(super) const KEY: &str = "sk-test-5d0f8a7c61e94b23";

/// A spec with criteria that code cannot decide.
const SPEC: &str = "\
# Greeting

## Acceptance Criteria

- [ ] Whoever comes is welcome
- [ ] Whoever leaves hears a kind word

## Verification

**Unit Tests:**
- `sh test.sh` - All pass
";

/// Sets up the spec with a model that finds nothing, judges criteria by a quote, and fixes.
pub(super) fn with_model(quote: &'static str) -> (QaFixture, FakeModel) {
    let script = move |asked: &PromptRequest| {
        if asked.system.starts_with("You fix code") {
            let edit = json!({ "file": "greeting.txt", "find": "hello\n", "replace": "hello friend\ngoodbye friend\n" });
            return Answer::json(&json!({ "edits": [edit], "summary": "It says goodbye." }));
        }
        if asked.system.starts_with("You say whether one criterion") {
            let is_second = asked.text().contains("Is this met? Whoever leaves");
            let quote = if is_second { quote } else { "hello friend" };
            return Answer::json(&json!({
                "status": "MET", "file": "greeting.txt", "line": 1, "quote": quote, "why": "",
            }));
        }
        let text = asked.text();
        let (_, rest) = text.split_once("You are the `").unwrap();
        let (reviewer, _) = rest.split_once("` reviewer").unwrap();
        Answer::json(&json!({
            "reviewer": reviewer, "findings": [], "residual_risks": [], "testing_gaps": [],
        }))
    };
    let options = Options { key: Some(KEY.to_owned()), ..Options::default() };
    let server = FakeModel::start_with(options, script).unwrap();
    let fixture = QaFixture::bare();
    let configuration = format!(
        "models:\n  use:\n    fake: {{ api: anthropic, model: fake-1, url: \"{}\", \
         key_env: FAKE_KEY }}\n",
        server.url()
    );
    let repository = &fixture.repository;
    repository.write("config/agent-framework.yaml", configuration);
    repository.write("test.sh", RUNNER);
    repository.commit("how it is tested");
    repository.write("specs/001-greeting/spec.md", SPEC);
    repository.write("specs/001-greeting/implementation_plan.json", PLAN);
    repository.write("greeting.txt", "hello\n");
    (fixture, server)
}

#[test]
fn a_model_reviews_judges_and_fixes_until_the_spec_is_approved() {
    let (fixture, server) = with_model("goodbye friend");
    let ran = fixture.ends_with(0, &[], &[("FAKE_KEY", KEY)]);
    assert!(ran.stdout.contains("APPROVED after 2 rounds"), "{}", ran.stdout);
    let report = fixture.artifact("qa_report.md");
    assert!(
        report.contains("| Whoever leaves hears a kind word | met | greeting.txt:2:"),
        "{report}"
    );
    assert_eq!(
        fs::read_to_string(fixture.repository.file("greeting.txt")).unwrap(),
        "hello friend\ngoodbye friend\n"
    );
    let sent = server.requests();
    let sent = sent.iter().map(|asked| String::from_utf8_lossy(&asked.body).into_owned());
    let sent = sent.into_iter().any(|body| body.contains("Test fails: leaves"));
    assert!(sent, "the fixer is told what is wrong");
}

#[test]
fn a_quote_invented_by_a_model_meets_no_criterion() {
    let (fixture, _server) = with_model("farewell, and come again");
    fixture.ends_with(4, &[], &[("FAKE_KEY", KEY)]);
    let issues = fixture.issues();
    let title = "Cannot tell: Whoever leaves hears a kind word";
    assert!(issues.iter().any(|(_, issue)| issue == title), "{issues:?}");
}

#[test]
fn a_failed_model_call_is_an_error_and_no_verdict() {
    let (fixture, _server) = with_model("goodbye friend");
    fixture.repository.write("greeting.txt", "hello friend\ngoodbye friend\n");
    fixture.ends_with(3, &[], &[("FAKE_KEY", "wrong")]);
    assert_eq!(fixture.ending()["ending"], "errors");
}

#[test]
fn without_a_model_prose_criteria_stay_undecided() {
    let (fixture, server) = with_model("goodbye friend");
    fixture.repository.write("greeting.txt", "hello friend\ngoodbye friend\n");
    fixture.ends_with(4, &["--no-models"], &[]);
    assert_eq!(server.requests().len(), 0);
    assert_eq!(fixture.issues().len(), 2);
}
