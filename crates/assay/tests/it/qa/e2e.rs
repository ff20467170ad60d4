//! Flows and pages that a plan names, without a browser that could test them.

use std::net::TcpListener;

use assay_testkit::pages::{Answer, Pages};
use serde_json::{Value, json};

use super::{PLAN, QaFixture, SPEC};
use crate::AssayRun;

/// A flow with a step that passes on every readable page.
pub(super) const FLOWS: &str = "flows:\n  - name: Order tea\n    steps: [expect_no_errors]\n";

/// The path of the spec's flows.
pub(super) const OWN: &str = "specs/001-greeting/flows.yaml";

/// Returns a plan that requires flows and pages.
pub(super) fn plan(flows: &[&str], pages: &[&str]) -> String {
    let mut plan: Value = serde_json::from_str(PLAN).unwrap();
    plan["verification_strategy"] = json!({
        "e2e_tests": { "required": !flows.is_empty(), "flows": flows },
        "browser_verification": { "required": !pages.is_empty(), "pages": pages },
    });
    plan.to_string()
}

/// Sets up a spec whose tests pass, and whose plan requires flows and pages.
fn fixture(flows: &[&str], pages: &[&str], more: &str) -> QaFixture {
    let fixture = QaFixture::with(SPEC, &plan(flows, pages), "", more);
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    fixture
}

/// Runs the loop with an app at a port, for at most one round.
pub(super) fn tried(fixture: &QaFixture, code: i32, port: u16) -> AssayRun {
    let port = port.to_string();
    let variables = [
        ("ELECTRON_MCP_ENABLED", "true"),
        ("ELECTRON_DEBUG_PORT", port.as_str()),
        ("MAX_QA_ITERATIONS", "1"),
    ];
    fixture.ends_with(code, &["--resume"], &variables)
}

/// Returns the title and the description of the only issue, which is about a flow or a page.
pub(super) fn issue(fixture: &QaFixture) -> (String, String) {
    let plan = fixture.plan();
    let issues = plan["qa_signoff"]["issues_found"].as_array().unwrap();
    assert_eq!(issues.len(), 1, "{issues:?}");
    assert_eq!(issues[0]["type"], "e2e_test");
    let text = |key: &str| issues[0][key].as_str().unwrap_or_default().to_owned();
    (text("title"), text("description"))
}

/// Returns a port on which no process listens.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn without_a_configured_app_the_report_names_the_variables_to_set() {
    let fixture = fixture(&["Order tea"], &[], "");
    fixture.repository.write(OWN, FLOWS);
    for switch in ["", "false"] {
        let variables = [("ELECTRON_MCP_ENABLED", switch), ("MAX_QA_ITERATIONS", "1")];
        fixture.ends_with(4, &["--resume"], &variables);
        let (title, why) = issue(&fixture);
        assert_eq!(title, "Not run: e2e: Order tea");
        assert!(
            why.contains("set ELECTRON_MCP_ENABLED=true and ELECTRON_DEBUG_PORT=9222"),
            "{why}"
        );
    }
    let report = fixture.artifact("qa_report.md");
    assert!(report.contains("| e2e | `Order tea` | not run: no app is configured"), "{report}");
}

#[test]
fn a_flow_without_steps_names_the_files_to_add_them_to() {
    let fixture = fixture(&["Order tea"], &[], "");
    let none = "missing steps of the flow: add them to `specs/001-greeting/flows.yaml` or \
                `.assay/flows.yaml`";
    tried(&fixture, 4, free_port());
    assert_eq!(issue(&fixture), ("Not run: e2e: Order tea".to_owned(), none.to_owned()));
    fixture.repository.write(OWN, FLOWS.replace("Order tea", "Order coffee"));
    tried(&fixture, 4, free_port());
    assert_eq!(issue(&fixture).1, none);
    fixture.repository.write(OWN, FLOWS.replace("expect_no_errors", "expect_wonders"));
    tried(&fixture, 4, free_port());
    let (_, why) = issue(&fixture);
    assert!(why.starts_with("cannot read `specs/001-greeting/flows.yaml`, line 3: "), "{why}");
}

#[test]
fn a_port_without_an_app_is_named() {
    let fixture = fixture(&["Order tea"], &[], "");
    fixture.repository.write(OWN, FLOWS);
    let port = free_port();
    tried(&fixture, 4, port);
    let (title, why) = issue(&fixture);
    assert_eq!(title, "Not run: e2e: Order tea");
    assert!(why.starts_with(&format!("cannot connect to `127.0.0.1:{port}`")), "{why}");
    let other = Pages::serve(vec![("/", Answer::Page(200, "<p>hello</p>".to_owned()))]);
    tried(&fixture, 4, other.port());
    let (_, why) = issue(&fixture);
    let no_tools = format!("the server at `127.0.0.1:{}` is not DevTools", other.port());
    assert!(why.starts_with(&no_tools), "{why}");
}

#[test]
fn an_app_in_a_browser_that_is_too_old_is_reported_as_not_run() {
    let fixture = fixture(&["Order tea"], &["/about"], "  app_url: http://localhost:3000\n");
    fixture.repository.write(OWN, FLOWS);
    let version = r#"{"Browser": "Chrome/80.0.3987.165", "User-Agent": "Electron/8.5.5"}"#;
    let app = Pages::serve(vec![("/json/version", Answer::Page(200, version.to_owned()))]);
    tried(&fixture, 4, app.port());
    let plan = fixture.plan();
    let issues = plan["qa_signoff"]["issues_found"].as_array().unwrap();
    let titles: Vec<&str> = issues.iter().map(|it| it["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Not run: e2e: Order tea", "Not run: e2e: /about"]);
    for issue in issues {
        let why = issue["description"].as_str().unwrap();
        let old = "`Electron/8.5.5, Chrome/80.0.3987.165` at ";
        assert!(why.starts_with(old), "{why}");
        assert!(why.contains("Chrome 83 (Electron 9) is the oldest version"), "{why}");
    }
}

#[test]
fn invalid_settle_times_are_refused() {
    for wrong in [
        "  page_settle_ms: 2000\n  page_settle_limit_ms: 1000\n",
        "  page_settle_limit_ms: 300001\n",
    ] {
        let fixture = fixture(&[], &["/about"], wrong);
        let ran = tried(&fixture, 2, 9222);
        assert!(ran.stderr.contains("`qa.page_settle_limit_ms` is"), "{}", ran.stderr);
    }
}

#[test]
fn pages_of_an_app_without_an_address_are_not_run() {
    let fixture = fixture(&[], &["/about"], "");
    tried(&fixture, 4, free_port());
    let (title, why) = issue(&fixture);
    assert_eq!(title, "Not run: e2e: /about");
    assert!(why.contains("set `qa.app_url`"), "{why}");
}

#[test]
fn an_invalid_app_url_or_debug_port_stops_the_run() {
    let elsewhere = fixture(&[], &["/about"], "  app_url: http://shop.example\n");
    let ran = tried(&elsewhere, 2, 9222);
    assert!(ran.stderr.contains("`qa.app_url` in the configuration"), "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot open `shop.example`"), "{}", ran.stderr);
    let fixture = fixture(&[], &["/about"], "");
    let variables = [("ELECTRON_MCP_ENABLED", "true"), ("ELECTRON_DEBUG_PORT", "nine")];
    let ran = fixture.ends_with(2, &[], &variables);
    assert!(
        ran.stderr.contains("invalid value `nine` for `ELECTRON_DEBUG_PORT`"),
        "{}",
        ran.stderr
    );
}
