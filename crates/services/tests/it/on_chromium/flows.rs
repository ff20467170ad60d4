//! Tests of replaying flows and visiting pages.

use assay_services::browser::Page;
use assay_services::browser::flow::{self, BaseUrl, FlowOutcome, ReplayContext, StepStatus};
use assay_testkit::pages::Answer;
use expect_test::{Expect, expect};

use super::{APP, BrowserFixture, SHORT_TIMEOUTS, TIMEOUTS};

/// Replays the only flow of a text and compares the result of each step.
fn check(lab: &BrowserFixture, text: &str, expect: Expect) -> FlowOutcome {
    let evidence = tempfile::tempdir().unwrap();
    let base: BaseUrl = lab.pages.url("").parse().unwrap();
    let flows = flow::parse_flows("flows.yaml", text).unwrap();
    let setting = ReplayContext { base: Some(&base), evidence: evidence.path() };
    let outcome = flow::replay(&flows[0], &lab.page, &setting);
    let mut lines = String::new();
    for step in &outcome.steps {
        let standing = match &step.status {
            StepStatus::Passed => "passed".to_owned(),
            StepStatus::Failed { why } => format!("FAILED: {why}"),
            StepStatus::Blocked { why } => format!("BLOCKED: {why}"),
            StepStatus::NotRun => "not run".to_owned(),
        };
        let picture = step.screenshot.as_deref().unwrap_or_default();
        lines.push_str(format!("{}: {standing} {picture}", step.step).trim_end());
        lines.push('\n');
        if !picture.is_empty() {
            let png = std::fs::read(evidence.path().join(picture)).unwrap();
            assert!(png.starts_with(b"\x89PNG") && png.len() > 1000);
        }
    }
    expect.assert_eq(&lines.replace(&lab.pages.port().to_string(), "PORT"));
    outcome
}

