//! Why a browser cannot be reached ([`ReachError`]), and why something cannot be done with a page
//! ([`PageError`]).

use std::time::Duration;

use super::keys::BadShortcut;

/// Why there is no page to be had at an address.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// It is no address.
    #[error("`{text}` is no address such as `127.0.0.1:9222`")]
    NoAddress {
        /// What was given.
        text: String,
    },
    /// It is another machine.
    #[error("`{host}` is not this machine, and DevTools are only used on this machine")]
    Elsewhere {
        /// Where it would lead.
        host: String,
    },
    /// Nothing listens there.
    #[error(
        "nothing listens at `{at}`: start the app with `--remote-debugging-port={port}`, or say \
         which port it has"
    )]
    Nobody {
        /// The address.
        at: String,
        /// Its port.
        port: u16,
    },
    /// What listens there is something else.
    #[error("what listens at `{at}` is no DevTools: {why}")]
    NotDevTools {
        /// The address.
        at: String,
        /// What tells.
        why: String,
    },
    /// It has no window.
    #[error("there is no page open at `{at}`")]
    NoPage {
        /// The address.
        at: String,
    },
    /// It has no such window.
    #[error("there is no window `{id}` at `{at}`")]
    NoSuchWindow {
        /// The address.
        at: String,
        /// The window that was asked for.
        id: String,
    },
}

/// How a page went away.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Gone {
    /// It was closed.
    #[error("it was closed")]
    Closed,
    /// Its process broke down.
    #[error("it crashed")]
    Crashed,
    /// It sent more than anybody takes.
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

/// Why something could not be done with a page.
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
