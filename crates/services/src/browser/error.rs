//! Errors: a browser cannot be reached ([`ReachError`]), or a command cannot be carried out on a page
//! ([`PageError`]).

use std::time::Duration;

use super::keys::BadShortcut;

/// The reason why no page can be attached to at an address.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// The text is no address.
    #[error("`{text}` is no address such as `127.0.0.1:9222`")]
    NoAddress {
        /// What was given.
        text: String,
    },
    /// The address is that of another machine.
    #[error("`{host}` is not this machine, and DevTools are only used on this machine")]
    Elsewhere {
        /// Where it would lead.
        host: String,
    },
    /// Nothing listens at the address.
    #[error(
        "nothing listens at `{at}`: start the app with `--remote-debugging-port={port}`, or set \
         `ELECTRON_DEBUG_PORT` to the debugging port that it has"
    )]
    Nobody {
        /// The address.
        at: String,
        /// Its port.
        port: u16,
    },
    /// Another program than a browser listens at the address.
    #[error(
        "what listens at `{at}` is no DevTools: {why}; `ELECTRON_DEBUG_PORT` has to be the port of \
         `--remote-debugging-port`, not that of the app's pages, and no other program may use it"
    )]
    NotDevTools {
        /// The address.
        at: String,
        /// What tells.
        why: String,
    },
    /// The app has no window.
    #[error("there is no page open at `{at}`: open a window of the app")]
    NoPage {
        /// The address.
        at: String,
    },
    /// The app has no window of that id.
    #[error("there is no window `{id}` at `{at}`: `get_electron_window_info` lists the windows")]
    NoSuchWindow {
        /// The address.
        at: String,
        /// The window that was asked for.
        id: String,
    },
    /// Another program has taken the window for itself.
    #[error("the window `{id}` at `{at}` is in use by another debugger: close its developer tools")]
    WindowInUse {
        /// The address.
        at: String,
        /// The window.
        id: String,
    },
    /// The browser is too old to be tested with.
    #[error(
        "`{product}` at `{at}` is too old: Chrome {oldest} (Electron 9) is the oldest version that \
         is supported; update the app's Electron, or open its pages in a newer Chromium"
    )]
    TooOld {
        /// The address.
        at: String,
        /// The name and version that the browser has.
        product: String,
        /// The oldest major version that is supported.
        oldest: u32,
    },
    /// The browser is none of the Chromium family, or does not tell its version.
    #[error(
        "`{product}` at `{at}` is no version of Chrome, Chromium or Electron: start the app in one \
         of these, Chrome {oldest} (Electron 9) or newer"
    )]
    UnknownBrowser {
        /// The address.
        at: String,
        /// The name that the browser has.
        product: String,
        /// The oldest major version that is supported.
        oldest: u32,
    },
}

/// How a page went away.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Gone {
    /// The page was closed.
    #[error("it was closed")]
    Closed,
    /// The process of the page crashed.
    #[error("it crashed")]
    Crashed,
    /// The page sent a message above the size limit.
    #[error("it sent more than {} MB at once", most >> 20)]
    Flooded {
        /// How many bytes are taken.
        most: usize,
    },
    /// The connection broke.
    #[error("the connection broke: {why}")]
    Broken {
        /// How.
        why: String,
    },
}

