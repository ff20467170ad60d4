//! The files before and after a change: [`DirTree`] on disk, `GitTree` in a commit or the index.
//!
//! An absent file and an unreadable file are different answers: `Ok(None)` and a `TreeError`. A
//! change records every error of its trees (`ErrorRecordingTree`), no matter which caller asked for
//! the file, and a review with such an error is incomplete.

mod error_recording;
mod object_reader;
mod recorded_tree;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use assay_findings::grounding::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_sandbox::ScratchFolder;

use crate::GitError;
use crate::file_name::{display_name, to_raw_name};
use crate::git::{Git, argument, check, text};
pub(crate) use crate::tree::error_recording::{ErrorRecordingTree, TreeErrors};
use crate::tree::object_reader::{FileObject, ObjectAnswer, ObjectReader};
pub(crate) use crate::tree::recorded_tree::RecordedTree;

/// The texts of files that an editor has not saved, by path.
pub type UnsavedTexts = BTreeMap<RepoPath, Arc<str>>;

/// The maximum size of a file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The number of bytes in which git looks for a NUL, which no text contains.
pub(crate) const BINARY_CHECK_BYTES: usize = 8_000;

/// The mode of an entry that is a commit of another repository.
const SUBMODULE: &[u8] = b"160000 ";

#[derive(Debug)]
pub(crate) enum TreeKind {
    Dir(DirTree),
    Git(Arc<GitTree>),
    Recorded(RecordedTree),
}

impl TreeKind {
    /// Returns the size of a file in bytes, or `None` if there is no such file.
    fn size(&self, path: &RepoPath) -> Result<Option<u64>, TreeError> {
        match self {
            TreeKind::Dir(tree) => {
                if let Some(text) = tree.unsaved.get(path) {
                    return Ok(Some(text.len() as u64));
                }
                let Some(file) = tree.resolve(path)? else { return Ok(None) };
                let size = fs::metadata(file).map(|about| Some(about.len()));
                size.map_err(|error| TreeError::read(path, error))
            }
            TreeKind::Git(tree) => {
                Ok(tree.read_object(&tree.kinds, path)?.map(|answer| answer.size))
            }
            TreeKind::Recorded(tree) => Ok(tree.size(path)),
        }
    }

    pub(crate) fn as_tree(&self) -> &(dyn Tree + Sync) {
        match self {
            TreeKind::Dir(tree) => tree,
            TreeKind::Git(tree) => &**tree,
            TreeKind::Recorded(tree) => tree,
        }
    }
}

/// A folder as a tree. Links are followed only to targets inside of the folder.
#[derive(Debug, Clone)]
pub struct DirTree {
    root: PathBuf,
    /// The root with all links resolved, to compare other paths with.
    real_root: PathBuf,
    /// The texts that are read instead of the files.
    unsaved: UnsavedTexts,
}

impl DirTree {
    /// Opens a folder as a tree.
    pub fn new(root: PathBuf) -> DirTree {
        let real_root = root.canonicalize().unwrap_or_else(|_| root.clone());
        DirTree { root, real_root, unsaved: UnsavedTexts::new() }
    }

    /// Returns the tree as if the unsaved texts of an editor were saved.
    pub(crate) fn with_unsaved(self, unsaved: UnsavedTexts) -> DirTree {
        DirTree { unsaved, ..self }
    }

    /// Returns the real path of a file, or `None` if there is no such file inside of the tree.
    fn resolve(&self, path: &RepoPath) -> Result<Option<PathBuf>, TreeError> {
        let name = to_raw_name(path.as_str());
        if !stays_inside(&name) {
            return Ok(None);
        }
        let relative = Path::new(argument(&name));
        let failed = |error: io::Error| TreeError::read(path, error);
        let real = match self.root.join(relative).canonicalize() {
            Err(error) if is_absence(&error) => return Ok(None),
            real => real.map_err(failed)?,
        };
        if !real.starts_with(&self.real_root) {
            return Ok(None);
        }
        let is_file = fs::metadata(&real).map_err(failed)?.is_file();
        Ok(is_file.then_some(real))
    }
}

/// Returns true if a name denotes no place outside of its tree.
fn stays_inside(name: &[u8]) -> bool {
    Path::new(argument(name)).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Returns true if an error means that there is no such file, and not that the file system failed.
fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    // A link to itself leads to no file.
    const ELOOP: i32 = 40;
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename | InvalidInput)
        || error.raw_os_error() == Some(ELOOP)
}