#[test]
fn a_flow_is_replayed() {
    let lab = BrowserFixture::new();
    let outcome = check(
        &lab,
        r##"
flows:
  - name: Create a task
    start: "#create"
    steps:
      - expect_text: "#create"
      - fill_input: { placeholder: Describe your task, value: Add login }
      - fill_input: { label: Name, value: one }
      - select_option: { label: Kind, text: Bug }
      - verify_form_state: { selector: "#task" }
      - click_by_text: Create New Spec
      - wait_for: { text: submitted one, seconds: 60 }
      - expect_selector: "#log li"
      - expect_no_text: Not there
      - expect_text: dim text
      - send_keyboard_shortcut: Escape
      - eval: document.title === "Tasks"
      - expect_no_errors
      - screenshot: created
"##,
        expect![[r##"
            start at #create: passed
            expect_text "#create": passed
            fill_input the placeholder `Describe your task`: passed
            fill_input the label `Name`: passed
            select_option "Bug" in the label `Kind`: passed
            verify_form_state in "#task": passed
            click_by_text "Create New Spec": passed
            wait_for the text "submitted one": passed
            expect_selector "#log li": passed
            expect_no_text "Not there": passed
            expect_text "dim text": passed
            send_keyboard_shortcut Escape: passed
            eval "document.title === \"Tasks\"": passed
            expect_no_errors: passed
            screenshot "created": passed 001-create-a-task-created.png
        "##]],
    );
    assert!(outcome.has_passed() && outcome.failed_step().is_none());
    let json = serde_json::to_value(&outcome).unwrap();
    assert_eq!(json["steps"][0]["standing"], "passed");
    assert_eq!(json["flow"], "Create a task");
}

#[test]
fn the_first_failing_step_ends_a_flow_with_a_screenshot() {
    let lab = BrowserFixture::with_short_timeouts();
    let outcome = check(
        &lab,
        "flows:\n  - name: a\n    start: /?x=1\n    steps:\n      - eval: console.error('oops')\n      - expect_no_errors\n      - click_by_text: Create\n",
        expect![[r#"
            start at /?x=1: passed
            eval "console.error('oops')": passed
            expect_no_errors: FAILED: error: oops 001-a-failed.png
            click_by_text "Create": not run
        "#]],
    );
    assert!(!outcome.has_passed());
    assert_eq!(outcome.failed_step().unwrap().step, "expect_no_errors");
    let said = serde_json::to_value(&outcome).unwrap();
    let said = said["console"].as_array().unwrap();
    assert!(said.iter().any(|entry| entry["kind"] == "error" && entry["text"] == "oops"));
    check(
        &lab,
        "flows:\n  - name: b\n    start: /nowhere\n    steps:\n      - expect_no_errors\n",
        expect![[r#"
            start at /nowhere: FAILED: the server answers with status 404 001-b-failed.png
            expect_no_errors: not run
        "#]],
    );
    check(
        &lab,
        "flows:\n  - name: c\n    start: /\n    steps:\n      - expect_text: Submitted\n",
        expect![[r#"
            start at /: passed
            expect_text "Submitted": FAILED: the page does not show `Submitted`; the page begins with `Tasks Settings Create home Name Kind Feature Bug Epic Urgent Secret Day Create New Spec old text Archive × Publish Far below In the shadow dim text` 001-c-failed.png
        "#]],
    );
    check(
        &lab,
        "flows:\n  - name: d\n    steps:\n      - expect_no_text: Settings\n",
        expect![[r#"
        expect_no_text "Settings": FAILED: the page shows `Settings` 001-d-failed.png
    "#]],
    );
    check(
        &lab,
        "flows:\n  - name: e\n    steps:\n      - verify_form_state: {}\n",
        expect![[r#"
        verify_form_state: FAILED: fields are not valid: [{"selector":"input[name=\"name\"]","label":"Name","message":"Please fill out this field."}] 001-e-failed.png
    "#]],
    );
}

#[test]
fn a_page_passes_if_it_loads_with_text_and_without_errors() {
    let page = |text: &str| Answer::Page(200, text.to_owned());
    let answers = vec![
        ("/", Answer::Page(200, APP.to_owned())),
        ("/empty", page("<div></div>")),
        (
            "/later",
            page(
                "<div id=a></div><script>setTimeout(() => { a.textContent = 'here' }, 100)</script>",
            ),
        ),
        ("/broken", page("<p>text</p><script>undefinedFunction()</script>")),
        ("/away", Answer::Redirect("/".to_owned())),
        ("/down", Answer::Page(500, "<p>sorry</p>".to_owned())),
    ];
    let lab = BrowserFixture::with(answers, TIMEOUTS);
    let hurried = Page::attach(lab.endpoint(), None, SHORT_TIMEOUTS).unwrap();
    let evidence = tempfile::tempdir().unwrap();
    let base: BaseUrl = lab.pages.url("/").parse().unwrap();
    let mut lines = String::new();
    for path in
        ["/", "/empty", "/later", "/broken", "/away", "/down", "/missing", "http://evil.com"]
    {
        let page = if path == "/empty" { &hurried } else { &lab.page };
        let visit = flow::visit(path, page, &base, evidence.path());
        let status = visit.status.map_or("-".to_owned(), |status| status.to_string());
        let url = visit.url.as_deref().unwrap_or("-");
        let picture = visit.screenshot.as_deref().unwrap_or("-");
        let passed = if visit.has_passed() { "passed" } else { "FAILED" };
        lines.push_str(&format!("{path}: {passed} {status} {url} {picture}\n"));
        for fault in visit.faults.iter().chain(&visit.blocked) {
            lines.push_str(&format!("  {}\n", fault.replace('\n', " ")));
        }
    }
    expect![[r#"
        /: passed 200 http://127.0.0.1:PORT/ 001-page.png
        /empty: FAILED 200 http://127.0.0.1:PORT/empty 002-empty.png
          the page has no text
        /later: passed 200 http://127.0.0.1:PORT/later 003-later.png
        /broken: FAILED 200 http://127.0.0.1:PORT/broken 004-broken.png
          uncaught: ReferenceError: undefinedFunction is not defined     at http://127.0.0.1:PORT/broken:1:20 (http://127.0.0.1:PORT/broken:1)
        /away: passed 200 http://127.0.0.1:PORT/ 005-away.png
        /down: FAILED 500 http://127.0.0.1:PORT/down 006-down.png
          the server answers with status 500
        /missing: FAILED 404 http://127.0.0.1:PORT/missing 007-missing.png
          the server answers with status 404
        http://evil.com: FAILED - - -
          invalid page `http://evil.com`: expected one such as `/dashboard` or `#settings`
    "#]].assert_eq(&lines.replace(&lab.pages.port().to_string(), "PORT"));
}