/// The reason why a command could not be carried out on a page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// There is no page.
    #[error(transparent)]
    Reach(#[from] ReachError),
    /// The page went away.
    #[error("the page is gone: {0}")]
    Gone(Gone),
    /// It took too long.
    #[error("the page did not answer {doing} within {} s{}", after.as_secs_f32(), and_dialogs(*dialogs))]
    TimedOut {
        /// What was asked of it.
        doing: String,
        /// How long it was waited for.
        after: Duration,
        /// How many dialogs it opened meanwhile.
        dialogs: u64,
    },
    /// There is no such element.
    #[error("there is no element with {what}{}", and_nearest(nearest))]
    NotFound {
        /// What was looked for.
        what: String,
        /// What is there that is most like it.
        nearest: Vec<String>,
    },
    /// The element cannot be seen.
    #[error("{what} is there, but cannot be seen")]
    Hidden {
        /// The element.
        what: String,
    },
    /// Something lies on the element.
    #[error("{what} is covered by {by}")]
    Covered {
        /// The element.
        what: String,
        /// What lies on it.
        by: String,
    },
    /// The element is switched off.
    #[error("{what} is disabled")]
    Disabled {
        /// The element.
        what: String,
    },
    /// The element does not come to rest.
    #[error("{what} does not stop moving")]
    Moving {
        /// The element.
        what: String,
    },
    /// The list has no such option.
    #[error("{what} has no option `{option}`{}", and_nearest(nearest))]
    NoOption {
        /// The list.
        what: String,
        /// The option that was asked for.
        option: String,
        /// Options that are there and most like it.
        nearest: Vec<String>,
    },
    /// The element is of another kind than this needs.
    #[error("{what} {why}")]
    Unfit {
        /// The element.
        what: String,
        /// Why not.
        why: String,
    },
    /// It is no selector.
    #[error("`{selector}` is no CSS selector")]
    BadSelector {
        /// What was given.
        selector: String,
    },
    /// It is no shortcut.
    #[error(transparent)]
    BadShortcut(#[from] BadShortcut),
    /// The page may not be given code to run.
    #[error("`eval` is not allowed here")]
    EvalOff,
    /// Code that the page was given broke down.
    #[error("the code threw: {message}")]
    Threw {
        /// What it said.
        message: String,
    },
    /// A script of assay failed in the page. That is no fault of the page.
    #[error(
        "a script of assay failed in this browser: {message}; this is a defect of assay, not of the \
         app: report it with the version that `get_electron_window_info` tells"
    )]
    ScriptFailed {
        /// The exception.
        message: String,
    },
    /// A server answered, and the browser does not tell with which status.
    #[error(
        "the browser does not tell with which status the server answered for `{url}`: open the \
         page again"
    )]
    NoStatus {
        /// The page.
        url: String,
    },
    /// There is more than anybody takes.
    #[error("{what} is too big: more than {} kB", most >> 10)]
    TooBig {
        /// What is.
        what: String,
        /// How many bytes are taken.
        most: usize,
    },
    /// A page could not be opened.
    #[error("`{url}` could not be opened: {why}")]
    NotOpened {
        /// The page.
        url: String,
        /// Why.
        why: String,
    },
    /// DevTools refused.
    #[error("DevTools refused `{method}`: {message}")]
    Refused {
        /// What was asked of them.
        method: String,
        /// What they said.
        message: String,
    },
    /// A text is not there.
    #[error("the page does not show `{text}`; it begins with `{begin}`")]
    NoText {
        /// The text.
        text: String,
        /// What is there.
        begin: String,
    },
    /// A text is there.
    #[error("the page shows `{text}`")]
    StillText {
        /// The text.
        text: String,
    },
}

impl PageError {
    /// Returns true if the app is not the cause: the browser, the connection, the permissions or
    /// assay itself kept the command from being carried out.
    pub fn is_not_of_the_app(&self) -> bool {
        match self {
            PageError::Reach(_)
            | PageError::Gone(Gone::Broken { .. })
            | PageError::EvalOff
            | PageError::ScriptFailed { .. }
            | PageError::NoStatus { .. }
            | PageError::Refused { .. } => true,
            PageError::Gone(Gone::Closed | Gone::Crashed | Gone::Flooded { .. })
            | PageError::TimedOut { .. }
            | PageError::NotFound { .. }
            | PageError::Hidden { .. }
            | PageError::Covered { .. }
            | PageError::Disabled { .. }
            | PageError::Moving { .. }
            | PageError::NoOption { .. }
            | PageError::Unfit { .. }
            | PageError::BadSelector { .. }
            | PageError::BadShortcut(_)
            | PageError::Threw { .. }
            | PageError::TooBig { .. }
            | PageError::NotOpened { .. }
            | PageError::NoText { .. }
            | PageError::StillText { .. } => false,
        }
    }
}

fn and_dialogs(count: u64) -> String {
    match count {
        0 => String::new(),
        1 => "; it opened a dialog meanwhile".to_owned(),
        count => format!("; it opened {count} dialogs meanwhile"),
    }
}

fn and_nearest(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; there is {}", names.join(", ")),
    }
}
