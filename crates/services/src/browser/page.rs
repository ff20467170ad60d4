//! A page that is attached to: [`Page`], with calls and scripts that have deadlines.

use std::time::Duration;

use assay_base::clock::Deadline;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::connection::{CallError, Connection};
use super::console::{Entry, told};
use super::endpoint::{Endpoint, Window};
use super::error::{Gone, PageError};
use super::untrusted::escape_invisible;

/// The longest interval between two looks at state that DevTools send no events for.
const BETWEEN_LOOKS: Duration = Duration::from_millis(25);

/// The most bytes of what a page loads that the browser keeps for us.
const BUFFER: u32 = 64 << 10;

/// The name of the isolated world that scripts run in.
pub(super) const WORLD: &str = "assay";

/// The times that a page is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// The longest wait until an element can be used, or a text is there.
    pub element: Duration,
    /// The longest wait for the answer to one command.
    pub answer: Duration,
    /// The longest wait until a document is loaded.
    pub load: Duration,
    /// The time that a loaded page is observed for after its last request has ended.
    pub settle: Duration,
    /// The longest wait until a loaded page has settled. A page that goes on loading is taken as it
    /// is then.
    pub settle_limit: Duration,
}

impl Timeouts {
    /// [`Timeouts::settle`] unless configured otherwise.
    pub const DEFAULT_SETTLE: Duration = Duration::from_secs(1);
    /// [`Timeouts::settle_limit`] unless configured otherwise.
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

/// A page that is attached to. Dropping it detaches, and leaves the page as it is.
pub struct Page {
    pub(super) connection: Connection,
    window: Window,
    frame: String,
    pub(super) timeouts: Timeouts,
    pub(super) eval: bool,
}

/// A request to a page with its deadline.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask {
    doing: &'static str,
    pub(super) time: Duration,
    pub(super) until: Deadline,
    dialogs: u64,
}

impl Ask {
    pub(super) fn is_over(&self) -> bool {
        self.until.has_passed()
    }
}

/// The main frame of a page.
#[derive(Debug)]
pub(super) struct MainFrame {
    id: String,
    /// The loader of its document, which is another one for each document.
    pub(super) loader: String,
    /// The address that could not be loaded, where the browser shows its error page instead.
    pub(super) unreachable: Option<String>,
}

impl Page {
    /// Attaches to a window, or to the first one of the app's own. Fails if the browser is older than
    /// [`Product::OLDEST`](super::Product::OLDEST).
    pub fn attach(
        endpoint: Endpoint,
        window: Option<&str>,
        timeouts: Timeouts,
    ) -> Result<Page, PageError> {
        endpoint.supported_product()?;
        let window = endpoint.window_of(window)?;
        let connection = Connection::open(endpoint, &window)?;
        let mut page = Page { connection, window, frame: String::new(), timeouts, eval: false };
        // One that is still loading answers when it is done.
        let ask = page.ask_for("when it was taken", timeouts.load.max(timeouts.answer));
        for domain in ["Inspector", "Page", "Runtime", "Log"] {
            page.call(&format!("{domain}.enable"), &json!({}), ask)?;
        }
        page.frame = page.main_frame(ask)?.id;
        page.connection.set_main_frame(&page.frame);
        // Nobody reads what the page loads.
        let buffers = json!({ "maxTotalBufferSize": BUFFER, "maxResourceBufferSize": BUFFER });
        page.call("Network.enable", &buffers, ask)?;
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

    /// Returns how the page went away; `None` while it is there.
    pub fn gone(&self) -> Option<Gone> {
        self.connection.gone()
    }

    /// Returns the console entries from a number on, as far as they are kept; 0 is the first.
    pub fn console_since(&self, number: u64) -> Vec<Entry> {
        self.connection.console_since(number)
    }

    /// Returns the number that the next console entry will have.
    pub fn next_entry(&self) -> u64 {
        self.connection.next_entry()
    }

    /// Runs one of our scripts in a world of its own and waits for its value. While the page moves on
    /// to another document, the script is run again.
    pub(super) fn look_at<T: DeserializeOwned>(
        &self,
        script: &str,
        args: &Value,
        ask: Ask,
    ) -> Result<T, PageError> {
        loop {
            let answer = match self.run_apart(script, args, ask) {
                Err(error) if error.is_passing() && !ask.is_over() => {
                    self.pause();
                    continue;
                }
                answer => {
                    answer.map_err(|error| self.error("Runtime.callFunctionOn", error, ask))?
                }
            };
            if let Some(details) = answer.get("exceptionDetails") {
                return Err(PageError::ScriptFailed { message: told(&details["exception"]) });
            }
            let value = escape_invisible(answer["result"]["value"].clone());
            let odd = |error: serde_json::Error| PageError::Refused {
                method: "Runtime.callFunctionOn".to_owned(),
                message: error.to_string(),
            };
            return serde_json::from_value(value).map_err(odd);
        }
    }

    fn run_apart(&self, script: &str, args: &Value, ask: Ask) -> Result<Value, CallError> {
        let world = json!({ "frameId": self.frame, "worldName": WORLD });
        let world = self.connection.call("Page.createIsolatedWorld", &world, ask.until)?;
        let params = json!({
            "functionDeclaration": script, "returnByValue": true, "awaitPromise": true,
            "arguments": [{ "value": args }],
            "executionContextId": world["executionContextId"],
        });
        self.connection.call("Runtime.callFunctionOn", &params, ask.until)
    }

    /// Returns the page's main frame with its document.
    pub(super) fn main_frame(&self, ask: Ask) -> Result<MainFrame, PageError> {
        let tree = self.call("Page.getFrameTree", &json!({}), ask)?;
        let frame = &tree["frameTree"]["frame"];
        let text = |name: &str| frame[name].as_str().map(str::to_owned);
        Ok(MainFrame {
            id: text("id").unwrap_or_default(),
            loader: text("loaderId").unwrap_or_default(),
            unreachable: text("unreachableUrl"),
        })
    }

    pub(super) fn call(&self, method: &str, params: &Value, ask: Ask) -> Result<Value, PageError> {
        let answer = self.connection.call(method, params, ask.until);
        answer.map_err(|error| self.error(method, error, ask))
    }

    fn error(&self, method: &str, error: CallError, ask: Ask) -> PageError {
        error.of(method, ask.doing, ask.time, self.connection.dialogs() - ask.dialogs)
    }

    pub(super) fn timed_out(&self, ask: Ask) -> PageError {
        self.error("", CallError::TimedOut, ask)
    }

    /// Starts a request with the usual timeout; `doing` names it in a timeout's message.
    pub(super) fn ask(&self, doing: &'static str) -> Ask {
        self.ask_for(doing, self.timeouts.answer)
    }

    pub(super) fn ask_for(&self, doing: &'static str, time: Duration) -> Ask {
        let dialogs = self.connection.dialogs();
        Ask { doing, until: Deadline::after(time), time, dialogs }
    }

    /// Waits for an event of the page, or for a short interval.
    pub(super) fn pause(&self) {
        self.connection.wait_for_news(BETWEEN_LOOKS);
    }
}
