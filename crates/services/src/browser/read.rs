//! Commands that read a page: its structure, elements and forms.

use serde_json::{Value, json};

use super::error::PageError;
use super::page::Page;
use super::scripts;
use super::untrusted::truncate_line;

impl Page {
    /// Returns an overview of the visible elements.
    pub(super) fn structure(&self) -> Result<Value, PageError> {
        self.run_script(scripts::STRUCTURE, &json!({}), self.request("reading its structure"))
    }

    /// Returns details of elements, for debugging.
    pub(super) fn elements(&self, selector: Option<&str>) -> Result<Value, PageError> {
        self.part(scripts::ELEMENTS, selector)
    }

    /// Returns the state of the fields, of all forms or of those inside an element.
    pub(super) fn form_state(&self, selector: Option<&str>) -> Result<Value, PageError> {
        self.part(scripts::FORM, selector)
    }

    fn part(&self, script: &str, selector: Option<&str>) -> Result<Value, PageError> {
        let args = json!({ "selector": selector });
        let mut result: Value = self.run_script(script, &args, self.request("listing elements"))?;
        if result["state"] == "bad_selector" {
            let selector = truncate_line(selector.unwrap_or_default());
            return Err(PageError::BadSelector { selector });
        }
        if let Some(fields) = result.as_object_mut() {
            fields.shift_remove("state");
        }
        Ok(result)
    }
}
