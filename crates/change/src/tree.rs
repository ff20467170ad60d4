//! The files before and after a change: [`DirTree`] on disk, `GitTree` in a commit or the index.

mod objects;

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use assay_findings::ground::{Symbol, Tree};
use assay_findings::path::RepoPath;

use crate::GitError;
use crate::git::{Git, argument, text};
use crate::name::{raw, shown};
use crate::recorded::RecordedTree;
use crate::tree::objects::Objects;

/// Larger files are not read.
const MAX_FILE: u64 = 16 << 20;

/// Git looks this far into a file for a NUL, which no text has.
pub(crate) const PEEK: usize = 8_000;

/// The mode of what is no file but a commit of another repository.
const SUBMODULE: &[u8] = b"160000 ";

#[derive(Debug)]
pub(crate) enum TreeKind {
    Dir(DirTree),
    Git(Box<GitTree>),
    Recorded(RecordedTree),
}

impl TreeKind {
    /// Gives a file's size, where there is such a file.
    pub(crate) fn size(&self, path: &RepoPath) -> Option<u64> {
        match self {
            TreeKind::Dir(tree) => Some(fs::metadata(tree.inside(path)?).ok()?.len()),
            TreeKind::Git(tree) => Some(tree.kinds.ask(&tree.object(path))?.size),
            TreeKind::Recorded(tree) => tree.size(path),
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

/// A folder. Links are followed only to what lies inside it.
#[derive(Debug, Clone)]
pub struct DirTree {
    root: PathBuf,
    /// The root without links, to hold other paths against.
    real_root: PathBuf,
}

impl DirTree {
    /// Opens a folder as a tree.
    pub fn new(root: PathBuf) -> DirTree {
        let real_root = root.canonicalize().unwrap_or_else(|_| root.clone());
        DirTree { root, real_root }
    }

    /// Gives the file's real path, if it is a file inside the tree.
    fn inside(&self, path: &RepoPath) -> Option<PathBuf> {
        let name = raw(path.as_str());
        let path = Path::new(argument(&name));
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return None;
        }
        let real = self.root.join(path).canonicalize().ok()?;
        (real.starts_with(&self.real_root) && real.is_file()).then_some(real)
    }
}

impl Tree for DirTree {
    fn read(&self, path: &RepoPath) -> Option<String> {
        let mut bytes = Vec::new();
        let file = File::open(self.inside(path)?).ok()?;
        file.take(MAX_FILE + 1).read_to_end(&mut bytes).ok()?;
        as_text(bytes)
    }

    fn exists(&self, path: &RepoPath) -> bool {
        self.inside(path).is_some()
    }

    fn symbol_at(&self, _path: &RepoPath, _line: u32) -> Option<Symbol> {
        None
    }

    fn paths(&self) -> Vec<RepoPath> {
        self.listed().unwrap_or_else(|| self.walked())
    }
}

impl DirTree {
    /// Lists the files that git knows or would take in; nothing where the folder is no work tree.
    fn listed(&self) -> Option<Vec<RepoPath>> {
        if !self.root.join(".git").exists() {
            return None;
        }
        let git = Git::find(&self.root).ok()?;
        if git.root.canonicalize().ok()? != self.real_root {
            return None;
        }
        let args = ["ls-files", "--cached", "--others", "--exclude-standard", "--full-name", "-z"];
        let listed = git.run(&args).ok()?;
        let is_file = |name: &&[u8]| {
            let file = self.root.join(argument(name));
            file.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
        };
        let names = listed.split(|byte| *byte == 0).filter(is_file);
        let mut found: Vec<RepoPath> =
            names.filter_map(|name| RepoPath::exact(&shown(name)).ok()).collect();
        found.sort();
        found.dedup();
        Some(found)
    }

    /// Lists all files.
    fn walked(&self) -> Vec<RepoPath> {
        let mut found = Vec::new();
        let mut waiting = vec![self.root.clone()];
        while let Some(folder) = waiting.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && entry.file_name() != ".git" {
                    waiting.push(entry.path());
                } else if kind.is_file() {
                    found.extend(relative(&self.root, &entry.path()));
                }
            }
        }
        found.sort();
        found
    }
}

