//! The change of a work tree with the unsaved texts of an editor: [`EditedWorkTree`].
//!
//! The saved files are compared with their base once, when the work tree is opened. After that,
//! only files with unsaved text are compared, so that the cost of a keystroke does not depend on
//! the size of the repository. Renames are those of the saved files.

mod text_diff;
mod tree_stamp;

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use assay_findings::grounding::Tree as _;
use assay_findings::path::RepoPath;

pub(crate) use self::tree_stamp::TreeStamp;
use crate::diff::{Content, FileDiff, Mode};
use crate::file_name::to_raw_name;
use crate::git::{Git, argument};
use crate::tree::{DirTree, GitTree, TreeKind, UnsavedTexts};
use crate::{Change, GitError, Selection, open_commits, untracked_files};

/// A work tree, and the commits that it is compared with.
#[derive(Debug)]
pub struct EditedWorkTree {
    git: Git,
    selection: Selection,
    /// The diff against the base that the caller named, or against the default branch; `None` on
    /// the default branch.
    branch: Option<WorkTreeDiff>,
    /// True if the caller named the base, so that the work tree is compared with nothing else.
    has_fixed_base: bool,
    /// The diff against the last commit; `None` until it is needed.
    head: Option<WorkTreeDiff>,
    stamp: TreeStamp,
}

impl EditedWorkTree {
    /// Opens the work tree around a folder, and compares its saved files with a branch or commit;
    /// `None` for the default branch.
    pub fn open(
        folder: &Path,
        base: Option<&str>,
        selection: &Selection,
    ) -> Result<EditedWorkTree, GitError> {
        let git = Git::find(folder)?;
        git.check_paths(&selection.paths)?;
        EditedWorkTree::of(git, base, selection)
    }

    pub(crate) fn of(
        git: Git,
        base: Option<&str>,
        selection: &Selection,
    ) -> Result<EditedWorkTree, GitError> {
        let stamp = TreeStamp::of(&git.root);
        let branch = match base {
            Some(base) => Some(base.to_owned()),
            None => git.default_branch()?,
        };
        let against = |branch: String| {
            let (from, title) =
                (git.fork_point(&branch)?, format!("working tree against {branch}"));
            WorkTreeDiff::new(&git, from, title, selection)
        };
        let branch = branch.map(against).transpose()?;
        let selection = selection.clone();
        let has_fixed_base = base.is_some();
        Ok(EditedWorkTree { git, selection, branch, has_fixed_base, head: None, stamp })
    }

    /// Returns the root of the work tree.
    pub fn root(&self) -> &Path {
        &self.git.root
    }

    /// Returns true if neither the index nor the branches have changed since the work tree was
    /// opened. Files that other programs write are not noticed.
    pub fn is_current(&self) -> bool {
        self.stamp == TreeStamp::of(&self.git.root)
    }

    /// Returns the change as a review would open it if the unsaved texts were saved.
    pub fn change(&mut self, unsaved: &UnsavedTexts) -> Result<Change, GitError> {
        if let Some(branch) = &mut self.branch {
            let files = branch.files(&self.git, unsaved)?;
            if self.has_fixed_base || !files.is_empty() {
                return Ok(branch.change(&self.git, files, unsaved));
            }
        }
        let head = match self.head.take() {
            Some(head) => head,
            None => WorkTreeDiff::of_head(&self.git, &self.selection)?,
        };
        let head = self.head.insert(head);
        let files = head.files(&self.git, unsaved)?;
        if !files.is_empty() || head.from == self.git.empty_tree {
            return Ok(head.change(&self.git, files, unsaved));
        }
        if !head.untracked.is_empty() {
            // Untracked files are the only new ones, so they are the change.
            return head.with_untracked(&self.git)?.untracked_change(&self.git, unsaved);
        }
        let mut last = open_commits(self.git.clone(), "HEAD", &self.selection.paths)?;
        last.title = "the last commit".to_owned();
        Ok(last)
    }
}

