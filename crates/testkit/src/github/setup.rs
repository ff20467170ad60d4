//! Data and faults that tests set up on the fake.

use std::collections::{BTreeMap, BTreeSet};

use super::diff::Diff;
use super::fault::Fault;
use super::limits::PeakLoad;
use super::log::LoggedRequest;
use super::random::sha;
use super::state::{Access, BranchHead, IssueComment, Pull, PullState, Repo, Token};
use super::{GitHub, state::State};

/// A pull request to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPull {
    /// The title.
    pub title: String,
    /// The description.
    pub body: Option<String>,
    /// The login of the author.
    pub author: String,
    /// The branch to merge.
    pub head: String,
    /// The commit of the branch.
    pub head_sha: String,
    /// The repository of the branch; `None` if it is not a fork.
    pub head_repo: Option<String>,
    /// The branch to merge into.
    pub base: String,
    /// The change, as a unified diff.
    pub diff: String,
    /// The labels of the pull request.
    pub labels: Vec<String>,
    /// True if the pull request is a draft.
    pub draft: bool,
}

impl NewPull {
    /// Creates a pull request into `main`, from a branch of the same repository.
    pub fn new(author: &str, head: &str, head_sha: &str, diff: &str) -> NewPull {
        NewPull {
            title: format!("Merge {head}"),
            body: None,
            author: author.to_owned(),
            head: head.to_owned(),
            head_sha: head_sha.to_owned(),
            head_repo: None,
            base: "main".to_owned(),
            diff: diff.to_owned(),
            labels: Vec::new(),
            draft: false,
        }
    }
}

impl GitHub {
    /// Adds a token of a user.
    pub fn add_token(&self, login: &str, token: &str, access: Access) {
        let mut state = self.state();
        state.add_user(login);
        let login = login.to_owned();
        state.tokens.insert(token.to_owned(), Token { login, access });
    }

    /// Removes a user from all repositories; all other users are members of all repositories.
    pub fn add_stranger(&self, login: &str) {
        self.state().strangers.insert(login.to_owned());
    }

    /// Sets the role of a user in all repositories, such as `triage` or `maintain`.
    pub fn set_role(&self, login: &str, role: &str) {
        let mut state = self.state();
        state.add_user(login);
        state.roles.insert(login.to_owned(), role.to_owned());
    }

    /// Adds a comment of a user to the conversation of a pull request, and returns its id.
    pub fn add_comment(&self, repo: &str, number: u64, author: &str, body: &str) -> u64 {
        let now = self.clock.now();
        let mut state = self.state();
        state.add_user(author);
        let id = state.next_id();
        let comment = IssueComment {
            id,
            author: author.to_owned(),
            body: body.to_owned(),
            at: now,
            updated: now,
            reactions: Vec::new(),
        };
        state.pull_mut(repo, number).unwrap().comments.push(comment);
        id
    }

    /// Revokes a token, which is unknown from now on.
    pub fn revoke(&self, token: &str) {
        self.state().tokens.remove(token);
    }

    /// Adds a repository, `owner/name`, with a branch `main`.
    pub fn add_repository(&self, full_name: &str) {
        self.state().add_repository(full_name);
    }

    /// Adds or moves a branch; a pull request with the same head is not updated.
    pub fn add_branch(&self, repo: &str, branch: &str, sha: &str) {
        let mut state = self.state();
        let repo = state.repo_mut(repo).unwrap();
        repo.commit(sha);
        repo.branches.insert(branch.to_owned(), sha.to_owned());
    }

    /// Adds a commit that branches can point to, with the diff of a pull request from it.
    pub fn add_commit(&self, repo: &str, sha: &str, diff: &str) {
        let mut state = self.state();
        let repo = state.repo_mut(repo).unwrap();
        repo.commit(sha);
        repo.diffs.insert(sha.to_owned(), Diff::parse(diff));
    }

    /// Opens a pull request, and returns its number.
    pub fn open_pull(&self, repo: &str, new: NewPull) -> u64 {
        let now = self.clock.now();
        let state = &mut *self.state();
        state.add_user(&new.author);
        let head_repo = new.head_repo.unwrap_or_else(|| repo.to_owned());
        if !state.repositories.contains_key(&head_repo) {
            state.add_repository(&head_repo);
        }
        state.repo_mut(repo).unwrap().commit(&new.head_sha);
        let from = state.repo_mut(&head_repo).unwrap();
        from.commit(&new.head_sha);
        from.branches.insert(new.head.clone(), new.head_sha.clone());
        let id = state.next_id();
        let into = state.repo_mut(repo).unwrap();
        let number = into.pulls.keys().next_back().map_or(1, |last| last + 1);
        let base = BranchHead { sha: into.branches[&new.base].clone(), branch: new.base };
        let pull = Pull {
            id,
            number,
            title: new.title,
            body: new.body,
            state: PullState::Open,
            draft: new.draft,
            labels: new.labels,
            author: new.author,
            maintainer_can_modify: head_repo != repo,
            head_repo,
            head: BranchHead { branch: new.head, sha: new.head_sha },
            base,
            created: now,
            updated: now,
            diff: Diff::parse(&new.diff),
            ancestors: BTreeMap::new(),
            threads: Vec::new(),
            reviews: Vec::new(),
            comments: Vec::new(),
        };
        into.pulls.insert(number, pull);
        number
    }

