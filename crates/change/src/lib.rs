//! The change under review, read from git: [`open`] returns a [`Change`].
//!
//! - [`diff`] parses unified diffs. [`unified`] parses diffs that are not applied yet, and applies
//!   them in memory.
//! - `git` is the only module that knows the command line of git.
//! - [`tree`] reads the files before and after the change. `file_name` converts file names that are
//!   not UTF-8 into text.
//! - `worktree`, `scratch_worktree`, `patch`: folders in which agents and fixers work, and their
//!   results.
//! - `staged_files`: replaces files of the index.
//! - [`code_owners`]: the owners of files, as CODEOWNERS names them.
//! - `edited_work_tree`: the change of a work tree with the unsaved texts of an editor.
//! - `given_diff`: a diff that is applied to no work tree. `whole_tree`: all files, as new ones.
//! - `recorded_change`: a change that can be reviewed again without its repository.
//! - [`state`]: the state below `.assay/`, and the check that this machine wrote it.
//!
//! Nothing here judges a change. Hooks, filters, external diffs and text converters of git are
//! never run.

mod base_refs;
mod checkout;
pub mod code_owners;
mod commentable_lines;
mod converted_files;
pub mod diff;
mod digest;
mod edited_work_tree;
mod exclusion;
mod file_name;
mod git;
mod given_diff;
mod history;
mod ignored_files;
mod line_authors;
mod lineage;
mod linked_worktree;
mod patch;
mod recorded_change;
mod renames;
mod scratch_worktree;
mod snapshot;
mod staged_files;
pub mod state;
mod stored_files;
pub mod tree;
pub mod unified;
mod untracked_files;
mod whole_tree;
mod work_tree_stamp;
mod worktree;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_findings::grounding::{ChangedLines, Tree, TreeError};
use assay_findings::post;
use serde::{Deserialize, Serialize};

pub use crate::base_refs::BaseRefs;
pub use crate::checkout::Checkout;
pub use crate::converted_files::ConvertedFile;
use crate::diff::FileDiff;
pub use crate::edited_work_tree::EditedWorkTree;
pub use crate::exclusion::{Exclusion, ExclusionRules, GlobError};
use crate::git::Git;
pub use crate::git::GitError;
pub use crate::history::{BlamedLine, History, PastCommit};
pub use crate::line_authors::LineAuthors;
pub use crate::lineage::Lineage;
pub use crate::patch::Patch;
pub use crate::recorded_change::RecordedChange;
pub use crate::scratch_worktree::ScratchWorktree;
pub use crate::snapshot::fingerprint;
pub use crate::staged_files::{IndexEntry, StagedFiles};
pub use crate::stored_files::{StoredFile, StoredFiles, StoredTree};
use crate::tree::{ErrorRecordingTree, GitTree, TreeErrors, TreeKind, UnsavedTexts};
pub use crate::work_tree_stamp::WorkTreeStamp;
pub use crate::worktree::Worktree;

/// The selection of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The branch and the working tree against the default branch; the last commit if there is no
    /// difference.
    Automatic,
    /// The branch and the working tree against the point where they left a branch or commit.
    Against(String),
    /// The staged changes.
    Staged,
    /// A commit, or a range of commits.
    Commits(String),
    /// A unified diff, applied to a branch or commit.
    Diff {
        /// The text of the diff.
        text: Vec<u8>,
        /// The branch or commit; `None` for the last commit.
        base: Option<String>,
    },
    /// All files of the work tree, as if they were new.
    WholeTree,
    /// A pull request, fetched from the remote of its repository.
    Pull {
        /// The repository that the pull request is for, `OWNER/REPO`.
        repository: String,
        /// The number of the pull request.
        number: u64,
        /// The full id of the commit to review; the last one if `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
        /// The base branch; `None` if unknown, since not every source of a pull request states it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
    },
    /// A merge request of GitLab, fetched from the remote of its project.
    MergeRequest {
        /// The project that the merge request is for, such as `GROUP/SUBGROUP/NAME`.
        project: String,
        /// The number of the merge request.
        number: u64,
    },
}

impl Scope {
    /// Returns the scope of the work on top of `base`, or the automatic scope if it is `None`.
    pub fn on_top_of(base: Option<&str>) -> Scope {
        base.map_or(Scope::Automatic, |base| Scope::Against(base.to_owned()))
    }

    /// Parses a pull request in the form `owner/repo#7`.
    pub fn pull_request(text: &str) -> Option<Scope> {
        let (repository, number) = text.split_once('#')?;
        let (owner, name) = repository.split_once('/')?;
        let is_named = !owner.is_empty() && !name.is_empty() && !name.contains('/');
        let number = number.parse().ok().filter(|_| is_named)?;
        Some(Scope::Pull { repository: repository.to_owned(), number, head: None, base: None })
    }

    /// Parses a merge request in the form `group/name!7`, with any number of subgroups.
    pub fn merge_request(text: &str) -> Option<Scope> {
        let (project, number) = text.rsplit_once('!')?;
        let is_named = project.contains('/') && project.split('/').all(|part| !part.is_empty());
        let number = number.parse().ok().filter(|_| is_named)?;
        Some(Scope::MergeRequest { project: project.to_owned(), number })
    }
}

