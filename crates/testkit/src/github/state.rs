//! The data of the fake: [`State`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::diff::{Diff, Side};
use super::fault::Faults;
use super::limits::Limits;
use super::log::LoggedRequest;
use super::random::Random;
use super::refusal::Refusal;

/// All data of a GitHub.
pub(super) struct State {
    /// The root of all addresses.
    pub(super) root: String,
    pub(super) users: BTreeMap<String, u64>,
    /// The users who are members of no repository.
    pub(super) strangers: BTreeSet<String>,
    /// The roles of users in all repositories; all other members may write.
    pub(super) roles: BTreeMap<String, String>,
    pub(super) tokens: BTreeMap<String, Token>,
    pub(super) repositories: BTreeMap<String, Repo>,
    pub(super) limits: Limits,
    pub(super) faults: Faults,
    pub(super) log: Vec<LoggedRequest>,
    pub(super) random: Random,
    /// The repositories that mirror a bare repository on disk.
    pub(super) followed: Vec<FollowedRepository>,
    last_id: u64,
}

/// The user and the permissions of a token.
#[derive(Clone)]
pub(super) struct Token {
    pub(super) login: String,
    pub(super) access: Access,
}

/// The permissions of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading, as for a pull request from a fork.
    Read,
    /// Writing as a user, who cannot create check runs.
    User,
    /// Writing as an App or an Action, which is not a user.
    App,
}

#[derive(Debug)]
pub(super) struct Repo {
    pub(super) id: u64,
    pub(super) full_name: String,
    pub(super) default_branch: String,
    /// The branches without `refs/heads/`, and their commits.
    pub(super) branches: BTreeMap<String, String>,
    pub(super) commits: BTreeSet<String>,
    /// The diffs of commits, for pull requests that are opened later.
    pub(super) diffs: BTreeMap<String, Diff>,
    pub(super) pulls: BTreeMap<u64, Pull>,
    pub(super) check_runs: Vec<CheckRun>,
    pub(super) sarifs: Vec<Sarif>,
}

#[derive(Debug)]
pub(super) struct Pull {
    pub(super) id: u64,
    pub(super) number: u64,
    pub(super) title: String,
    pub(super) body: Option<String>,
    pub(super) state: PullState,
    pub(super) draft: bool,
    pub(super) labels: Vec<String>,
    pub(super) author: String,
    pub(super) head_repo: String,
    pub(super) head: BranchHead,
    pub(super) base: BranchHead,
    pub(super) maintainer_can_modify: bool,
    pub(super) created: Duration,
    pub(super) updated: Duration,
    pub(super) diff: Diff,
    /// The commits before the head that can still be commented on, with their diffs.
    pub(super) ancestors: BTreeMap<String, Diff>,
    pub(super) threads: Vec<Thread>,
    pub(super) reviews: Vec<Review>,
    pub(super) comments: Vec<IssueComment>,
}

/// A repository whose branches are those of a bare repository on disk.
#[derive(Debug, Clone)]
pub(super) struct FollowedRepository {
    pub(super) name: String,
    pub(super) folder: PathBuf,
}

/// The state of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PullState {
    Open,
    Closed { at: Duration },
    Merged { at: Duration },
}

/// A branch at a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BranchHead {
    pub(super) branch: String,
    pub(super) sha: String,
}

/// The comments at one position of a pull request.
#[derive(Debug, Clone)]
pub(super) struct Thread {
    pub(super) id: String,
    pub(super) path: String,
    pub(super) place: ThreadPosition,
    pub(super) is_outdated: bool,
    pub(super) resolved_by: Option<String>,
    pub(super) comments: Vec<ReviewComment>,
}

/// The position of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ThreadPosition {
    File,
    Lines(Lines),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) side: Side,
    pub(super) line: u32,
    pub(super) start: Option<(Side, u32)>,
    /// The position at the time of writing: the last line, and the first line of a range.
    pub(super) original: (u32, Option<u32>),
    /// The text of the line.
    pub(super) text: String,
    pub(super) hunk: String,
}

#[derive(Debug, Clone)]
pub(super) struct ReviewComment {
    pub(super) id: u64,
    pub(super) review: u64,
    pub(super) author: String,
    pub(super) body: String,
    pub(super) commit: String,
    pub(super) at: Duration,
}

#[derive(Debug, Clone)]
pub(super) struct Review {
    pub(super) id: u64,
    pub(super) author: String,
    pub(super) body: String,
    pub(super) state: ReviewState,
    pub(super) commit: String,
    pub(super) at: Duration,
    /// The threads of a pending review, which are hidden until it is submitted.
    pub(super) pending: Vec<Thread>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReviewState {
    Approved,
    ChangesRequested,
    Commented,
    Dismissed,
    Pending,
}

#[derive(Debug, Clone)]
pub(super) struct IssueComment {
    pub(super) id: u64,
    pub(super) author: String,
    pub(super) body: String,
    pub(super) at: Duration,
    pub(super) updated: Duration,
    pub(super) reactions: Vec<Reaction>,
}

/// The reaction of a user to a comment.
#[derive(Debug, Clone)]
pub(super) struct Reaction {
    pub(super) id: u64,
    pub(super) author: String,
    pub(super) content: String,
    pub(super) at: Duration,
}

/// A check run, with its fields as they were sent.
#[derive(Debug, Clone)]
pub(super) struct CheckRun {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) head_sha: String,
    pub(super) status: String,
    pub(super) conclusion: Option<String>,
    pub(super) details_url: Option<String>,
    pub(super) external_id: Option<String>,
    pub(super) started: Duration,
    pub(super) completed: Option<Duration>,
    pub(super) title: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) text: Option<String>,
    pub(super) annotations: Vec<Value>,
}

