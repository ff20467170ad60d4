//! A repository of the fake that mirrors a bare repository on disk: [`GitHub::follow`].

use std::path::Path;

use super::GitHub;
use super::state::{FollowedRepository, PullState};
use crate::repository::git;

impl GitHub {
    /// Mirrors the branches of a bare repository before every request over TCP, and writes the refs
    /// of pull requests into it as the real GitHub does.
    pub fn follow(&self, name: &str, folder: &Path) {
        let followed = FollowedRepository { name: name.to_owned(), folder: folder.to_owned() };
        self.state().followed.push(followed);
        self.catch_up();
    }

    /// Reads the pushed branches of all mirrored repositories.
    pub(super) fn catch_up(&self) {
        let followed = self.state().followed.clone();
        for FollowedRepository { name, folder } in followed {
            let listed = git(
                &folder,
                &["for-each-ref", "--format=%(objectname) %(refname:short)", "refs/heads"],
            );
            for (sha, branch) in listed.lines().filter_map(|line| line.split_once(' ')) {
                if self.branch(&name, branch).as_deref() != Some(sha) {
                    let diff = git(&folder, &["diff", "--no-color", &format!("main...{sha}")]);
                    let diff = if diff.is_empty() { diff } else { diff + "\n" };
                    self.add_commit(&name, sha, &diff);
                    self.add_branch(&name, branch, sha);
                    for number in self.open_pulls_of(&name, branch) {
                        self.move_head(&name, number, sha, &diff);
                    }
                }
            }
            for (number, sha) in self.heads(&name) {
                git(&folder, &["update-ref", &format!("refs/pull/{number}/head"), &sha]);
            }
        }
    }

    fn open_pulls_of(&self, repo: &str, branch: &str) -> Vec<u64> {
        let state = self.state();
        let pulls = state.repo(repo).unwrap().pulls.values();
        pulls
            .filter(|pull| pull.state == PullState::Open && pull.head.branch == branch)
            .map(|it| it.number)
            .collect()
    }

    fn heads(&self, repo: &str) -> Vec<(u64, String)> {
        let state = self.state();
        let pulls = state.repo(repo).unwrap().pulls.values();
        pulls.map(|pull| (pull.number, pull.head.sha.clone())).collect()
    }
}
