//! The change under review, read from git: [`open`] returns a [`Change`].
//!
//! - [`diff`] reads unified diffs. [`unified`] reads diffs that are not applied yet, and applies them in memory.
//! - `git` is the only module that knows the command line of git.
//! - [`tree`] answers for the files before and after the change. `name` makes text of file names
//!   that are no UTF-8.
//! - `worktree`, `bench`, `patch`: folders in which agents and fixers work, and their results.
//! - `recorded`: a change that can be reviewed again without its repository.
//! - [`state`]: the state below `.assay/`, and which of it this machine wrote.
//!
//! Nothing here judges a change. Hooks, filters, external diffs and text converters of git are
//! never run.

mod base_refs;
mod bench;
mod commentable;
mod converted;
pub mod diff;
mod digest;
mod git;
mod history;
mod ignored;
mod laid_out;
mod left_out;
mod lineage;
mod name;
mod on_disk;
mod patch;
mod recorded;
mod renames;
mod snapshot;
pub mod state;
mod stored;
pub mod tree;
pub mod unified;
mod untracked;
mod worktree;

use std::path::{Path, PathBuf};

use assay_findings::ground::{ChangedLines, Tree, TreeError};
use assay_findings::post;
use serde::{Deserialize, Serialize};

pub use crate::base_refs::BaseRefs;
pub use crate::bench::Bench;
pub use crate::converted::ConvertedFile;
use crate::diff::FileDiff;
use crate::git::Git;
pub use crate::git::GitError;
pub use crate::history::{History, LineOrigin, PastCommit};
pub use crate::left_out::{GlobError, LeaveOut, LeftOut};
pub use crate::lineage::Lineage;
pub use crate::on_disk::OnDisk;
pub use crate::patch::Patch;
pub use crate::recorded::RecordedChange;
pub use crate::snapshot::fingerprint;
pub use crate::stored::{StoredFile, StoredFiles, StoredTree};
use crate::tree::{DirTree, GitTree, NotedTree, TreeErrors, TreeKind};
pub use crate::worktree::Worktree;

/// Which change is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// A pull request, fetched from the remote that its repository is.
    Pull {
        /// The repository it was made to, `OWNER/REPO`.
        repository: String,
        /// Its number.
        number: u64,
        /// The commit that is meant, by its whole name; its last one if nothing is said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
        /// The branch that it is for, which not every pull request tells by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
    },
}

impl Scope {
    /// What was made on top of a commit, or of what is found to be one.
    pub fn on_top_of(base: Option<&str>) -> Scope {
        base.map_or(Scope::Automatic, |base| Scope::Against(base.to_owned()))
    }

    /// Reads a pull request as people write it, `owner/repo#7`.
    pub fn pull_request(text: &str) -> Option<Scope> {
        let (repository, number) = text.split_once('#')?;
        let (owner, name) = repository.split_once('/')?;
        let is_named = !owner.is_empty() && !name.is_empty() && !name.contains('/');
        let number = number.parse().ok().filter(|_| is_named)?;
        Some(Scope::Pull { repository: repository.to_owned(), number, head: None, base: None })
    }
}

/// A change: what it is called, its diff, and the trees before and after it.
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
    /// Whether there may be more to it than was asked for.
    pub is_limited: bool,
    /// The messages of its commits, the newest first.
    messages: Vec<String>,
    /// The purpose as the caller states it.
    purpose: Option<String>,
    /// The rules by which files are left out, once they are known.
    leave_out: Option<LeaveOut>,
    /// The pull request that it is, `OWNER/REPO#N`.
    pull: Option<String>,
    /// Its last commit, where it is a pull request.
    head: Option<String>,
    base: NotedTree,
    tree: NotedTree,
    /// The errors of both trees.
    errors: TreeErrors,
}

impl Change {
    fn new(
        git: Git,
        title: String,
        base: String,
        mut files: Vec<FileDiff>,
        tree: TreeKind,
    ) -> Result<Change, GitError> {
        git.mark_generated(&mut files, &base)?;
        let errors = TreeErrors::default();
        let root = git.root.clone();
        let base = TreeKind::Git(Box::new(GitTree::revision(git, base)));
        Ok(Change {
            root,
            title,
            files,
            untracked: Vec::new(),
            is_limited: false,
            messages: Vec::new(),
            purpose: None,
            leave_out: None,
            pull: None,
            head: None,
            base: NotedTree::new(base, &errors),
            tree: NotedTree::new(tree, &errors),
            errors,
        })
    }

    /// Gives the tree before the change: that of the commit it is held against.
    pub fn base(&self) -> &(dyn Tree + Sync) {
        &self.base
    }

