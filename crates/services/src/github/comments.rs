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
struct Told {
    id: u64,
    body: Option<String>,
    user: Option<User>,
    html_url: String,
    #[serde(default)]
    path: String,
    line: Option<u64>,
    in_reply_to_id: Option<u64>,
}

impl Told {
    fn author(&self) -> String {
        self.user.as_ref().map_or("ghost", |user| user.login.as_str()).to_owned()
    }
}

impl From<Told> for IssueComment {
    fn from(told: Told) -> IssueComment {
        let author = told.author();
        let body = told.body.unwrap_or_default();
        IssueComment { id: told.id, body, author, url: told.html_url }
    }
}

impl From<Told> for ReviewComment {
    fn from(told: Told) -> ReviewComment {
        ReviewComment {
            id: told.id,
            author: told.author(),
            body: told.body.unwrap_or_default(),
            path: told.path,
            line: told.line,
            in_reply_to: told.in_reply_to_id,
            url: told.html_url,
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
        let call = Call::get(self.in_repository(repository, &format!("/pulls/{number}/comments")));
        let (told, more) = self.pages::<Told>(&call, most)?;
        Ok((told.into_iter().map(ReviewComment::from).collect(), more))
    }

    /// Lists the comments in the conversation of a pull request, at most `most`. The flag is true
    /// if there are more.
    pub fn comments(
        &self,
        repository: &RepositoryName,
        number: u64,
        most: usize,
    ) -> Result<(Vec<IssueComment>, bool), ServiceError> {
        let call = Call::get(self.in_repository(repository, &format!("/issues/{number}/comments")));
        let (told, more) = self.pages::<Told>(&call, most)?;
        Ok((told.into_iter().map(IssueComment::from).collect(), more))
    }

    /// Creates a comment in the conversation of a pull request.
    pub fn comment(
        &self,
        repository: &RepositoryName,
        number: u64,
        body: &str,
    ) -> Result<IssueComment, ServiceError> {
        let path = self.in_repository(repository, &format!("/issues/{number}/comments"));
        self.api.json::<Told>(&Call::post(path, json!({ "body": body }))).map(IssueComment::from)
    }

    /// Updates a comment in the conversation of a pull request.
    pub fn update_comment(
        &self,
        repository: &RepositoryName,
        id: u64,
        body: &str,
    ) -> Result<IssueComment, ServiceError> {
        let path = self.in_repository(repository, &format!("/issues/comments/{id}"));
        self.api.json::<Told>(&Call::patch(path, json!({ "body": body }))).map(IssueComment::from)
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
        let to = self.in_repository(repository, &format!("/pulls/{number}/comments"));
        self.api.json::<Told>(&Call::post(to, body)).map(ReviewComment::from)
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
        let to = self.in_repository(repository, &format!("/pulls/{number}/comments"));
        self.api.json::<Told>(&Call::post(to, body)).map(ReviewComment::from)
    }
}