/// A change: its title, its diff, and the trees before and after it.
#[derive(Debug)]
pub struct Change {
    /// The root of the repository.
    pub root: PathBuf,
    /// A description of the change, such as `working tree against main`.
    pub title: String,
    /// The touched files.
    pub files: Vec<FileDiff>,
    /// Untracked files that are not part of the change, since they were not requested.
    pub untracked: Vec<String>,
    /// True if the change is limited to some paths and may be larger.
    pub is_limited: bool,
    /// True if the change is not an edit: its files are all files of the work tree, as new ones.
    pub is_whole_tree: bool,
    /// The messages of the commits, newest first.
    messages: Vec<String>,
    /// The purpose as the caller states it.
    purpose: Option<String>,
    /// The exclusion rules; `None` until they are applied.
    exclusion_rules: Option<ExclusionRules>,
    /// The pull request, `OWNER/REPO#N`; `None` for any other change.
    pull: Option<String>,
    /// The last commit of a pull request; `None` for any other change.
    head: Option<String>,
    base: ErrorRecordingTree,
    tree: ErrorRecordingTree,
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
        let root = git.root.clone();
        let base = TreeKind::Git(Arc::new(GitTree::revision(git, base)));
        Ok(Change::of_trees(root, title, files, base, tree))
    }

    /// Creates a change whose generated files are marked.
    fn of_trees(
        root: PathBuf,
        title: String,
        files: Vec<FileDiff>,
        base: TreeKind,
        tree: TreeKind,
    ) -> Change {
        let errors = TreeErrors::default();
        Change {
            root,
            title,
            files,
            untracked: Vec::new(),
            is_limited: false,
            is_whole_tree: false,
            messages: Vec::new(),
            purpose: None,
            exclusion_rules: None,
            pull: None,
            head: None,
            base: ErrorRecordingTree::new(base, &errors),
            tree: ErrorRecordingTree::new(tree, &errors),
            errors,
        }
    }

    /// Returns the tree before the change: that of the base commit.
    pub fn base(&self) -> &(dyn Tree + Sync) {
        &self.base
    }

    /// Returns the errors of the trees before and after the change so far. A review of a change
    /// with such errors is incomplete, no matter which reviewer asked for the file.
    pub fn tree_errors(&self) -> Vec<TreeError> {
        self.errors.all()
    }

    /// Returns the base commit; `None` for a recorded change.
    pub fn base_revision(&self) -> Option<&str> {
        match &self.base.kind {
            TreeKind::Git(tree) => tree.revision.as_deref(),
            TreeKind::Dir(_) | TreeKind::Recorded(_) => None,
        }
    }

    /// Returns the reviewed commit of a pull request, even if the pull request has moved since.
    pub fn pull_head(&self) -> Option<&str> {
        self.head.as_deref()
    }

    /// Returns the tree after the change.
    pub fn tree(&self) -> &(dyn Tree + Sync) {
        &self.tree
    }

    /// Returns the messages of the commits, newest first.
    pub fn messages(&self) -> Vec<String> {
        self.messages.clone()
    }

    /// Adds a text to the purpose of the change, in addition to its commit messages: of a pull
    /// request, of a ticket, or by a person. Later texts follow earlier ones.
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

    /// Returns true if the tree after the change is the work tree.
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

    /// Returns the number of hunks. A file without hunks, such as a renamed or binary one, counts
    /// as one.
    pub fn hunks(&self) -> usize {
        self.files.iter().map(|file| file.hunks.len().max(1)).sum()
    }

    /// Returns the lines that the change adds or edits.
    pub fn changed_lines(&self) -> ChangedLines {
        diff::changed_lines(&self.files)
    }

    /// Returns the lines that accept a comment if the change is a pull request.
    pub fn commentable_lines(&self) -> post::PullRequestDiff {
        commentable_lines::commentable_lines(&self.files)
    }
}

/// The part of a scope that belongs to a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The paths that the change is limited to; empty for all.
    pub paths: Vec<String>,
    /// True if untracked files belong to the change.
    pub untracked: bool,
}

impl Selection {
    /// Returns a selection of all paths, including untracked files.
    pub fn with_untracked() -> Selection {
        Selection { untracked: true, ..Selection::default() }
    }
}

/// Returns the root of the repository around a folder.
pub fn root(folder: &Path) -> Result<PathBuf, GitError> {
    Ok(Git::find_without_filters(folder)?.root)
}

/// Returns the name that commits are made under in the repository around a folder.
pub fn user_name(folder: &Path) -> Option<String> {
    Git::find_without_filters(folder).ok()?.user_name()
}

/// Returns the name of the repository around a folder.
pub fn repository_name(folder: &Path) -> Result<String, GitError> {
    Ok(Git::find_without_filters(folder)?.name())
}

