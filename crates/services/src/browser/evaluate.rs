//! Evaluation of user-supplied code in a page, and transfer of values out of the page.

use serde_json::{Value, json};

use super::console::told;
use super::error::PageError;
use super::page::{Ask, Page, WORLD};
use super::scripts;
use super::untrusted::{escape_invisible, short};

/// The maximum size of a value as JSON, in bytes.
const MOST: usize = 256 << 10;

impl Page {
    /// Runs code in the page's own world and returns its value. A promise is awaited, with or
    /// without `await` in the code.
    pub fn evaluate(&self, code: &str) -> Result<Value, PageError> {
        if !self.eval {
            return Err(PageError::EvalOff);
        }
        let ask = self.ask("to code");
        let params = json!({
            "expression": code, "awaitPromise": true, "replMode": true, "userGesture": true,
            "timeout": u64::try_from(ask.time.as_millis()).unwrap_or(u64::MAX),
            "objectGroup": WORLD,
        });
        let answer = self.call("Runtime.evaluate", &params, ask)?;
        let value = self.settled(answer, ask).and_then(|answer| self.value(&answer, ask));
        // The page need not retain the result; a failure to release it has no consequence here.
        let _ = self.call("Runtime.releaseObjectGroup", &json!({ "objectGroup": WORLD }), ask);
        value
    }

    /// Waits for a promise. In the mode in which code may use `await`, `awaitPromise` waits for the
    /// code and not for its value.
    fn settled(&self, answer: Value, ask: Ask) -> Result<Value, PageError> {
        let result = &answer["result"];
        let is_promise = answer.get("exceptionDetails").is_none() && result["subtype"] == "promise";
        match result["objectId"].as_str().filter(|_| is_promise) {
            Some(promise) => {
                self.call("Runtime.awaitPromise", &json!({ "promiseObjectId": promise }), ask)
            }
            None => Ok(answer),
        }
    }

    /// Transfers a value out of the page. An object is converted to text in the page, so that its
    /// size is known.
    fn value(&self, answer: &Value, ask: Ask) -> Result<Value, PageError> {
        thrown(answer)?;
        let result = &answer["result"];
        let is_data = result["type"] == "object" && result["subtype"] != "node";
        let Some(object) = result["objectId"].as_str().filter(|_| is_data) else {
            return simple(result);
        };
        let params = json!({
            "objectId": object, "functionDeclaration": scripts::TO_JSON, "returnByValue": true,
            "arguments": [{ "value": MOST }],
        });
        let answer = self.call("Runtime.callFunctionOn", &params, ask)?;
        thrown(&answer)?;
        // A value that is nested too deeply is returned as text that cannot be parsed.
        match &answer["result"]["value"] {
            Value::String(text) => {
                serde_json::from_str(text).map(escape_invisible).map_err(|_| too_big())
            }
            _ => Err(too_big()),
        }
    }
}

fn thrown(answer: &Value) -> Result<(), PageError> {
    let Some(details) = answer.get("exceptionDetails") else { return Ok(()) };
    let message = match &details["exception"] {
        Value::Null => short(details["text"].as_str().unwrap_or_default()),
        exception => told(exception),
    };
    Err(PageError::Threw { message })
}

/// Returns a primitive value; of any other value, its description.
fn simple(result: &Value) -> Result<Value, PageError> {
    match &result["value"] {
        Value::Null if result["type"] == "undefined" || result["subtype"] == "null" => {
            Ok(Value::Null)
        }
        Value::Null => Ok(Value::String(told(result))),
        Value::String(text) if text.len() > MOST => Err(too_big()),
        value => Ok(escape_invisible(value.clone())),
    }
}

fn too_big() -> PageError {
    PageError::TooBig { what: "the value".to_owned(), most: MOST }
}
