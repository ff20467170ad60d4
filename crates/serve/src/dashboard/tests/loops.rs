//! Tests of the pages of validation loops, on a real loop.

use assay_engine::loop_session::{LoopOptions, LoopOutcome, NullObserver, SpecLocation, validate};
use assay_engine::models::ModelOptions;
use assay_testkit::git;

use super::pages::Browser;
use super::*;

const SPEC: &str = "# Greeting\n\n## Acceptance Criteria\n\n- The greeting is polite & kind\n";

impl DashboardServer {
    /// Writes a spec whose only criterion no check can judge, with its implementation, and runs the
    /// loop until it waits for a person.
    fn run_loop(&self) -> SpecLocation {
        self.run_loop_of_risk("trivial")
    }

    /// Runs a loop as [`DashboardServer::run_loop`] does. A person has to sign off a tree of
    /// critical risk.
    fn run_loop_of_risk(&self, risk: &str) -> SpecLocation {
        let tree = self.folder.path().join("tree");
        git(&tree, &["init", "--quiet", "--initial-branch=main"]);
        git(&tree, &["config", "user.name", "tester"]);
        git(&tree, &["config", "user.email", "tester@localhost"]);
        git(&tree, &["commit", "--quiet", "--allow-empty", "--message", "first"]);
        let subtask = json!({ "id": "1.1", "title": "Say hello", "status": "completed" });
        let plan = json!({
            "feature": "Greeting",
            "verification_strategy": { "risk_level": risk },
            "phases": [{ "name": "one", "subtasks": [subtask] }],
        });
        let folder = tree.join("specs/001-greeting");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("spec.md"), SPEC).unwrap();
        std::fs::write(folder.join("implementation_plan.json"), plan.to_string()).unwrap();
        std::fs::write(tree.join("greeting.txt"), "hello\n").unwrap();
        let environment = environment(self.folder.path());
        let place = SpecLocation::of(&environment, &tree, "001").unwrap();
        let models = ModelOptions::default();
        let options =
            LoopOptions { base: None, resumes: false, sign_off: None, models: &models, host: None };
        let (outcome, _) = validate(&place, options, &NullObserver, &|_| ()).unwrap();
        assert!(matches!(outcome, LoopOutcome::Ended(_)));
        place
    }
}

/// Returns the value of the first field of a page with the name.
fn field_value<'a>(page: &'a str, name: &str) -> &'a str {
    let start = page.split(&format!("name=\"{name}\" value=\"")).nth(1).expect("a field");
    start.split('"').next().unwrap()
}

#[test]
fn a_loop_is_shown_with_its_criteria_rounds_and_journal() {
    let server = DashboardServer::start();
    server.run_loop();
    let browser = Browser::sign_in(&server);
    let list = browser.get("/loops").body;
    assert!(list.contains("href=\"/loops/001-greeting\""), "{list}");
    assert!(list.contains("A person must act"), "{list}");
    let page = browser.get("/loops/001-greeting");
    assert_eq!(page.status, 200, "{}", page.body);
    for text in ["Round 1", "cannot tell", "polite &amp; kind", "the loop ends"] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    let (status, detail) = server.call("GET", "/api/v1/loops/001-greeting", "");
    assert_eq!((status, &detail["status"]), (200, &json!("human_escalation")));
    assert_eq!(detail["history"][0]["criteria"][0]["answer"], "cannot_tell");
}

