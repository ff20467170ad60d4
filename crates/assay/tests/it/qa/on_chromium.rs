//! Flows and pages that a plan names, tested in a browser.

use std::fs;

use assay_testenv::chromium::PrivateChromium;
use assay_testkit::pages::{Answer, Pages};
use serde_json::Value;

use super::e2e::{OWN, issue, plan, tried};
use super::{QaFixture, SPEC};

/// A shop in which tea can be ordered.
const SHOP: &str = "<title>Shop</title><body style='background: teal'><h1>Shop</h1>\
    <form onsubmit=\"document.querySelector('output').textContent = \
    'Ordered: ' + document.querySelector('input').value; return false\">\
    <input placeholder='What do you want?'><button>Order</button></form><output></output>";

/// The flows of the app.
const FLOWS: &str = "flows:
  - name: Order tea
    start: /shop.html
    steps:
      - fill_input: { placeholder: What do you want?, value: tea }
      - click_by_text: Order
      - expect_text: 'Ordered: tea'
      - expect_no_errors
      - screenshot: ordered
";

/// The folder of the evidence of the first round.
const EVIDENCE: &str = ".assay/qa/001-greeting/e2e/round-1";

/// Sets up a spec whose plan requires flows and pages of an app. All other criteria are met.
fn fixture(flows: &[&str], pages: &[&str], app: &str) -> QaFixture {
    let spec = SPEC.replace("- [ ] `leaves` passes\n", "- [ ] One can buy: `Order tea`\n");
    let spec = if flows.is_empty() { SPEC } else { &spec };
    let fixture = QaFixture::with(spec, &plan(flows, pages), "", &format!("  app_url: {app}\n"));
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    fixture.repository.write(OWN, FLOWS);
    fixture
}

fn page(text: &str) -> Answer {
    Answer::Page(200, text.to_owned())
}

/// Returns the evidence files of the first round, each with its content.
fn evidence(fixture: &QaFixture) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(fixture.repository.path().join(EVIDENCE)).unwrap();
    let read = |path: std::path::PathBuf| {
        (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())
    };
    let mut files: Vec<_> = files.map(|file| read(file.unwrap().path())).collect();
    files.sort();
    files
}

