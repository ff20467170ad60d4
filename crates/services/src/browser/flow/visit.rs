//! Checks of pages that only have to open: [`visit`].

use std::error::Error;
use std::path::Path;

use serde::Serialize;

use super::base::Base;
use super::expect::in_words;
use crate::browser::untrusted::short;
use crate::browser::{Entry, Kind, Opened, Page, PageError, Settled};

/// The result of opening a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Visit {
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
    pub console: Vec<Entry>,
}

impl Visit {
    /// Returns true if the page was tried, loads and shows some text, and no exception was
    /// uncaught.
    pub fn passed(&self) -> bool {
        self.faults.is_empty() && self.blocked.is_none()
    }
}

/// Opens a page of an app and checks that it works, with a screenshot.
pub fn visit(path: &str, page: &Page, base: &Base, evidence: &Path) -> Visit {
    let first_entry = page.next_entry();
    let mut visit = Visit {
        page: short(path),
        url: None,
        status: None,
        faults: Vec::new(),
        blocked: None,
        pending: Vec::new(),
        screenshot: None,
        console: Vec::new(),
    };
    match base.page(path) {
        Ok(url) => visit.look(page, &url, evidence),
        Err(error) => visit.block(&error),
    }
    visit.console = page.console_since(first_entry);
    let uncaught = visit.console.iter().filter(|entry| entry.kind == Kind::Uncaught);
    visit.faults.extend(uncaught.map(Entry::to_string));
    visit
}

impl Visit {
    fn look(&mut self, page: &Page, url: &str, evidence: &Path) {
        if let Err(error) = self.try_look(page, url) {
            self.note(&error);
        }
        match page.screenshot() {
            Err(error) => self.note(&error),
            Ok(picture) => match picture.keep(evidence, &self.page) {
                Ok(file) => self.screenshot = Some(file),
                Err(error) => self.block(&error),
            },
        }
    }

    fn try_look(&mut self, page: &Page, url: &str) -> Result<(), PageError> {
        page.load(url)?;
        let has_text = page.has_text();
        // A page that shows its text late may also fail late, so it settles after that.
        if let Settled::Busy { pending } = page.settle()? {
            self.pending = pending;
        }
        let Opened { url, status } = page.opened()?;
        if let Some(status) = status.filter(|status| *status >= 400) {
            self.faults.push(format!("the server answers with status {status}"));
        }
        (self.url, self.status) = (Some(url), status);
        if !has_text? {
            self.faults.push("there is nothing to read".to_owned());
        }
        Ok(())
    }

    /// Records an error as a fault of the page, or as the reason why the page could not be tried.
    fn note(&mut self, error: &PageError) {
        if error.is_not_of_the_app() {
            return self.block(error);
        }
        let fault = in_words(error);
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// Records the first reason why the page could not be tried.
    fn block(&mut self, error: &dyn Error) {
        self.blocked.get_or_insert_with(|| in_words(error));
    }
}
