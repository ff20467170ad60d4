//! Commits of the past, read-only: [`History`].

use std::path::Path;

use assay_findings::path::RepoPath;

use crate::GitError;
use crate::diff::FileDiff;
use crate::git::{Git, text};

/// The history of a repository. No method changes the repository.
#[derive(Debug)]
pub struct History {
    git: Git,
}

/// A commit of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastCommit {
    /// The full id.
    pub id: String,
    /// The ids of the parents; empty for a root commit.
    pub parents: Vec<String>,
    /// The full message.
    pub message: String,
}

/// The origin of a line: the commit that introduced it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    /// The id of the commit.
    pub commit: String,
    /// The path of the file in that commit.
    pub path: String,
    /// The number of the line in that commit, from 1.
    pub line: u32,
}

impl History {
    /// Opens the history of the repository around a folder.
    pub fn open(folder: &Path) -> Result<History, GitError> {
        Ok(History { git: Git::find(folder)? })
    }

    /// Returns the root of the work tree.
    pub fn root(&self) -> &Path {
        &self.git.root
    }

    /// Returns at most `most` commits that lead to HEAD, newest first.
    pub fn commits(&self, most: usize) -> Result<Vec<PastCommit>, GitError> {
        if self.git.head_or_empty()? == self.git.empty_tree {
            return Ok(Vec::new());
        }
        let most = format!("--max-count={most}");
        let listed = self.git.run(&["log", "-z", "--format=%H%n%P%n%B", &most, "HEAD"])?;
        Ok(text(&listed).split('\0').filter_map(commit).collect())
    }

    /// Returns a commit by any of its names; `None` if there is no such commit.
    pub fn commit(&self, name: &str) -> Result<Option<PastCommit>, GitError> {
        let Some(id) = self.git.resolve_if_known(name)? else { return Ok(None) };
        let shown = self.git.run(&["log", "-z", "--format=%H%n%P%n%B", "--max-count=1", &id])?;
        Ok(text(&shown).split('\0').find_map(commit))
    }

    /// Returns the commit at which two commits diverge; the first of them if they have no commit in
    /// common.
    pub fn merge_base(&self, one: &str, other: &str) -> Result<String, GitError> {
        self.git.merge_base(one, other)
    }

    /// Returns the files that differ between two commits.
    pub fn diff(&self, from: &str, to: &str) -> Result<Vec<FileDiff>, GitError> {
        self.git.diff(&[from, to], &[])
    }

    /// Returns the content of a file at a commit; `None` if there is no such file.
    pub fn read(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let Ok(path) = RepoPath::exact(path) else { return Ok(None) };
        let listed = self.git.run(&["ls-tree", "-z", commit, "--", path.as_str()])?;
        let listed = text(&listed);
        let is_file = listed.starts_with("100");
        let Some(object) = listed.split([' ', '\t']).nth(2).filter(|_| is_file) else {
            return Ok(None);
        };
        self.git.run(&["cat-file", "blob", object]).map(Some)
    }

    /// Returns the origin of each line in a range of a file at a commit. White space does not count
    /// as a change.
    pub fn blame(
        &self,
        commit: &str,
        path: &str,
        (first, last): (u32, u32),
    ) -> Result<Vec<BlamedLine>, GitError> {
        let range = format!("-L{first},{last}");
        let args = ["blame", "--line-porcelain", "-w", "-M", &range, commit, "--", path];
        Ok(parse_blame(&text(&self.git.run(&args)?)))
    }
}

fn commit(listed: &str) -> Option<PastCommit> {
    let mut lines = listed.trim_start_matches('\n').splitn(3, '\n');
    let id = lines.next().filter(|id| !id.is_empty())?.to_owned();
    let parents = lines.next()?.split_whitespace().map(str::to_owned).collect();
    Some(PastCommit { id, parents, message: lines.next().unwrap_or("").trim().to_owned() })
}

/// Parses the output of `git blame --line-porcelain`: for each line a header, its details, and the
/// line after a tab.
fn parse_blame(text: &str) -> Vec<BlamedLine> {
    let mut parse_blame = Vec::new();
    let mut head: Option<(String, u32)> = None;
    let mut path = String::new();
    for line in text.lines() {
        if line.starts_with('\t') {
            if let Some((commit, line)) = head.take() {
                parse_blame.push(BlamedLine { commit, path: path.clone(), line });
            }
        } else if let Some(name) = line.strip_prefix("filename ") {
            name.clone_into(&mut path);
        } else if head.is_none() {
            let mut words = line.split(' ');
            let commit = words.next().unwrap_or_default().to_owned();
            head = words.next().and_then(|line| line.parse().ok()).map(|line| (commit, line));
        }
    }
    parse_blame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_traced_to_its_commit_and_its_line_there() {
        let text = "aaaa 3 7 1\nauthor x\nsummary 4 5\nfilename old/a.py\n\tfilename b\nbbbb 9 8\nfilename a.py\n\tx\n";
        let origin = |commit: &str, path: &str, line| BlamedLine {
            commit: commit.to_owned(),
            path: path.to_owned(),
            line,
        };
        assert_eq!(parse_blame(text), [origin("aaaa", "old/a.py", 3), origin("bbbb", "a.py", 9)]);
    }
}