/// Reads the result of a flow or a page in the first round, by the prefix of its file name.
fn kept(fixture: &QaFixture, begin: &str) -> Value {
    let files = evidence(fixture);
    let is_it = |name: &str| name.starts_with(begin) && name.ends_with(".json");
    let (_, bytes) = files.iter().find(|(name, _)| is_it(name)).unwrap();
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn a_flow_that_passes_and_a_page_that_opens_are_approved_with_pictures() {
    let about = page("<title>About</title><h1>About us</h1>");
    let app = Pages::serve(vec![("/shop.html", page(SHOP)), ("/about", about)]);
    let chromium = PrivateChromium::start(&app.url("/shop.html"));
    let fixture = fixture(&["Order tea"], &["/about"], &app.url(""));
    let ran = tried(&fixture, 0, chromium.port());
    assert!(ran.stdout.contains("  passed    e2e: Order tea"), "{}", ran.stdout);
    assert!(ran.stdout.contains("  passed    e2e: /about"), "{}", ran.stdout);
    fixture.is_approved();
    assert_eq!(fixture.plan()["qa_signoff"]["tests_passed"]["e2e"], true);
    let files = evidence(&fixture);
    let pictures = ["001-order-tea-ordered.png", "002-about.png"];
    for (file, bytes) in &files[..2] {
        assert!(pictures.contains(&file.as_str()) && bytes.starts_with(b"\x89PNG"), "{file}");
    }
    assert_eq!(files.len(), 4);
    let flow = kept(&fixture, "order-tea");
    assert_eq!(flow["steps"][5]["screenshot"], pictures[0], "{flow}");
    assert!(flow["steps"].as_array().unwrap().iter().all(|step| step["standing"] == "passed"));
    assert_eq!(kept(&fixture, "about")["status"], 200);
    // The evidence is ignored by git.
    assert!(!fixture.repository.git(&["status", "--porcelain"]).contains(".assay"));
    let checks = fixture.events_of("checked");
    let notes = &checks[1]["outcome"]["notes"];
    assert_eq!(notes[0], format!("screenshot: {EVIDENCE}/{}", pictures[0]), "{checks:?}");
}

#[test]
fn a_failing_flow_is_an_issue_with_its_step_until_it_is_fixed() {
    let fixture = QaFixture::bare();
    let app = format!("file://{}/app", fixture.repository.path().display());
    let fixer = "sed -i \"s/undone()/'Ordered: '/\" app/shop.html";
    let plan = plan(&["Order tea"], &[]);
    fixture.implemented(SPEC, &plan, fixer, &format!("  app_url: {app}\n"));
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    fixture.repository.write(".assay/flows.yaml", FLOWS);
    fixture.repository.write("app/shop.html", SHOP.replace("'Ordered: '", "undone()"));
    let chromium = PrivateChromium::start("about:blank");
    tried(&fixture, 4, chromium.port());
    let (title, why) = issue(&fixture);
    assert_eq!(title, "Test fails: Order tea");
    let mut lines = why.lines();
    let step = "expect_text \"Ordered: tea\": the page does not show `Ordered: tea`; ";
    assert!(lines.next().unwrap().starts_with(step), "{why}");
    let picture = lines.next().unwrap().strip_prefix("screenshot: ").unwrap();
    assert_eq!(picture, format!("{EVIDENCE}/001-order-tea-failed.png"));
    assert!(fixture.repository.path().join(picture).exists());
    assert!(why.contains("uncaught: ReferenceError: undone is not defined"), "{why}");
    let flow = kept(&fixture, "order-tea");
    let standing: Vec<&str> = flow["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["standing"].as_str().unwrap())
        .collect();
    assert_eq!(standing, ["passed", "passed", "passed", "failed", "not_run", "not_run"]);

    let port = chromium.port().to_string();
    let variables = [("ELECTRON_MCP_ENABLED", "true"), ("ELECTRON_DEBUG_PORT", port.as_str())];
    fixture.ends_with(0, &["--resume"], &variables);
    fixture.is_approved();
}

#[test]
fn a_page_that_does_not_open_is_an_issue_with_its_cause() {
    let broken = "<h1>About</h1><script>tell(us)</script>";
    let pages = vec![
        ("/500", Answer::Page(500, "<h1>Ouch</h1>".to_owned())),
        ("/broken", page(broken)),
        ("/empty", page("<title>About</title>")),
        ("/late", page("<h1>About</h1><script>setTimeout(() => tell(us), 300)</script>")),
        ("/moved", Answer::Redirect("/500".to_owned())),
    ];
    let app = Pages::serve(pages);
    let chromium = PrivateChromium::start("about:blank");
    for (path, expected) in [
        ("/500", "the server answers with status 500"),
        ("/broken", "ReferenceError: tell is not defined"),
        ("/empty", "the page has no text"),
        ("/nowhere", "the server answers with status 404"),
        ("/late", "ReferenceError: tell is not defined"),
        ("/moved", "the server answers with status 500"),
    ] {
        let fixture = fixture(&[], &[path], &app.url(""));
        tried(&fixture, 4, chromium.port());
        let (title, why) = issue(&fixture);
        assert_eq!(title, format!("Fails: e2e: {path}"));
        assert!(why.contains(expected), "{why}");
        assert!(why.contains(&format!("screenshot: {EVIDENCE}/001-")), "{why}");
    }
}

#[test]
fn a_page_that_polls_for_ever_passes_at_the_limit_with_a_note() {
    let polls = "<h1>News</h1><script>fetch('/news')</script>";
    let app = Pages::serve(vec![("/", page(polls)), ("/news", Answer::Silence)]);
    let chromium = PrivateChromium::start("about:blank");
    let config =
        format!("  app_url: {}\n  page_settle_ms: 50\n  page_settle_limit_ms: 500\n", app.url(""));
    let fixture = QaFixture::with(SPEC, &plan(&[], &["/"]), "", &config);
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    tried(&fixture, 0, chromium.port());
    let checks = fixture.events_of("checked");
    let notes = checks.iter().map(|it| it["outcome"]["notes"].to_string()).collect::<String>();
    assert!(notes.contains(&format!("was still loading: {}", app.url("/news"))), "{notes}");
}

#[test]
fn a_flow_with_a_forbidden_command_is_reported_as_not_run() {
    let app = Pages::serve(vec![("/shop.html", page(SHOP))]);
    let chromium = PrivateChromium::start("about:blank");
    let fixture = fixture(&["Order tea"], &[], &app.url(""));
    fixture.repository.write(OWN, FLOWS.replace("click_by_text: Order", "eval: document.title"));
    tried(&fixture, 4, chromium.port());
    let issues = fixture.plan()["qa_signoff"]["issues_found"].to_string();
    assert!(issues.contains("Not run: e2e: Order tea"), "{issues}");
    assert!(issues.contains("`eval` is not allowed here"), "{issues}");
}

#[test]
fn an_app_that_closes_during_a_flow_is_not_a_pass() {
    let leaves = "<h1>Shop</h1><button onclick=\"open('/shop.html', 'second'); window.close()\">Order</button>\
                  <input placeholder='What do you want?'>";
    let app = Pages::serve(vec![("/shop.html", page(leaves))]);
    let mut chromium = PrivateChromium::start(&app.url("/shop.html"));
    let fixture = fixture(&["Order tea"], &[], &app.url(""));
    // Only a window that a script opened may close itself.
    fixture.repository.write(OWN, FLOWS.replace("    start: /shop.html\n", ""));
    tried(&fixture, 4, chromium.port());
    let issues = fixture.plan()["qa_signoff"]["issues_found"].to_string();
    assert!(issues.contains("the page is gone: closed"), "{issues}");
    chromium.kill();
    tried(&fixture, 4, chromium.port());
    let issues = fixture.plan()["qa_signoff"]["issues_found"].to_string();
    assert!(issues.contains("Not run: e2e: Order tea"), "{issues}");
    assert!(issues.contains("cannot connect to"), "{issues}");
}