    /// Moves the head of a pull request. Threads whose line is gone become outdated, and the old
    /// head can no longer be commented on.
    pub fn move_head(&self, repo: &str, number: u64, sha: &str, diff: &str) {
        let now = self.clock.now();
        let mut state = self.state();
        let pull = state.pull_mut(repo, number).unwrap();
        pull.move_head(sha, Diff::parse(diff));
        pull.updated = now;
        let (from, branch) = (pull.head_repo.clone(), pull.head.branch.clone());
        state.repo_mut(repo).unwrap().commit(sha);
        let from = state.repo_mut(&from).unwrap();
        from.commit(sha);
        from.branches.insert(branch, sha.to_owned());
    }

    /// Adds a commit before the head that can be commented on, with its diff.
    pub fn add_ancestor(&self, repo: &str, number: u64, sha: &str, diff: &str) {
        let mut state = self.state();
        state.repo_mut(repo).unwrap().commit(sha);
        let pull = state.pull_mut(repo, number).unwrap();
        pull.ancestors.insert(sha.to_owned(), Diff::parse(diff));
    }

    /// Sets the labels of a pull request.
    pub fn set_labels(&self, repo: &str, number: u64, labels: &[&str]) {
        let now = self.clock.now();
        let mut state = self.state();
        let pull = state.pull_mut(repo, number).unwrap();
        pull.labels = labels.iter().map(|&label| label.to_owned()).collect();
        pull.updated = now;
    }

    /// Merges a pull request.
    pub fn merge(&self, repo: &str, number: u64) {
        let now = self.clock.now();
        let mut state = self.state();
        let pull = state.pull_mut(repo, number).unwrap();
        pull.state = PullState::Merged { at: now };
        pull.updated = now;
    }

    /// Limits the requests per hour, for REST and for GraphQL each.
    pub fn limit_requests(&self, an_hour: u64) {
        let limits = &mut self.state().limits;
        limits.rest.limit = an_hour;
        limits.graphql.limit = an_hour;
    }

    /// Injects a fault into the next request whose description contains all words of `on`, such as
    /// those of `POST /repos/o/r/pulls/7/reviews` or `POST /graphql ResolveThread`.
    pub fn fail_next(&self, on: &str, fault: Fault) {
        self.state().faults.push(on, fault);
    }

    /// Injects faults into one of `one_in` requests, by a schedule that follows from a seed.
    pub fn fail_at_random(&self, seed: u64, one_in: u64, faults: &[Fault]) {
        self.state().faults.schedule(seed, one_in, faults);
    }

    /// Stops injecting faults.
    pub fn stop_failing(&self) {
        self.state().faults.clear();
    }

    /// Returns all requests so far.
    pub fn log(&self) -> Vec<LoggedRequest> {
        self.state().log.clone()
    }

    /// Returns the peak load of writes.
    pub fn busiest(&self) -> PeakLoad {
        self.state().limits.busiest()
    }

    /// Returns the root of all addresses in answers, links to pages included.
    pub fn root(&self) -> String {
        self.state().root.clone()
    }
}

impl State {
    fn add_repository(&mut self, full_name: &str) {
        let owner = full_name.split_once('/').expect("a repository is `owner/name`").0;
        self.add_user(owner);
        let first = sha("main");
        let repo = Repo {
            id: self.next_id(),
            full_name: full_name.to_owned(),
            default_branch: "main".to_owned(),
            branches: BTreeMap::from([("main".to_owned(), first.clone())]),
            commits: BTreeSet::from([first]),
            diffs: BTreeMap::new(),
            pulls: BTreeMap::new(),
            check_runs: Vec::new(),
            sarifs: Vec::new(),
        };
        self.repositories.insert(full_name.to_owned(), repo);
    }
}

impl Repo {
    fn commit(&mut self, sha: &str) {
        let is_sha = sha.len() == 40 && sha.chars().all(|c| c.is_ascii_hexdigit());
        assert!(is_sha, "`{sha}` is no id of a commit");
        self.commits.insert(sha.to_owned());
    }
}
