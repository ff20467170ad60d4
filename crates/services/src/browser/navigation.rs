//! Opens addresses, and waits until a page has settled.
//!
//! A loaded page is not yet a page that works: it may still be loading data, and throw when the
//! data has arrived. So a page is observed until its network is idle and a settle time has passed.
//! A page that never stops loading (long polling, streams) is used as it is at a limit.
//!
//! A page that is about to be replaced by another one answers no call, so a document that takes too
//! long to load is stopped.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::PageError;
use super::network::has_server;
use super::page::{MainFrame, Page, PageRequest};
use super::scripts;
use super::untrusted::truncate_line;

/// A page that was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoadResult {
    /// The address, after all redirects.
    pub url: String,
    /// The HTTP status; `None` for files and other documents without a server.
    pub status: Option<u16>,
}

/// The end of a wait for a page to settle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettleResult {
    /// The network was idle for the settle time.
    Idle,
    /// The page was still loading at the limit.
    Busy {
        /// The addresses of some requests that were still in flight.
        pending: Vec<String>,
    },
}

/// The loading state of a document.
#[derive(Debug, Deserialize)]
struct DocumentState {
    ready: String,
    /// The HTTP status; 0 if the browser does not report it.
    status: u16,
    url: String,
}

impl Page {
    /// Opens an address and waits until the page has settled.
    pub fn open(&self, url: &str) -> Result<LoadResult, PageError> {
        self.load(url)?;
        self.settle()?;
        self.load_result()
    }

    /// Opens an address and waits until its document is loaded. A document that takes too long is
    /// stopped, since a page that is about to be replaced answers no other call.
    pub(super) fn load(&self, url: &str) -> Result<(), PageError> {
        let loaded = self.try_load(url);
        if let Err(PageError::TimedOut { .. }) = loaded {
            // A failure to stop adds nothing to the first failure.
            let _ = self.call("Page.stopLoading", &json!({}), self.request("stopping the load"));
        }
        loaded
    }

    fn try_load(&self, url: &str) -> Result<(), PageError> {
        let request = self.request_with_timeout("loading", self.timeouts.load);
        let before = self.main_frame(request)?.loader;
        let answer = self.call("Page.navigate", &json!({ "url": url }), request)?;
        if let Some(why) = answer["errorText"].as_str().filter(|why| !why.is_empty()) {
            let status = answer["loaderId"].as_str().and_then(|it| self.connection.status_of(it));
            let why = match status {
                Some(status) => {
                    format!("the server answers with status {status} ({})", truncate_line(why))
                }
                None => truncate_line(why),
            };
            return Err(PageError::NotOpened { url: truncate_line(url), why });
        }
        let is_new = answer["loaderId"].is_string();
        if is_new {
            return self.wait_for_document(Some(&before), request);
        }
        // Only the fragment changed. If the document was loaded before the page was attached to,
        // only newer browsers know its status.
        self.wait_for_document(None, request)?;
        if let Err(PageError::NoStatus { .. }) = self.load_result() {
            self.call("Page.reload", &json!({}), request)?;
            self.wait_for_document(Some(&before), request)?;
        }
        Ok(())
    }

    /// Waits until a document is loaded, and it is not the document of a loader.
    fn wait_for_document(
        &self,
        before: Option<&str>,
        request: PageRequest,
    ) -> Result<(), PageError> {
        loop {
            let arrived = match before {
                Some(before) => self.main_frame(request)?.loader != before,
                None => true,
            };
            let state: DocumentState = self.run_script(scripts::STATE, &json!({}), request)?;
            if arrived && state.ready == "complete" {
                return Ok(());
            }
            if request.has_expired() {
                return Err(self.timed_out(request));
            }
            self.wait_for_change();
        }
    }

    /// Waits until no request was in flight for the settle time, or until the limit.
    pub(super) fn settle(&self) -> Result<SettleResult, PageError> {
        let request = self.request_with_timeout("settling", self.timeouts.settle_limit);
        let milliseconds = u64::try_from(self.timeouts.settle.as_millis()).unwrap_or(u64::MAX);
        let args = json!({ "milliseconds": milliseconds });
        while let Some(activity) = self.connection.wait_for_idle_network(request.until) {
            match self.run_script::<Value>(scripts::SETTLE, &args, request) {
                Ok(_) if self.connection.is_idle_since(activity) => return Ok(SettleResult::Idle),
                Ok(_) if !request.has_expired() => {}
                Ok(_) | Err(PageError::TimedOut { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        match self.gone_reason() {
            Some(gone) => Err(PageError::Gone(gone)),
            None => Ok(SettleResult::Busy { pending: self.connection.pending_requests() }),
        }
    }

    /// Returns the address of the page and the status of its document. Fails if the browser shows
    /// its own error page, or if a server answered and its status is not known.
    pub(super) fn load_result(&self) -> Result<LoadResult, PageError> {
        let request = self.request("reading its address");
        loop {
            let MainFrame { loader, unreachable, .. } = self.main_frame(request)?;
            if let Some(url) = unreachable {
                let why = "the browser shows its error page".to_owned();
                return Err(PageError::NotOpened { url: truncate_line(&url), why });
            }
            let state: DocumentState = self.run_script(scripts::STATE, &json!({}), request)?;
            if self.main_frame(request)?.loader != loader && !request.has_expired() {
                continue;
            }
            let told = Some(state.status).filter(|it| *it != 0 && has_server(&state.url));
            let status = self.connection.status_of(&loader).or(told);
            let is_served = ["http:", "https:"].iter().any(|it| state.url.starts_with(it));
            return match status {
                None if is_served => Err(PageError::NoStatus { url: truncate_line(&state.url) }),
                status => Ok(LoadResult { url: state.url, status }),
            };
        }
    }
}
