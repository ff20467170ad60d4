//! A request that passed the checks, and its reply: [`Call`], [`Fields`] and [`Reply`].

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::refusal::Refusal;
use super::state::{State, Token};

/// A request of an authenticated user.
pub(super) struct Call<'a> {
    pub(super) state: &'a mut State,
    pub(super) now: Duration,
    pub(super) token: Token,
    /// The path without its query, for links to pages.
    pub(super) path: &'a str,
    pub(super) query: Vec<(String, String)>,
    pub(super) accept: String,
    pub(super) body: &'a Value,
}

/// The reply to a request.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Body,
    pub(super) headers: Vec<(String, String)>,
    /// True if the request changed the state.
    pub(super) took_effect: bool,
}

pub(super) enum Body {
    Json(Value),
    /// A diff as text.
    Text(String),
}

/// An answer or a refusal.
pub(super) type Outcome = Result<Reply, Refusal>;

impl Reply {
    /// Creates the reply to a read.
    pub(super) fn unchanged(body: Value) -> Reply {
        Reply { status: 200, body: Body::Json(body), headers: Vec::new(), took_effect: false }
    }

    /// Creates the reply to a write.
    pub(super) fn done(status: u16, body: Value) -> Reply {
        Reply { status, took_effect: true, ..Reply::unchanged(body) }
    }

    /// Creates a reply with a diff.
    pub(super) fn text(text: &str) -> Reply {
        Reply { body: Body::Text(text.to_owned()), ..Reply::unchanged(Value::Null) }
    }
}

impl Call<'_> {
    /// Returns a parameter of the query.
    pub(super) fn param(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns a parameter that must be one of `words`; the first of them if it is missing.
    pub(super) fn word<'w>(&self, name: &str, words: &[&'w str]) -> Result<&'w str, Refusal> {
        let said = self.param(name).unwrap_or(words[0]);
        let known = words.iter().find(|word| **word == said);
        known.copied().ok_or_else(|| {
            Refusal::malformed(&format!("For '{name}', \"{said}\" is not a possible value."))
        })
    }

    /// Returns one page of a list, and the headers with links to the other pages.
    pub(super) fn page(&self, all: &[Value]) -> (Value, Vec<(String, String)>) {
        let number = |name: &str| self.param(name).and_then(|text| text.parse::<usize>().ok());
        let size = number("per_page").unwrap_or(30).clamp(1, 100);
        let page = number("page").unwrap_or(1).max(1);
        let last = all.len().div_ceil(size).max(1);
        let items: Vec<Value> =
            all.iter().skip((page - 1).saturating_mul(size)).take(size).cloned().collect();
        let mut links = Vec::new();
        if page > 1 {
            links.push(self.link(page - 1, "prev"));
            links.push(self.link(1, "first"));
        }
        if page < last {
            links.push(self.link(page + 1, "next"));
            links.push(self.link(last, "last"));
        }
        let link = (!links.is_empty()).then(|| ("link".to_owned(), links.join(", ")));
        (Value::Array(items), link.into_iter().collect())
    }

    /// Creates a reply with one page of a list.
    pub(super) fn list(&self, all: &[Value]) -> Reply {
        let (items, headers) = self.page(all);
        Reply { headers, ..Reply::unchanged(items) }
    }

    fn link(&self, page: usize, relation: &str) -> String {
        let others = self.query.iter().filter(|(name, _)| name != "page");
        let query: String =
            others.map(|(name, value)| format!("{name}={}&", value.replace(' ', "%20"))).collect();
        format!("<{}{}?{query}page={page}>; rel=\"{relation}\"", self.state.root, self.path)
    }
}

/// The fields of a body, all of which must be known.
pub(super) struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    pub(super) fn read(body: &'a Value, known: &[&str]) -> Result<Fields<'a>, Refusal> {
        let Some(fields) = body.as_object() else {
            return Err(Refusal::malformed(&format!("{body} is not an object.")));
        };
        match fields.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(Refusal::malformed(&format!("\"{name}\" is not a permitted key."))),
            None => Ok(Fields(fields)),
        }
    }

    fn get<T>(
        &self,
        name: &str,
        kind: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        let wrong = || format!("For 'properties/{name}', {value} is not {kind}.");
        read(value).map(Some).ok_or_else(|| Refusal::malformed(&wrong()))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        self.get(name, "a string", Value::as_str)
    }

    /// Returns a required text. Fails if it is missing or blank.
    pub(super) fn needed(&self, name: &str) -> Result<&'a str, Refusal> {
        match self.text(name)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(Refusal::malformed(&format!("\"{name}\" cannot be blank."))),
            None => Err(Refusal::malformed(&format!("\"{name}\" wasn't supplied."))),
        }
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<u32>, Refusal> {
        self.get(name, "an integer", |it| u32::try_from(it.as_u64()?).ok())
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, Refusal> {
        self.get(name, "a boolean", Value::as_bool)
    }

    pub(super) fn list(&self, name: &str) -> Result<&'a [Value], Refusal> {
        let list = self.get(name, "an array", Value::as_array)?;
        Ok(list.map_or(&[], Vec::as_slice))
    }

    /// Returns a text that must be one of `words`; `None` if it is missing.
    pub(super) fn word(&self, name: &str, words: &[&str]) -> Result<Option<&'a str>, Refusal> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match words.contains(&text) {
            true => Ok(Some(text)),
            false => Err(Refusal::malformed(&format!(
                "For 'properties/{name}', {} is not a member of {}.",
                json!(text),
                json!(words)
            ))),
        }
    }

    pub(super) fn value(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name)
    }

    /// Returns true if a field is present.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// The maximum length of a text, in characters.
const MAX_TEXT_CHARS: usize = 65_536;

/// Fails if a body is too long.
pub(super) fn check_length(resource: &str, body: &str) -> Result<(), Refusal> {
    if body.chars().count() <= MAX_TEXT_CHARS {
        return Ok(());
    }
    let message = format!("body is too long (maximum is {MAX_TEXT_CHARS} characters)");
    Err(Refusal::invalid(resource, "body", "custom", &message))
}