/// An upload to code scanning.
#[derive(Debug, Clone, PartialEq)]
pub struct Sarif {
    /// The id of the upload.
    pub id: String,
    /// The analysed commit.
    pub commit: String,
    /// The reference, such as `refs/pull/7/head`.
    pub reference: String,
    /// The SARIF document.
    pub document: Value,
}

impl ReviewState {
    pub(super) fn word(self) -> &'static str {
        match self {
            ReviewState::Approved => "APPROVED",
            ReviewState::ChangesRequested => "CHANGES_REQUESTED",
            ReviewState::Commented => "COMMENTED",
            ReviewState::Dismissed => "DISMISSED",
            ReviewState::Pending => "PENDING",
        }
    }
}

impl State {
    pub(super) fn new(seed: u64) -> State {
        State {
            root: "https://api.github.com".to_owned(),
            users: BTreeMap::new(),
            strangers: BTreeSet::new(),
            roles: BTreeMap::new(),
            tokens: BTreeMap::new(),
            repositories: BTreeMap::new(),
            limits: Limits::new(),
            faults: Faults::default(),
            log: Vec::new(),
            random: Random::new(seed),
            followed: Vec::new(),
            last_id: 1000,
        }
    }

    pub(super) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Adds a user, unless it exists.
    pub(super) fn add_user(&mut self, login: &str) {
        if !self.users.contains_key(login) {
            let id = self.next_id();
            self.users.insert(login.to_owned(), id);
        }
    }

    /// Returns a repository. Fails with 404 if it does not exist.
    pub(super) fn repo(&self, name: &str) -> Result<&Repo, Refusal> {
        self.repositories.get(name).ok_or_else(Refusal::not_found)
    }

    pub(super) fn repo_mut(&mut self, name: &str) -> Result<&mut Repo, Refusal> {
        self.repositories.get_mut(name).ok_or_else(Refusal::not_found)
    }

    pub(super) fn pull(&self, repo: &str, number: u64) -> Result<&Pull, Refusal> {
        self.repo(repo)?.pulls.get(&number).ok_or_else(Refusal::not_found)
    }

    pub(super) fn pull_mut(&mut self, repo: &str, number: u64) -> Result<&mut Pull, Refusal> {
        self.repo_mut(repo)?.pulls.get_mut(&number).ok_or_else(Refusal::not_found)
    }
}

impl Repo {
    pub(super) fn owner(&self) -> &str {
        self.full_name.split('/').next().unwrap_or_default()
    }

    /// Returns the commit of a branch or a commit id; `None` if it is unknown.
    pub(super) fn resolve(&self, reference: &str) -> Option<String> {
        let branch = reference.strip_prefix("heads/").unwrap_or(reference);
        let known = self.commits.get(reference).cloned();
        self.branches.get(branch).cloned().or(known)
    }
}

impl Pull {
    pub(super) fn is_open(&self) -> bool {
        self.state == PullState::Open
    }

    /// Returns the diff of a commit that can be commented on; `None` for other commits.
    pub(super) fn diff_at(&self, sha: &str) -> Option<&Diff> {
        if sha == self.head.sha { Some(&self.diff) } else { self.ancestors.get(sha) }
    }

    /// Moves the head; each thread stays on its line if the line still exists.
    pub(super) fn move_head(&mut self, sha: &str, diff: Diff) {
        for thread in &mut self.threads {
            thread.follow(&diff);
        }
        self.head.sha = sha.to_owned();
        self.diff = diff;
    }
}

impl Thread {
    /// Looks for the line of the thread in a new diff.
    pub(super) fn follow(&mut self, diff: &Diff) {
        let file = diff.file(&self.path);
        let found = match &mut self.place {
            ThreadPosition::File => file.is_some(),
            ThreadPosition::Lines(lines) => {
                let stays = |file: &super::diff::File| {
                    let same = file.line(lines.side, lines.line);
                    let same = same.is_some_and(|it| it.text == lines.text);
                    if same { Some(lines.line) } else { file.only(lines.side, &lines.text) }
                };
                let line = file.and_then(stays);
                if let Some(line) = line {
                    let by = i64::from(line) - i64::from(lines.line);
                    let moved = |start: u32| u32::try_from(i64::from(start) + by).unwrap_or(1);
                    lines.start = lines.start.map(|(side, start)| (side, moved(start)));
                    lines.line = line;
                }
                line.is_some()
            }
        };
        self.is_outdated = self.is_outdated || !found;
    }
}