impl Tree for DirTree {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        if let Some(text) = self.unsaved.get(path) {
            return Ok(as_text(text.as_bytes().to_vec()));
        }
        let Some(real) = self.resolve(path)? else { return Ok(None) };
        let mut bytes = Vec::new();
        let read =
            File::open(real).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
        read.map_err(|error| TreeError::read(path, error))?;
        Ok(as_text(bytes))
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        Ok(self.unsaved.contains_key(path) || self.resolve(path)?.is_some())
    }

    fn symbol_at(&self, _path: &RepoPath, _line: u32) -> Result<Option<Symbol>, TreeError> {
        Ok(None)
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        match self.list_files().map_err(TreeError::list)? {
            Some(listed) => Ok(listed),
            None => self.walk().map_err(TreeError::list),
        }
    }
}

impl DirTree {
    /// Returns the files that git tracks or would add; `None` if the folder is not a work tree.
    fn list_files(&self) -> Result<Option<Vec<RepoPath>>, GitError> {
        if !self.root.join(".git").exists() {
            return Ok(None);
        }
        let git = match Git::find(&self.root) {
            Ok(git) => git,
            Err(GitError::NotYours { .. }) => return Ok(None),
            Err(error) if error.is_no_work_tree() => return Ok(None),
            Err(error) => return Err(error),
        };
        if git.root.canonicalize().ok().as_ref() != Some(&self.real_root) {
            return Ok(None);
        }
        let args = ["ls-files", "--cached", "--others", "--exclude-standard", "--full-name", "-z"];
        let listed = git.run(&args)?;
        let is_file = |name: &&[u8]| {
            let file = self.root.join(argument(name));
            file.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
        };
        let names = listed.split(|byte| *byte == 0).filter(is_file);
        let mut found: Vec<RepoPath> =
            names.filter_map(|name| RepoPath::exact(&display_name(name)).ok()).collect();
        found.sort();
        found.dedup();
        Ok(Some(found))
    }

