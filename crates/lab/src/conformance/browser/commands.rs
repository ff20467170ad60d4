//! Every tool of the server `electron`, and every command of `send_command_to_electron`.

use std::path::Path;

use anyhow::ensure;
use serde_json::{Value, json};

use super::Browser;
use super::client::Client;

/// The number of steps of [`check`].
pub(super) const COUNT: usize = 17;

/// A step: a tool or a command with its arguments, and the check of its answer.
struct Step {
    name: &'static str,
    args: Value,
    is_right: fn(&Value) -> bool,
    /// JavaScript that must be true after the step; empty for no check.
    effect: &'static str,
}

fn step(
    name: &'static str,
    args: Value,
    is_right: fn(&Value) -> bool,
    effect: &'static str,
) -> Step {
    Step { name, args, is_right, effect }
}

/// Returns the steps in the order in which a user takes them.
fn steps(shortcut: &str, since: &Value) -> [Step; COUNT] {
    [
        step("take_screenshot", json!({ "name": "start" }), is_picture, ""),
        step("get_electron_window_info", json!({}), is_window, ""),
        step("get_page_structure", json!({}), is_structure, ""),
        step("debug_elements", json!({}), are_elements, ""),
        step("verify_form_state", json!({}), |it| it["valid"] == false, ""),
        step(
            "fill_input",
            json!({ "placeholder": "Describe your task", "value": "Add login feature" }),
            |it| it["as_asked"] == true,
            "last() === 'what Add login feature'",
        ),
        step(
            "fill_input",
            json!({ "selector": "#what", "value": "Add logout" }),
            |it| it["value"] == "Add logout",
            "last() === 'what Add logout'",
        ),
        step(
            "send_keyboard_shortcut",
            json!({ "keys": "Enter" }),
            |it| it["pressed"] == "Enter",
            "last() === 'submitted'",
        ),
        step(
            "select_option",
            json!({ "label": "Kind", "text": "Bug" }),
            |it| it["value"] == "b",
            "last() === 'kind b'",
        ),
        step(
            "select_option",
            json!({ "selector": "#kind", "value": "f" }),
            |it| it["selected"] == "Feature",
            "last() === 'kind f'",
        ),
        step("verify_form_state", json!({ "selector": "#task" }), is_valid, ""),
        step(
            "click_by_text",
            json!({ "text": "Create New Spec" }),
            |it| it["fitting"] == 1,
            "last() === 'submitted'",
        ),
        step(
            "click_by_selector",
            json!({ "selector": "#close" }),
            |it| it["fitting"] == 1,
            "last() === 'closed'",
        ),
        step(
            "navigate_to_hash",
            json!({ "hash": "#settings" }),
            |it| it["url"].as_str().is_some_and(|url| url.ends_with("#settings")),
            "document.getElementById('place').textContent === '#settings'",
        ),
        step(
            "send_keyboard_shortcut",
            json!({ "keys": shortcut }),
            |it| it["pressed"].as_str().is_some_and(|keys| keys.starts_with("Ctrl+")),
            "last() === 'shortcut'",
        ),
        step("eval", json!({ "code": "({ title: document.title })" }), is_title, ""),
        step("read_electron_logs", json!({ "errors_only": true, "since": since }), is_log, ""),
    ]
}

fn is_picture(told: &Value) -> bool {
    let size = |key: &str| told[key].as_u64().is_some_and(|size| size > 300);
    let file = told["file"].as_str().unwrap_or_default();
    let bytes = std::fs::read(Path::new(file)).unwrap_or_default();
    size("width") && size("height") && told["shown"] == true && bytes.starts_with(b"\x89PNG")
}

fn is_window(told: &Value) -> bool {
    let window = &told["windows"][0];
    let is_it = window["title"] == "Specs" && window["in_use"] == true;
    is_it && told["supported"] == true && told["left_out"] == 0
}

fn is_structure(told: &Value) -> bool {
    let texts = |key: &str| -> Vec<Value> {
        let items = told[key]["items"].as_array().cloned().unwrap_or_default();
        items.into_iter().map(|mut item| item["text"].take()).collect()
    };
    texts("headings") == ["Specs"]
        && texts("buttons") == ["Create New Spec", "×"]
        && told["lists"]["items"][0]["options"] == json!(["Feature", "Bug"])
        && told["fields"]["items"][0]["placeholder"] == "Describe your task"
}

fn are_elements(told: &Value) -> bool {
    let elements = told["elements"].as_array().cloned().unwrap_or_default();
    let is_visible = |selector: &str| {
        let element = elements.iter().find(|element| element["selector"] == selector);
        element.map(|element| element["visible"].clone())
    };
    is_visible("#close") == Some(json!(true)) && is_visible("#hidden") == Some(json!(false))
}

fn is_valid(told: &Value) -> bool {
    told["valid"] == true && told["fields"].as_array().is_some_and(|fields| fields.len() == 2)
}

fn is_title(told: &Value) -> bool {
    told["value"] == json!({ "title": "Specs" })
}

fn is_log(told: &Value) -> bool {
    told["entries"].as_array().is_some_and(|it| it.len() == 2)
        && told["entries"][0]["text"] == "out of stock"
}

/// Runs all steps on a page and prints each. Fails unless exactly `expected` of them fail.
pub(super) fn check(browser: &Browser<'_>, url: &str, expected: usize) -> anyhow::Result<()> {
    let mut client = Client::start(browser.endpoint.port())?;
    // The page is reloaded, so that earlier steps have no effect.
    let open = format!("void location.replace({})", json!(url));
    client.command("eval", &json!({ "code": open }))?;
    client.command("eval", &json!({ "code": LOADED }))?;
    // A browser may repeat the log of documents that the window has left.
    let logged = client.call("read_electron_logs", &json!({}))?;
    let since = &logged["structuredContent"]["next"];
    let mut wrong = Vec::new();
    for step in steps(browser.shortcut, since) {
        let arguments = step.args.to_string();
        match take(&mut client, &step) {
            Ok(told) => println!("    {} {arguments}: {told}", step.name),
            Err(error) => {
                println!("    {} {arguments}: WRONG: {error:#}", step.name);
                wrong.push(step.name);
            }
        }
    }
    println!("    {} of {COUNT} right at {url}", COUNT - wrong.len());
    ensure!(wrong.len() == expected, "{} went wrong: {}", wrong.len(), wrong.join(", "));
    Ok(())
}

/// JavaScript that waits until the page is loaded.
const LOADED: &str = "new Promise((done) => document.readyState === 'complete' ? done() : \
                      addEventListener('load', done))";

fn take(client: &mut Client, step: &Step) -> anyhow::Result<String> {
    let told = match step.name {
        "take_screenshot" | "get_electron_window_info" | "read_electron_logs" => {
            client.call(step.name, &step.args)?["structuredContent"].take()
        }
        command => client.command(command, &step.args)?,
    };
    let mut shown: String = told.to_string().chars().take(100).collect();
    shown.push_str(if shown.len() < told.to_string().len() { "…" } else { "" });
    ensure!((step.is_right)(&told), "{shown}");
    if !step.effect.is_empty() {
        let code = format!(
            "(() => {{ const last = () => (document.querySelector('#log li:last-child') || \
             {{}}).textContent; return {} }})()",
            step.effect
        );
        let effect = client.command("eval", &json!({ "code": code }))?;
        ensure!(effect["value"] == true, "{shown}, and the page did not notice");
    }
    Ok(shown)
}