    /// Returns what of the trees before and after the change could not be read so far. A review of a
    /// change with such errors is incomplete, whichever reviewer asked for the file.
    pub fn tree_errors(&self) -> Vec<TreeError> {
        self.errors.all()
    }

    /// Names the commit that it is held against, where it is of a repository.
    pub fn base_revision(&self) -> Option<&str> {
        match &self.base.kind {
            TreeKind::Git(tree) => tree.revision.as_deref(),
            TreeKind::Dir(_) | TreeKind::Recorded(_) => None,
        }
    }

    /// Names the last commit of a pull request, which is what was looked at whatever became of it.
    pub fn pull_head(&self) -> Option<&str> {
        self.head.as_deref()
    }

    /// Gives the tree after the change.
    pub fn tree(&self) -> &(dyn Tree + Sync) {
        &self.tree
    }

    /// Returns the messages of its commits, the newest first.
    pub fn messages(&self) -> Vec<String> {
        self.messages.clone()
    }

    /// States the purpose of the change, beside the messages of its commits: the text of a pull
    /// request or of a ticket, or a text that a person gives. Later texts follow earlier ones.
    pub fn state_purpose(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        self.purpose = Some(match self.purpose.take() {
            Some(before) => format!("{before}\n\n{text}"),
            None => text.to_owned(),
        });
    }

    /// Returns the purpose of the change as the caller stated it.
    pub fn stated_purpose(&self) -> Option<&str> {
        self.purpose.as_deref()
    }

    /// Says whether the tree after it is the work tree.
    pub fn is_in_work_tree(&self) -> bool {
        matches!(self.tree.kind, TreeKind::Dir(_))
    }

    /// Returns true if no file of the change has content that a reviewer could read.
    pub fn is_without_content(&self) -> bool {
        self.files.iter().all(|file| match &file.left_out {
            Some(left_out) => !left_out.readable,
            None => file.without_content().is_some(),
        })
    }

    /// Counts its hunks. A file that was only renamed, emptied or is no text counts as one.
    pub fn hunks(&self) -> usize {
        self.files.iter().map(|file| file.hunks.len().max(1)).sum()
    }

    /// Gives the lines that it touches.
    pub fn changed_lines(&self) -> ChangedLines {
        diff::changed_lines(&self.files)
    }

    /// Gives the lines that take a comment where it is a pull request.
    pub fn commentable(&self) -> post::Diff {
        commentable::commentable(&self.files)
    }
}

/// What belongs to a change besides its scope.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The paths it is limited to; all where there are none.
    pub paths: Vec<String>,
    /// Whether new files that git does not track belong to it.
    pub untracked: bool,
}

impl Selection {
    /// All of it, with new files that git does not track yet.
    pub fn with_untracked() -> Selection {
        Selection { untracked: true, ..Selection::default() }
    }
}

/// Gives the root of the repository around a folder.
pub fn root(folder: &Path) -> Result<PathBuf, GitError> {
    Ok(Git::find(folder)?.root)
}

/// Gives the name under which commits are made in the repository around a folder.
pub fn user_name(folder: &Path) -> Option<String> {
    Git::find(folder).ok()?.user_name()
}

/// Gives the name of the repository around a folder.
pub fn repository_name(folder: &Path) -> Result<String, GitError> {
    Ok(Git::find(folder)?.name())
}

/// Gives the commit that a name stands for in the repository around a folder.
pub fn commit_of(folder: &Path, name: &str) -> Result<String, GitError> {
    Git::find(folder)?.resolve(name)
}

/// Returns the branch of the repository around a folder that changes are made against.
pub fn main_branch(folder: &Path) -> Result<Option<String>, GitError> {
    Git::find(folder)?.main_branch()
}

/// Moves a branch of a repository's remote, `OWNER/REPO`, on to a commit that is here.
pub fn push(folder: &Path, repository: &str, commit: &str, branch: &str) -> Result<(), GitError> {
    Git::find(folder)?.push(repository, commit, branch)
}

/// Fetches a branch of a repository's remote, `OWNER/REPO`, and returns its last commit.
pub fn fetch_branch(folder: &Path, repository: &str, branch: &str) -> Result<String, GitError> {
    Git::find(folder)?.fetch_branch(repository, branch)
}

/// Gives the folder in which git looks for the hooks of the repository around a folder.
pub fn hooks_folder(folder: &Path) -> Result<PathBuf, GitError> {
    Git::find(folder)?.hooks_folder()
}

/// Returns true if files in a folder of a repository, named from its root, came with the repository,
/// or if git has no answer; false where there is no repository.
pub fn is_tracked(root: &Path, folder: &str) -> bool {
    match Git::find(root) {
        Ok(git) => git.tracks(folder),
        Err(error) => !error.is_no_work_tree(),
    }
}

