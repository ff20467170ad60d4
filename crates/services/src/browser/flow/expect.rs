//! Expectations on a page: each waits until it is met or times out.

use std::error::Error;
use std::time::Duration;

use assay_base::clock::Deadline;
use serde::Deserialize;
use serde_json::json;

use crate::browser::element::{Sight, Wanted};
use crate::browser::untrusted::short;
use crate::browser::{Page, PageError, scripts};

/// The visible text of a page.
#[derive(Debug, Deserialize)]
struct Readable {
    found: bool,
    any: bool,
    begin: String,
}

impl Page {
    /// Waits until a text is visible.
    pub(super) fn expect_text(&self, text: &str, time: Duration) -> Result<(), PageError> {
        let readable = self.read_until(Some(text), time, |readable| readable.found)?;
        match readable.found {
            true => Ok(()),
            false => Err(PageError::NoText { text: short(text), begin: short(&readable.begin) }),
        }
    }

    /// Waits until a text is no longer visible.
    pub(super) fn expect_no_text(&self, text: &str) -> Result<(), PageError> {
        let readable = self.read_until(Some(text), self.timeouts.element, |it| !it.found)?;
        match readable.found {
            false => Ok(()),
            true => Err(PageError::StillText { text: short(text) }),
        }
    }

    /// Waits until any text is visible. Returns false if none is before the timeout.
    pub(super) fn has_text(&self) -> Result<bool, PageError> {
        Ok(self.read_until(None, self.timeouts.element, |readable| readable.any)?.any)
    }

    fn read_until(
        &self,
        text: Option<&str>,
        time: Duration,
        enough: impl Fn(&Readable) -> bool,
    ) -> Result<Readable, PageError> {
        let end = Deadline::after(time);
        loop {
            let is_last = end.has_passed();
            let ask = self.ask("to a look at its text");
            let readable: Readable = self.look_at(scripts::TEXT, &json!({ "text": text }), ask)?;
            if enough(&readable) || is_last {
                return Ok(readable);
            }
            self.pause();
        }
    }

    /// Waits until an element is visible, even if it cannot be clicked.
    pub(super) fn expect_element(&self, wanted: &Wanted, time: Duration) -> Result<(), PageError> {
        let is_in_sight = |sight: &Sight| {
            matches!(sight, Sight::Ready(_) | Sight::Covered { .. } | Sight::Disabled { .. })
        };
        let enough = |sight: &Sight| is_in_sight(sight) || !sight.may_change();
        let sight = self.wait_for(scripts::LOOK, &wanted.args(&json!({})), time, enough)?;
        if is_in_sight(&sight) { Ok(()) } else { Err(sight.error(wanted, "")) }
    }
}

/// Formats an error with its causes.
pub(super) fn in_words(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
