//! Files in git and in the work tree, compared by bytes: [`StoredFiles`].
//!
//! No filter and no conversion of line ends is applied.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::GitError;
use crate::git::{Git, check, text};

/// The refs that protect commits of this module from garbage collection. They belong to this work
/// tree alone, and no clone and no push copies them.
const REF_PREFIX: &str = "refs/worktree/assay/";

/// A repository whose files are compared.
#[derive(Debug)]
pub struct StoredFiles {
    pub(crate) git: Git,
}

/// A file in git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// The id of the object with the content.
    pub id: String,
    /// True if the file is executable.
    pub is_executable: bool,
}

/// The files, links and submodules of a tree in git, by their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredTree {
    /// The regular files.
    pub files: BTreeMap<String, StoredFile>,
    /// The links; the content of each is the target of the link.
    pub links: BTreeMap<String, StoredFile>,
    /// The commits of the submodules.
    pub submodules: BTreeMap<String, String>,
}

impl StoredFiles {
    /// Opens the repository around a folder.
    pub fn open(folder: &Path) -> Result<StoredFiles, GitError> {
        Ok(StoredFiles { git: Git::find(folder)? })
    }

    /// Returns the folder of git for this work tree.
    pub fn git_folder(&self) -> Result<PathBuf, GitError> {
        Ok(PathBuf::from(self.git.line(&["rev-parse", "--absolute-git-dir"])?))
    }

    /// Returns the folder of git that all work trees of the repository share.
    pub fn common_folder(&self) -> Result<PathBuf, GitError> {
        let args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        Ok(PathBuf::from(self.git.line(&args)?))
    }

