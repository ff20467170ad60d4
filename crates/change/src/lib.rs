//! The change under review, read from git: [`open`] gives a [`Change`].
//!
//! [`diff`] reads unified diffs, [`git`] asks git for them, [`tree`] answers for the files as they
//! are after the change. Nothing here judges; git's hooks, external diffs and text converters are
//! never run.

pub mod diff;
mod git;
pub mod tree;

use std::path::{Path, PathBuf};

use assay_findings::ground::{ChangedLines, Tree};
use assay_findings::path::RepoPath;

use crate::diff::FileDiff;
use crate::git::Git;
pub use crate::git::GitError;
use crate::tree::{DirTree, GitTree, TreeKind};

/// Which change is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The branch and the working tree against the default branch; where that shows nothing, the
    /// last commit.
    Automatic,
    /// The branch and the working tree against where they left a branch or commit.
    Against(String),
    /// What is staged.
    Staged,
    /// A commit, or a range of them.
    Commits(String),
}

/// A change: what it is called, its diff, and the tree after it.
#[derive(Debug)]
pub struct Change {
    /// The repository's root.
    pub root: PathBuf,
    /// The change in words, such as `working tree against main`.
    pub title: String,
    /// The files it touches.
    pub files: Vec<FileDiff>,
    /// New files that git does not track and that were not asked for.
    pub untracked: Vec<String>,
    tree: TreeKind,
}

impl Change {
    fn new(git: Git, title: impl Into<String>, files: Vec<FileDiff>, tree: TreeKind) -> Change {
        Change { root: git.root, title: title.into(), files, untracked: Vec::new(), tree }
    }

    /// Gives the tree after the change.
    pub fn tree(&self) -> &dyn Tree {
        match &self.tree {
            TreeKind::Dir(tree) => tree,
            TreeKind::Git(tree) => tree,
        }
    }

    /// Gives the lines that it touches.
    pub fn changed_lines(&self) -> ChangedLines {
        diff::changed_lines(&self.files)
    }
}

/// What belongs to a change besides its scope.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The paths it is limited to; all where there are none.
    pub paths: Vec<String>,
    /// Whether new files that git does not track belong to it.
    pub untracked: bool,
}

/// Opens a change of the repository around a folder.
pub fn open(folder: &Path, scope: &Scope, selection: &Selection) -> Result<Change, GitError> {
    let git = Git::find(folder)?;
    git.check_paths(&selection.paths)?;
    match scope {
        Scope::Automatic => open_automatic(git, selection),
        Scope::Against(base) => {
            let from = git.fork_point(base)?;
            against_worktree(git, &from, format!("working tree against {base}"), selection)
        }
        Scope::Staged => {
            let files = git.diff(&["--cached"], &selection.paths)?;
            let tree = TreeKind::Git(GitTree::index(git.clone()));
            Ok(Change::new(git, "staged changes", files, tree))
        }
        Scope::Commits(range) => commits(git, range, &selection.paths),
    }
}

fn open_automatic(git: Git, selection: &Selection) -> Result<Change, GitError> {
    if let Some(branch) = git.default_branch() {
        let from = git.fork_point(&branch)?;
        let title = format!("working tree against {branch}");
        let change = against_worktree(git.clone(), &from, title, selection)?;
        if !change.files.is_empty() {
            return Ok(change);
        }
    }
    if git.resolve("HEAD").is_err() {
        // Nothing is committed yet: all that git knows of is new.
        let empty = git.empty_tree.clone();
        return against_worktree(
            git,
            &empty,
            "everything, as nothing is committed".into(),
            selection,
        );
    }
    let uncommitted =
        against_worktree(git.clone(), "HEAD", "uncommitted changes".into(), selection)?;
    if !uncommitted.files.is_empty() {
        return Ok(uncommitted);
    }
    let mut last = commits(git, "HEAD", &selection.paths)?;
    last.title = "the last commit".to_owned();
    last.untracked = uncommitted.untracked;
    Ok(last)
}

fn against_worktree(
    git: Git,
    from: &str,
    title: String,
    selection: &Selection,
) -> Result<Change, GitError> {
    let mut files = git.diff(&[from], &selection.paths)?;
    let tree = DirTree::new(git.root.clone());
    let mut untracked = git.untracked(&selection.paths)?;
    if selection.untracked {
        files.extend(untracked.drain(..).map(|path| new_file(&tree, path)));
    }
    Ok(Change { untracked, ..Change::new(git, title, files, TreeKind::Dir(tree)) })
}

/// Shows a file that git does not know as all new.
fn new_file(tree: &DirTree, path: String) -> FileDiff {
    let text = RepoPath::exact(&path).ok().and_then(|path| tree.read(&path));
    match text {
        Some(text) => FileDiff::all_new(path, &text),
        None => FileDiff { new_path: Some(path), is_binary: true, ..FileDiff::default() },
    }
}

fn commits(git: Git, range: &str, paths: &[String]) -> Result<Change, GitError> {
    let (from, to) = match range.split_once("..") {
        Some((from, to)) => {
            let to = to.trim_start_matches('.');
            let to = git.resolve(if to.is_empty() { "HEAD" } else { to })?;
            // What came on the other side since is no part of the range.
            (git.merge_base(from, &to)?, to)
        }
        None => (git.parent_or_empty(range)?, git.resolve(range)?),
    };
    let files = git.diff(&[&from, &to], paths)?;
    let tree = TreeKind::Git(GitTree::revision(git.clone(), to));
    Ok(Change::new(git, format!("commits {range}"), files, tree))
}
