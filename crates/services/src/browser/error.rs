//! Errors: a browser cannot be reached ([`AttachError`]), or a command fails on a page
//! ([`PageError`]).

use std::time::Duration;

use super::shortcut::InvalidShortcut;

/// The reason why no page can be attached to at an address.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// The text is no address.
    #[error("invalid address `{text}`: expected HOST:PORT, such as `127.0.0.1:9222`")]
    NoAddress {
        /// The text.
        text: String,
    },
    /// The address is that of another machine.
    #[error("cannot connect to `{host}`: DevTools is used on this machine only")]
    NotLocal {
        /// The host of the address.
        host: String,
    },
    /// No program listens at the address.
    #[error(
        "cannot connect to `{at}`: no program listens there; start the app with \
         `--remote-debugging-port={port}`, or set `ELECTRON_DEBUG_PORT` to the debugging port of \
         the app"
    )]
    NotListening {
        /// The address.
        at: String,
        /// The port of the address.
        port: u16,
    },
    /// A program other than a browser listens at the address.
    #[error(
        "the server at `{at}` is not DevTools: {why}; `ELECTRON_DEBUG_PORT` must be the port of \
         `--remote-debugging-port`, not the port of the app's pages, and no other program may use \
         the port"
    )]
    NotDevTools {
        /// The address.
        at: String,
        /// The unexpected answer.
        why: String,
    },
    /// The app has no window.
    #[error("no page is open at `{at}`: open a window of the app")]
    NoPage {
        /// The address.
        at: String,
    },
    /// The app has no window with this id.
    #[error("unknown window `{id}` at `{at}`; `get_electron_window_info` lists the windows")]
    NoSuchWindow {
        /// The address.
        at: String,
        /// The id of the window.
        id: String,
    },
    /// Another debugger uses the window.
    #[error("the window `{id}` at `{at}` is in use by another debugger: close its developer tools")]
    WindowInUse {
        /// The address.
        at: String,
        /// The id of the window.
        id: String,
    },
    /// The browser is too old.
    #[error(
        "`{product}` at `{at}` is too old: Chrome {oldest} (Electron 9) is the oldest version that \
         is supported; update the app's Electron, or open its pages in a newer Chromium"
    )]
    TooOld {
        /// The address.
        at: String,
        /// The name and version of the browser.
        product: String,
        /// The oldest major version that is supported.
        oldest: u32,
    },
    /// The browser is not of the Chromium family, or does not state its version.
    #[error(
        "`{product}` at `{at}` is not Chrome, Chromium or Electron: start the app in one of these \
         browsers, Chrome {oldest} (Electron 9) or newer"
    )]
    UnknownBrowser {
        /// The address.
        at: String,
        /// The name of the browser.
        product: String,
        /// The oldest major version that is supported.
        oldest: u32,
    },
}

/// The reason why a page is gone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoneReason {
    /// The page was closed.
    #[error("closed")]
    Closed,
    /// The process of the page crashed.
    #[error("crashed")]
    Crashed,
    /// The page sent a message above the size limit.
    #[error("more than {} MB in one message", max_bytes >> 20)]
    TooLarge {
        /// The size limit, in bytes.
        max_bytes: usize,
    },
    /// The connection broke.
    #[error("the connection was lost: {why}")]
    ConnectionBroken {
        /// The cause.
        why: String,
    },
}