/// Returns the commit that a name denotes in the repository around a folder.
pub fn commit_of(folder: &Path, name: &str) -> Result<String, GitError> {
    Git::find_without_filters(folder)?.resolve(name)
}

/// Returns the branch of the repository around a folder that changes are made against.
pub fn main_branch(folder: &Path) -> Result<Option<String>, GitError> {
    Ok(Git::find_without_filters(folder)?.main_branch()?.map(|branch| branch.name))
}

/// Moves a branch on the remote of a repository, `OWNER/REPO`, forward to a local commit.
pub fn push(folder: &Path, repository: &str, commit: &str, branch: &str) -> Result<(), GitError> {
    Git::find(folder)?.push(repository, commit, branch)
}

/// Fetches a branch from the remote of a repository, `OWNER/REPO`, and returns its last commit.
pub fn fetch_branch(folder: &Path, repository: &str, branch: &str) -> Result<String, GitError> {
    Git::find(folder)?.fetch_branch(repository, branch)
}

/// Returns the folder in which git looks for the hooks of the repository around a folder.
pub fn hooks_folder(folder: &Path) -> Result<PathBuf, GitError> {
    Git::find_without_filters(folder)?.hooks_folder()
}

/// Returns true if git tracks files in a folder, given relative to the root, or if git fails; false
/// if there is no repository.
pub fn is_tracked(root: &Path, folder: &str) -> bool {
    match Git::find_without_filters(root) {
        Ok(git) => git.tracks(folder),
        Err(error) => !error.is_no_work_tree(),
    }
}

/// Returns true if the path exists and is not a plain folder: a link, a file or another repository.
pub fn is_foreign(folder: &Path) -> bool {
    let Ok(found) = folder.symlink_metadata() else { return false };
    !found.is_dir() || folder.join(".git").symlink_metadata().is_ok()
}

/// Opens a change of the repository around a folder.
pub fn open(folder: &Path, scope: &Scope, selection: &Selection) -> Result<Change, GitError> {
    open_scope(Git::find(folder)?, scope, selection)
}

/// Opens the staged changes of the repository around a folder, in the index that git names to a
/// hook by `GIT_INDEX_FILE`: `git commit --all` and `git commit FILE` stage files in an index of
/// their own.
pub fn open_staged(folder: &Path, index: &Path, selection: &Selection) -> Result<Change, GitError> {
    open_scope(Git::find(folder)?.with_index_of_hook(index)?, &Scope::Staged, selection)
}

fn open_scope(git: Git, scope: &Scope, selection: &Selection) -> Result<Change, GitError> {
    // The paths of a given diff may exist only in the diff.
    if !matches!(scope, Scope::Diff { .. }) {
        git.check_paths(&selection.paths)?;
    }
    let change = match scope {
        Scope::Automatic => open_work_tree(git, None, selection),
        Scope::Against(base) => open_work_tree(git, Some(base), selection),
        Scope::Staged => {
            let from = git.head_or_empty()?;
            let files = git.diff(&["--cached"], &selection.paths)?;
            let tree = TreeKind::Git(Arc::new(GitTree::index(git.clone())));
            Change::new(git, "staged changes".to_owned(), from, files, tree)
        }
        Scope::Commits(range) => open_commits(git, range, &selection.paths),
        Scope::Diff { text, base } => {
            given_diff::open(git, text, base.as_deref(), &selection.paths)
        }
        Scope::WholeTree => whole_tree::open(git, selection),
        Scope::Pull { repository, number, head, base } => {
            let pull = git.fetch_pull(repository, *number, head.as_deref(), base.as_deref())?;
            let name = format!("{repository}#{number}");
            let title = format!("pull request {name}");
            let head = pull.head.clone();
            let change = between(git, pull.base, pull.head, title, &selection.paths)?;
            Ok(Change { pull: Some(name), head: Some(head), ..change })
        }
        Scope::MergeRequest { project, number } => {
            let request = git.fetch_merge_request(project, *number)?;
            let name = format!("{project}!{number}");
            let title = format!("merge request {name}");
            let head = request.head.clone();
            let change = between(git, request.base, request.head, title, &selection.paths)?;
            Ok(Change { pull: Some(name), head: Some(head), ..change })
        }
    }?;
    Ok(Change { is_limited: !selection.paths.is_empty(), ..change })
}

fn open_work_tree(git: Git, base: Option<&str>, selection: &Selection) -> Result<Change, GitError> {
    EditedWorkTree::of(git, base, selection)?.change(&UnsavedTexts::new())
}

fn open_commits(git: Git, range: &str, paths: &[String]) -> Result<Change, GitError> {
    let (from, to) = match range.split_once("..") {
        Some((from, to)) => {
            let to = to.trim_start_matches('.');
            let to = git.resolve(if to.is_empty() { "HEAD" } else { to })?;
            // Commits that were added to the other side since are not part of the range.
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
    let tree = TreeKind::Git(Arc::new(GitTree::revision(git.clone(), to)));
    Ok(Change { messages, ..Change::new(git, title, from, files, tree)? })
}