fn relative(root: &Path, path: &Path) -> Option<RepoPath> {
    let path = path.strip_prefix(root).ok()?;
    RepoPath::exact(&shown(path.as_os_str().as_bytes())).ok()
}

fn as_text(bytes: Vec<u8>) -> Option<String> {
    let is_binary = bytes[..bytes.len().min(PEEK)].contains(&0);
    (!is_binary && bytes.len() as u64 <= MAX_FILE).then(|| text(&bytes))
}

/// The files of a commit, or of the index. Git is started once and asked for each.
#[derive(Debug)]
pub(crate) struct GitTree {
    git: Git,
    /// The commit or tree; `None` for the index.
    pub(crate) revision: Option<String>,
    contents: Objects,
    kinds: Objects,
}

impl GitTree {
    pub(crate) fn revision(git: Git, revision: String) -> GitTree {
        GitTree::new(git, Some(revision))
    }

    pub(crate) fn index(git: Git) -> GitTree {
        GitTree::new(git, None)
    }

    fn new(git: Git, revision: Option<String>) -> GitTree {
        let objects = |what| Objects::new(&git, what);
        let (contents, kinds) = (objects(objects::CONTENT), objects(objects::KIND));
        GitTree { git, revision, contents, kinds }
    }

    /// Gives the repository, and the commit or tree; `None` for the index.
    pub(crate) fn stands_on(&self) -> (&Git, Option<&str>) {
        (&self.git, self.revision.as_deref())
    }

    /// Writes all files into a folder.
    pub(crate) fn lay_out(&self, folder: &Path) -> Result<(), GitError> {
        let prefix = format!("--prefix={}/", folder.display());
        let out = ["checkout-index", "--all", "--quiet", prefix.as_str()];
        let Some(revision) = &self.revision else {
            return self.git.run(&out).map(|_| ());
        };
        // An index of its own, beside the files: the repository's stays as it is.
        let index = tempfile::Builder::new().prefix("assay-index-").tempdir();
        let index = index.map_err(|source| GitError::Layout { source })?;
        let file = index.path().join("index");
        self.git.run_with_index(&["read-tree", revision], &file)?;
        self.git.run_with_index(&out, &file).map(|_| ())
    }

    /// Gives git's name for a file.
    fn object(&self, path: &RepoPath) -> Vec<u8> {
        let tree = match &self.revision {
            Some(revision) => format!("{revision}:"),
            // Without its number a path such as `1:x` would be taken for another stage.
            None => ":0:".to_owned(),
        };
        [tree.as_bytes(), &raw(path.as_str())].concat()
    }
}

impl Tree for GitTree {
    fn read(&self, path: &RepoPath) -> Option<String> {
        as_text(self.contents.ask(&self.object(path))?.content)
    }

    fn exists(&self, path: &RepoPath) -> bool {
        self.kinds.ask(&self.object(path)).is_some()
    }

    fn symbol_at(&self, _path: &RepoPath, _line: u32) -> Option<Symbol> {
        None
    }

    fn paths(&self) -> Vec<RepoPath> {
        let listed = match &self.revision {
            None => self.git.run(&["ls-files", "--full-name", "--stage", "-z"]),
            Some(revision) => self.git.run(&["ls-tree", "-r", "--full-tree", "-z", revision]),
        };
        let listed = listed.unwrap_or_default();
        listed.split(|byte| *byte == 0).filter_map(listed_file).collect()
    }
}

/// Reads the path of a listed file: mode, kind or id, id or stage, tab, path.
fn listed_file(entry: &[u8]) -> Option<RepoPath> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let (about, path) = (&entry[..tab], &entry[tab + 1..]);
    // A stage of its own means that it is not merged; then there is no one file.
    let is_staged = [&b" 1"[..], b" 2", b" 3"].iter().any(|stage| about.ends_with(stage));
    if about.starts_with(SUBMODULE) || is_staged {
        return None;
    }
    RepoPath::exact(&shown(path)).ok()
}
