//! Elements of a page: the selector of an element ([`Selector`]), and the result of a query
//! ([`QueryResult`]).

use std::fmt;

use serde::Deserialize;
use serde_json::{Value, json};

use super::error::PageError;
use super::suggestions::nearest_names;
use super::untrusted::truncate_line;

/// The selector of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selector {
    /// An element by a CSS selector.
    Css(String),
    /// An element by its visible text.
    Text(String),
    /// A field by its placeholder.
    Placeholder(String),
    /// A field by its label.
    Label(String),
}

impl Selector {
    fn parts(&self) -> (&'static str, &str) {
        match self {
            Selector::Css(text) => ("selector", text),
            Selector::Text(text) => ("text", text),
            Selector::Placeholder(text) => ("placeholder", text),
            Selector::Label(text) => ("label", text),
        }
    }

    /// Returns the selector as arguments of a script, with a value.
    pub(super) fn args(&self, value: &Value) -> Value {
        let (by, wanted) = self.parts();
        json!({ "by": by, "wanted": wanted, "value": value["value"], "text": value["text"] })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (by, wanted) = self.parts();
        write!(f, "the {by} `{}`", truncate_line(wanted))
    }
}

/// The result of a query script.
#[derive(Debug, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum QueryResult {
    BadSelector,
    Missing { there: Vec<(String, String)> },
    Hidden { what: String },
    Disabled { what: String },
    Covered { what: String, by: String },
    Unfit { what: String, why: String },
    NoOption { what: String, there: Vec<(String, String)> },
    Fit,
    Ready(ClickTarget),
    Grabbed { what: String, empty: bool },
    Set { what: String },
    Chosen { what: String, option: String, value: String },
}

/// A clickable element, with the position for the click.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct ClickTarget {
    pub(super) what: String,
    /// The number of elements that match equally well, including this one.
    pub(super) count: u64,
    pub(super) x: f64,
    pub(super) y: f64,
}

impl QueryResult {
    /// Returns true if a later query may have another result.
    pub(super) fn may_change(&self) -> bool {
        match self {
            QueryResult::Missing { .. }
            | QueryResult::Hidden { .. }
            | QueryResult::Disabled { .. }
            | QueryResult::Covered { .. }
            | QueryResult::NoOption { .. } => true,
            QueryResult::BadSelector
            | QueryResult::Unfit { .. }
            | QueryResult::Fit
            | QueryResult::Ready(_)
            | QueryResult::Grabbed { .. }
            | QueryResult::Set { .. }
            | QueryResult::Chosen { .. } => false,
        }
    }

    /// Returns the error for this result, if it is the last one before the timeout.
    pub(super) fn error(self, wanted: &Selector, option: &str) -> PageError {
        let (_, text) = wanted.parts();
        match self {
            QueryResult::BadSelector => PageError::BadSelector { selector: truncate_line(text) },
            QueryResult::Missing { there } => PageError::NotFound {
                what: wanted.to_string(),
                nearest: nearest_names(text, &there),
            },
            QueryResult::Hidden { what } => PageError::Hidden { what },
            QueryResult::Disabled { what } => PageError::Disabled { what },
            QueryResult::Covered { what, by } => PageError::Covered { what, by },
            QueryResult::Unfit { what, why } => PageError::Unfit { what, why },
            QueryResult::NoOption { what, there } => {
                let nearest = nearest_names(option, &there);
                PageError::NoOption { what, option: truncate_line(option), nearest }
            }
            QueryResult::Fit => PageError::Moving { what: wanted.to_string() },
            QueryResult::Ready(ClickTarget { what, .. })
            | QueryResult::Grabbed { what, .. }
            | QueryResult::Set { what, .. }
            | QueryResult::Chosen { what, .. } => PageError::Moving { what },
        }
    }
}
