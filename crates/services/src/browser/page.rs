//! A page that is talked to: [`Page`].

use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::connection::{CallError, Connection};
use super::console::{Entry, told};
use super::endpoint::{Endpoint, Window, short};
use super::error::{Gone, PageError};
use super::evaluate::clean;
use super::scripts;

/// The longest wait between two looks at what a page does not tell by itself.
const BETWEEN_LOOKS: Duration = Duration::from_millis(25);

/// The longest time that anything may take.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The world in which a page is looked at.
pub(super) const WORLD: &str = "assay";

/// How long a page may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until an element can be used, or a text is there.
    pub element: Duration,
    /// Until it has done what it was asked.
    pub answer: Duration,
    /// Until it is loaded.
    pub load: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            element: Duration::from_secs(5),
            answer: Duration::from_secs(15),
            load: Duration::from_secs(30),
        }
    }
}

/// Says when a time is over; a clock cannot count to more than it holds.
pub(super) fn after(time: Duration) -> Instant {
    Instant::now() + time.min(LONGEST)
}

/// A page that was taken; it goes on when it is let go.
pub struct Page {
    connection: Connection,
    window: Window,
    frame: String,
    pub(super) patience: Patience,
    pub(super) eval: bool,
}

/// Something that is asked of a page, with the time it has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask {
    doing: &'static str,
    until: Instant,
    pub(super) time: Duration,
    dialogs: u64,
}

impl Ask {
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }
}

/// How far a page is.
#[derive(Debug, Deserialize)]
struct State {
    ready: String,
    status: u16,
    url: String,
}

/// A page that was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Opened {
    /// Where it is, after all redirects.
    pub url: String,
    /// The status that a server answered with, if there was one.
    pub status: Option<u16>,
}

impl Page {
    /// Takes a window, or the first one of the app's own.
    pub fn attach(
        endpoint: Endpoint,
        window: Option<&str>,
        patience: Patience,
    ) -> Result<Page, PageError> {
        let window = endpoint.window_of(window)?;
        let connection = Connection::open(endpoint, &window)?;
        let mut page = Page { connection, window, frame: String::new(), patience, eval: false };
        // One that is still loading answers when it is done.
        let ask = page.ask_for("when it was taken", patience.load.max(patience.answer));
        for domain in ["Inspector", "Page", "Runtime", "Log"] {
            page.call(&format!("{domain}.enable"), &json!({}), ask)?;
        }
        page.frame = page.main_frame(ask)?.0;
        Ok(page)
    }

    /// Lets `eval` run code in the page.
    pub fn allowing_eval(self) -> Page {
        Page { eval: true, ..self }
    }

    /// The window as it was when it was taken.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Says how the page went away, if it did.
    pub fn gone(&self) -> Option<Gone> {
        self.connection.gone()
    }

    /// Gives what the page said since an entry, as far as it is kept; 0 is the first.
    pub fn console_since(&self, number: u64) -> Vec<Entry> {
        self.connection.console_since(number)
    }

    /// The number of what the page will say next.
    pub fn next_entry(&self) -> u64 {
        self.connection.next_entry()
    }

    /// Opens an address and waits until it is loaded. What takes too long is broken off, since
    /// nothing else can be asked of a page that is about to become another one.
    pub fn open(&self, url: &str) -> Result<Opened, PageError> {
        let opened = self.try_open(url);
        if let Err(PageError::TimedOut { .. }) = opened {
            // If that fails as well, it says no more than what is told already.
            let _ = self.call("Page.stopLoading", &json!({}), self.ask("to be stopped"));
        }
        opened
    }

    fn try_open(&self, url: &str) -> Result<Opened, PageError> {
        let ask = self.ask_for("when it was opened", self.patience.load);
        let before = self.main_frame(ask)?.1;
        let answer = self.call("Page.navigate", &json!({ "url": url }), ask)?;
        if let Some(why) = answer["errorText"].as_str().filter(|why| !why.is_empty()) {
            return Err(PageError::NotOpened { url: short(url), why: short(why) });
        }
        // Without a new document, only the place in this one is another.
        let is_new = answer["loaderId"].is_string();
        loop {
            let arrived = !is_new || self.main_frame(ask)?.1 != before;
            let state: State = self.look_at(scripts::STATE, &json!({}), ask)?;
            if arrived && state.ready == "complete" {
                let status = Some(state.status).filter(|status| *status != 0);
                return Ok(Opened { url: state.url, status });
            }
            if ask.is_over() {
                return Err(self.timed_out(ask));
            }
            self.pause();
        }
    }

    /// Runs one of our scripts in a world of its own. While the page moves on to another one, it is
    /// tried again.
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
                return Err(PageError::Threw { message: told(&details["exception"]) });
            }
            let value = clean(answer["result"]["value"].clone());
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
            "functionDeclaration": script, "returnByValue": true, "arguments": [{ "value": args }],
            "executionContextId": world["executionContextId"],
        });
        self.connection.call("Runtime.callFunctionOn", &params, ask.until)
    }

    /// Gives the page's frame, and which document is in it.
    fn main_frame(&self, ask: Ask) -> Result<(String, String), PageError> {
        let tree = self.call("Page.getFrameTree", &json!({}), ask)?;
        let text = |name: &str| {
            let frame = &tree["frameTree"]["frame"];
            frame[name].as_str().unwrap_or_default().to_owned()
        };
        Ok((text("id"), text("loaderId")))
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

    /// Begins something that the page has the usual time for; `doing` is how it is told.
    pub(super) fn ask(&self, doing: &'static str) -> Ask {
        self.ask_for(doing, self.patience.answer)
    }

    pub(super) fn ask_for(&self, doing: &'static str, time: Duration) -> Ask {
        let dialogs = self.connection.dialogs();
        Ask { doing, until: after(time), time, dialogs }
    }

    /// Waits for something to happen in the page, or a moment.
    pub(super) fn pause(&self) {
        self.connection.wait_for_news(BETWEEN_LOOKS);
    }
}