/// The reason why a command failed on a page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// No page can be reached.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The page is gone.
    #[error("the page is gone: {0}")]
    Gone(GoneReason),
    /// The page did not answer in time.
    #[error(
        "the page did not answer within {} s while {doing}{}",
        after.as_secs_f32(),
        dialogs_suffix(*dialogs)
    )]
    TimedOut {
        /// The request, for the message.
        doing: String,
        /// The timeout.
        after: Duration,
        /// The number of dialogs that the page opened meanwhile.
        dialogs: u64,
    },
    /// No element matches the selector.
    #[error("no element with {what}{}", nearest_suffix(nearest))]
    NotFound {
        /// The selector.
        what: String,
        /// The descriptions of the most similar elements of the page.
        nearest: Vec<String>,
    },
    /// The element is not visible.
    #[error("{what} is not visible")]
    Hidden {
        /// The element.
        what: String,
    },
    /// Another element covers the element.
    #[error("{what} is covered by {by}")]
    Covered {
        /// The element.
        what: String,
        /// The element on top of it.
        by: String,
    },
    /// The element is disabled.
    #[error("{what} is disabled")]
    Disabled {
        /// The element.
        what: String,
    },
    /// The element does not stop moving.
    #[error("{what} does not stop moving")]
    Moving {
        /// The element.
        what: String,
    },
    /// The list has no such option.
    #[error("{what} has no option `{option}`{}", nearest_suffix(nearest))]
    NoOption {
        /// The list.
        what: String,
        /// The option that was requested.
        option: String,
        /// The most similar options of the list.
        nearest: Vec<String>,
    },
    /// The element is of another kind than the command needs.
    #[error("{what} {why}")]
    Unfit {
        /// The element.
        what: String,
        /// The reason why the element does not fit.
        why: String,
    },
    /// The text is no CSS selector.
    #[error("invalid CSS selector `{selector}`")]
    BadSelector {
        /// The text.
        selector: String,
    },
    /// The text is no shortcut.
    #[error(transparent)]
    InvalidShortcut(#[from] InvalidShortcut),
    /// The use of `eval` is not allowed.
    #[error("`eval` is not allowed here")]
    EvalNotAllowed,
    /// The code of an `eval` threw an exception.
    #[error("the code threw: {message}")]
    Threw {
        /// The message of the exception.
        message: String,
    },
    /// A script of assay failed in the page. The page is not the cause.
    #[error(
        "a script of assay failed in this browser: {message}; this is a bug in assay, not in the \
         app: report it with the version that `get_electron_window_info` shows"
    )]
    ScriptFailed {
        /// The exception.
        message: String,
    },
    /// A server answered, and the browser does not report the status.
    #[error("the browser does not report the HTTP status of `{url}`: open the page again")]
    NoStatus {
        /// The address of the page.
        url: String,
    },
    /// A value exceeds the size limit.
    #[error("{what} is too big: more than {} kB", max_bytes >> 10)]
    TooBig {
        /// The kind of value.
        what: String,
        /// The size limit, in bytes.
        max_bytes: usize,
    },
    /// A page could not be opened.
    #[error("cannot open `{url}`: {why}")]
    NotOpened {
        /// The address of the page.
        url: String,
        /// The cause.
        why: String,
    },
    /// DevTools refused a call.
    #[error("DevTools refused `{method}`: {message}")]
    Refused {
        /// The method that was called.
        method: String,
        /// The error message of DevTools.
        message: String,
    },
    /// An expected text is not shown.
    #[error("the page does not show `{text}`; the page begins with `{begin}`")]
    MissingText {
        /// The text.
        text: String,
        /// The beginning of the text that the page shows.
        begin: String,
    },
    /// A text is shown that must not be.
    #[error("the page shows `{text}`")]
    UnexpectedText {
        /// The text.
        text: String,
    },
}

impl PageError {
    /// Returns true if the app is not the cause: the browser, the connection, the permissions or
    /// assay itself prevented the command.
    pub fn is_environment_error(&self) -> bool {
        match self {
            PageError::Attach(_)
            | PageError::Gone(GoneReason::ConnectionBroken { .. })
            | PageError::EvalNotAllowed
            | PageError::ScriptFailed { .. }
            | PageError::NoStatus { .. }
            | PageError::Refused { .. } => true,
            PageError::Gone(
                GoneReason::Closed | GoneReason::Crashed | GoneReason::TooLarge { .. },
            )
            | PageError::TimedOut { .. }
            | PageError::NotFound { .. }
            | PageError::Hidden { .. }
            | PageError::Covered { .. }
            | PageError::Disabled { .. }
            | PageError::Moving { .. }
            | PageError::NoOption { .. }
            | PageError::Unfit { .. }
            | PageError::BadSelector { .. }
            | PageError::InvalidShortcut(_)
            | PageError::Threw { .. }
            | PageError::TooBig { .. }
            | PageError::NotOpened { .. }
            | PageError::MissingText { .. }
            | PageError::UnexpectedText { .. } => false,
        }
    }
}

fn dialogs_suffix(count: u64) -> String {
    match count {
        0 => String::new(),
        1 => "; the page opened a dialog meanwhile".to_owned(),
        count => format!("; the page opened {count} dialogs meanwhile"),
    }
}

fn nearest_suffix(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; most similar: {}", names.join(", ")),
    }
}
