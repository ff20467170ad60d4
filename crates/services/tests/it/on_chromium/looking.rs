//! Tests of the information that is read from a page.

use assay_services::browser::{ConsoleEntry, EntryKind};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::BrowserFixture;

fn check(value: &Value, expect: Expect) {
    expect.assert_eq(&format!("{value:#}"));
}

#[test]
fn the_page_structure_lists_buttons_lists_and_fields() {
    let lab = BrowserFixture::new();
    let mut outcome = lab.done("get_page_structure", json!({}));
    assert_eq!(outcome["url"], json!(lab.pages.url("/")));
    assert_eq!(outcome["title"], json!("Tasks"));
    let text = outcome["text"].as_str().unwrap();
    assert!(text.starts_with("Tasks Settings Create home Name"), "{text}");
    check(
        &outcome["buttons"]["items"].take(),
        expect![[r##"
        [
          {
            "text": "Create New Spec",
            "selector": "#task > button",
            "disabled": false
          },
          {
            "text": "Archive",
            "selector": "#off",
            "disabled": true
          },
          {
            "text": "×",
            "selector": "#icon",
            "disabled": false
          },
          {
            "text": "Publish",
            "selector": "#under",
            "disabled": false
          },
          {
            "text": "Far below",
            "selector": "#below > button",
            "disabled": false
          },
          {
            "text": "In the shadow",
            "selector": "button",
            "disabled": false
          }
        ]"##]],
    );
    check(
        &outcome["lists"]["items"].take(),
        expect![[r##"
        [
          {
            "selector": "#kind",
            "label": "Kind",
            "options": [
              "Feature",
              "Bug",
              "Epic"
            ]
          }
        ]"##]],
    );
    check(
        &outcome["fields"]["items"][1].take(),
        expect![[r##"
        {
          "selector": "#what",
          "type": "text",
          "label": "",
          "placeholder": "Describe your task",
          "value": "",
          "checked": false,
          "required": false,
          "disabled": false
        }"##]],
    );
}

#[test]
fn elements_are_listed_with_the_reason_they_are_unusable() {
    let lab = BrowserFixture::new();
    let outcome = lab.done("debug_elements", json!({ "selector": ".covered button, #gone, #off" }));
    let about = |it: &Value| {
        format!(
            "{} visible {} disabled {} covered by {}",
            it["selector"], it["visible"], it["disabled"], it["covered_by"]
        )
    };
    let lines: Vec<String> = outcome["elements"].as_array().unwrap().iter().map(about).collect();
    expect![[r##"
        "#off" visible true disabled true covered by null
        "#gone" visible false disabled false covered by null
        "#under" visible true disabled false covered by "`#veil`""##]]
    .assert_eq(&lines.join("\n"));
    assert!(lab.done("debug_elements", json!({}))["elements"].as_array().unwrap().len() > 10);
}

#[test]
fn the_form_state_matches_the_validation_of_the_browser() {
    let lab = BrowserFixture::new();
    let outcome = lab.done("verify_form_state", json!({ "selector": "#task" }));
    assert_eq!(outcome["valid"], json!(false));
    check(
        &outcome["invalid"],
        expect![[r#"
        [
          {
            "selector": "input[name=\"name\"]",
            "label": "Name",
            "message": "Please fill out this field."
          }
        ]"#]],
    );
    lab.done("fill_input", json!({ "label": "Name", "value": "one" }));
    lab.done("fill_input", json!({ "label": "Secret", "value": "hunter2" }));
    let outcome = lab.done("verify_form_state", json!({}));
    assert_eq!((&outcome["valid"], &outcome["invalid"]), (&json!(true), &json!([])));
    assert!(!outcome.to_string().contains("hunter2"), "{outcome}");
}

#[test]
fn eval_returns_values_as_json_and_reports_thrown_errors() {
    let lab = BrowserFixture::new();
    assert_eq!(lab.eval("({ a: [1, 'ü', null, true] })"), json!({ "a": [1, "ü", null, true] }));
    assert_eq!(lab.eval("await Promise.resolve(7)"), json!(7));
    assert_eq!(lab.eval("Promise.resolve(7)"), json!(7));
    assert_eq!(lab.eval("(async () => ({ a: [1] }))()"), json!({ "a": [1] }));
    assert_eq!(lab.fault("eval", json!("Promise.reject('no')")), "the code threw: no");
    assert_eq!(lab.eval("undefined"), json!(null));
    assert_eq!(lab.eval("0 / 0"), json!("NaN"));
    assert_eq!(lab.eval("document.querySelector('h1')"), json!("h1"));
    let fault = lab.fault("eval", json!("null.x"));
    assert!(fault.starts_with("the code threw: TypeError: Cannot read"), "{fault}");
    assert_eq!(lab.fault("eval", json!("throw 'plain'")), "the code threw: plain");
    let fault = lab.fault("eval", json!("let a = ;"));
    assert!(fault.starts_with("the code threw: SyntaxError"), "{fault}");
}

#[test]
fn the_console_and_uncaught_errors_are_kept() {
    let lab = BrowserFixture::new();
    lab.eval("console.error('bad', 1); console.warn('careful'); console.debug('x')");
    lab.eval("void setTimeout(() => { throw new Error('nobody caught this') })");
    lab.eval("void Promise.reject(new Error('nor this'))");
    // Timers run in the order in which they were set.
    lab.eval("await new Promise((done) => setTimeout(done, 20))");
    lab.eval("await fetch('/missing.json').then(() => 0)");
    let mut said = lab.page.console_since(0);
    // The browser logs its own advice, which changes with its version.
    said.retain(|entry| !entry.text.starts_with("[DOM]"));
    let port = lab.pages.url("");
    let line = |entry: &ConsoleEntry| {
        let text = entry.text.lines().next().unwrap_or_default();
        format!("{} {text}", entry.kind)
    };
    let outcome: Vec<String> = said.iter().map(line).collect();
    expect![[r#"
        log started Object 7
        error bad 1
        warning careful
        debug x
        uncaught Error: nobody caught this
        uncaught Error: nor this
        error Failed to load resource: the server responded with a status of 404 (Status)"#]]
    .assert_eq(&outcome.join("\n"));
    assert_eq!(said[0].place.as_deref(), Some(format!("{port}/:73").as_str()));
    let last = lab.page.next_entry() - 1;
    assert_eq!(lab.page.console_since(last).len(), 1);
    assert!(said.iter().any(|entry| entry.kind == EntryKind::Uncaught));
}

#[test]
fn a_screenshot_shows_the_page() {
    let lab = BrowserFixture::new();
    let picture = lab.page.screenshot().unwrap();
    let (width, height) = picture.size();
    assert!(width >= 500 && height >= 300, "{width}x{height}");
    // A page of one colour compresses to far less.
    assert!(picture.png().len() > 8_000, "{} bytes", picture.png().len());
    lab.eval("document.body.replaceChildren()");
    let empty = lab.page.screenshot().unwrap();
    assert!(empty.png().len() < picture.png().len() / 2, "{} bytes", empty.png().len());
}

#[test]
fn windows_are_listed() {
    let lab = BrowserFixture::new();
    let product = lab.endpoint().product().unwrap();
    assert!(product.browser.contains("Chrome/"), "{product:?}");
    let windows = lab.endpoint().windows().unwrap();
    let shown: Vec<(&str, &str)> =
        windows.iter().map(|window| (window.kind.as_str(), window.title.as_str())).collect();
    assert_eq!(shown, [("page", "Tasks")]);
    assert_eq!(windows[0].url, lab.pages.url("/"));
}
