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
use super::element::{Sight, Spot, Wanted};
use super::error::PageError;
use super::keys::Shortcut;
use super::page::{Ask, Page};
use super::scripts;

/// The content of a field.
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

    /// Fills a field, in place of its previous content.
    pub(super) fn fill(&self, fill: &Fill) -> Result<Value, PageError> {
        let Fill { field, value } = fill;
        let args = field.args(&json!({ "value": value }));
        // A click on an element that is not a field would have another effect.
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

    /// Types text over the selection.
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

    /// Presses a shortcut, on the element that has the focus.
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

    /// Sets the fragment of the page's address, as a click on a link to it would.
    pub(super) fn go_to_hash(&self, hash: &str) -> Result<Value, PageError> {
        let hash = hash.trim_start_matches('#');
        self.look_at(scripts::HASH, &json!({ "hash": hash }), self.ask("to another place in it"))
    }

    /// Waits until an element can be clicked: two queries in a row return the same position.
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

    /// Runs a script until its result is enough, or the time is over.
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

    /// Queries an element. The query has its own timeout: its last result says more than a timeout
    /// error.
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
