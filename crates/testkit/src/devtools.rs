//! A Chromium that a test drives over the DevTools protocol: [`TestBrowser`], with one
//! [`BrowserTab`] for each user.
//!
//! A tab has cookies of its own, an emulated screen ([`TabOptions`]), a keyboard, and a record of
//! the errors that its pages report. The product's own client, `assay_services::browser`, is
//! tested itself and can emulate nothing, so this one is independent of it. A browser that does
//! not answer fails the test.

use std::cell::RefCell;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::rc::Rc;
use std::time::{Duration, Instant};

use assay_testenv::chromium::PrivateChromium;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::webhook;

/// The time limit for anything that must happen, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The interval between two queries of a condition without an event.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// The maximum number of elements that a keyboard user passes on the way to another one.
const MAX_TAB_STOPS: usize = 400;

/// A private browser without a window.
pub struct TestBrowser {
    connection: Rc<RefCell<Connection>>,
    /// Dropped after the connection.
    _chromium: PrivateChromium,
}

/// The screen and the scripts of a tab.
#[derive(Debug, Clone, Copy)]
pub struct TabOptions {
    /// The width of the screen in pixels.
    pub width: u32,
    /// True for a user who prefers dark colours.
    pub is_dark: bool,
    /// False for a user who disabled scripts.
    pub runs_scripts: bool,
}

impl Default for TabOptions {
    fn default() -> TabOptions {
        TabOptions { width: 1440, is_dark: false, runs_scripts: true }
    }
}

/// A tab with cookies of its own.
pub struct BrowserTab {
    connection: Rc<RefCell<Connection>>,
    session: String,
}

impl TestBrowser {
    /// Starts a browser.
    pub fn start() -> TestBrowser {
        let chromium = PrivateChromium::start("about:blank");
        let connection = Rc::new(RefCell::new(Connection::open(chromium.port())));
        TestBrowser { connection, _chromium: chromium }
    }

    /// Opens an empty tab.
    pub fn tab(&self, options: TabOptions) -> BrowserTab {
        let call = |method: &str, params: Value| {
            self.connection.borrow_mut().call(None, method, &params).unwrap()
        };
        let context = call("Target.createBrowserContext", json!({}));
        let target = call(
            "Target.createTarget",
            json!({ "url": "about:blank", "browserContextId": context["browserContextId"] }),
        );
        let attached = call(
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        );
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let tab = BrowserTab { connection: Rc::clone(&self.connection), session };
        for domain in ["Page", "Runtime", "Log", "Network", "Audits"] {
            tab.call(&format!("{domain}.enable"), &json!({}));
        }
        // A tab in the background has the focus, too.
        tab.call("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }));
        tab.emulate(options);
        tab
    }
}

impl BrowserTab {
    /// Changes the screen and the scripts. Scripts of the open page go on.
    pub fn emulate(&self, options: TabOptions) {
        let is_phone = options.width < 600;
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({
                "width": options.width, "height": if is_phone { 844 } else { 900 },
                "deviceScaleFactor": 1, "mobile": is_phone,
            }),
        );
        let scheme = if options.is_dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
        let disabled = json!({ "value": !options.runs_scripts });
        self.call("Emulation.setScriptExecutionDisabled", &disabled);
    }

    /// Opens an address and waits until its document is loaded. Returns the HTTP status.
    pub fn open(&self, url: &str) -> u16 {
        self.load(|| drop(self.call("Page.navigate", &json!({ "url": url }))))
    }

    /// Carries out an action that leads to another document, and waits until the document is
    /// loaded. Returns the HTTP status.
    pub fn load(&self, action: impl FnOnce()) -> u16 {
        let before = self.connection.borrow().events.len();
        action();
        let is_own = |event: &&Value| event["sessionId"] == self.session.as_str();
        self.wait("the next document", || {
            let connection = self.connection.borrow();
            let mut events = connection.events[before..].iter().filter(is_own);
            events.any(|event| event["method"] == "Page.loadEventFired").then_some(())
        });
        let connection = self.connection.borrow();
        let events = connection.events[before..].iter().filter(is_own);
        let mut answers = events.filter(|event| {
            event["method"] == "Network.responseReceived" && event["params"]["type"] == "Document"
        });
        let status = answers.next_back().and_then(|it| it["params"]["response"]["status"].as_u64());
        status.and_then(|status| u16::try_from(status).ok()).unwrap_or_default()
    }

    /// Runs code in the page and returns its value. A promise is awaited.
    pub fn eval(&self, code: &str) -> Value {
        self.try_eval(code).unwrap_or_else(|error| panic!("{code}: {error}"))
    }

