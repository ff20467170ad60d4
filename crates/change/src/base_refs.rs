//! The refs that determine the base of a change: [`BaseRefs`].

use std::path::Path;

use crate::GitError;
use crate::git::{Git, MainBranch, none_if_negative};

/// The symbolic ref that names the main branch of the remote.
const REMOTE_HEAD: &str = "refs/remotes/origin/HEAD";

/// Refs that may be the main branch.
const MAIN_REFS: [&str; 4] = [
    "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main",
    "refs/heads/master",
];

/// A snapshot of the refs that determine where a branch left the main branch.
#[derive(Debug)]
pub struct BaseRefs {
    git: Git,
    /// Each ref with its commit; `None` for a ref that does not exist.
    refs: Vec<(String, Option<String>)>,
    /// The target of the remote's symbolic ref; `None` if it is not set.
    remote_head: Option<String>,
    /// `None` if there is no main branch.
    main: Option<MainBranch>,
    head: Option<String>,
}

impl BaseRefs {
    /// Reads the refs of the repository around a folder.
    pub fn read(folder: &Path) -> Result<BaseRefs, GitError> {
        let git = Git::find_without_filters(folder)?;
        let remote_head = remote_head(&git)?;
        let mut names: Vec<String> = MAIN_REFS.map(str::to_owned).into();
        names.extend(remote_head.clone());
        names.extend(
            git.main_upstreams()?.iter().map(|upstream| format!("refs/remotes/{upstream}")),
        );
        names.sort();
        names.dedup();
        names.push("HEAD".to_owned());
        let commits = git.resolve_all(&names)?;
        let mut refs: Vec<(String, Option<String>)> = names.into_iter().zip(commits).collect();
        let head = refs.pop().and_then(|(_, commit)| commit);
        let main = git.main_branch()?;
        Ok(BaseRefs { git, refs, remote_head, main, head })
    }

    /// Restores the refs if they were moved so that the branch would leave the main branch at
    /// another commit. Returns a text for each ref that was moved. A main branch that only advanced
    /// with the work of others stays as it is.
    pub fn restore(&self) -> Result<Vec<String>, GitError> {
        let main = self.git.main_branch()?;
        if main == self.main || self.is_harmless(main.as_ref())? {
            return Ok(Vec::new());
        }
        let mut moved = Vec::new();
        let target = remote_head(&self.git)?;
        if target != self.remote_head {
            match &self.remote_head {
                Some(before) => self.git.run(&["symbolic-ref", REMOTE_HEAD, before])?,
                None => self.git.run(&["symbolic-ref", "--delete", REMOTE_HEAD])?,
            };
            moved.push(format!("`{REMOTE_HEAD}`"));
        }
        for (name, before) in &self.refs {
            let now = self.git.resolve_if_known(name)?;
            if now == *before {
                continue;
            }
            match before {
                Some(commit) => self.git.run(&["update-ref", name, commit])?,
                None => self.git.run(&["update-ref", "-d", name])?,
            };
            moved.push(match now {
                Some(now) => format!("`{name}` (to {})", abbreviate(&now)),
                None => format!("`{name}` (deleted)"),
            });
        }
        Ok(moved)
    }

    /// Returns true if the main branch only advanced, and the branch leaves it at the same commit.
    fn is_harmless(&self, now: Option<&MainBranch>) -> Result<bool, GitError> {
        let (Some(before), Some(now)) = (&self.main, now) else { return Ok(self.main.is_none()) };
        if before.name != now.name || !self.git.is_ancestor(&before.commit, &now.commit)? {
            return Ok(false);
        }
        let Some(head) = self.head.as_deref().filter(|head| *head != before.commit) else {
            // Work on the main branch itself is compared with the commit that the loop started at.
            return Ok(true);
        };
        let fork = |commit: &str| self.git.merge_base(commit, head);
        Ok(fork(&before.commit)? == fork(&now.commit)?)
    }
}

/// Returns the ref that the remote names as its main branch, or `None` if there is none.
fn remote_head(git: &Git) -> Result<Option<String>, GitError> {
    let target = none_if_negative(git.line(&["symbolic-ref", "--quiet", REMOTE_HEAD]))?;
    Ok(target.filter(|target| !target.is_empty()))
}

fn abbreviate(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
