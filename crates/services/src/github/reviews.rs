//! Reviews of a pull request, each sent in one call.

use assay_store::pulls::{CommitId, RepositoryName};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::GitHub;
use super::pulls::User;
use crate::http::{Call, ServiceError};

/// The verdict of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Event {
    /// The change may be merged.
    Approve,
    /// The change has to be improved before it is merged.
    RequestChanges,
    /// No verdict.
    Comment,
}

/// A side of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Side {
    /// The old content.
    Left,
    /// The new content.
    Right,
}

/// A comment on lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineComment {
    /// The path of the file.
    pub path: String,
    /// The line, or the last of several.
    pub line: u32,
    /// The side of the diff with the line.
    pub side: Side,
    /// The first of several lines; `None` for a single line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u32>,
    /// The side of the diff with the first line; `None` for a single line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_side: Option<Side>,
    /// The text of the comment.
    pub body: String,
}

/// A review to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReview {
    /// The commit that was reviewed.
    pub commit: CommitId,
    /// The verdict.
    pub event: Event,
    /// The text of the review; only an approval may have none.
    pub body: String,
    /// The comments on lines.
    pub comments: Vec<LineComment>,
}

/// A review that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PostedReview {
    /// The id of the review.
    pub id: u64,
    /// The state, such as `APPROVED`.
    pub state: String,
    /// The address of the web page.
    pub html_url: String,
}

/// A review on a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedReview {
    /// The id of the review.
    pub id: u64,
    /// The state, such as `APPROVED`.
    pub state: String,
    /// The text of the review; empty if it has only comments on lines.
    pub body: String,
    /// The login of the author.
    pub author: String,
    /// The commit that was reviewed; `None` if it is gone.
    pub commit: Option<CommitId>,
    /// The address of the web page.
    pub url: String,
}

#[derive(Deserialize)]
struct ApiReview {
    id: u64,
    state: String,
    body: Option<String>,
    user: Option<User>,
    commit_id: Option<CommitId>,
    html_url: String,
}

impl From<ApiReview> for ListedReview {
    fn from(raw: ApiReview) -> ListedReview {
        ListedReview {
            id: raw.id,
            state: raw.state,
            body: raw.body.unwrap_or_default(),
            author: raw.user.map_or_else(|| "ghost".to_owned(), |user| user.login),
            commit: raw.commit_id,
            url: raw.html_url,
        }
    }
}

impl GitHub {
    /// Lists the reviews of a pull request, at most `most`. The flag is true if there are more.
    pub fn reviews(
        &self,
        repository: &RepositoryName,
        number: u64,
        most: usize,
    ) -> Result<(Vec<ListedReview>, bool), ServiceError> {
        let call = Call::get(self.repository_path(repository, &format!("/pulls/{number}/reviews")));
        let (raw, more) = self.read_pages::<ApiReview>(&call, most)?;
        Ok((raw.into_iter().map(ListedReview::from).collect(), more))
    }

    /// Sends a review. GitHub rejects all of it if the line of one comment is not in the diff.
    pub fn submit_review(
        &self,
        repository: &RepositoryName,
        number: u64,
        review: &NewReview,
    ) -> Result<PostedReview, ServiceError> {
        let NewReview { commit, event, body, comments } = review;
        let body =
            json!({ "commit_id": commit, "event": event, "body": body, "comments": comments });
        let path = self.repository_path(repository, &format!("/pulls/{number}/reviews"));
        self.api.json(&Call::post(path, body))
    }

    /// Dismisses a review that approves or requests changes, with a reason. Needs a permission that
    /// not every account has.
    pub fn dismiss_review(
        &self,
        repository: &RepositoryName,
        number: u64,
        review: u64,
        message: &str,
    ) -> Result<PostedReview, ServiceError> {
        let body = json!({ "message": message, "event": "DISMISS" });
        let path = format!("/pulls/{number}/reviews/{review}/dismissals");
        self.api.json(&Call::put(self.repository_path(repository, &path), body))
    }
}
