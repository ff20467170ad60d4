//! Checks of pages that only have to open: [`visit`].

use std::error::Error;
use std::path::Path;

use serde::Serialize;

use super::base_url::BaseUrl;
use super::expect::error_chain;
use crate::browser::untrusted::truncate_line;
use crate::browser::{ConsoleEntry, EntryKind, LoadResult, Page, PageError, SettleResult};

/// The result of opening a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PageVisit {
    /// The page, as it was requested.
    pub page: String,
    /// The address after all redirects; `None` if the page did not open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The HTTP status; `None` if no server answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The faults of the page; empty if it passed.
    pub faults: Vec<String>,
    /// The reason why the page could not be tried, if the app is not the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// The addresses of requests that were still in flight at the end of the wait.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<String>,
    /// The name of the screenshot in the folder for evidence; `None` if none was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<String>,
    /// The console entries of the page.
    pub console: Vec<ConsoleEntry>,
}

impl PageVisit {
    /// Returns true if the page was tried, loads and shows some text, and no exception was
    /// uncaught.
    pub fn has_passed(&self) -> bool {
        self.faults.is_empty() && self.blocked.is_none()
    }
}

/// Opens a page of an app and checks that it works, with a screenshot.
pub fn visit(path: &str, page: &Page, base: &BaseUrl, evidence: &Path) -> PageVisit {
    let first_entry = page.next_entry();
    let mut visit = PageVisit {
        page: truncate_line(path),
        url: None,
        status: None,
        faults: Vec::new(),
        blocked: None,
        pending: Vec::new(),
        screenshot: None,
        console: Vec::new(),
    };
    match base.page(path) {
        Ok(url) => visit.check_page(page, &url, evidence),
        Err(error) => visit.record_blocked(&error),
    }
    visit.console = page.console_since(first_entry);
    let uncaught = visit.console.iter().filter(|entry| entry.kind == EntryKind::Uncaught);
    visit.faults.extend(uncaught.map(ConsoleEntry::to_string));
    visit
}

impl PageVisit {
    fn check_page(&mut self, page: &Page, url: &str, evidence: &Path) {
        if let Err(error) = self.try_check_page(page, url) {
            self.record_error(&error);
        }
        match page.screenshot() {
            Err(error) => self.record_error(&error),
            Ok(picture) => match picture.save(evidence, &self.page) {
                Ok(file) => self.screenshot = Some(file),
                Err(error) => self.record_blocked(&error),
            },
        }
    }

    fn try_check_page(&mut self, page: &Page, url: &str) -> Result<(), PageError> {
        page.load(url)?;
        let has_text = page.has_text();
        // A page that shows its text late may also fail late, so it settles after that.
        if let SettleResult::Busy { pending } = page.settle()? {
            self.pending = pending;
        }
        let LoadResult { url, status } = page.load_result()?;
        if let Some(status) = status.filter(|status| *status >= 400) {
            self.faults.push(format!("the server answers with status {status}"));
        }
        (self.url, self.status) = (Some(url), status);
        if !has_text? {
            self.faults.push("the page has no text".to_owned());
        }
        Ok(())
    }

    /// Records an error as a fault of the page, or as the reason why the page could not be tried.
    fn record_error(&mut self, error: &PageError) {
        if error.is_environment_error() {
            return self.record_blocked(error);
        }
        let fault = error_chain(error);
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// Records the first reason why the page could not be tried.
    fn record_blocked(&mut self, error: &dyn Error) {
        self.blocked.get_or_insert_with(|| error_chain(error));
    }
}
