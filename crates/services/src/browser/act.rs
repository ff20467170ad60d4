//! What a user does with a page: clicking, typing, choosing.
//!
//! Whatever is clicked is waited for: it has to be there, in sight, not covered and at rest. Mouse
//! and keys are real ones, so that the page sees what it would see of a person.

use std::time::Duration;

use assay_base::clock::Deadline;
use serde::Deserialize;
use serde_json::{Value, json};

use super::command::{Fill, Select};
use super::element::{Sight, Spot, Wanted};
use super::error::PageError;
use super::keys::Shortcut;
use super::page::{Ask, Page};
use super::scripts;

/// What a field holds.
#[derive(Deserialize)]
struct Held {
    same: bool,
    value: Option<String>,
}

impl Page {
    /// Clicks an element.
    pub(super) fn click(&self, wanted: &Wanted) -> Result<Value, PageError> {
        let spot = self.ready(wanted)?;
        self.press_mouse(&spot)?;
        Ok(json!({ "clicked": spot.what, "fitting": spot.count }))
    }

    /// Fills a field, in place of what it held.
    pub(super) fn fill(&self, fill: &Fill) -> Result<Value, PageError> {
        let Fill { field, value } = fill;
        let args = field.args(&json!({ "value": value }));
        // A click on what is no field would do something else.
        let time = self.timeouts.element;
        match self.wait_for(scripts::FITS, &args, time, |sight| !sight.may_change())? {
            Sight::Fit => {}
            other => return Err(other.error(field, "")),
        }
        self.press_mouse(&self.ready(field)?)?;
        let ask = self.ask("to text");
        let what = match self.look_at(scripts::GRAB, &args, ask)? {
            Sight::Set { what } => what,
            Sight::Grabbed { what, empty } => {
                self.type_over(value, empty, ask)?;
                what
            }
            other => return Err(other.error(field, "")),
        };
        let held: Held = self.look_at(scripts::VALUE, &args, ask)?;
        Ok(json!({ "filled": what, "value": held.value, "as_asked": held.same }))
    }

    /// Types over what is selected.
    fn type_over(&self, text: &str, was_empty: bool, ask: Ask) -> Result<(), PageError> {
        if !text.is_empty() {
            self.call("Input.insertText", &json!({ "text": text }), ask)?;
            return Ok(());
        }
        if !was_empty {
            let delete: Shortcut = "Delete".parse()?;
            self.press_keys(&delete, ask)?;
        }
        Ok(())
    }

    /// Chooses an option of a list.
    pub(super) fn select(&self, select: &Select) -> Result<Value, PageError> {
        let Select { field, option } = select;
        let asked = option.text();
        let args = field.args(&option.args());
        let time = self.timeouts.element;
        match self.wait_for(scripts::SELECT, &args, time, |sight| !sight.may_change())? {
            Sight::Chosen { what, option, value } => {
                Ok(json!({ "selected": option, "value": value, "in": what }))
            }
            other => Err(other.error(field, asked)),
        }
    }

    /// Presses a shortcut, on whatever has the focus.
    pub(super) fn press(&self, keys: &Shortcut, told: &str) -> Result<Value, PageError> {
        self.press_keys(keys, self.ask("to keys"))?;
        Ok(json!({ "pressed": told }))
    }

    fn press_keys(&self, keys: &Shortcut, ask: Ask) -> Result<(), PageError> {
        for event in keys.events() {
            self.call("Input.dispatchKeyEvent", &event, ask)?;
        }
        Ok(())
    }

    /// Goes to another place in the page, as a link to it would.
    pub(super) fn go_to_hash(&self, hash: &str) -> Result<Value, PageError> {
        let hash = hash.trim_start_matches('#');
        self.look_at(scripts::HASH, &json!({ "hash": hash }), self.ask("to another place in it"))
    }

    /// Waits until an element can be clicked: twice seen in the same place.
    fn ready(&self, wanted: &Wanted) -> Result<Spot, PageError> {
        let end = Deadline::after(self.timeouts.element);
        let mut before: Option<Spot> = None;
        loop {
            let sight = self.look_for(scripts::LOOK, &wanted.args(&json!({})))?;
            let now = match sight {
                Sight::Ready(spot) => Some(spot),
                other if !other.may_change() || end.has_passed() => {
                    return Err(other.error(wanted, ""));
                }
                _ => None,
            };
            match (&before, now) {
                (Some(before), Some(spot)) if (before.x, before.y) == (spot.x, spot.y) => {
                    return Ok(spot);
                }
                (_, Some(spot)) if end.has_passed() => {
                    return Err(PageError::Moving { what: spot.what });
                }
                (_, now) => before = now,
            }
            self.pause();
        }
    }

    /// Runs a script until what it sees is enough, or the time is over.
    pub(super) fn wait_for(
        &self,
        script: &str,
        args: &Value,
        time: Duration,
        enough: impl Fn(&Sight) -> bool,
    ) -> Result<Sight, PageError> {
        let end = Deadline::after(time);
        loop {
            let sight = self.look_for(script, args)?;
            if enough(&sight) || end.has_passed() {
                return Ok(sight);
            }
            self.pause();
        }
    }

    /// Has a look, which has a time of its own: what is seen at last says more than that it is late.
    fn look_for(&self, script: &str, args: &Value) -> Result<Sight, PageError> {
        self.look_at(script, args, self.ask("to a look for an element"))
    }

    fn press_mouse(&self, spot: &Spot) -> Result<(), PageError> {
        let ask = self.ask("to a click");
        for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({
                "type": kind, "x": spot.x, "y": spot.y, "button": button, "buttons": buttons,
                "clickCount": u8::from(kind != "mouseMoved"),
            });
            self.call("Input.dispatchMouseEvent", &event, ask)?;
        }
        Ok(())
    }
}
