//! Tests with pages that fail after they are loaded, and pages that never stop loading.

use std::time::Duration;

use assay_services::browser::flow::{self, BaseUrl, PageVisit};
use assay_services::browser::{Page, Timeouts};
use assay_testkit::pages::Answer;

use super::{APP, BrowserFixture, TIMEOUTS};

/// Pages that throw some time after they are loaded, with the error that they throw.
const LATE: [(&str, &str, &str); 10] = [
    ("/timer", "setTimeout(() => late(), 300)", "late is not defined"),
    ("/rejection", "setTimeout(() => { Promise.reject(new Error('no')) }, 300)", "Error: no"),
    ("/data", "fetch('/x').then((it) => it.json()).then((it) => it.a.b)", "undefined"),
    (
        "/data-later",
        "setTimeout(async () => { await fetch('/x'); setTimeout(() => late(), 300) }, 300)",
        "late is not defined",
    ),
    (
        "/one-after-the-other",
        "(async () => { for (let i = 0; i < 20; i++) await fetch('/x?' + i); late() })()",
        "late is not defined",
    ),
    (
        "/busy",
        "setTimeout(() => { const end = performance.now() + 900; while (performance.now() < end); \
         setTimeout(() => late(), 50) }, 100)",
        "late is not defined",
    ),
    (
        "/script",
        "setTimeout(() => document.head.append(Object.assign(document.createElement('script'), \
         { src: '/late.js' })), 200)",
        "late is not defined",
    ),
    ("/moves-on", "setTimeout(() => location.replace('/timer'), 200)", "late is not defined"),
    ("/moves-to-404", "setTimeout(() => location.replace('/nowhere'), 200)", "status 404"),
    (
        "/moves-to-nothing",
        "setTimeout(() => location.replace('http://127.0.0.1:1/'), 200)",
        "cannot open `",
    ),
];

/// Pages that load without end, and work.
const ENDLESS: [(&str, &str); 5] = [
    ("/long-poll", "fetch('/silence')"),
    ("/polling", "setInterval(() => fetch('/x'), 5)"),
    ("/events", "new EventSource('/silence')"),
    ("/socket", "new WebSocket('ws://' + location.host + '/silence')"),
    ("/beacon", "navigator.sendBeacon('/silence', 'x')"),
];

fn lab() -> BrowserFixture {
    let page = |script: &str| Answer::Page(200, format!("<p>text</p><script>{script}</script>"));
    let late = LATE.iter().map(|(path, script, _)| (*path, page(script)));
    let endless = ENDLESS.iter().map(|(path, script)| (*path, page(script)));
    let script =
        "HTTP/1.1 200 OK\r\ncontent-type: text/javascript\r\ncontent-length: 6\r\n\r\nlate()";
    let others = [
        ("/", Answer::Page(200, APP.to_owned())),
        ("/x", Answer::Page(200, "{}".to_owned())),
        ("/late.js", Answer::Raw(script.as_bytes().to_vec())),
        ("/silence", Answer::Silence),
    ];
    BrowserFixture::with(late.chain(endless).chain(others).collect(), TIMEOUTS)
}

fn visit(lab: &BrowserFixture, path: &str, timeouts: Timeouts) -> PageVisit {
    let evidence = tempfile::tempdir().unwrap();
    let base: BaseUrl = lab.pages.url("").parse().unwrap();
    let page = Page::attach(lab.endpoint(), None, timeouts).unwrap();
    flow::visit(path, &page, &base, evidence.path())
}

#[test]
fn an_error_after_the_page_has_loaded_fails_the_visit() {
    let lab = lab();
    let timeouts = Timeouts { settle: Timeouts::DEFAULT_SETTLE, ..TIMEOUTS };
    for (path, _, expected) in LATE {
        let visit = visit(&lab, path, timeouts);
        let faults = visit.faults.join("; ");
        assert!(!visit.has_passed() && faults.contains(expected), "{path}: {visit:?}");
    }
}

#[test]
fn a_page_that_never_stops_loading_is_judged_at_the_time_limit() {
    let lab = lab();
    let limit = Duration::from_millis(700);
    let timeouts = Timeouts { settle_limit: limit, ..TIMEOUTS };
    for (path, _) in ENDLESS {
        let visit = visit(&lab, path, timeouts);
        assert!(visit.has_passed(), "{path}: {visit:?}");
        let expected: &[String] = match path {
            "/long-poll" => &[lab.pages.url("/silence")],
            _ => &[],
        };
        // A page that polls may be between two requests.
        assert!(path == "/polling" || visit.pending == expected, "{path}: {visit:?}");
    }
}

#[test]
fn an_error_shortly_after_a_click_fails_expect_no_errors() {
    let app = "<button onclick='setTimeout(() => late(), 300)'>Go</button>";
    let timeouts = Timeouts { settle: Timeouts::DEFAULT_SETTLE, ..TIMEOUTS };
    let lab = BrowserFixture::with(vec![("/", Answer::Page(200, app.to_owned()))], timeouts);
    let evidence = tempfile::tempdir().unwrap();
    let flows = flow::parse_flows(
        "flows.yaml",
        "flows: [{ name: a, steps: [{ click_by_text: Go }, expect_no_errors] }]",
    );
    let setting = flow::ReplayContext { base: None, evidence: evidence.path() };
    let outcome = flow::replay(&flows.unwrap()[0], &lab.page, &setting);
    let failed = serde_json::to_string(&outcome.failed_step().unwrap()).unwrap();
    assert!(failed.contains("late is not defined"), "{failed}");
}

#[test]
fn a_rejection_that_is_handled_late_is_no_fault() {
    let page = "<p>text</p><script>const no = Promise.reject(new Error('no')); \
                setTimeout(() => no.catch(() => {}), 100)</script>";
    let timeouts = Timeouts { settle: Timeouts::DEFAULT_SETTLE, ..TIMEOUTS };
    let lab = BrowserFixture::with(vec![("/", Answer::Page(200, page.to_owned()))], timeouts);
    let visit = visit(&lab, "/?again", timeouts);
    assert!(visit.has_passed() && visit.console.is_empty(), "{visit:?}");
}
