//! Expectations on a page: each waits until it is met or times out.

use std::error::Error;
use std::time::Duration;

use assay_base::clock::Deadline;
use serde::Deserialize;
use serde_json::json;

use crate::browser::element::{QueryResult, Selector};
use crate::browser::untrusted::truncate_line;
use crate::browser::{Page, PageError, scripts};

/// The visible text of a page.
#[derive(Debug, Deserialize)]
struct ReadableText {
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
            false => Err(PageError::MissingText {
                text: truncate_line(text),
                begin: truncate_line(&readable.begin),
            }),
        }
    }

    /// Waits until a text is no longer visible.
    pub(super) fn expect_no_text(&self, text: &str) -> Result<(), PageError> {
        let readable = self.read_until(Some(text), self.timeouts.element, |it| !it.found)?;
        match readable.found {
            false => Ok(()),
            true => Err(PageError::UnexpectedText { text: truncate_line(text) }),
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
        enough: impl Fn(&ReadableText) -> bool,
    ) -> Result<ReadableText, PageError> {
        let end = Deadline::after(time);
        loop {
            let is_last = end.has_passed();
            let request = self.request("reading its text");
            let readable: ReadableText =
                self.run_script(scripts::TEXT, &json!({ "text": text }), request)?;
            if enough(&readable) || is_last {
                return Ok(readable);
            }
            self.wait_for_change();
        }
    }

    /// Waits until an element is visible, even if it cannot be clicked.
    pub(super) fn expect_element(
        &self,
        wanted: &Selector,
        time: Duration,
    ) -> Result<(), PageError> {
        let is_visible = |result: &QueryResult| {
            matches!(
                result,
                QueryResult::Ready(_) | QueryResult::Covered { .. } | QueryResult::Disabled { .. }
            )
        };
        let enough = |result: &QueryResult| is_visible(result) || !result.may_change();
        let result = self.wait_for(scripts::LOOK, &wanted.args(&json!({})), time, enough)?;
        if is_visible(&result) { Ok(()) } else { Err(result.error(wanted, "")) }
    }
}

/// Formats an error with its causes.
pub(super) fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
