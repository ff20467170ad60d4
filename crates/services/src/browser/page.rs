//! An attached page: [`Page`], with calls and scripts that have deadlines.

use std::time::Duration;

use assay_base::clock::Deadline;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::connection::{CallError, Connection};
use super::console::{ConsoleEntry, format_value};
use super::endpoint::{Endpoint, Window};
use super::error::{GoneReason, PageError};
use super::untrusted::escape_invisible;

/// The maximum interval between two queries of state for which DevTools send no events.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// The maximum size of loaded content that the browser buffers for us, in bytes.
const MAX_BUFFER_BYTES: u32 = 64 << 10;

/// The name of the isolated world that scripts run in.
pub(super) const ISOLATED_WORLD: &str = "assay";

/// The timeouts for a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// The maximum wait until an element can be used, or a text is visible.
    pub element: Duration,
    /// The maximum wait for the answer to one command.
    pub answer: Duration,
    /// The maximum wait until a document is loaded.
    pub load: Duration,
    /// The time for which a loaded page is observed after its last request has ended.
    pub settle: Duration,
    /// The maximum wait until a loaded page has settled. A page that is still loading is then used
    /// as it is.
    pub settle_limit: Duration,
}

impl Timeouts {
    /// The default of [`Timeouts::settle`].
    pub const DEFAULT_SETTLE: Duration = Duration::from_secs(1);
    /// The default of [`Timeouts::settle_limit`].
    pub const DEFAULT_SETTLE_LIMIT: Duration = Duration::from_secs(10);
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            element: Duration::from_secs(5),
            answer: Duration::from_secs(15),
            load: Duration::from_secs(30),
            settle: Timeouts::DEFAULT_SETTLE,
            settle_limit: Timeouts::DEFAULT_SETTLE_LIMIT,
        }
    }
}

/// An attached page. Dropping it detaches, and leaves the page as it is.
pub struct Page {
    pub(super) connection: Connection,
    window: Window,
    frame: String,
    pub(super) timeouts: Timeouts,
    pub(super) eval: bool,
}

/// A request to a page with its deadline.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageRequest {
    doing: &'static str,
    pub(super) time: Duration,
    pub(super) until: Deadline,
    dialogs: u64,
}

impl PageRequest {
    pub(super) fn has_expired(&self) -> bool {
        self.until.has_passed()
    }
}

/// The main frame of a page.
#[derive(Debug)]
pub(super) struct MainFrame {
    id: String,
    /// The loader of its document, a different one for each document.
    pub(super) loader: String,
    /// The address that could not be loaded, if the browser shows its error page instead; else
    /// `None`.
    pub(super) unreachable: Option<String>,
}

impl Page {
    /// Attaches to a window, or to the first window of the app itself. Fails if the browser is
    /// older than [`Product::MIN_CHROME_VERSION`](super::Product::MIN_CHROME_VERSION).
    pub fn attach(
        endpoint: Endpoint,
        window: Option<&str>,
        timeouts: Timeouts,
    ) -> Result<Page, PageError> {
        endpoint.supported_product()?;
        let window = endpoint.find_window(window)?;
        let connection = Connection::open(endpoint, &window)?;
        let mut page = Page { connection, window, frame: String::new(), timeouts, eval: false };
        // A page that is still loading answers when it is done.
        let request =
            page.request_with_timeout("attaching to it", timeouts.load.max(timeouts.answer));
        for domain in ["Inspector", "Page", "Runtime", "Log"] {
            page.call(&format!("{domain}.enable"), &json!({}), request)?;
        }
        page.frame = page.main_frame(request)?.id;
        page.connection.set_main_frame(&page.frame);
        // Loaded content is not read.
        let buffers = json!({ "maxTotalBufferSize": MAX_BUFFER_BYTES, "maxResourceBufferSize": MAX_BUFFER_BYTES });
        page.call("Network.enable", &buffers, request)?;
        Ok(page)
    }

    /// Allows `eval` to run code in the page.
    pub fn allowing_eval(self) -> Page {
        Page { eval: true, ..self }
    }

