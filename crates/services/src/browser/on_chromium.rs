//! Tests of the scripts in a Chromium without the features that are newer than Chrome 83.
//!
//! Real old browsers are tested by `cargo xtask conformance browser`; here, the features that they
//! lack are removed from the world that the scripts run in.

use std::time::Duration;

use assay_testenv::chromium::PrivateChromium;
use assay_testkit::pages::{Answer, Pages};
use serde_json::{Value, json};

use super::page::ISOLATED_WORLD;
use super::{Endpoint, Page, PageCommand, PageError, Timeouts};

const APP: &str = include_str!("../../tests/it/pages/app.html");

/// Removes features that Chrome got after version 83 and that a script might use.
const OLDER: &str = "
    const drop = (of, names) => { for (const name of names) delete of[name] };
    drop(Element.prototype, ['checkVisibility', 'replaceChildren', 'getHTML', 'setHTML', 'ariaLabel']);
    drop(PerformanceNavigationTiming.prototype, ['responseStatus']);
    drop(PerformanceResourceTiming.prototype, ['responseStatus']);
    drop(Array.prototype, ['at', 'findLast', 'findLastIndex', 'toSorted', 'toReversed', 'toSpliced', 'with']);
    drop(String.prototype, ['at', 'replaceAll', 'isWellFormed', 'toWellFormed']);
    drop(Object, ['hasOwn', 'groupBy', 'fromEntriesAsync']);
    drop(Promise, ['any', 'withResolvers', 'try']);
    drop(Set.prototype, ['union', 'intersection', 'difference', 'isSubsetOf']);
    drop(globalThis, ['structuredClone', 'WeakRef', 'AggregateError', 'scheduler', 'reportError', 'Iterator']);
    drop(CSS, ['registerProperty', 'highlights']);
";

const TIMEOUTS: Timeouts = Timeouts {
    element: Duration::from_secs(60),
    answer: Duration::from_secs(90),
    load: Duration::from_secs(90),
    settle: Duration::from_millis(20),
    settle_limit: Duration::from_secs(60),
};

/// Attaches to a browser whose scripts find only the features of Chrome 83.
fn attach(chromium: &PrivateChromium, source: &str) -> Page {
    let page = Page::attach(Endpoint::local(chromium.port()), None, TIMEOUTS).unwrap();
    let params = json!({ "source": source, "worldName": ISOLATED_WORLD });
    page.call("Page.addScriptToEvaluateOnNewDocument", &params, page.request("")).unwrap();
    page.allowing_eval()
}

fn perform(page: &Page, name: &str, args: Value) -> Result<Value, PageError> {
    let command: PageCommand = serde_json::from_value(json!({ name: args })).unwrap();
    page.perform(&command)
}

#[test]
fn every_command_works_without_anything_newer_than_chrome_83() {
    let pages = Pages::serve(vec![
        ("/", Answer::Page(200, APP.to_owned())),
        ("/down", Answer::Page(500, "<p>sorry</p>".to_owned())),
    ]);
    let chromium = PrivateChromium::start("about:blank");
    let page = attach(&chromium, OLDER);
    page.open(&pages.url("/")).unwrap();
    let is_older = "function () { return Element.prototype.checkVisibility === undefined }";
    assert!(page.run_script::<bool>(is_older, &json!({}), page.request("")).unwrap());
    for (name, args) in [
        ("click_by_text", json!("Create")),
        ("click_by_selector", json!("#icon")),
        ("fill_input", json!({ "placeholder": "Describe your task", "value": "x" })),
        ("fill_input", json!({ "label": "Name", "value": "one" })),
        ("fill_input", json!({ "label": "Day", "value": "2026-01-02" })),
        ("select_option", json!({ "label": "Kind", "text": "Bug" })),
        ("navigate_to_hash", json!("#settings")),
        ("send_keyboard_shortcut", json!("Escape")),
        ("get_page_structure", json!({})),
        ("debug_elements", json!({})),
        ("verify_form_state", json!({})),
        ("eval", json!("({ a: 1 })")),
    ] {
        perform(&page, name, args).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    // Hidden elements are recognised without the newer method, too.
    let hidden = Timeouts { element: Duration::ZERO, ..TIMEOUTS };
    let mut page = page;
    page.timeouts = hidden;
    for selector in ["#gone", "#hidden-by-style"] {
        let style = "document.body.insertAdjacentHTML('beforeend', \
                     '<button id=hidden-by-style style=\"visibility: hidden\">H</button>')";
        perform(&page, "eval", json!(style)).unwrap();
        let error = perform(&page, "click_by_selector", json!(selector)).unwrap_err();
        assert!(matches!(error, PageError::Hidden { .. }), "{selector}: {error}");
    }
    let opened = page.open(&pages.url("/down")).unwrap();
    assert_eq!(opened.status, Some(500));
    // A document from before the page was attached to is loaded again for its status.
    let other = attach(&chromium, OLDER);
    assert_eq!(other.open(&pages.url("/down#place")).unwrap().status, Some(500));
}

#[test]
fn a_failing_assay_script_is_reported_as_a_bug_in_assay() {
    let pages = Pages::serve(vec![("/", Answer::Page(200, APP.to_owned()))]);
    let chromium = PrivateChromium::start("about:blank");
    let page =
        attach(&chromium, "delete Element.prototype.matches; delete Array.prototype.flatMap");
    page.open(&pages.url("/")).unwrap();
    for (name, args) in [
        ("click_by_text", json!("Create")),
        ("click_by_selector", json!("#icon")),
        ("fill_input", json!({ "label": "Name", "value": "one" })),
        ("select_option", json!({ "label": "Kind", "text": "Bug" })),
        ("get_page_structure", json!({})),
        ("debug_elements", json!({})),
        ("verify_form_state", json!({})),
    ] {
        let error = perform(&page, name, args).unwrap_err();
        assert!(matches!(error, PageError::ScriptFailed { .. }), "{name}: {error}");
        assert!(error.is_environment_error(), "{name}: {error}");
        assert!(error.to_string().contains("this is a bug in assay, not in the app"), "{error}");
    }
}
