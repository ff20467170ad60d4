//! Answers to comments with commands: who may give commands, which comments are answered, and the
//! reaction to a comment of a user who may not.

use assay_findings::post::marker::{self, Marker};
use assay_store::pulls::RepositoryName;
use serde::Deserialize;
use serde_json::json;

use super::GitHub;
use crate::http::{Call, ServiceError, encode_path_segment};
use crate::outcome::CommentOutcome;

/// The roles that include write access. Roles of an organization are mapped to one of them in the
/// field `permission`.
const WRITING_ROLES: [&str; 3] = ["admin", "maintain", "write"];

/// The reaction to a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// A confused face.
    Confused,
}

impl Reaction {
    fn as_str(self) -> &'static str {
        match self {
            Reaction::Confused => "confused",
        }
    }
}

/// The role of a user in a repository.
#[derive(Deserialize)]
struct Role {
    permission: String,
    #[serde(default)]
    role_name: String,
}

impl GitHub {
    /// Returns true if a user may write to a repository. An unknown user may not.
    pub fn may_write(
        &self,
        repository: &RepositoryName,
        login: &str,
    ) -> Result<bool, ServiceError> {
        let login = encode_path_segment(login);
        let path = format!("/collaborators/{login}/permission");
        match self.api.json::<Role>(&Call::get(self.repository_path(repository, &path))) {
            Ok(Role { permission, role_name }) => Ok([permission, role_name]
                .iter()
                .any(|role| WRITING_ROLES.contains(&role.as_str()))),
            Err(error) if error.status() == Some(404) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reacts to a comment in the conversation of a pull request. A reaction that exists is not
    /// added again.
    pub fn react(
        &self,
        repository: &RepositoryName,
        comment: u64,
        reaction: Reaction,
    ) -> Result<(), ServiceError> {
        let path = format!("/issues/comments/{comment}/reactions");
        let body = json!({ "content": reaction.as_str() });
        self.api.send(&Call::post(self.repository_path(repository, &path), body)).map(drop)
    }

    /// Returns true if the conversation of a pull request has our answer to a comment.
    pub fn has_answer(
        &self,
        repository: &RepositoryName,
        number: u64,
        comment: u64,
    ) -> Result<bool, ServiceError> {
        let state = self.review_state(repository, number)?;
        let mut own = state.comments.iter().filter(|comment| comment.is_ours);
        Ok(own.any(|own| marker::read(&own.body) == Some(Marker::Answer(comment))))
    }

    /// Posts our answer to a comment, unless it exists. `body` has the marker of the answer.
    pub fn answer_once(
        &self,
        repository: &RepositoryName,
        number: u64,
        comment: u64,
        body: &str,
    ) -> Result<CommentOutcome, ServiceError> {
        if self.has_answer(repository, number, comment)? {
            return Ok(CommentOutcome::Existing);
        }
        self.comment(repository, number, body)?;
        Ok(CommentOutcome::Created)
    }
}
