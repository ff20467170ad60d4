//! Tests of clicks, keys and texts, as the page sees them.

use assay_testkit::pages::Answer;
use serde_json::json;

use super::{BrowserFixture, TIMEOUTS};

#[test]
fn a_clicked_element_receives_a_real_click() {
    let lab = BrowserFixture::new();
    lab.done("click_by_selector", json!("#icon"));
    let outcome = lab.done("click_by_text", json!("Close panel"));
    assert_eq!(outcome, json!({ "clicked": "`#icon` \"×\"", "fitting": 1 }));
    lab.done("click_by_text", json!("Far below"));
    lab.done("click_by_text", json!("in the SHADOW"));
    assert_eq!(lab.log(), json!(["closed", "closed", "far clicked", "shadow clicked"]));
    // A click on a label ticks its box.
    lab.done("click_by_text", json!("Urgent"));
    assert_eq!(lab.eval("document.querySelector('[name=urgent]').checked"), json!(true));
    lab.done("click_by_selector", json!("[name=urgent]"));
    assert_eq!(lab.eval("document.querySelector('[name=urgent]').checked"), json!(false));
}

#[test]
fn a_button_that_comes_late_is_waited_for() {
    let lab = BrowserFixture::new();
    lab.eval("void setTimeout(() => { document.getElementById('late').hidden = false }, 300)");
    lab.done("click_by_text", json!("Ready at last"));
    lab.eval("void setTimeout(() => { document.getElementById('veil').remove() }, 300)");
    lab.done("click_by_text", json!("Publish"));
    assert_eq!(lab.log(), json!(["late clicked"]));
}

#[test]
fn fields_of_all_kinds_are_filled() {
    let lab = BrowserFixture::new();
    let outcome = lab
        .done("fill_input", json!({ "placeholder": "Describe your task", "value": "Add login" }));
    assert_eq!(
        outcome,
        json!({ "filled": "`#what` \"Describe your task\"", "value": "Add login", "as_asked": true })
    );
    let echo = |lab: &BrowserFixture| lab.eval("document.getElementById('echo').textContent");
    assert_eq!(echo(&lab), json!("controlled: Add login (typed)"));
    // The previous content is replaced, and can be cleared.
    lab.done("fill_input", json!({ "selector": "#what", "value": "ü'\"</script>${1}" }));
    assert_eq!(echo(&lab), json!("controlled: ü'\"</script>${1} (typed)"));
    lab.done("fill_input", json!({ "selector": "#what", "value": "" }));
    assert_eq!(echo(&lab), json!("controlled:  (typed)"));

    lab.done("fill_input", json!({ "label": "Name", "value": "one" }));
    lab.done("fill_input", json!({ "placeholder": "notes", "value": "a\nb" }));
    lab.done("fill_input", json!({ "label": "Day", "value": "2026-11-15" }));
    lab.done("fill_input", json!({ "label": "Rich", "value": "new" }));
    let outcome = lab.done("fill_input", json!({ "label": "Secret", "value": "hunter2" }));
    assert_eq!((&outcome["value"], &outcome["as_asked"]), (&json!(null), &json!(true)));
    let held = lab.eval("[...document.querySelectorAll('[name]')].map((it) => it.value).join('|')");
    assert_eq!(held, json!("one|on|hunter2|2026-11-15|a\nb|never"));
    assert_eq!(lab.log(), json!(["day 2026-11-15", "rich new"]));
}

#[test]
fn an_option_is_chosen_by_its_text_or_its_value() {
    let lab = BrowserFixture::new();
    let outcome = lab.done("select_option", json!({ "label": "Kind", "text": "bug" }));
    assert_eq!(outcome, json!({ "selected": "Bug", "value": "b", "in": "`#kind` \"Kind\"" }));
    lab.done("select_option", json!({ "selector": "#kind", "value": "f" }));
    assert_eq!(lab.log(), json!(["kind b", "kind f"]));
}

#[test]
fn keys_reach_the_page_and_its_fields() {
    let lab = BrowserFixture::new();
    lab.done("send_keyboard_shortcut", json!("Ctrl+Shift+K"));
    lab.done("send_keyboard_shortcut", json!({ "text": "Escape" }));
    lab.done("fill_input", json!({ "label": "Name", "value": "old" }));
    lab.done("send_keyboard_shortcut", json!({ "keys": "Ctrl+A" }));
    lab.done("send_keyboard_shortcut", json!("x"));
    lab.done("send_keyboard_shortcut", json!("Shift+y"));
    lab.done("send_keyboard_shortcut", json!("Enter"));
    assert_eq!(lab.log(), json!(["shortcut", "escape", "submitted xY"]));
}

#[test]
fn a_hash_leads_to_another_place_in_the_page() {
    let lab = BrowserFixture::new();
    let outcome = lab.done("navigate_to_hash", json!({ "hash": "#settings" }));
    assert_eq!(outcome, json!({ "url": lab.pages.url("/#settings"), "title": "Tasks" }));
    lab.done("navigate_to_hash", json!("create"));
    assert_eq!(lab.eval("document.getElementById('place').textContent"), json!("#create"));
    lab.done("click_by_text", json!("Settings"));
    assert_eq!(lab.eval("location.hash"), json!("#settings"));
}

#[test]
fn a_click_may_lead_to_another_page() {
    let page = |text: &str| Answer::Page(200, text.to_owned());
    let lab = BrowserFixture::with(
        vec![
            ("/", page("<a href=/second>Next</a>")),
            ("/second", page("<form action=/third><input name=q></form>")),
            ("/third", page("<script>location.replace('/last')</script>")),
            (
                "/last",
                page("<title>Last</title><button onclick='document.title += 1'>More</button>"),
            ),
        ],
        TIMEOUTS,
    );
    lab.done("click_by_text", json!("Next"));
    lab.done("fill_input", json!({ "selector": "[name=q]", "value": "x" }));
    lab.done("send_keyboard_shortcut", json!("Enter"));
    lab.done("click_by_text", json!("More"));
    assert_eq!(lab.eval("document.title"), json!("Last1"));
}
