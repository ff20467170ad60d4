//! Tests of commands that fail, and of their errors.

use std::time::Duration;

use assay_services::browser::{GoneReason, Page, PageError, Timeouts};
use assay_testkit::pages::Answer;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{APP, BrowserFixture, TIMEOUTS};

#[test]
fn an_unusable_element_is_reported_with_the_reason() {
    let lab = BrowserFixture::with_short_timeouts();
    let check = |name: &str, args: Value, expect: Expect| {
        expect.assert_eq(&lab.fault(name, args));
    };
    check(
        "click_by_text",
        json!("Create Spec"),
        expect![[
            r#"no element with the text `Create Spec`; most similar: "Create New Spec", "Create", "Secret", "In the shadow""#
        ]],
    );
    check(
        "click_by_selector",
        json!("#vail"),
        expect![[
            r#"no element with the selector `#vail`; most similar: `#veil`, `#task` "Name Kind Feature Bug Epic Urgent Secret Day Create New Spec", `#place` "home", `#what` "Describe your task""#
        ]],
    );
    check("click_by_selector", json!("a[["), expect!["invalid CSS selector `a[[`"]);
    check(
        "click_by_text",
        json!("Publish"),
        expect![[r#"`#under` "Publish" is covered by `#veil`"#]],
    );
    check("click_by_text", json!("Archive"), expect![[r#"`#off` "Archive" is disabled"#]]);
    check(
        "click_by_text",
        json!("Delete all"),
        expect![[r#"`#gone` "Delete all" is not visible"#]],
    );
    check(
        "fill_input",
        json!({ "label": "Nme", "value": "x" }),
        expect![[
            r#"no element with the label `Nme`; most similar: `input[name="name"]` "Name", `#kind` "Kind", `input[name="urgent"]` "Urgent", `input[name="secret"]` "Secret""#
        ]],
    );
    check(
        "fill_input",
        json!({ "selector": "[name=urgent]", "value": "x" }),
        expect![[r#"`input[name="urgent"]` "Urgent" is clicked, not filled"#]],
    );
    check(
        "fill_input",
        json!({ "selector": "[name=fixed]", "value": "x" }),
        expect![[r#"`input[name="fixed"]` is read-only"#]],
    );
    check(
        "fill_input",
        json!({ "selector": "#kind", "value": "x" }),
        expect![[r#"`#kind` "Kind" is a list: use `select_option`"#]],
    );
    check(
        "fill_input",
        json!({ "selector": "h1", "value": "x" }),
        expect![[r#"`html > body > h1` "Tasks" is not a field"#]],
    );
    check(
        "select_option",
        json!({ "selector": "#kind", "text": "Featur" }),
        expect![[
            r#"`#kind` "Kind" has no option `Featur`; most similar: "Feature", "Bug", "Epic""#
        ]],
    );
    check(
        "select_option",
        json!({ "selector": "#kind", "text": "Epic" }),
        expect![[r#"the option "Epic" of `#kind` "Kind" is disabled"#]],
    );
    check(
        "select_option",
        json!({ "selector": "h1", "text": "x" }),
        expect![[r#"`html > body > h1` "Tasks" is not a list with options"#]],
    );
    check("verify_form_state", json!({ "selector": "[[" }), expect!["invalid CSS selector `[[`"]);
    check("debug_elements", json!({ "selector": "[[" }), expect!["invalid CSS selector `[[`"]);
    // None of these commands had an effect.
    assert_eq!(lab.log(), json!([]));
}

#[test]
fn a_moving_element_is_not_clicked() {
    let lab = BrowserFixture::with_short_timeouts();
    lab.eval(
        "let x = 0; const icon = document.getElementById('icon'); icon.style.position = 'relative';
         void setInterval(() => { x = (x + 1) % 300; icon.style.left = x + 'px' }, 1)",
    );
    let fault = lab.fault("click_by_selector", json!("#icon"));
    assert_eq!(fault, "`#icon` \"×\" does not stop moving");
}

#[test]
fn code_is_not_run_unless_eval_is_allowed() {
    let lab = BrowserFixture::new();
    let careful = Page::attach(lab.endpoint(), None, TIMEOUTS).unwrap();
    let error = careful.evaluate("document.title = 'x'").unwrap_err();
    assert_eq!(error.to_string(), "`eval` is not allowed here");
    assert_eq!(lab.eval("document.title"), json!("Tasks"));
}

#[test]
fn a_page_that_is_busy_times_out_and_is_usable_again() {
    let lab = BrowserFixture::new();
    let hurried = Timeouts { answer: Duration::from_millis(400), ..TIMEOUTS };
    let page = Page::attach(lab.endpoint(), None, hurried).unwrap().allowing_eval();
    let fault = |code: &str| page.evaluate(code).unwrap_err().to_string();
    let late = "the page did not answer within 0.4 s while running code";
    assert_eq!(fault("await new Promise(() => {})"), late);
    assert_eq!(fault("new Promise(() => {})"), late);
    // DevTools end code that runs too long, unless the code waited first.
    let busy = "const end = performance.now() + 1500; while (performance.now() < end) {}";
    assert_eq!(fault(&format!("await new Promise((done) => setTimeout(done)); {busy}")), late);
    assert_eq!(lab.eval("1 + 1"), json!(2));
}

#[test]
fn a_server_that_does_not_answer_times_out() {
    let answers = vec![
        ("/", Answer::Page(200, APP.to_owned())),
        ("/slow", Answer::Silence),
        ("/half", Answer::Page(200, "<p>half</p><img src=/slow>".to_owned())),
    ];
    let lab = BrowserFixture::with(answers, TIMEOUTS);
    let hurried = Timeouts { load: Duration::from_millis(600), ..TIMEOUTS };
    let page = Page::attach(lab.endpoint(), None, hurried).unwrap();
    for path in ["/slow", "/half"] {
        let error = page.open(&lab.pages.url(path)).unwrap_err();
        assert_eq!(error.to_string(), "the page did not answer within 0.6 s while loading");
    }
    let error = lab.page.open("http://127.0.0.1:1/").unwrap_err().to_string();
    assert!(error.starts_with("cannot open `http://127.0.0.1:1/`: net::ERR_"), "{error}");
}

#[test]
fn a_crashed_page_is_reported_as_gone() {
    let mut lab = BrowserFixture::new();
    // Chromium may report that it gave up opening this page before it crashes.
    lab.page.open("chrome://crash").unwrap_err();
    assert_eq!(lab.fault("click_by_text", json!("Save")), "the page is gone: crashed");

    assert_eq!(lab.page.gone_reason(), Some(GoneReason::Crashed));
    lab.chromium.kill();
    let error = lab.endpoint().windows().unwrap_err().to_string();
    assert!(error.starts_with("cannot connect to"), "{error}");
}

#[test]
fn a_closed_window_is_reported_as_gone() {
    let lab = BrowserFixture::new();
    let id = lab.page.window().id.clone();
    lab.eval("void open('/', '_blank')");
    let other = lab.endpoint().windows().unwrap().into_iter().find(|window| window.id != id);
    let other = Page::attach(lab.endpoint(), other.map(|it| it.id).as_deref(), TIMEOUTS).unwrap();
    let other = other.allowing_eval();
    let closed = other.evaluate("window.close(); await new Promise(() => {})").unwrap_err();
    assert!(matches!(closed, PageError::Gone(GoneReason::Closed)), "{closed}");
    assert_eq!(lab.eval("1"), json!(1));
    let gone = Page::attach(lab.endpoint(), Some(&other.window().id), TIMEOUTS).err().unwrap();
    assert!(gone.to_string().starts_with("unknown window `"), "{gone}");
}
