//! Reviews of a pull request, each sent in one call.

use assay_store::pulls::{CommitId, RepositoryName};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::GitHub;
use super::pulls::User;
use crate::http::{Call, ServiceError};

/// What a review says of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Event {
    /// It may go.
    Approve,
    /// It has to be worked on.
    RequestChanges,
    /// Neither.
    Comment,
}

/// A side of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Side {
    /// What was there.
    Left,
    /// What is there now.
    Right,
}

/// A comment on lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineComment {
    /// The file.
    pub path: String,
    /// The line, or the last of several.
    pub line: u32,
    /// The side of the diff that it is on.
    pub side: Side,
    /// The first line, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u32>,
    /// The side that the first line is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_side: Option<Side>,
    /// What it says.
    pub body: String,
}

/// A review to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReview {
    /// The commit that was looked at.
    pub commit: CommitId,
    /// What it says of the whole.
    pub event: Event,
    /// What it says; only an approval may say nothing.
    pub body: String,
    /// What it says of lines.
    pub comments: Vec<LineComment>,
}

/// A review that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PostedReview {
    /// Its number.
    pub id: u64,
    /// Where it stands, such as `APPROVED`.
    pub state: String,
    /// Where people find it.
    pub html_url: String,
}

/// A review that stands on a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenReview {
    /// Its number.
    pub id: u64,
    /// Where it stands, such as `APPROVED`.
    pub state: String,
    /// What it says; nothing where all of it is on lines.
    pub body: String,
    /// Who wrote it.
    pub author: String,
    /// The commit that was looked at, unless it is gone.
    pub commit: Option<CommitId>,
    /// Where people find it.
    pub url: String,
}

#[derive(Deserialize)]
struct Told {
    id: u64,
    state: String,
    body: Option<String>,
    user: Option<User>,
    commit_id: Option<CommitId>,
    html_url: String,
}

impl From<Told> for GivenReview {
    fn from(told: Told) -> GivenReview {
        GivenReview {
            id: told.id,
            state: told.state,
            body: told.body.unwrap_or_default(),
            author: told.user.map_or_else(|| "ghost".to_owned(), |user| user.login),
            commit: told.commit_id,
            url: told.html_url,
        }
    }
}

impl GitHub {
    /// Lists the reviews of a pull request. Says whether there are more than are listed.
    pub fn reviews(
        &self,
        repository: &RepositoryName,
        number: u64,
        most: usize,
    ) -> Result<(Vec<GivenReview>, bool), ServiceError> {
        let call = Call::get(self.in_repository(repository, &format!("/pulls/{number}/reviews")));
        let (told, more) = self.pages::<Told>(&call, most)?;
        Ok((told.into_iter().map(GivenReview::from).collect(), more))
    }

    /// Sends a review: all of it, or nothing where one comment cannot be placed.
    pub fn submit_review(
        &self,
        repository: &RepositoryName,
        number: u64,
        review: &NewReview,
    ) -> Result<PostedReview, ServiceError> {
        let NewReview { commit, event, body, comments } = review;
        let body =
            json!({ "commit_id": commit, "event": event, "body": body, "comments": comments });
        let path = self.in_repository(repository, &format!("/pulls/{number}/reviews"));
        self.api.json(&Call::post(path, body))
    }

    /// Takes back a review that approves or asks for changes, and says why. Not everybody may.
    pub fn dismiss_review(
        &self,
        repository: &RepositoryName,
        number: u64,
        review: u64,
        message: &str,
    ) -> Result<PostedReview, ServiceError> {
        let body = json!({ "message": message, "event": "DISMISS" });
        let path = format!("/pulls/{number}/reviews/{review}/dismissals");
        self.api.json(&Call::put(self.in_repository(repository, &path), body))
    }
}