    fn try_eval(&self, code: &str) -> Result<Value, String> {
        let params = json!({ "expression": code, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.try_call("Runtime.evaluate", &params)?;
        match answer.get("exceptionDetails") {
            Some(details) => Err(details["exception"]["description"].to_string()),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    /// Waits until code in the page returns true. The page may change its document meanwhile.
    pub fn wait_until(&self, code: &str) {
        self.wait(code, || (self.try_eval(code).ok()? == true).then_some(()));
    }

    /// Returns the visible text of the page, without line breaks.
    pub fn text(&self) -> String {
        let text = self.eval("document.body.innerText");
        text.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Presses and releases a key: a name such as `Tab` or `Enter`, or a character.
    pub fn press(&self, key: &str) {
        let (code, number, text) = match key {
            "Tab" => ("Tab".to_owned(), 9, None),
            "Enter" => ("Enter".to_owned(), 13, Some("\r")),
            "Escape" => ("Escape".to_owned(), 27, None),
            character => (String::new(), 0, Some(character)),
        };
        let mut down = json!({
            "type": if text.is_some() { "keyDown" } else { "rawKeyDown" },
            "key": key, "code": code, "windowsVirtualKeyCode": number,
        });
        if let Some(text) = text {
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", &down);
        down["type"] = json!("keyUp");
        self.call("Input.dispatchKeyEvent", &down);
    }

    /// Presses the keys of a text.
    pub fn type_text(&self, text: &str) {
        for character in text.chars() {
            self.press(character.encode_utf8(&mut [0; 4]));
        }
    }

    /// Presses Tab until an element that matches a CSS selector has the focus, and checks that the
    /// focus is visible.
    pub fn go_to(&self, selector: &str) {
        let is_there = format!(
            "(() => {{ const at = document.activeElement; if (!at.matches({})) return 'elsewhere'; \
             const style = getComputedStyle(at); \
             return style.outlineStyle !== 'none' && style.outlineWidth !== '0px' ? 'there' : 'hidden'; }})()",
            json!(selector),
        );
        for _ in 0..MAX_TAB_STOPS {
            match self.eval(&is_there).as_str() {
                Some("there") => return,
                Some("hidden") => panic!("`{selector}` does not show that it has the focus"),
                _ => self.press("Tab"),
            }
        }
        panic!("`{selector}` cannot be reached by the key Tab");
    }

    /// Returns the errors that pages of the tab reported since the last call: of scripts, of
    /// requests, and of the content security policy.
    pub fn take_errors(&self) -> Vec<String> {
        // Errors are reported before the answer to a later call.
        self.call("Runtime.getHeapUsage", &json!({}));
        let mut connection = self.connection.borrow_mut();
        let (own, other) = std::mem::take(&mut connection.events)
            .into_iter()
            .partition(|event| event["sessionId"] == self.session.as_str());
        connection.events = other;
        let own: Vec<Value> = own;
        own.iter().filter_map(error_of).collect()
    }

    /// Returns a picture of the whole page as PNG.
    pub fn picture(&self) -> Vec<u8> {
        let size = &self.call("Page.getLayoutMetrics", &json!({}))["cssContentSize"];
        let clip = json!({
            "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1,
        });
        let params = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let answer = self.call("Page.captureScreenshot", &params);
        BASE64_STANDARD.decode(answer["data"].as_str().unwrap()).unwrap()
    }

    fn call(&self, method: &str, params: &Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_call(&self, method: &str, params: &Value) -> Result<Value, String> {
        self.connection.borrow_mut().call(Some(&self.session), method, params)
    }

    /// Reads messages until a query has a result.
    fn wait<T>(&self, what: &str, query: impl Fn() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(found) = query() {
                return found;
            }
            assert!(start.elapsed() < TIMEOUT, "no result within {TIMEOUT:?}: {what}");
            self.connection.borrow_mut().read();
        }
    }
}

/// Returns the text of an event that reports an error; `None` for other events.
fn error_of(event: &Value) -> Option<String> {
    let params = &event["params"];
    let is_error = match event["method"].as_str()? {
        "Runtime.exceptionThrown" | "Audits.issueAdded" => true,
        "Runtime.consoleAPICalled" => matches!(params["type"].as_str(), Some("error" | "warning")),
        "Log.entryAdded" => matches!(params["entry"]["level"].as_str(), Some("error" | "warning")),
        _ => false,
    };
    is_error.then(|| params.to_string())
}

/// A connection to a browser with the sessions of all its tabs.
struct Connection {
    socket: WebSocket<TcpStream>,
    last_id: u64,
    events: Vec<Value>,
    /// The newest answer that has no reader yet.
    answer: Option<Value>,
}

impl Connection {
    fn open(port: u16) -> Connection {
        let address = format!("127.0.0.1:{port}");
        let version = webhook::send(&address, "GET", "/json/version", &[], b"").unwrap().json();
        let stream = TcpStream::connect(&address).unwrap();
        stream.set_nodelay(true).unwrap();
        let url = version["webSocketDebuggerUrl"].as_str().unwrap();
        let (socket, _) = tungstenite::client::client(url, stream).unwrap();
        socket.get_ref().set_read_timeout(Some(POLL_INTERVAL)).unwrap();
        Connection { socket, last_id: 0, events: Vec::new(), answer: None }
    }

    fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> Result<Value, String> {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(message.to_string())).unwrap();
        let start = Instant::now();
        loop {
            self.read();
            let answer = self.answer.take_if(|answer| answer["id"] == self.last_id);
            if let Some(mut answer) = answer {
                return match answer.get("error") {
                    Some(error) => Err(error.to_string()),
                    None => Ok(answer["result"].take()),
                };
            }
            assert!(start.elapsed() < TIMEOUT, "the browser does not answer `{method}`");
        }
    }

    /// Reads a message, or returns after a short time.
    fn read(&mut self) {
        let text = match self.socket.read() {
            Ok(Message::Text(text)) => text,
            Ok(_) => return,
            Err(tungstenite::Error::Io(error))
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
            {
                return;
            }
            Err(error) => panic!("the browser is gone: {error}"),
        };
        let message: Value = serde_json::from_str(&text).unwrap();
        match message.get("id") {
            Some(_) => self.answer = Some(message),
            None => self.events.push(message),
        }
    }
}
