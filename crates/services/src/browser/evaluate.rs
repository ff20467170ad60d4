//! Evaluation of user-supplied code in a page, and transfer of values out of the page.

use serde_json::{Value, json};

use super::console::format_value;
use super::error::PageError;
use super::page::{ISOLATED_WORLD, Page, PageRequest};
use super::scripts;
use super::untrusted::{escape_invisible, truncate_line};

/// The maximum size of a value as JSON, in bytes.
const MAX_VALUE_BYTES: usize = 256 << 10;

impl Page {
    /// Runs code in the page's own world and returns its value. A promise is awaited, with or
    /// without `await` in the code.
    pub fn evaluate(&self, code: &str) -> Result<Value, PageError> {
        if !self.eval {
            return Err(PageError::EvalNotAllowed);
        }
        let request = self.request("running code");
        let params = json!({
            "expression": code, "awaitPromise": true, "replMode": true, "userGesture": true,
            "timeout": u64::try_from(request.time.as_millis()).unwrap_or(u64::MAX),
            "objectGroup": ISOLATED_WORLD,
        });
        let answer = self.call("Runtime.evaluate", &params, request)?;
        let value = self
            .await_promise(answer, request)
            .and_then(|answer| self.transfer_value(&answer, request));
        // The page need not retain the result; a failure to release it has no consequence here.
        let _ = self.call(
            "Runtime.releaseObjectGroup",
            &json!({ "objectGroup": ISOLATED_WORLD }),
            request,
        );
        value
    }

    /// Waits for a promise. In the mode in which code may use `await`, `awaitPromise` waits for the
    /// code and not for its value.
    fn await_promise(&self, answer: Value, request: PageRequest) -> Result<Value, PageError> {
        let result = &answer["result"];
        let is_promise = answer.get("exceptionDetails").is_none() && result["subtype"] == "promise";
        match result["objectId"].as_str().filter(|_| is_promise) {
            Some(promise) => {
                self.call("Runtime.awaitPromise", &json!({ "promiseObjectId": promise }), request)
            }
            None => Ok(answer),
        }
    }

    /// Transfers a value out of the page. An object is converted to text in the page, so that its
    /// size is known.
    fn transfer_value(&self, answer: &Value, request: PageRequest) -> Result<Value, PageError> {
        check_exception(answer)?;
        let result = &answer["result"];
        let is_data = result["type"] == "object" && result["subtype"] != "node";
        let Some(object) = result["objectId"].as_str().filter(|_| is_data) else {
            return primitive_value(result);
        };
        let params = json!({
            "objectId": object, "functionDeclaration": scripts::TO_JSON, "returnByValue": true,
            "arguments": [{ "value": MAX_VALUE_BYTES }],
        });
        let answer = self.call("Runtime.callFunctionOn", &params, request)?;
        check_exception(&answer)?;
        // A value that is nested too deeply is returned as text that cannot be parsed.
        match &answer["result"]["value"] {
            Value::String(text) => {
                serde_json::from_str(text).map(escape_invisible).map_err(|_| too_big_error())
            }
            _ => Err(too_big_error()),
        }
    }
}

fn check_exception(answer: &Value) -> Result<(), PageError> {
    let Some(details) = answer.get("exceptionDetails") else { return Ok(()) };
    let message = match &details["exception"] {
        Value::Null => truncate_line(details["text"].as_str().unwrap_or_default()),
        exception => format_value(exception),
    };
    Err(PageError::Threw { message })
}

/// Returns a primitive value; of any other value, its description.
fn primitive_value(result: &Value) -> Result<Value, PageError> {
    match &result["value"] {
        Value::Null if result["type"] == "undefined" || result["subtype"] == "null" => {
            Ok(Value::Null)
        }
        Value::Null => Ok(Value::String(format_value(result))),
        Value::String(text) if text.len() > MAX_VALUE_BYTES => Err(too_big_error()),
        value => Ok(escape_invisible(value.clone())),
    }
}

fn too_big_error() -> PageError {
    PageError::TooBig { what: "the value".to_owned(), max_bytes: MAX_VALUE_BYTES }
}