    /// Returns the window as it was when it was attached to.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Returns the reason why the page is gone, or `None` while it exists.
    pub fn gone_reason(&self) -> Option<GoneReason> {
        self.connection.gone_reason()
    }

    /// Returns the console entries from a number on, if they are still stored; 0 is the first.
    pub fn console_since(&self, number: u64) -> Vec<ConsoleEntry> {
        self.connection.console_since(number)
    }

    /// Returns the number that the next console entry will have.
    pub fn next_entry(&self) -> u64 {
        self.connection.next_entry()
    }

    /// Runs one of our scripts in an isolated world and waits for its value. While the page changes
    /// its document, the script is run again.
    pub(super) fn run_script<T: DeserializeOwned>(
        &self,
        script: &str,
        args: &Value,
        request: PageRequest,
    ) -> Result<T, PageError> {
        loop {
            let answer = match self.run_isolated(script, args, request) {
                Err(error) if error.is_transient() && !request.has_expired() => {
                    self.wait_for_change();
                    continue;
                }
                answer => {
                    answer.map_err(|error| self.error("Runtime.callFunctionOn", error, request))?
                }
            };
            if let Some(details) = answer.get("exceptionDetails") {
                return Err(PageError::ScriptFailed {
                    message: format_value(&details["exception"]),
                });
            }
            let value = escape_invisible(answer["result"]["value"].clone());
            let odd = |error: serde_json::Error| PageError::Refused {
                method: "Runtime.callFunctionOn".to_owned(),
                message: error.to_string(),
            };
            return serde_json::from_value(value).map_err(odd);
        }
    }

    fn run_isolated(
        &self,
        script: &str,
        args: &Value,
        request: PageRequest,
    ) -> Result<Value, CallError> {
        let world = json!({ "frameId": self.frame, "worldName": ISOLATED_WORLD });
        let world = self.connection.call("Page.createIsolatedWorld", &world, request.until)?;
        let params = json!({
            "functionDeclaration": script, "returnByValue": true, "awaitPromise": true,
            "arguments": [{ "value": args }],
            "executionContextId": world["executionContextId"],
        });
        self.connection.call("Runtime.callFunctionOn", &params, request.until)
    }

    /// Returns the page's main frame with its document.
    pub(super) fn main_frame(&self, request: PageRequest) -> Result<MainFrame, PageError> {
        let tree = self.call("Page.getFrameTree", &json!({}), request)?;
        let frame = &tree["frameTree"]["frame"];
        let text = |name: &str| frame[name].as_str().map(str::to_owned);
        Ok(MainFrame {
            id: text("id").unwrap_or_default(),
            loader: text("loaderId").unwrap_or_default(),
            unreachable: text("unreachableUrl"),
        })
    }

    pub(super) fn call(
        &self,
        method: &str,
        params: &Value,
        request: PageRequest,
    ) -> Result<Value, PageError> {
        let answer = self.connection.call(method, params, request.until);
        answer.map_err(|error| self.error(method, error, request))
    }

    fn error(&self, method: &str, error: CallError, request: PageRequest) -> PageError {
        error.into_page_error(
            method,
            request.doing,
            request.time,
            self.connection.dialogs() - request.dialogs,
        )
    }

    pub(super) fn timed_out(&self, request: PageRequest) -> PageError {
        self.error("", CallError::TimedOut, request)
    }

    /// Starts a request with the default timeout; `doing` names it in the message of a timeout.
    pub(super) fn request(&self, doing: &'static str) -> PageRequest {
        self.request_with_timeout(doing, self.timeouts.answer)
    }

    pub(super) fn request_with_timeout(&self, doing: &'static str, time: Duration) -> PageRequest {
        let dialogs = self.connection.dialogs();
        PageRequest { doing, until: Deadline::after(time), time, dialogs }
    }

    /// Waits for an event of the page, or for a short interval.
    pub(super) fn wait_for_change(&self) {
        self.connection.wait_for_event(POLL_INTERVAL);
    }
}