/// The diff of the saved files of a work tree against a commit.
#[derive(Debug)]
struct WorkTreeDiff {
    from: String,
    title: String,
    files: Vec<FileDiff>,
    /// The untracked files that are not part of the diff.
    untracked: Vec<String>,
    messages: Vec<String>,
    base: Arc<GitTree>,
    /// The last comparison of each file with unsaved text.
    compared: HashMap<RepoPath, ComparedText>,
}

/// The comparison of an unsaved text with its base.
#[derive(Debug)]
struct ComparedText {
    text: Arc<str>,
    /// The diff; `None` if the text is that of the base.
    diff: Option<FileDiff>,
}

impl WorkTreeDiff {
    fn new(
        git: &Git,
        from: String,
        title: String,
        selection: &Selection,
    ) -> Result<WorkTreeDiff, GitError> {
        let mut files = git.diff(&[&from], &selection.paths)?;
        let mut untracked = git.untracked(&selection.paths)?;
        if selection.untracked {
            files
                .extend(untracked.drain(..).map(|path| untracked_files::new_file(&git.root, path)));
        }
        git.mark_generated(&mut files, &from)?;
        let messages = git.messages(&from, "HEAD")?;
        let base = Arc::new(GitTree::revision(git.clone(), from.clone()));
        let compared = HashMap::new();
        Ok(WorkTreeDiff { from, title, files, untracked, messages, base, compared })
    }

    /// Compares the work tree with the last commit; all files are new if nothing is committed.
    fn of_head(git: &Git, selection: &Selection) -> Result<WorkTreeDiff, GitError> {
        let head = git.head_or_empty()?;
        let title = match head == git.empty_tree {
            true => "all files, since nothing is committed yet",
            false => "uncommitted changes",
        };
        WorkTreeDiff::new(git, head, title.to_owned(), selection)
    }

    /// Returns the diff that has the untracked files, too.
    fn with_untracked(&self, git: &Git) -> Result<WorkTreeDiff, GitError> {
        let untracked = self.untracked.iter().cloned();
        let new = untracked.map(|path| untracked_files::new_file(&git.root, path));
        let mut files: Vec<FileDiff> = self.files.iter().cloned().chain(new).collect();
        git.mark_generated(&mut files, &self.from)?;
        Ok(WorkTreeDiff {
            from: self.from.clone(),
            title: "untracked files".to_owned(),
            files,
            untracked: Vec::new(),
            messages: self.messages.clone(),
            base: Arc::clone(&self.base),
            compared: HashMap::new(),
        })
    }

    fn untracked_change(mut self, git: &Git, unsaved: &UnsavedTexts) -> Result<Change, GitError> {
        let files = self.files(git, unsaved)?;
        Ok(self.change(git, files, unsaved))
    }

    /// Returns the files of the change, with the unsaved texts in place of the saved ones.
    fn files(&mut self, git: &Git, unsaved: &UnsavedTexts) -> Result<Vec<FileDiff>, GitError> {
        self.compared.retain(|path, _| unsaved.contains_key(path));
        for (path, text) in unsaved {
            if self.compared.get(path).is_none_or(|known| known.text != *text) {
                let diff = self.compare(git, path, text)?;
                let text = Arc::clone(text);
                self.compared.insert(path.clone(), ComparedText { text, diff });
            }
        }
        let mut files = self.files.clone();
        for path in unsaved.keys() {
            replace(&mut files, path, self.compared[path].diff.clone());
        }
        Ok(files)
    }