    /// Returns the files, links and submodules of a commit or a tree. Leaves out names that are not
    /// UTF-8.
    pub fn files_of_revision(&self, revision: &str) -> Result<StoredTree, GitError> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", revision];
        let listed = self.git.run(&args)?;
        let entries = listed.split(|byte| *byte == 0).filter_map(|it| std::str::from_utf8(it).ok());
        let mut tree = StoredTree::default();
        for entry in entries {
            let Some((about, path)) = entry.split_once('\t') else { continue };
            let mut about = about.split(' ');
            let (mode, _, id) = (about.next(), about.next(), about.next());
            let (Some(mode), Some(id)) = (mode, id) else { continue };
            let file = StoredFile { id: id.to_owned(), is_executable: mode == "100755" };
            match mode {
                "100644" | "100755" => drop(tree.files.insert(path.to_owned(), file)),
                "120000" => drop(tree.links.insert(path.to_owned(), file)),
                "160000" => drop(tree.submodules.insert(path.to_owned(), file.id)),
                _ => {}
            }
        }
        Ok(tree)
    }

    /// Returns the paths of the files in a commit or a tree that contain one of some words.
    pub fn files_with_words(
        &self,
        revision: &str,
        words: &[String],
    ) -> Result<Vec<String>, GitError> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let mut args = vec!["grep", "-l", "-z", "-I", "-F", "--full-name", "--no-color"];
        args.extend(words.iter().flat_map(|word| ["-e", word]));
        args.push(revision);
        let finished = self.git.command(&args).folder(&self.git.root).run()?;
        // Git exits with 1 if no file contains a word.
        if finished.status.code() != Some(1) {
            check(&args, finished.status, &finished.stderr)?;
        }
        let names = finished.stdout.split(|byte| *byte == 0);
        let names = names.filter_map(|name| std::str::from_utf8(name).ok()?.strip_prefix(revision));
        Ok(names.filter_map(|name| Some(name.strip_prefix(':')?.to_owned())).collect())
    }

    /// Returns the contents of files in git, in order.
    pub fn read_all(&self, files: &[&StoredFile]) -> Result<Vec<Vec<u8>>, GitError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let args = ["cat-file", "--batch"];
        let lines: String = files.iter().map(|file| format!("{}\n", file.id)).collect();
        let finished = self.git.command(&args).input(lines.into_bytes()).run()?;
        check(&args, finished.status, &finished.stderr)?;
        let (mut contents, mut rest) = (Vec::new(), finished.stdout.as_slice());
        for _ in files {
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let (head, behind) = rest.split_at(end);
            let size = text(head).rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
            let behind = behind.get(1..).unwrap_or_default();
            let size = size.unwrap_or(0).min(behind.len());
            contents.push(behind[..size].to_vec());
            rest = behind.get(size + 1..).unwrap_or_default();
        }
        Ok(contents)
    }

    /// Returns the commit that is checked out in a submodule, and true if its files differ from the
    /// commit; `None` for a submodule without files.
    pub fn submodule(&self, path: &str) -> Result<Option<(String, bool)>, GitError> {
        let folder = self.git.root.join(path);
        if fs::symlink_metadata(folder.join(".git")).is_err() {
            return Ok(None);
        }
        let git = Git::find(&folder)?;
        let head = git.line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
        let changed = git.line(&["status", "--porcelain", "--ignore-submodules=none"])?;
        Ok(Some((head, !changed.is_empty())))
    }

    /// Returns the paths of the files in the work tree that git tracks or would add.
    pub fn work_tree_files(&self) -> Result<Vec<String>, GitError> {
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = self.git.command(&args).folder(&self.git.root).run()?;
        check(&args, listed.status, &listed.stderr)?;
        let names = listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let mut paths: Vec<String> =
            names.filter_map(|name| Some(std::str::from_utf8(name).ok()?.to_owned())).collect();
        paths.sort();
        paths.dedup();
        // A tracked file may be deleted, and a nested repository is not a file.
        paths.retain(|path| {
            fs::symlink_metadata(self.git.root.join(path)).is_ok_and(|about| !about.is_dir())
        });
        Ok(paths)
    }

    /// Returns the paths that git tracks.
    pub fn tracked_files(&self) -> Result<BTreeSet<String>, GitError> {
        let args = ["ls-files", "-z", "--cached"];
        let listed = self.git.command(&args).folder(&self.git.root).run()?;
        check(&args, listed.status, &listed.stderr)?;
        let names = listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(text).collect())
    }

    /// Returns the object ids of files in the work tree, in the order of `paths`.
    pub fn object_ids(&self, paths: &[String]) -> Result<Vec<String>, GitError> {
        self.hash(paths, &["hash-object", "--no-filters", "--stdin-paths"])
    }

    /// Stores files of the work tree in git, under a ref of this name, and returns their tree.
    pub fn store(&self, name: &str, paths: &[String], index: &Path) -> Result<String, GitError> {
        let ids = self.hash(paths, &["hash-object", "-w", "--no-filters", "--stdin-paths"])?;
        let lines = paths.iter().zip(&ids).map(|(path, id)| {
            let is_executable = crate::snapshot::is_executable(&self.git.root.join(path));
            let mode = if is_executable { "100755" } else { "100644" };
            format!("{mode} {id}\t{path}\0")
        });
        let lines: String = lines.collect();
        let args = ["update-index", "-z", "--index-info"];
        let command = self.git.command(&args).env("GIT_INDEX_FILE", index).folder(&self.git.root);
        let finished = command.input(lines.into_bytes()).run()?;
        check(&args, finished.status, &finished.stderr)?;
        let tree = text(&self.git.run_with_index(&["write-tree"], index)?).trim().to_owned();
        self.git.run(&["update-ref", &format!("{REF_PREFIX}{name}"), &tree])?;
        Ok(tree)
    }

    /// Returns true if `commit` is `of` or one of its ancestors; false if either is unknown.
    pub fn is_ancestor(&self, commit: &str, of: &str) -> Result<bool, GitError> {
        self.git.is_ancestor(commit, of)
    }

    /// Returns the last commit of the work tree; `None` if nothing is committed.
    pub fn head(&self) -> Result<Option<String>, GitError> {
        self.git.resolve_if_known("HEAD")
    }

    /// Returns true if git still has a commit or a tree.
    pub fn has(&self, revision: &str) -> bool {
        self.git.run(&["cat-file", "-e", &format!("{revision}^{{tree}}")]).is_ok()
    }

    /// Returns the content of a file in git.
    pub fn read(&self, file: &StoredFile) -> Result<Vec<u8>, GitError> {
        self.git.run(&["cat-file", "blob", &file.id])
    }

    fn hash(&self, paths: &[String], args: &[&str]) -> Result<Vec<String>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let lines: String = paths.iter().map(|path| format!("{path}\n")).collect();
        let command = self.git.command(args).folder(&self.git.root).input(lines.into_bytes());
        let finished = command.run()?;
        check(args, finished.status, &finished.stderr)?;
        Ok(text(&finished.stdout).lines().map(str::to_owned).collect())
    }
}