#[test]
fn a_criterion_is_decided_by_a_form_with_a_reason_and_the_loop_is_approved() {
    let server = DashboardServer::start();
    server.run_loop();
    let browser = Browser::sign_in(&server);
    let page = "/loops/001-greeting";
    let shown = browser.get(page).body;
    assert!(shown.contains("Decide that this holds"), "{shown}");
    let title = field_value(&shown, "for").replace("&amp;", "&");
    let title = assay_base::percent::encode_segment(&title);
    let action = "loop.sign-off/001-greeting";
    let refused = browser.submit(page, action, &format!("for={title}&because=ok&by=Bea"));
    assert_eq!(refused.status, 400, "{}", refused.body);
    let because = "because=I+read+the+greeting+aloud";
    let done = browser.submit(page, action, &format!("for={title}&{because}&by=Bea"));
    assert_eq!(done.status, 303, "{}", done.body);
    let shown = browser.get(page).body;
    for text in ["Approved", "I read the greeting aloud", "met, decided by a person"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let audit = browser.get("/audit").body;
    assert!(audit.contains("loop.sign-off") && audit.contains("as Bea"), "{audit}");
    // The tree is approved, so another sign-off has no effect.
    let (status, answer) = server.call("POST", "/api/v1/loops/001-greeting/sign-off", "{}");
    assert_eq!((status, &answer["error"]), (409, &json!("conflict")), "{answer}");
}

#[test]
fn a_sign_off_needs_the_token_and_a_form_of_the_session() {
    let server = DashboardServer::start();
    server.run_loop();
    let browser = Browser::sign_in(&server);
    let body = "for=1&because=I+read+the+greeting+aloud";
    let path = "/actions/loop.sign-off/001-greeting";
    assert_eq!(server.send("POST", path, &[("cookie", &browser.cookie)], body).status, 403);
    let path = "/api/v1/loops/001-greeting/sign-off";
    assert_eq!(server.send("POST", path, &[("cookie", &browser.cookie)], "{}").status, 401);
    let (_, detail) = server.call("GET", "/api/v1/loops/001-greeting", "");
    assert_eq!(detail["status"], "human_escalation");
}

#[test]
fn a_decision_without_the_name_of_an_issue_does_not_sign_off_the_whole_tree() {
    let server = DashboardServer::start();
    server.run_loop_of_risk("critical");
    let path = "/api/v1/loops/001-greeting";
    let (_, description) = server.call("GET", "/api/v1/openapi.json", "");
    let schema = &description["components"]["schemas"]["LoopSignOffInput"];
    let is_described =
        |body: &str| jsonschema::is_valid(schema, &serde_json::from_str(body).unwrap());
    let refused = [
        r#"{"for": "", "because": ""}"#,
        r#"{"for": " "}"#,
        r#"{"because": ""}"#,
        r#"{"for": "x"}"#,
        r#"{"for": "x", "because": null}"#,
    ];
    for body in refused {
        let (status, answer) = server.call("POST", &format!("{path}/sign-off"), body);
        assert_eq!((status, &answer["error"]), (400, &json!("invalid")), "{body}: {answer}");
        assert!(!is_described(body), "{body} is valid by {schema}");
    }
    for body in ["{}", r#"{"for": "x", "because": "y"}"#, r#"{"for": null, "because": null}"#] {
        assert!(is_described(body), "{body} is invalid by {schema}");
    }
    let (_, detail) = server.call("GET", path, "");
    assert_eq!((&detail["sign_offs"], &detail["awaits_sign_off"]), (&json!([]), &json!(true)));
}

#[test]
fn a_tree_that_changed_since_the_page_was_shown_is_not_signed_off() {
    let server = DashboardServer::start();
    let place = server.run_loop_of_risk("critical");
    let browser = Browser::sign_in(&server);
    let (page, action) = ("/loops/001-greeting", "loop.sign-off/001-greeting");
    let shown = browser.get(page).body;
    let seen = field_value(&shown, "tree");
    let title = field_value(&shown, "for").replace("&amp;", "&");
    let title = assay_base::percent::encode_segment(&title);
    std::fs::write(place.root.join("greeting.txt"), "good day\n").unwrap();
    let one_issue = format!("tree={seen}&for={title}&because=I+read+the+greeting+aloud");
    for fields in [&format!("tree={seen}"), &one_issue] {
        let refused = browser.submit(page, action, fields);
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert!(refused.body.contains("the tree has changed since"), "{}", refused.body);
    }
    let path = "/api/v1/loops/001-greeting";
    let body = json!({ "tree": seen }).to_string();
    let (status, answer) = server.call("POST", &format!("{path}/sign-off"), &body);
    assert_eq!((status, &answer["error"]), (409, &json!("conflict")), "{answer}");
    let (_, detail) = server.call("GET", path, "");
    assert_eq!(detail["sign_offs"], json!([]));
    let seen = detail["tree"].as_str().unwrap();
    let done = browser.submit(page, action, &format!("tree={seen}"));
    assert_eq!(done.status, 303, "{}", done.body);
}
