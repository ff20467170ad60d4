//! Actions of a user on a page: clicking, typing, choosing.
//!
//! An element is waited for before it is clicked: it must exist, be visible, not be covered, and
//! not move. Mouse and key events are real input events, so that the page sees the same as from a
//! person.

use std::time::Duration;

use assay_base::clock::Deadline;
use serde::Deserialize;
use serde_json::{Value, json};

use super::command::{Fill, Select};
use super::element::{ClickTarget, QueryResult, Selector};
use super::error::PageError;
use super::page::{Page, PageRequest};
use super::scripts;
use super::shortcut::Shortcut;

/// The content of a field.
#[derive(Deserialize)]
struct FieldContent {
    same: bool,
    value: Option<String>,
}

impl Page {
    /// Clicks an element.
    pub(super) fn click(&self, wanted: &Selector) -> Result<Value, PageError> {
        let target = self.wait_until_clickable(wanted)?;
        self.press_mouse(&target)?;
        Ok(json!({ "clicked": target.what, "fitting": target.count }))
    }

    /// Fills a field, in place of its previous content.
    pub(super) fn fill(&self, fill: &Fill) -> Result<Value, PageError> {
        let Fill { field, value } = fill;
        let args = field.args(&json!({ "value": value }));
        // A click on an element that is not a field would have another effect.
        let time = self.timeouts.element;
        match self.wait_for(scripts::FITS, &args, time, |result| !result.may_change())? {
            QueryResult::Fit => {}
            other => return Err(other.error(field, "")),
        }
        self.press_mouse(&self.wait_until_clickable(field)?)?;
        let request = self.request("typing text");
        let what = match self.run_script(scripts::GRAB, &args, request)? {
            QueryResult::Set { what } => what,
            QueryResult::Grabbed { what, empty } => {
                self.type_over(value, empty, request)?;
                what
            }
            other => return Err(other.error(field, "")),
        };
        let content: FieldContent = self.run_script(scripts::VALUE, &args, request)?;
        Ok(json!({ "filled": what, "value": content.value, "as_asked": content.same }))
    }

    /// Types text over the selection.
    fn type_over(
        &self,
        text: &str,
        was_empty: bool,
        request: PageRequest,
    ) -> Result<(), PageError> {
        if !text.is_empty() {
            self.call("Input.insertText", &json!({ "text": text }), request)?;
            return Ok(());
        }
        if !was_empty {
            let delete: Shortcut = "Delete".parse()?;
            self.press_keys(&delete, request)?;
        }
        Ok(())
    }

    /// Chooses an option of a list.
    pub(super) fn select(&self, select: &Select) -> Result<Value, PageError> {
        let Select { field, option } = select;
        let asked = option.text();
        let args = field.args(&option.args());
        let time = self.timeouts.element;
        match self.wait_for(scripts::SELECT, &args, time, |result| !result.may_change())? {
            QueryResult::Chosen { what, option, value } => {
                Ok(json!({ "selected": option, "value": value, "in": what }))
            }
            other => Err(other.error(field, asked)),
        }
    }

    /// Presses a shortcut, on the element that has the focus.
    pub(super) fn press(&self, keys: &Shortcut, told: &str) -> Result<Value, PageError> {
        self.press_keys(keys, self.request("pressing keys"))?;
        Ok(json!({ "pressed": told }))
    }

    fn press_keys(&self, keys: &Shortcut, request: PageRequest) -> Result<(), PageError> {
        for event in keys.events() {
            self.call("Input.dispatchKeyEvent", &event, request)?;
        }
        Ok(())
    }

    /// Sets the fragment of the page's address, as a click on a link to it would.
    pub(super) fn go_to_hash(&self, hash: &str) -> Result<Value, PageError> {
        let hash = hash.trim_start_matches('#');
        self.run_script(scripts::HASH, &json!({ "hash": hash }), self.request("changing the hash"))
    }

    /// Waits until an element can be clicked: two queries in a row return the same position.
    fn wait_until_clickable(&self, wanted: &Selector) -> Result<ClickTarget, PageError> {
        let end = Deadline::after(self.timeouts.element);
        let mut before: Option<ClickTarget> = None;
        loop {
            let result = self.query_element(scripts::LOOK, &wanted.args(&json!({})))?;
            let now = match result {
                QueryResult::Ready(target) => Some(target),
                other if !other.may_change() || end.has_passed() => {
                    return Err(other.error(wanted, ""));
                }
                _ => None,
            };
            match (&before, now) {
                (Some(before), Some(target)) if (before.x, before.y) == (target.x, target.y) => {
                    return Ok(target);
                }
                (_, Some(target)) if end.has_passed() => {
                    return Err(PageError::Moving { what: target.what });
                }
                (_, now) => before = now,
            }
            self.wait_for_change();
        }
    }

    /// Runs a script until its result is enough, or the time is over.
    pub(super) fn wait_for(
        &self,
        script: &str,
        args: &Value,
        time: Duration,
        enough: impl Fn(&QueryResult) -> bool,
    ) -> Result<QueryResult, PageError> {
        let end = Deadline::after(time);
        loop {
            let result = self.query_element(script, args)?;
            if enough(&result) || end.has_passed() {
                return Ok(result);
            }
            self.wait_for_change();
        }
    }

    /// Queries an element. The query has its own timeout: its last result says more than a timeout
    /// error.
    fn query_element(&self, script: &str, args: &Value) -> Result<QueryResult, PageError> {
        self.run_script(script, args, self.request("finding an element"))
    }

    fn press_mouse(&self, target: &ClickTarget) -> Result<(), PageError> {
        let request = self.request("clicking");
        for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({
                "type": kind, "x": target.x, "y": target.y, "button": button, "buttons": buttons,
                "clickCount": u8::from(kind != "mouseMoved"),
            });
            self.call("Input.dispatchMouseEvent", &event, request)?;
        }
        Ok(())
    }
}
