//! Pull requests: reads, finds, opens and updates them.

use assay_store::pulls::{CommitId, Pull, PullOrigin, RepositoryName};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::GitHub;
use crate::http::{Call, ServiceError};

/// The maximum number of files that GitHub lists for a pull request.
const MAX_FILES: usize = 3_000;

/// The maximum number of open pull requests of a repository that are read.
const MAX_OPEN_PULLS: usize = 1_000;

/// The state of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PullState {
    /// The pull request is open.
    Open,
    /// The pull request was merged or abandoned.
    Closed,
}

/// The head or the base of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The branch.
    pub branch: String,
    /// The last commit of the branch.
    pub commit: CommitId,
    /// The repository of the branch; `None` if it was deleted.
    pub repository: Option<RepositoryName>,
}

/// The relation of a user to a repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Association {
    /// The user owns the repository.
    Owner,
    /// The user is a member of the organization that owns the repository.
    Member,
    /// The user was invited to work on the repository.
    Collaborator,
    /// Any other user, including past contributors.
    #[default]
    #[serde(other)]
    Other,
}

/// Returns the origin of a pull request. A bot that pushes to the repository was installed there,
/// so its branches are trusted.
pub fn origin(is_own_branch: bool, is_by_bot: bool, association: Association) -> PullOrigin {
    match (is_own_branch, association) {
        (_, Association::Owner | Association::Member | Association::Collaborator) => {
            PullOrigin::Inside
        }
        (true, Association::Other) if is_by_bot => PullOrigin::Inside,
        (true, Association::Other) => PullOrigin::OwnBranch,
        (false, Association::Other) => PullOrigin::Outside,
    }
}

/// A pull request. All text in it is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// The number of the pull request.
    pub number: u64,
    /// The title.
    pub title: String,
    /// The description.
    pub body: String,
    /// The state.
    pub state: PullState,
    /// True if it is not ready for review yet.
    pub draft: bool,
    /// True if it was merged; false if that is not known.
    pub merged: bool,
    /// The names of its labels.
    pub labels: Vec<String>,
    /// The login of the author.
    pub author: String,
    /// True if the author is a bot.
    pub is_by_bot: bool,
    /// The relation of the author to the repository.
    pub association: Association,
    /// The branch to be merged.
    pub head: Head,
    /// The branch to merge into.
    pub base: Head,
    /// The address of the web page.
    pub url: String,
}

impl PullRequest {
    /// Converts the pull request to the type of the triggers.
    pub fn pull(&self, repository: &RepositoryName) -> Pull {
        Pull {
            repository: repository.clone(),
            number: self.number,
            head: self.head.commit.clone(),
            title: self.title.clone(),
            branch: self.head.branch.clone(),
            base: self.base.branch.clone(),
            url: self.url.clone(),
            origin: origin(self.is_from(repository), self.is_by_bot, self.association),
        }
    }

    /// Returns true if its branch is in this repository, and not in a fork.
    pub fn is_from(&self, repository: &RepositoryName) -> bool {
        self.head.repository.as_ref().is_some_and(|head| head.is(repository))
    }
}

/// A pull request in the form of GitHub's API.
#[derive(Deserialize)]
struct ApiPull {
    number: u64,
    title: String,
    body: Option<String>,
    state: PullState,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    merged: bool,
    merged_at: Option<String>,
    #[serde(default)]
    labels: Vec<Label>,
    user: Option<User>,
    #[serde(default)]
    author_association: Association,
    head: ApiHead,
    base: ApiHead,
    html_url: String,
}

#[derive(Deserialize)]
struct Label {
    name: String,
}

#[derive(Deserialize)]
pub(super) struct User {
    pub(super) login: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl User {
    fn is_bot(&self) -> bool {
        self.kind.as_deref() == Some("Bot")
    }
}

#[derive(Deserialize)]
struct ApiHead {
    #[serde(rename = "ref")]
    branch: String,
    sha: CommitId,
    repo: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    full_name: RepositoryName,
}

impl From<ApiHead> for Head {
    fn from(raw: ApiHead) -> Head {
        let repository = raw.repo.map(|repository| repository.full_name);
        Head { branch: raw.branch, commit: raw.sha, repository }
    }
}

impl From<ApiPull> for PullRequest {
    fn from(raw: ApiPull) -> PullRequest {
        PullRequest {
            number: raw.number,
            title: raw.title,
            body: raw.body.unwrap_or_default(),
            state: raw.state,
            draft: raw.draft,
            merged: raw.merged || raw.merged_at.is_some(),
            labels: raw.labels.into_iter().map(|label| label.name).collect(),
            // GitHub shows deleted users under this name.
            is_by_bot: raw.user.as_ref().is_some_and(User::is_bot),
            author: raw.user.map_or_else(|| "ghost".to_owned(), |user| user.login),
            association: raw.author_association,
            head: raw.head.into(),
            base: raw.base.into(),
            url: raw.html_url,
        }
    }
}

/// A pull request to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPull {
    /// The title.
    pub title: String,
    /// The description.
    pub body: String,
    /// The branch to be merged; `owner:branch` for a branch of a fork.
    pub head: String,
    /// The branch to merge into.
    pub base: String,
    /// True if it is not ready for review yet.
    pub draft: bool,
}

/// Changes to a pull request. A field that is `None` is not changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PullUpdate {
    /// The title.
    pub title: Option<String>,
    /// The description.
    pub body: Option<String>,
    /// The branch to merge into.
    pub base: Option<String>,
    /// True to reopen it, false to close it.
    pub open: Option<bool>,
}

