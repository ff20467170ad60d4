//! Elements of a page: what is looked for ([`Wanted`]), and what is seen of it ([`Sight`]).

use std::fmt;

use serde::Deserialize;
use serde_json::{Value, json};

use super::error::PageError;
use super::nearest::nearest;
use super::untrusted::short;

/// An element that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// By a CSS selector.
    Selector(String),
    /// By what can be read on it.
    Text(String),
    /// A field, by what it shows while it is empty.
    Placeholder(String),
    /// A field, by its label.
    Label(String),
}

impl Wanted {
    fn parts(&self) -> (&'static str, &str) {
        match self {
            Wanted::Selector(text) => ("selector", text),
            Wanted::Text(text) => ("text", text),
            Wanted::Placeholder(text) => ("placeholder", text),
            Wanted::Label(text) => ("label", text),
        }
    }

    /// Gives it to a script, with a value.
    pub(super) fn args(&self, value: &Value) -> Value {
        let (by, wanted) = self.parts();
        json!({ "by": by, "wanted": wanted, "value": value["value"], "text": value["text"] })
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (by, wanted) = self.parts();
        write!(f, "the {by} `{}`", short(wanted))
    }
}

/// What a script saw.
#[derive(Debug, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum Sight {
    BadSelector,
    Missing { there: Vec<(String, String)> },
    Hidden { what: String },
    Disabled { what: String },
    Covered { what: String, by: String },
    Unfit { what: String, why: String },
    NoOption { what: String, there: Vec<(String, String)> },
    Fit,
    Ready(Spot),
    Grabbed { what: String, empty: bool },
    Set { what: String },
    Chosen { what: String, option: String, value: String },
}

/// An element that can be clicked, and where.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Spot {
    pub(super) what: String,
    /// How many there are that fit as well as this one, itself counted.
    pub(super) count: u64,
    pub(super) x: f64,
    pub(super) y: f64,
}

impl Sight {
    /// Says whether more time may help.
    pub(super) fn may_change(&self) -> bool {
        match self {
            Sight::Missing { .. }
            | Sight::Hidden { .. }
            | Sight::Disabled { .. }
            | Sight::Covered { .. }
            | Sight::NoOption { .. } => true,
            Sight::BadSelector
            | Sight::Unfit { .. }
            | Sight::Fit
            | Sight::Ready(_)
            | Sight::Grabbed { .. }
            | Sight::Set { .. }
            | Sight::Chosen { .. } => false,
        }
    }

    /// Gives the error that it is where nothing else was seen in time.
    pub(super) fn error(self, wanted: &Wanted, option: &str) -> PageError {
        let (_, text) = wanted.parts();
        match self {
            Sight::BadSelector => PageError::BadSelector { selector: short(text) },
            Sight::Missing { there } => {
                PageError::NotFound { what: wanted.to_string(), nearest: nearest(text, &there) }
            }
            Sight::Hidden { what } => PageError::Hidden { what },
            Sight::Disabled { what } => PageError::Disabled { what },
            Sight::Covered { what, by } => PageError::Covered { what, by },
            Sight::Unfit { what, why } => PageError::Unfit { what, why },
            Sight::NoOption { what, there } => {
                let nearest = nearest(option, &there);
                PageError::NoOption { what, option: short(option), nearest }
            }
            Sight::Fit => PageError::Moving { what: wanted.to_string() },
            Sight::Ready(Spot { what, .. })
            | Sight::Grabbed { what, .. }
            | Sight::Set { what, .. }
            | Sight::Chosen { what, .. } => PageError::Moving { what },
        }
    }
}