/// Says whether a link, a file or another repository stands where a folder of one's own should.
pub fn is_foreign(folder: &Path) -> bool {
    let Ok(found) = folder.symlink_metadata() else { return false };
    !found.is_dir() || folder.join(".git").symlink_metadata().is_ok()
}

/// Opens a change of the repository around a folder.
pub fn open(folder: &Path, scope: &Scope, selection: &Selection) -> Result<Change, GitError> {
    let git = Git::find(folder)?;
    git.check_paths(&selection.paths)?;
    let change = open_scope(git, scope, selection)?;
    Ok(Change { is_limited: !selection.paths.is_empty(), ..change })
}

fn open_scope(git: Git, scope: &Scope, selection: &Selection) -> Result<Change, GitError> {
    match scope {
        Scope::Automatic => open_automatic(git, selection),
        Scope::Against(base) => {
            let from = git.fork_point(base)?;
            against_worktree(git, &from, format!("working tree against {base}"), selection)
        }
        Scope::Staged => {
            let from = git.head_or_empty()?;
            let files = git.diff(&["--cached"], &selection.paths)?;
            let tree = TreeKind::Git(Box::new(GitTree::index(git.clone())));
            Change::new(git, "staged changes".to_owned(), from, files, tree)
        }
        Scope::Commits(range) => open_commits(git, range, &selection.paths),
        Scope::Pull { repository, number, head, base } => {
            let pull = git.pull(repository, *number, head.as_deref(), base.as_deref())?;
            let name = format!("{repository}#{number}");
            let title = format!("pull request {name}");
            let head = pull.head.clone();
            let change = between(git, pull.base, pull.head, title, &selection.paths)?;
            Ok(Change { pull: Some(name), head: Some(head), ..change })
        }
    }
}

fn open_automatic(git: Git, selection: &Selection) -> Result<Change, GitError> {
    if let Some(branch) = git.default_branch()? {
        let from = git.fork_point(&branch)?;
        let title = format!("working tree against {branch}");
        let change = against_worktree(git.clone(), &from, title, selection)?;
        if !change.files.is_empty() {
            return Ok(change);
        }
    }
    let head = git.head_or_empty()?;
    if head == git.empty_tree {
        // All that git knows of is new.
        let title = "everything, as nothing is committed".to_owned();
        return against_worktree(git, &head, title, selection);
    }
    let title = "uncommitted changes".to_owned();
    let uncommitted = against_worktree(git.clone(), &head, title, selection)?;
    if !uncommitted.files.is_empty() {
        return Ok(uncommitted);
    }
    if !uncommitted.untracked.is_empty() {
        // Files that nobody added yet are all that is new, so it is them that is meant.
        let all = Selection { untracked: true, ..selection.clone() };
        return against_worktree(git, &head, "untracked files".to_owned(), &all);
    }
    let mut last = open_commits(git, "HEAD", &selection.paths)?;
    last.title = "the last commit".to_owned();
    Ok(last)
}

fn against_worktree(
    git: Git,
    from: &str,
    title: String,
    selection: &Selection,
) -> Result<Change, GitError> {
    let mut files = git.diff(&[from], &selection.paths)?;
    let mut untracked = git.untracked(&selection.paths)?;
    if selection.untracked {
        files.extend(untracked.drain(..).map(|path| untracked::new_file(&git.root, path)));
    }
    let tree = TreeKind::Dir(DirTree::new(git.root.clone()));
    let messages = git.messages(from, "HEAD")?;
    let change = Change::new(git, title, from.to_owned(), files, tree)?;
    Ok(Change { untracked, messages, ..change })
}

fn open_commits(git: Git, range: &str, paths: &[String]) -> Result<Change, GitError> {
    let (from, to) = match range.split_once("..") {
        Some((from, to)) => {
            let to = to.trim_start_matches('.');
            let to = git.resolve(if to.is_empty() { "HEAD" } else { to })?;
            // What came on the other side since is no part of the range.
            (git.merge_base(from, &to)?, to)
        }
        None => (git.parent_or_empty(range)?, git.resolve(range)?),
    };
    between(git, from, to, format!("commits {range}"), paths)
}

fn between(
    git: Git,
    from: String,
    to: String,
    title: String,
    paths: &[String],
) -> Result<Change, GitError> {
    let files = git.diff(&[&from, &to], paths)?;
    let messages = git.messages(&from, &to)?;
    let tree = TreeKind::Git(Box::new(GitTree::revision(git.clone(), to)));
    Ok(Change { messages, ..Change::new(git, title, from, files, tree)? })
}