/// A file that a pull request changes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ChangedFile {
    /// The path of the file.
    pub filename: String,
    /// The kind of change: `added`, `modified`, `removed`, `renamed` and others.
    pub status: String,
    /// The path before a rename; `None` for other changes.
    pub previous_filename: Option<String>,
    /// The number of added lines.
    pub additions: u64,
    /// The number of removed lines.
    pub deletions: u64,
    /// The file's part of the diff; `None` if it is too large.
    pub patch: Option<String>,
}

/// The error for a diff that is larger than GitHub returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffTooLarge;

/// The open pull requests of a repository, or the fact that nothing changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenPulls {
    /// The list has not changed since the given tag.
    Unchanged,
    /// The current list.
    Changed {
        /// The pull requests, the last changed first.
        pulls: Vec<PullRequest>,
        /// The tag for the next request; `None` if the server sends none.
        tag: Option<String>,
        /// True if there are more than are listed.
        more: bool,
    },
}

impl GitHub {
    /// Reads a pull request.
    pub fn pull(
        &self,
        repository: &RepositoryName,
        number: u64,
    ) -> Result<PullRequest, ServiceError> {
        let call = Call::get(self.repository_path(repository, &format!("/pulls/{number}")));
        self.api.json::<ApiPull>(&call).map(PullRequest::from)
    }

    /// Returns the newest pull request of a branch of the repository: an open one, or else any.
    pub fn pull_of_branch(
        &self,
        repository: &RepositoryName,
        branch: &str,
    ) -> Result<Option<PullRequest>, ServiceError> {
        let call = Call::get(self.repository_path(repository, "/pulls"))
            .query("head", format!("{}:{branch}", repository.owner()))
            .query("state", "all")
            .query("sort", "created")
            .query("direction", "desc");
        let (found, _) = self.read_pages::<ApiPull>(&call, super::PAGE_SIZE)?;
        let found = found.into_iter().map(PullRequest::from);
        // A server that does not know the filter returns all pull requests.
        let mut found: Vec<PullRequest> = found.filter(|pull| pull.head.branch == branch).collect();
        let open = found.iter().position(|pull| pull.state == PullState::Open);
        Ok(match open {
            Some(at) => Some(found.swap_remove(at)),
            None => found.into_iter().next(),
        })
    }

    /// Lists the open pull requests, or returns `OpenPulls::Unchanged` if nothing changed since a
    /// tag.
    pub fn open_pulls(
        &self,
        repository: &RepositoryName,
        tag: Option<&str>,
    ) -> Result<OpenPulls, ServiceError> {
        let call = Call::get(self.repository_path(repository, "/pulls"))
            .query("state", "open")
            .query("sort", "updated")
            .query("direction", "desc");
        let mut first = call.clone().query("per_page", super::PAGE_SIZE).query("page", 1);
        if let Some(tag) = tag {
            first = first.header("if-none-match", tag);
        }
        let response = self.api.send(&first)?;
        if response.status == 304 {
            return Ok(OpenPulls::Unchanged);
        }
        let tag = response.header("etag").map(str::to_owned);
        let (raw, more): (Vec<ApiPull>, bool) = match response.has_next_page() {
            false => (self.api.parse(&first, &response)?, false),
            true => self.read_pages(&call, MAX_OPEN_PULLS)?,
        };
        let pulls = raw.into_iter().map(PullRequest::from).collect();
        Ok(OpenPulls::Changed { pulls, tag, more })
    }

    /// Reads the diff of a pull request, unless it is larger than GitHub returns.
    pub fn diff(
        &self,
        repository: &RepositoryName,
        number: u64,
    ) -> Result<Result<String, DiffTooLarge>, ServiceError> {
        let call = Call::get(self.repository_path(repository, &format!("/pulls/{number}")))
            .header("accept", "application/vnd.github.diff");
        match self.api.send(&call) {
            Ok(response) => Ok(Ok(String::from_utf8_lossy(&response.body).into_owned())),
            Err(error) if error.status() == Some(406) => Ok(Err(DiffTooLarge)),
            Err(error) => Err(error),
        }
    }

    /// Lists the files that a pull request changes. The flag is true if there are more than are
    /// listed.
    pub fn files(
        &self,
        repository: &RepositoryName,
        number: u64,
    ) -> Result<(Vec<ChangedFile>, bool), ServiceError> {
        let call = Call::get(self.repository_path(repository, &format!("/pulls/{number}/files")));
        self.read_pages(&call, MAX_FILES)
    }

    /// Opens a pull request.
    pub fn open_pull(
        &self,
        repository: &RepositoryName,
        new: &NewPull,
    ) -> Result<PullRequest, ServiceError> {
        let NewPull { title, body, head, base, draft } = new;
        let body =
            json!({ "title": title, "body": body, "head": head, "base": base, "draft": draft });
        let call = Call::post(self.repository_path(repository, "/pulls"), body);
        self.api.json::<ApiPull>(&call).map(PullRequest::from)
    }

    /// Updates a pull request.
    pub fn update_pull(
        &self,
        repository: &RepositoryName,
        number: u64,
        update: &PullUpdate,
    ) -> Result<PullRequest, ServiceError> {
        let mut body = Map::new();
        let texts = [("title", &update.title), ("body", &update.body), ("base", &update.base)];
        for (key, text) in texts {
            body.extend(text.as_ref().map(|text| (key.to_owned(), json!(text))));
        }
        let state = update.open.map(|open| if open { "open" } else { "closed" });
        body.extend(state.map(|state| ("state".to_owned(), json!(state))));
        let path = self.repository_path(repository, &format!("/pulls/{number}"));
        let call = Call::patch(path, Value::Object(body));
        self.api.json::<ApiPull>(&call).map(PullRequest::from)
    }
}
