//! Comments: [`Jira::comment`], and [`Jira::comment_once`] for what is told once whatever happens.
//!
//! What is told once ends with a line of its own, `assay:` and a [`Marker`], by which it is found again.
//! A property of the comment would hide it from people, but a server lists properties only to those
//! who ask for each comment, so that a line is the one thing that cloud and server both give back.

use std::fmt;
use std::str::FromStr;

use assay_base::text::first_chars;
use assay_store::pulls::TicketKey;
use serde_json::{Value, json};

use super::issue::CommentPage;
use super::{Jira, JiraError, document};
use crate::http::Call;
use crate::outcome::Told;

/// What comes before a marker.
const PREFIX: &str = "assay:";

/// So many comments are looked at together, and so often; news that is older is not told again anyway.
const PAGE: usize = 100;
const PAGES: usize = 10;

/// Why a text is no marker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no marker: it has 1 to 80 letters, digits and dashes")]
pub struct MarkerError(String);

/// What a piece of news is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker(Box<str>);

impl Marker {
    /// Makes one of a text, whatever it is.
    pub fn of(text: &str) -> Marker {
        text.parse().unwrap_or_else(|_| {
            let hash = blake3::hash(text.as_bytes()).to_hex();
            Marker(hash[..32].into())
        })
    }
}

impl FromStr for Marker {
    type Err = MarkerError;

    fn from_str(text: &str) -> Result<Marker, MarkerError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        match (1..=80).contains(&text.len()) && text.bytes().all(fits) {
            true => Ok(Marker(text.into())),
            false => Err(MarkerError(first_chars(text, 80).to_owned())),
        }
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

impl Jira {
    /// Says something about a ticket, and gives the number of the comment.
    pub fn comment(&self, key: &TicketKey, text: &str) -> Result<String, JiraError> {
        let before = self.comments(key, 0, 1)?;
        let body = self.body(text);
        match self.post_comment(key, &body) {
            Err(error) if error.is_unclear() => {
                // What was not there before and says the same is ours.
                let after = self.comments(key, 0, PAGE)?;
                let known = before.comments.first().map(|comment| comment.id.as_str());
                let wanted = document::read(&body);
                let new = after.comments.iter().take_while(|it| Some(it.id.as_str()) != known);
                let mut ours = new.filter(|it| is_same(&document::read(&it.body), &wanted));
                ours.next().map(|comment| comment.id.clone()).ok_or(error)
            }
            posted => posted,
        }
    }

    /// Says something about a ticket unless it was said before, also where the answer was lost or
    /// whoever told it did not live to remember.
    pub fn comment_once(
        &self,
        key: &TicketKey,
        marker: &Marker,
        text: &str,
    ) -> Result<Told, JiraError> {
        if self.is_told(key, marker)? {
            return Ok(Told::Before);
        }
        let body = self.body(&format!("{text}\n\n{marker}"));
        let Err(error) = self.post_comment(key, &body) else { return Ok(Told::Now) };
        if !error.is_unclear() {
            return Err(error);
        }
        if !self.is_told(key, marker)? {
            self.post_comment(key, &body)?;
        }
        Ok(Told::Now)
    }

    fn post_comment(&self, key: &TicketKey, body: &Value) -> Result<String, JiraError> {
        let call = Call::post(self.path_of(key.as_str(), "/comment"), json!({ "body": body }));
        let posted: Value = self.api.json(&call)?;
        Ok(posted["id"].as_str().unwrap_or_default().to_owned())
    }

    fn is_told(&self, key: &TicketKey, marker: &Marker) -> Result<bool, JiraError> {
        let line = marker.to_string();
        for page in 0..PAGES {
            let CommentPage { comments, total } = self.comments(key, page * PAGE, PAGE)?;
            let texts = comments.iter().map(|comment| document::read(&comment.body));
            let mut last = texts.filter_map(|text| text.lines().last().map(str::to_owned));
            if last.any(|last| last.trim() == line) {
                return Ok(true);
            }
            if comments.is_empty() || (page + 1) * PAGE >= total {
                break;
            }
        }
        Ok(false)
    }
}

/// Says whether two texts say the same, however they are broken into lines.
fn is_same(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}
