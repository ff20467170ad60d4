//! Elements of a page: the selector of an element ([`Wanted`]), and the result of a query
//! ([`Sight`]).

use std::fmt;

use serde::Deserialize;
use serde_json::{Value, json};

use super::error::PageError;
use super::nearest::nearest;
use super::untrusted::short;

/// The selector of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// An element by a CSS selector.
    Selector(String),
    /// An element by its visible text.
    Text(String),
    /// A field by its placeholder.
    Placeholder(String),
    /// A field by its label.
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

    /// Returns the selector as arguments of a script, with a value.
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

/// The result of a query script.
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

/// A clickable element, with the position for the click.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Spot {
    pub(super) what: String,
    /// The number of elements that match equally well, including this one.
    pub(super) count: u64,
    pub(super) x: f64,
    pub(super) y: f64,
}

impl Sight {
    /// Returns true if a later query may have another result.
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

    /// Returns the error for this result, if it is the last one before the timeout.
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
