//! Tests of the HTTP status, for documents from various sources.

use assay_services::browser::Page;
use assay_testkit::pages::Answer;

use super::{APP, BrowserFixture, TIMEOUTS};

const WORKER: &str = "self.onfetch = (event) => { if (event.request.url.endsWith('/offline')) \
    event.respondWith(new Response('<p>offline</p>', { status: 503, headers: { 'content-type': 'text/html' } })) }; \
    self.oninstall = () => self.skipWaiting(); self.onactivate = (event) => event.waitUntil(clients.claim())";

fn raw(headers: &str, body: &str) -> Answer {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 200 OK\r\n{headers}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    Answer::Raw(text.into_bytes())
}

fn lab() -> BrowserFixture {
    let page = |status, text: &str| Answer::Page(status, text.to_owned());
    let frames = "<p>frames</p><iframe src=/500></iframe><iframe src=/nowhere></iframe>";
    BrowserFixture::with(
        vec![
            ("/", page(200, APP)),
            ("/500", page(500, "<p>ouch</p>")),
            ("/frames", page(200, frames)),
            ("/broken-frames", page(404, frames)),
            ("/to-500", Answer::Redirect("/500".to_owned())),
            ("/to-to-500", Answer::Redirect("/to-500".to_owned())),
            ("/to-ok", Answer::Redirect("/".to_owned())),
            ("/empty-404", page(404, "")),
            (
                "/cached",
                raw("content-type: text/html\r\ncache-control: max-age=600", "<p>kept</p>"),
            ),
            ("/worker.js", raw("content-type: text/javascript", WORKER)),
            ("/json", page(404, "{}")),
        ],
        TIMEOUTS,
    )
}

#[test]
fn every_document_has_the_http_status_of_its_response() {
    let lab = lab();
    let register = "(async () => { await navigator.serviceWorker.register('/worker.js'); \
                    await navigator.serviceWorker.ready })()";
    lab.eval(register);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("index.html");
    std::fs::write(&file, "<p>file</p>").unwrap();
    let url = |path: &str| lab.pages.url(path);
    for (address, expected) in [
        (url("/"), Some(200)),
        (url("/nowhere"), Some(404)),
        (url("/nowhere#place"), Some(404)),
        (url("/500"), Some(500)),
        (url("/500#a"), Some(500)),
        (url("/500#b"), Some(500)),
        (url("/frames"), Some(200)),
        (url("/broken-frames"), Some(404)),
        (url("/to-to-500"), Some(500)),
        (url("/to-ok"), Some(200)),
        (url("/cached"), Some(200)),
        (url("/json"), Some(404)),
        (url("/cached"), Some(200)),
        (url("/offline"), Some(503)),
        (format!("file://{}", file.display()), None),
        ("data:text/html,<p>data".to_owned(), None),
        ("about:blank".to_owned(), None),
    ] {
        let opened = lab.page.open(&address).unwrap();
        assert_eq!(opened.status, expected, "{address}");
    }
    let error = lab.page.open(&url("/empty-404")).unwrap_err();
    assert!(error.to_string().contains("the server answers with status 404"), "{error}");
    assert!(!error.is_environment_error());
}

#[test]
fn a_document_loaded_before_attaching_has_its_status_too() {
    let lab = lab();
    lab.page.open(&lab.pages.url("/500")).unwrap();
    let other = Page::attach(lab.endpoint(), None, TIMEOUTS).unwrap();
    let opened = other.open(&lab.pages.url("/500#place")).unwrap();
    assert_eq!((opened.status, opened.url), (Some(500), lab.pages.url("/500#place")));
}