    /// Returns all files in the folder. A folder that is removed meanwhile has none.
    fn walk(&self) -> io::Result<Vec<RepoPath>> {
        let mut found = Vec::new();
        let mut waiting = vec![self.root.clone()];
        while let Some(folder) = waiting.pop() {
            let entries = match fs::read_dir(&folder) {
                Err(error) if is_absence(&error) => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_dir() && entry.file_name() != ".git" {
                    waiting.push(entry.path());
                } else if kind.is_file() {
                    found.extend(relative(&self.root, &entry.path()));
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

fn relative(root: &Path, path: &Path) -> Option<RepoPath> {
    let path = path.strip_prefix(root).ok()?;
    RepoPath::exact(&display_name(path.as_os_str().as_bytes())).ok()
}

fn as_text(bytes: Vec<u8>) -> Option<String> {
    let is_binary = bytes[..bytes.len().min(BINARY_CHECK_BYTES)].contains(&0);
    (!is_binary && bytes.len() as u64 <= MAX_FILE_BYTES).then(|| text(&bytes))
}

/// The files of a commit, or of the index. Git is started once and answers for each file.
#[derive(Debug)]
pub(crate) struct GitTree {
    git: Git,
    /// The commit or tree; `None` for the index.
    pub(crate) revision: Option<String>,
    contents: ObjectReader,
    kinds: ObjectReader,
    /// The files of a commit, listed once since they never change.
    listing: OnceLock<Vec<RepoPath>>,
}

impl GitTree {
    pub(crate) fn revision(git: Git, revision: String) -> GitTree {
        GitTree::new(git, Some(revision))
    }

    pub(crate) fn index(git: Git) -> GitTree {
        GitTree::new(git, None)
    }

    fn new(git: Git, revision: Option<String>) -> GitTree {
        let objects = |what| ObjectReader::new(&git, what);
        let (contents, kinds) =
            (objects(object_reader::CONTENT_QUERY), objects(object_reader::KIND_QUERY));
        GitTree { git, revision, contents, kinds, listing: OnceLock::new() }
    }

    /// Returns the repository, and the commit or tree; `None` for the index.
    pub(crate) fn source(&self) -> (&Git, Option<&str>) {
        (&self.git, self.revision.as_deref())
    }

    /// Writes all files into a folder.
    pub(crate) fn write_to(&self, folder: &Path) -> Result<(), GitError> {
        let prefix = format!("--prefix={}/", folder.display());
        let out = ["checkout-index", "--all", "--quiet", prefix.as_str()];
        let Some(revision) = &self.revision else {
            // In a subfolder, git would write the files of the subfolder only.
            let finished = self.git.command(&out).folder(&self.git.root).run()?;
            return check(&out, finished.status, &finished.stderr);
        };
        // A separate index is used, so that the repository's index stays unchanged.
        let index = ScratchFolder::new("assay-index-");
        let index = index.map_err(|source| GitError::Layout { source })?;
        let file = index.path().join("index");
        self.git.run_with_index(&["read-tree", revision], &file)?;
        self.git.run_with_index(&out, &file).map(|_| ())
    }

    /// Returns the name of a file's object in the syntax of git.
    fn object(&self, path: &RepoPath) -> Vec<u8> {
        let tree = match &self.revision {
            Some(revision) => format!("{revision}:"),
            // Without its number, a path such as `1:x` would denote another stage.
            None => ":0:".to_owned(),
        };
        [tree.as_bytes(), &to_raw_name(path.as_str())].concat()
    }
}

impl GitTree {
    /// Returns a file from git; `None` if the tree has no such file, or has another kind of object
    /// by that name.
    ///
    /// Git reports `missing` both for an absent path and for a listed file whose object the
    /// repository lacks, as in a partial or damaged clone, so the listing decides.
    fn read_object(
        &self,
        objects: &ObjectReader,
        path: &RepoPath,
    ) -> Result<Option<FileObject>, TreeError> {
        // Git aborts on a name that leads out of the repository.
        if !stays_inside(&to_raw_name(path.as_str())) {
            return Ok(None);
        }
        match objects.query(&self.object(path)) {
            Ok(ObjectAnswer::Missing) if self.lists(path)? => {
                Err(TreeError::read(path, "the repository lacks the file's object"))
            }
            Ok(ObjectAnswer::Missing | ObjectAnswer::OtherKind) => Ok(None),
            Ok(ObjectAnswer::File(file)) => Ok(Some(file)),
            Err(error) => Err(TreeError::read(path, error)),
        }
    }

    /// Returns the bytes of a file; `None` if the tree has no such file.
    pub(crate) fn read_bytes(&self, path: &RepoPath) -> Result<Option<Vec<u8>>, TreeError> {
        Ok(self.read_object(&self.contents, path)?.map(|file| file.content))
    }

    fn lists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        match &self.revision {
            Some(_) => Ok(self.committed_files()?.binary_search(path).is_ok()),
            None => Ok(self.list_files()?.contains(path)),
        }
    }

    /// Returns the files of the commit, sorted, from a cached listing.
    fn committed_files(&self) -> Result<&[RepoPath], TreeError> {
        if self.listing.get().is_none() {
            let listed = self.list_files()?;
            return Ok(self.listing.get_or_init(|| listed));
        }
        Ok(self.listing.get().map(Vec::as_slice).unwrap_or_default())
    }

    fn list_files(&self) -> Result<Vec<RepoPath>, TreeError> {
        let listed = match &self.revision {
            None => self.git.run(&["ls-files", "--full-name", "--stage", "-z"]),
            Some(revision) => self.git.run(&["ls-tree", "-r", "--full-tree", "-z", revision]),
        };
        let listed = listed.map_err(TreeError::list)?;
        let mut paths: Vec<RepoPath> =
            listed.split(|byte| *byte == 0).filter_map(parse_listed_file).collect();
        paths.sort_unstable();
        Ok(paths)
    }
}

impl Tree for GitTree {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        let file = self.read_object(&self.contents, path)?;
        Ok(file.and_then(|file| as_text(file.content)))
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        Ok(self.read_object(&self.kinds, path)?.is_some())
    }

    fn symbol_at(&self, _path: &RepoPath, _line: u32) -> Result<Option<Symbol>, TreeError> {
        Ok(None)
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        match self.revision {
            Some(_) => Ok(self.committed_files()?.to_vec()),
            None => self.list_files(),
        }
    }
}

/// Parses the path of a listed file: mode, kind or id, id or stage, tab, path.
fn parse_listed_file(entry: &[u8]) -> Option<RepoPath> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let (about, path) = (&entry[..tab], &entry[tab + 1..]);
    // A stage other than 0 means that the file is not merged; then there is no single file.
    let is_staged = [&b" 1"[..], b" 2", b" 3"].iter().any(|stage| about.ends_with(stage));
    if about.starts_with(SUBMODULE) || is_staged {
        return None;
    }
    RepoPath::exact(&display_name(path)).ok()
}
