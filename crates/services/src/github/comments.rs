//! Comments on a pull request: on its lines, on its files, and in its conversation.

use assay_store::pulls::{CommitId, RepositoryName};
use serde::Deserialize;
use serde_json::json;

use super::GitHub;
use super::pulls::User;
use super::reviews::LineComment;
use crate::http::{Call, ServiceError};

/// A comment in the conversation of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueComment {
    /// The id of the comment.
    pub id: u64,
    /// The text of the comment.
    pub body: String,
    /// The login of the author.
    pub author: String,
    /// The address of the web page.
    pub url: String,
}

/// A comment on a line or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewComment {
    /// The id of the comment.
    pub id: u64,
    /// The text of the comment.
    pub body: String,
    /// The login of the author.
    pub author: String,
    /// The path of the file.
    pub path: String,
    /// The line; `None` for a comment on the whole file, or if the line is gone.
    pub line: Option<u64>,
    /// The id of the comment that this one replies to; `None` for the first one of a thread.
    pub in_reply_to: Option<u64>,
    /// The address of the web page.
    pub url: String,
}

#[derive(Deserialize)]
struct ApiComment {
    id: u64,
    body: Option<String>,
    user: Option<User>,
    html_url: String,
    #[serde(default)]
    path: String,
    line: Option<u64>,
    in_reply_to_id: Option<u64>,
}

impl ApiComment {
    fn author(&self) -> String {
        self.user.as_ref().map_or("ghost", |user| user.login.as_str()).to_owned()
    }
}

impl From<ApiComment> for IssueComment {
    fn from(raw: ApiComment) -> IssueComment {
        let author = raw.author();
        let body = raw.body.unwrap_or_default();
        IssueComment { id: raw.id, body, author, url: raw.html_url }
    }
}

impl From<ApiComment> for ReviewComment {
    fn from(raw: ApiComment) -> ReviewComment {
        ReviewComment {
            id: raw.id,
            author: raw.author(),
            body: raw.body.unwrap_or_default(),
            path: raw.path,
            line: raw.line,
            in_reply_to: raw.in_reply_to_id,
            url: raw.html_url,
        }
    }
}

impl GitHub {
    /// Lists the comments on lines and files, at most `most`. The flag is true if there are more.
    pub fn review_comments(
        &self,
        repository: &RepositoryName,
        number: u64,
        most: usize,
    ) -> Result<(Vec<ReviewComment>, bool), ServiceError> {
        let call =
            Call::get(self.repository_path(repository, &format!("/pulls/{number}/comments")));
        let (raw, more) = self.read_pages::<ApiComment>(&call, most)?;
        Ok((raw.into_iter().map(ReviewComment::from).collect(), more))
    }

    /// Lists the comments in the conversation of a pull request, at most `most`. The flag is true
    /// if there are more.
    pub fn comments(
        &self,
        repository: &RepositoryName,
        number: u64,
        most: usize,
    ) -> Result<(Vec<IssueComment>, bool), ServiceError> {
        let call =
            Call::get(self.repository_path(repository, &format!("/issues/{number}/comments")));
        let (raw, more) = self.read_pages::<ApiComment>(&call, most)?;
        Ok((raw.into_iter().map(IssueComment::from).collect(), more))
    }

    /// Creates a comment in the conversation of a pull request.
    pub fn comment(
        &self,
        repository: &RepositoryName,
        number: u64,
        body: &str,
    ) -> Result<IssueComment, ServiceError> {
        let path = self.repository_path(repository, &format!("/issues/{number}/comments"));
        self.api
            .json::<ApiComment>(&Call::post(path, json!({ "body": body })))
            .map(IssueComment::from)
    }

    /// Updates a comment in the conversation of a pull request.
    pub fn update_comment(
        &self,
        repository: &RepositoryName,
        id: u64,
        body: &str,
    ) -> Result<IssueComment, ServiceError> {
        let path = self.repository_path(repository, &format!("/issues/comments/{id}"));
        self.api
            .json::<ApiComment>(&Call::patch(path, json!({ "body": body })))
            .map(IssueComment::from)
    }

    /// Creates a comment on a file as a whole, which a review cannot contain.
    pub fn comment_on_file(
        &self,
        repository: &RepositoryName,
        number: u64,
        commit: &CommitId,
        path: &str,
        body: &str,
    ) -> Result<ReviewComment, ServiceError> {
        let body =
            json!({ "body": body, "commit_id": commit, "path": path, "subject_type": "file" });
        let to = self.repository_path(repository, &format!("/pulls/{number}/comments"));
        self.api.json::<ApiComment>(&Call::post(to, body)).map(ReviewComment::from)
    }

    /// Creates a comment on lines.
    pub fn comment_on_lines(
        &self,
        repository: &RepositoryName,
        number: u64,
        commit: &CommitId,
        comment: &LineComment,
    ) -> Result<ReviewComment, ServiceError> {
        let mut body = json!(comment);
        body["commit_id"] = json!(commit);
        let to = self.repository_path(repository, &format!("/pulls/{number}/comments"));
        self.api.json::<ApiComment>(&Call::post(to, body)).map(ReviewComment::from)
    }
}
