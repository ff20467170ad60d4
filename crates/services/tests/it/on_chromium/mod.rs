//! Tests with pages in a real Chromium.

mod acting;
mod failing;
mod flows;
mod hostile;
mod looking;
mod settling;
mod statuses;

use std::time::Duration;

use assay_services::browser::{Endpoint, Page, PageCommand, Timeouts};
use assay_testenv::chromium::PrivateChromium;
use assay_testkit::pages::{Answer, Pages};
use serde_json::{Value, json};

const APP: &str = include_str!("../pages/app.html");

/// A page in a private browser. The page is dropped before the browser ends.
struct BrowserFixture {
    page: Page,
    pages: Pages,
    chromium: PrivateChromium,
}

/// The timeouts of tests: long, since machines that run tests can be slow. Only tests that expect a
/// timeout have shorter ones.
const TIMEOUTS: Timeouts = Timeouts {
    element: Duration::from_secs(60),
    answer: Duration::from_secs(90),
    load: Duration::from_secs(90),
    settle: Duration::from_millis(20),
    settle_limit: Duration::from_secs(60),
};

/// The timeouts of tests that expect a timeout.
const SHORT_TIMEOUTS: Timeouts = Timeouts { element: Duration::from_millis(300), ..TIMEOUTS };

impl BrowserFixture {
    /// Opens the app.
    fn new() -> BrowserFixture {
        BrowserFixture::with(vec![("/", Answer::Page(200, APP.to_owned()))], TIMEOUTS)
    }

    fn with_short_timeouts() -> BrowserFixture {
        BrowserFixture::with(vec![("/", Answer::Page(200, APP.to_owned()))], SHORT_TIMEOUTS)
    }

    /// Opens the first page of a server with these answers.
    fn with(answers: Vec<(&'static str, Answer)>, timeouts: Timeouts) -> BrowserFixture {
        let pages = Pages::serve(answers);
        let chromium = PrivateChromium::start("about:blank");
        let endpoint = Endpoint::local(chromium.port());
        let page = Page::attach(endpoint, None, timeouts).unwrap().allowing_eval();
        let lab = BrowserFixture { page, pages, chromium };
        lab.page.open(&lab.pages.url("/")).unwrap();
        lab
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint::local(self.chromium.port())
    }

    /// Runs a command and returns its result, or the error as text.
    fn outcome(&self, name: &str, args: Value) -> Result<Value, String> {
        let command: PageCommand = serde_json::from_value(json!({ name: args })).unwrap();
        self.page.perform(&command).map_err(|error| error.to_string())
    }

    fn done(&self, name: &str, args: Value) -> Value {
        self.outcome(name, args).unwrap()
    }

    /// Returns the error of a command.
    fn fault(&self, name: &str, args: Value) -> String {
        self.outcome(name, args).unwrap_err()
    }

    /// Returns the value of code that is run in the page.
    fn eval(&self, code: &str) -> Value {
        self.done("eval", json!(code))["value"].take()
    }

    /// Returns the actions that the app recorded.
    fn log(&self) -> Value {
        self.eval("[...document.querySelectorAll('#log li')].map((it) => it.textContent)")
    }
}