    /// Compares an unsaved text with its base. Returns `None` for a file that is not part of the
    /// change.
    fn compare(
        &self,
        git: &Git,
        path: &RepoPath,
        text: &str,
    ) -> Result<Option<FileDiff>, GitError> {
        let saved = self.files.iter().find(|file| file.new_path.as_deref() == Some(path.as_str()));
        let file = match saved {
            Some(saved) if !matches!(saved.content, Content::Text | Content::Binary) => {
                return Ok(Some(saved.clone()));
            }
            Some(saved) => saved.clone(),
            None => match self.unchanged_file(git, path)? {
                Some(file) => file,
                None => return Ok(None),
            },
        };
        let before = match &file.old_path {
            Some(old) => self.read_base(old)?,
            None => return Ok(Some(text_diff::added(file, text))),
        };
        let file = text_diff::changed(git, file, &before, text)?;
        let is_same_text = file.content == Content::Text && file.hunks.is_empty();
        Ok(match is_same_text {
            true => Some(file).filter(is_renamed_or_has_another_mode),
            false => Some(with_mode(&git.root, file)),
        })
    }

    /// Returns a file of the base without differences; `None` if the base has no such file.
    fn unchanged_file(&self, git: &Git, path: &RepoPath) -> Result<Option<FileDiff>, GitError> {
        if !self.base.exists(path).map_err(|error| unreadable(&error))? {
            return Ok(None);
        }
        let mut file = [FileDiff {
            old_path: Some(path.as_str().to_owned()),
            new_path: Some(path.as_str().to_owned()),
            ..FileDiff::default()
        }];
        git.mark_generated(&mut file, &self.from)?;
        let [file] = file;
        Ok(Some(file))
    }

    fn read_base(&self, path: &str) -> Result<Vec<u8>, GitError> {
        let path = RepoPath::exact(path).map_err(|error| unreadable(&error))?;
        let bytes = self.base.read_bytes(&path).map_err(|error| unreadable(&error))?;
        Ok(bytes.unwrap_or_default())
    }

    fn change(&self, git: &Git, files: Vec<FileDiff>, unsaved: &UnsavedTexts) -> Change {
        let tree = DirTree::new(git.root.clone()).with_unsaved(unsaved.clone());
        let base = TreeKind::Git(Arc::clone(&self.base));
        let change = Change::of_trees(
            git.root.clone(),
            self.title.clone(),
            files,
            base,
            TreeKind::Dir(tree),
        );
        Change { untracked: self.untracked.clone(), messages: self.messages.clone(), ..change }
    }
}

/// Replaces the saved version of a file by the unsaved one; `None` if that is not part of the
/// change. The order of a diff by git stays.
fn replace(files: &mut Vec<FileDiff>, path: &RepoPath, unsaved: Option<FileDiff>) {
    let name = Some(path.as_str());
    // A deleted file whose text is open in the editor is there again once it is saved.
    let is_saved_version = |file: &FileDiff| match &file.new_path {
        Some(new) => Some(new.as_str()) == name,
        None => file.old_path.as_deref() == name,
    };
    let at = files.iter().position(is_saved_version);
    let next = || files.iter().position(|file| file.path() > path.as_str());
    let place = at.or_else(next).unwrap_or(files.len());
    files.splice(place..place + usize::from(at.is_some()), unsaved);
}

/// Returns a file with the mode of the work tree, if no diff of the saved file states the mode: the
/// file is unchanged or only renamed there.
fn with_mode(root: &Path, file: FileDiff) -> FileDiff {
    let is_stated = file.old_mode.is_some() || file.new_mode.is_some();
    let path = root.join(argument(&to_raw_name(file.path())));
    if is_stated {
        return file;
    }
    let mode = fs::symlink_metadata(path).map_or(Mode::File, |it| untracked_files::mode(&it));
    FileDiff { old_mode: Some(mode), new_mode: Some(mode), ..file }
}

/// Returns true if a file with the text of its base still belongs to a change.
fn is_renamed_or_has_another_mode(file: &FileDiff) -> bool {
    file.old_path != file.new_path || file.old_mode != file.new_mode
}

fn unreadable(error: &impl ToString) -> GitError {
    GitError::Failed { command: "cat-file".to_owned(), message: error.to_string(), code: None }
}
