//! Pull requests: reading, finding, opening and changing them.

use assay_store::pulls::{CommitId, Origin, Pull, RepositoryName};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::GitHub;
use crate::http::{Call, ServiceError};

/// GitHub lists no more files of a pull request.
const MOST_FILES: usize = 3_000;

/// How many open pull requests of a repository are looked at.
const MOST_OPEN: usize = 1_000;

/// Where a pull request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PullState {
    /// It waits.
    Open,
    /// It was merged or given up.
    Closed,
}

/// One end of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The branch.
    pub branch: String,
    /// Its last commit.
    pub commit: CommitId,
    /// The repository that it is in, unless that is gone.
    pub repository: Option<RepositoryName>,
}

/// What somebody is to a repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Association {
    /// It is theirs.
    Owner,
    /// They belong to the organization that it is of.
    Member,
    /// They were invited to work on it.
    Collaborator,
    /// Anybody else, also those of whom something was taken before.
    #[default]
    #[serde(other)]
    Stranger,
}

/// Says where a pull request is from. A program that pushes to the repository was installed there.
pub fn origin(is_own_branch: bool, is_by_bot: bool, association: Association) -> Origin {
    match (is_own_branch, association) {
        (_, Association::Owner | Association::Member | Association::Collaborator) => Origin::Inside,
        (true, Association::Stranger) if is_by_bot => Origin::Inside,
        (true, Association::Stranger) => Origin::OwnBranch,
        (false, Association::Stranger) => Origin::Outside,
    }
}

/// A pull request. All text in it was written by whoever opened it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// What it is called.
    pub title: String,
    /// What it says.
    pub body: String,
    /// Where it stands.
    pub state: PullState,
    /// Whether it is not meant to be reviewed yet.
    pub draft: bool,
    /// Whether it was merged, where that is known.
    pub merged: bool,
    /// Its labels.
    pub labels: Vec<String>,
    /// Who opened it.
    pub author: String,
    /// Whether that one is a program.
    pub is_by_bot: bool,
    /// What that one is to the repository.
    pub association: Association,
    /// What is to be merged.
    pub head: Head,
    /// Into what.
    pub base: Head,
    /// Where people find it.
    pub url: String,
}

impl PullRequest {
    /// Gives it as triggers know it, in its repository.
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

    /// Says whether its branch is in the repository that it is for, and not in a fork.
    pub fn is_from(&self, repository: &RepositoryName) -> bool {
        self.head.repository.as_ref().is_some_and(|head| head.is(repository))
    }
}

/// A pull request as GitHub tells it.
#[derive(Deserialize)]
struct Told {
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
    head: ToldHead,
    base: ToldHead,
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
struct ToldHead {
    #[serde(rename = "ref")]
    branch: String,
    sha: CommitId,
    repo: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    full_name: RepositoryName,
}

impl From<ToldHead> for Head {
    fn from(told: ToldHead) -> Head {
        let repository = told.repo.map(|repository| repository.full_name);
        Head { branch: told.branch, commit: told.sha, repository }
    }
}

impl From<Told> for PullRequest {
    fn from(told: Told) -> PullRequest {
        PullRequest {
            number: told.number,
            title: told.title,
            body: told.body.unwrap_or_default(),
            state: told.state,
            draft: told.draft,
            merged: told.merged || told.merged_at.is_some(),
            labels: told.labels.into_iter().map(|label| label.name).collect(),
            // Whoever leaves GitHub is called so there.
            is_by_bot: told.user.as_ref().is_some_and(User::is_bot),
            author: told.user.map_or_else(|| "ghost".to_owned(), |user| user.login),
            association: told.author_association,
            head: told.head.into(),
            base: told.base.into(),
            url: told.html_url,
        }
    }
}

/// A pull request to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPull {
    /// What it is called.
    pub title: String,
    /// What it says.
    pub body: String,
    /// The branch that is to be merged; `owner:branch` for one in a fork.
    pub head: String,
    /// The branch that it is for.
    pub base: String,
    /// Whether it is not meant to be reviewed yet.
    pub draft: bool,
}

/// What is changed about a pull request; what is missing stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PullUpdate {
    /// What it is called.
    pub title: Option<String>,
    /// What it says.
    pub body: Option<String>,
    /// The branch that it is for.
    pub base: Option<String>,
    /// Whether it is to be open.
    pub open: Option<bool>,
}

