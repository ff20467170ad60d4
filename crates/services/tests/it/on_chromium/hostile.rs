//! Tests with hostile pages.

use std::time::Duration;

use assay_services::browser::{EntryKind, Timeouts};
use assay_testkit::pages::Answer;
use serde_json::json;

use super::{BrowserFixture, TIMEOUTS};

fn lab(body: &str) -> BrowserFixture {
    BrowserFixture::with(vec![("/", Answer::Page(200, body.to_owned()))], TIMEOUTS)
}

#[test]
fn a_page_that_overrides_dom_prototypes_is_read_correctly() {
    let lab = lab(
        "<title>t</title><form id=f><input name=getAttribute><input name=children><input name=contains>
         <input name=parentNode><input name=matches value=v required></form>
         <img name=querySelectorAll><img name=body><img name=title><img name=host><img name=createTreeWalker>
         <img name=elementFromPoint><button id=b>Press me</button><p>words</p>
         <script>
           const lie = () => { throw new Error('lie') };
           for (const of of [Element, Node, Document, HTMLElement, HTMLInputElement, Array, String, Object, Function, Promise]) {
             for (const name of Object.getOwnPropertyNames(of.prototype)) {
               if (name === 'constructor') continue;
               try { Object.defineProperty(of.prototype, name, { get: lie, set: lie }) } catch {}
             }
           }
           JSON.stringify = () => '\"lie\"'; Array.from = lie; Object.getOwnPropertyDescriptor = lie;
         </script>",
    );
    lab.done("click_by_text", json!("Press me"));
    let outcome = lab.done("get_page_structure", json!({}));
    assert_eq!(outcome["title"], json!("t"));
    assert_eq!(outcome["buttons"]["items"][0]["text"], json!("Press me"));
    assert_eq!(outcome["fields"]["items"].as_array().unwrap().len(), 5);
    lab.done("fill_input", json!({ "selector": "[name=matches]", "value": "" }));
    assert_eq!(lab.done("verify_form_state", json!({ "selector": "form" }))["valid"], json!(false));
    lab.done("debug_elements", json!({}));
    lab.page.screenshot().unwrap();
}

#[test]
fn invisible_characters_are_escaped() {
    let lab = lab(
        "<title>a\u{1b}[31m\u{202e}b</title><button>x\u{1b}\u{200b}y</button><script>console.log('\\u0007\\u202e')</script>",
    );
    let outcome = lab.done("get_page_structure", json!({}));
    // Chromium itself removes the control characters of a title.
    assert_eq!(outcome["title"], json!("a [31m\\u{202e}b"));
    assert_eq!(outcome["buttons"]["items"][0]["text"], json!("x\\u{1b}\\u{200b}y"));
    assert_eq!(lab.endpoint().windows().unwrap()[0].title, "a [31m\\u{202e}b");
    assert_eq!(lab.page.console_since(0)[0].text, "\\u{7}\\u{202e}");
}

#[test]
fn oversized_page_content_is_truncated_or_refused() {
    let lab = lab(
        "<button>Go</button><button id=big></button><div id=all></div><script>
           document.getElementById('big').textContent = 'big '.repeat(2e5);
           for (let i = 0; i < 20000; i++) document.getElementById('all').append(Object.assign(document.createElement('a'), { href: '#' + i, textContent: 'link ' + i }));
           for (let i = 0; i < 5000; i++) console.log('line ' + i, 'x'.repeat(10000));
         </script>",
    );
    let outcome = lab.done("get_page_structure", json!({}));
    assert!(outcome.to_string().len() < 60_000, "{}", outcome.to_string().len());
    assert!(
        outcome["links"]["left_out"].as_u64().unwrap() > 19_000,
        "{}",
        outcome["links"]["left_out"]
    );
    lab.done("click_by_text", json!("Go"));
    lab.done("click_by_text", json!("link 49"));
    let said = lab.page.console_since(0);
    assert_eq!((said.len(), lab.page.next_entry()), (1000, 5000));
    assert!(said.iter().all(|entry| entry.text.len() < 3000));
    let fault = lab.fault("eval", json!("({ a: 'x'.repeat(1e6) })"));
    assert_eq!(fault, "the value is too big: more than 256 kB");
    assert_eq!(lab.fault("eval", json!("'x'.repeat(1e6)")), fault);
    let deep = "let it = 1; for (let i = 0; i < 900; i++) it = [it]; it";
    assert_eq!(lab.fault("eval", json!(deep)), fault);
    let flood = lab.fault("eval", json!("'x'.repeat(1e8)"));
    assert_eq!(flood, "the page is gone: more than 64 MB in one message");
}

#[test]
fn dialogs_are_answered() {
    let lab = lab(
        "<button onclick=\"alert('hello'); document.title = confirm('sure?') + '-' + prompt('name?')\">Ask</button>\
         <button onclick=\"void setInterval(() => alert('again'), 1)\">Nag</button>",
    );
    lab.done("click_by_text", json!("Ask"));
    assert_eq!(lab.eval("document.title"), json!("false-null"));
    let said: Vec<String> = lab.page.console_since(0).iter().map(ToString::to_string).collect();
    assert_eq!(said, ["dialog: alert: hello", "dialog: confirm: sure?", "dialog: prompt: name?"]);
    lab.done("click_by_text", json!("Nag"));
    let outcome = lab.done("get_page_structure", json!({}));
    assert_eq!(outcome["buttons"]["items"][0]["text"], json!("Ask"));
    assert!(lab.page.console_since(0).iter().all(|entry| entry.kind == EntryKind::Dialog));
}

#[test]
fn a_timeout_reports_endless_dialogs() {
    let timeouts = Timeouts { answer: Duration::from_secs(3), ..TIMEOUTS };
    let page = "<button onclick=\"for (;;) alert('forever')\">Hang</button>";
    let lab = BrowserFixture::with(vec![("/", Answer::Page(200, page.to_owned()))], timeouts);
    // A dialog may end the click that opened it, or block it.
    if let Err(fault) = lab.outcome("click_by_text", json!("Hang")) {
        assert!(fault.starts_with("the page did not answer within 3 s while clicking"), "{fault}");
    }
    let fault = lab.fault("eval", json!("1"));
    let expected = "the page did not answer within 3 s while running code; the page opened ";
    assert!(fault.starts_with(expected) && fault.ends_with(" dialogs meanwhile"), "{fault}");
}
