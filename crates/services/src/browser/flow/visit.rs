//! Pages that only have to open: [`visit`].

use std::path::Path;

use serde::Serialize;

use super::base::Base;
use super::expect::in_words;
use crate::browser::endpoint::short;
use crate::browser::{Entry, Kind, Page};

/// What came of opening a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Visit {
    /// The page, as it was asked for.
    pub page: String,
    /// Where that led, if it opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The status that the server answered with, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What is wrong with it; nothing if it passed.
    pub faults: Vec<String>,
    /// The picture that was taken, as a file in the folder for evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<String>,
    /// What the page said.
    pub console: Vec<Entry>,
}

impl Visit {
    /// Says whether the page loads, shows some text, and nothing went wrong that nobody caught.
    pub fn passed(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Opens a page of an app and looks whether it works, with a picture of it.
pub fn visit(path: &str, page: &Page, base: &Base, evidence: &Path) -> Visit {
    let first_entry = page.next_entry();
    let mut visit = Visit {
        page: short(path),
        url: None,
        status: None,
        faults: Vec::new(),
        screenshot: None,
        console: Vec::new(),
    };
    match base.page(path) {
        Ok(url) => visit.look(page, &url, evidence),
        Err(error) => visit.faults.push(error.to_string()),
    }
    visit.console = page.console_since(first_entry);
    let uncaught = visit.console.iter().filter(|entry| entry.kind == Kind::Uncaught);
    visit.faults.extend(uncaught.map(Entry::to_string));
    visit
}

impl Visit {
    fn look(&mut self, page: &Page, url: &str, evidence: &Path) {
        match page.open(url) {
            Err(error) => self.faults.push(in_words(&error)),
            Ok(opened) => {
                if let Some(status) = opened.status.filter(|status| *status >= 400) {
                    self.faults.push(format!("the server answers with status {status}"));
                }
                (self.url, self.status) = (Some(opened.url), opened.status);
                match page.has_text() {
                    Ok(true) => {}
                    Ok(false) => self.faults.push("there is nothing to read".to_owned()),
                    Err(error) => self.faults.push(in_words(&error)),
                }
            }
        }
        let kept = page.screenshot().map_err(|error| in_words(&error));
        let kept = kept.and_then(|it| it.keep(evidence, &self.page).map_err(|it| in_words(&it)));
        match kept {
            Ok(file) => self.screenshot = Some(file),
            Err(why) => self.faults.push(format!("there is no picture of it: {why}")),
        }
    }
}