/// A file that a pull request changes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ChangedFile {
    /// Its path.
    pub filename: String,
    /// What happened to it: `added`, `modified`, `removed`, `renamed` and others.
    pub status: String,
    /// Its path before.
    pub previous_filename: Option<String>,
    /// How many lines were added.
    pub additions: u64,
    /// How many lines were removed.
    pub deletions: u64,
    /// Its part of the diff, unless that is too large.
    pub patch: Option<String>,
}

/// The diff is larger than GitHub shows at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// The open pull requests of a repository, where something changed about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenPulls {
    /// Nothing changed since they were looked at.
    Unchanged,
    /// This is what there is now.
    Now {
        /// The pull requests, those that changed last first.
        pulls: Vec<PullRequest>,
        /// What to look again with.
        tag: Option<String>,
        /// Whether there are more than are listed.
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
        let call = Call::get(self.in_repository(repository, &format!("/pulls/{number}")));
        self.api.json::<Told>(&call).map(PullRequest::from)
    }

    /// Finds the newest pull request of a branch of the repository: one that is open, or else any.
    pub fn pull_of_branch(
        &self,
        repository: &RepositoryName,
        branch: &str,
    ) -> Result<Option<PullRequest>, ServiceError> {
        let call = Call::get(self.in_repository(repository, "/pulls"))
            .query("head", format!("{}:{branch}", repository.owner()))
            .query("state", "all")
            .query("sort", "created")
            .query("direction", "desc");
        let (found, _) = self.pages::<Told>(&call, super::PAGE)?;
        let found = found.into_iter().map(PullRequest::from);
        // A server that does not know the filter gives all.
        let mut found: Vec<PullRequest> = found.filter(|pull| pull.head.branch == branch).collect();
        let open = found.iter().position(|pull| pull.state == PullState::Open);
        Ok(match open {
            Some(at) => Some(found.swap_remove(at)),
            None => found.into_iter().next(),
        })
    }

    /// Lists open pull requests, unless nothing changed since a tag was given out.
    pub fn open_pulls(
        &self,
        repository: &RepositoryName,
        tag: Option<&str>,
    ) -> Result<OpenPulls, ServiceError> {
        let call = Call::get(self.in_repository(repository, "/pulls"))
            .query("state", "open")
            .query("sort", "updated")
            .query("direction", "desc");
        let mut first = call.clone().query("per_page", super::PAGE).query("page", 1);
        if let Some(tag) = tag {
            first = first.header("if-none-match", tag);
        }
        let response = self.api.send(&first)?;
        if response.status == 304 {
            return Ok(OpenPulls::Unchanged);
        }
        let tag = response.header("etag").map(str::to_owned);
        let (told, more): (Vec<Told>, bool) = match super::has_next(response.header("link")) {
            false => (self.api.read(&first, &response)?, false),
            true => self.pages(&call, MOST_OPEN)?,
        };
        let pulls = told.into_iter().map(PullRequest::from).collect();
        Ok(OpenPulls::Now { pulls, tag, more })
    }

    /// Reads the diff of a pull request, unless it is larger than GitHub shows.
    pub fn diff(
        &self,
        repository: &RepositoryName,
        number: u64,
    ) -> Result<Result<String, TooLarge>, ServiceError> {
        let call = Call::get(self.in_repository(repository, &format!("/pulls/{number}")))
            .header("accept", "application/vnd.github.diff");
        match self.api.send(&call) {
            Ok(response) => Ok(Ok(String::from_utf8_lossy(&response.body).into_owned())),
            Err(error) if error.status() == Some(406) => Ok(Err(TooLarge)),
            Err(error) => Err(error),
        }
    }

    /// Lists the files that a pull request changes. Says whether there are more than are listed.
    pub fn files(
        &self,
        repository: &RepositoryName,
        number: u64,
    ) -> Result<(Vec<ChangedFile>, bool), ServiceError> {
        let call = Call::get(self.in_repository(repository, &format!("/pulls/{number}/files")));
        self.pages(&call, MOST_FILES)
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
        let call = Call::post(self.in_repository(repository, "/pulls"), body);
        self.api.json::<Told>(&call).map(PullRequest::from)
    }

    /// Changes a pull request.
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
        let path = self.in_repository(repository, &format!("/pulls/{number}"));
        let call = Call::patch(path, Value::Object(body));
        self.api.json::<Told>(&call).map(PullRequest::from)
    }
}
