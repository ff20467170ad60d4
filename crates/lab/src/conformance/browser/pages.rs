//! The page checks: pages that work, and pages that fail in every known way.

use std::time::Duration;

use anyhow::ensure;
use assay_services::browser::flow::{self, BaseUrl};
use assay_services::browser::{Endpoint, Page, Timeouts};
use assay_testenv::workspace::target_folder;
use assay_testkit::pages::{Answer, Pages};

/// A page with the text of its expected failure; empty if the page must pass.
struct Case {
    path: &'static str,
    answer: Answer,
    fault: &'static str,
}

fn page(path: &'static str, status: u16, text: &str, fault: &'static str) -> Case {
    Case { path, answer: Answer::Page(status, text.to_owned()), fault }
}

fn script(path: &'static str, code: &str, fault: &'static str) -> Case {
    page(path, 200, &format!("<p>text</p><script>{code}</script>"), fault)
}

fn redirect(path: &'static str, to: &str, fault: &'static str) -> Case {
    Case { path, answer: Answer::Redirect(to.to_owned()), fault }
}

fn raw(path: &'static str, headers: &str, body: &str) -> Case {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 200 OK\r\n{headers}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    Case { path, answer: Answer::Raw(text.into_bytes()), fault: "" }
}

/// A service worker that answers in place of the server, with an error.
const WORKER: &str = "self.onfetch = (event) => { if (event.request.url.endsWith('/offline')) \
    event.respondWith(new Response('<p>offline</p>', { status: 503, headers: { 'content-type': 'text/html' } })) }; \
    self.oninstall = () => self.skipWaiting(); self.onactivate = (event) => event.waitUntil(clients.claim())";

const LATE: &str = "late is not defined";

fn cases() -> Vec<Case> {
    let install = "navigator.serviceWorker.register('/worker.js').then(() => \
                   navigator.serviceWorker.ready).then(() => fetch('/x'))";
    vec![
        page("/works", 200, "<p>text</p>", ""),
        page("/404", 404, "<p>gone</p>", "status 404"),
        page("/404#place", 404, "<p>gone</p>", "status 404"),
        page("/500", 500, "<p>ouch</p>", "status 500"),
        page("/404-empty", 404, "", "status 404"),
        page("/frames", 200, "<p>text</p><iframe src=/500></iframe>", ""),
        page("/empty", 200, "<div></div>", "the page has no text"),
        redirect("/to-works", "/works", ""),
        redirect("/to-500", "/500", "status 500"),
        raw("/cached", "content-type: text/html\r\ncache-control: max-age=600", "<p>kept</p>"),
        raw("/worker.js", "content-type: text/javascript", WORKER),
        script("/installs-a-worker", install, ""),
        page("/offline", 200, "<p>online</p>", "status 503"),
        // From the cache of the browser, not from the server.
        raw("/cached", "content-type: text/html\r\ncache-control: max-age=600", "<p>kept</p>"),
        script("/throws", "late()", LATE),
        script("/throws-after-300-ms", "setTimeout(() => late(), 300)", LATE),
        script(
            "/rejects-after-300-ms",
            "setTimeout(() => { Promise.reject(new Error('no')) }, 300)",
            "Error: no",
        ),
        script(
            "/throws-after-data",
            "setTimeout(async () => { await fetch('/x'); setTimeout(() => late(), 300) }, 300)",
            LATE,
        ),
        script("/moves-on-to-404", "setTimeout(() => location.replace('/404'), 200)", "status 404"),
        script(
            "/handles-late",
            "const no = Promise.reject(new Error('no')); setTimeout(() => no.catch(() => {}), 100)",
            "",
        ),
        script("/long-polling", "fetch('/silence')", ""),
        script("/polling", "setInterval(() => fetch('/x'), 20)", ""),
        script("/events", "new EventSource('/silence')", ""),
        script("/socket", "new WebSocket('ws://' + location.host + '/silence')", ""),
        page("/x", 200, "{}", ""),
    ]
}

/// Returns pages of an Electron app: files, which have no status.
fn files() -> Vec<Case> {
    vec![
        page("/index.html", 0, "<p>text</p>", ""),
        page("/index.html#place", 0, "<p>text</p>", ""),
        script("/late.html", "setTimeout(() => late(), 300)", LATE),
        page("/missing.html", 404, "", "ERR_FILE_NOT_FOUND"),
    ]
}

/// Opens every page and prints the result. Fails if a result is not the expected one.
pub(super) fn check(endpoint: Endpoint) -> anyhow::Result<()> {
    let (served, files) = (cases(), files());
    let mut wrong = visit_all(endpoint, &serve(&served).parse()?, &served)?;
    wrong.extend(visit_all(endpoint, &write(&files)?.parse()?, &files)?);
    let all: Vec<&Case> = served.iter().chain(&files).collect();
    let faulty = all.iter().filter(|case| !case.fault.is_empty()).count();
    println!("    {} pages, {faulty} of them faulty", all.len());
    ensure!(wrong.is_empty(), "judged wrongly: {}", wrong.join(", "));
    Ok(())
}

/// Serves the pages and returns their address.
fn serve(cases: &[Case]) -> String {
    let plain = cases.iter().filter(|case| !case.path.contains('#'));
    let mut answers: Vec<_> = plain.map(|case| (case.path, case.answer.clone())).collect();
    answers.push(("/silence", Answer::Silence));
    Pages::serve(answers).url("")
}

/// Writes the pages into files and returns the address of their folder.
fn write(cases: &[Case]) -> anyhow::Result<String> {
    let folder = target_folder("conformance/browser/files")?;
    for case in cases.iter().filter(|case| !case.path.contains('#')) {
        if let Answer::Page(0 | 200, text) = &case.answer {
            std::fs::write(folder.join(case.path.trim_start_matches('/')), text)?;
        }
    }
    Ok(format!("file://{}", folder.display()))
}

/// Visits pages and returns the paths of those with an unexpected result.
fn visit_all(
    endpoint: Endpoint,
    base: &BaseUrl,
    cases: &[Case],
) -> anyhow::Result<Vec<&'static str>> {
    let evidence = target_folder("conformance/browser/pages")?;
    let timeouts = Timeouts { settle_limit: Duration::from_secs(4), ..Timeouts::default() };
    let mut wrong = Vec::new();
    for case in cases {
        let page = Page::attach(endpoint, None, timeouts)?;
        let visit = flow::visit(case.path, &page, base, &evidence);
        let said = match (visit.faults.as_slice(), &visit.blocked) {
            ([], None) => "passed".to_owned(),
            ([], Some(why)) => format!("not run: {why}"),
            (faults, _) => format!("failed: {}", faults.join("; ").replace('\n', " ")),
        };
        let is_right = match case.fault {
            "" => visit.has_passed(),
            fault => visit.faults.iter().any(|it| it.contains(fault)),
        };
        let shown: String = said.chars().take(120).collect();
        let status = visit.status.map_or("-".to_owned(), |status| status.to_string());
        println!("    {} ({status}): {}{shown}", case.path, if is_right { "" } else { "WRONG: " });
        if !is_right {
            wrong.push(case.path);
        }
    }
    Ok(wrong)
}
