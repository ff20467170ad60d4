//! The work that was done on a copy of the work tree: [`Patch`], applied completely or not at all.
//!
//! A fixer works on a copy of the work tree ([`Bench`](crate::Bench)), and its patch is applied
//! before it is checked, since checks need the dependencies that are installed in the work tree.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use assay_sandbox::ScratchFolder;
use serde::{Deserialize, Serialize};

use crate::GitError;
use crate::git::{Git, argument, text};
use crate::name::shown;
use crate::snapshot::is_executable;

/// A patch, as two trees in git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// The commit that the patch starts from.
    pub(crate) start: String,
    /// The tree that the patch results in.
    pub(crate) end: String,
    /// The folders that were made repositories; if there are any, the patch is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) repositories: Vec<String>,
}

/// A file that a patch touches.
struct Step {
    path: PathBuf,
    now: Kept,
    to: Kept,
}

impl Patch {
    /// Returns the folders that were made repositories, because of which the patch is empty.
    pub fn repositories(&self) -> &[String] {
        &self.repositories
    }

    /// Returns the paths of the files that the patch touches.
    pub fn files(&self, root: &Path) -> Result<Vec<String>, GitError> {
        let touched = self.touched(&Git::find(root)?)?;
        Ok(touched.iter().map(|file| shown(&file.name)).collect())
    }

    /// Applies the patch to the work tree, without the files for which `leave_out` returns true.
    /// Fails if another process changed one of the files since. Files that are already patched
    /// stay.
    pub fn put_in(&self, root: &Path, leave_out: &dyn Fn(&str) -> bool) -> Result<(), GitError> {
        self.go(root, leave_out, |file| (&file.before, &file.after))
    }

    /// Reverts the patch in the work tree, as far as it is applied.
    pub fn take_out(&self, root: &Path, leave_out: &dyn Fn(&str) -> bool) -> Result<(), GitError> {
        self.go(root, leave_out, |file| (&file.after, &file.before))
    }

    fn go(
        &self,
        root: &Path,
        leave_out: &dyn Fn(&str) -> bool,
        way: impl Fn(&Touched) -> (&Object, &Object),
    ) -> Result<(), GitError> {
        let git = Git::find(root)?;
        let layout = |source| GitError::Layout { source };
        let mut steps = Vec::new();
        for file in self.touched(&git)?.iter().filter(|file| !leave_out(&shown(&file.name))) {
            let path = git.root.join(argument(&file.name));
            let (from, to) = way(file);
            let now = match leads_elsewhere(&git.root, &path) {
                true => Kept::Nothing,
                false => Kept::read(&path).map_err(layout)?,
            };
            let to = to.content(&git)?;
            if now == to {
                continue;
            }
            if now != from.content(&git)? {
                return Err(GitError::Moved { file: shown(&file.name) });
            }
            steps.push(Step { path, now, to });
        }
        // Files are removed first: a folder can become a file, and a file a folder.
        steps.sort_by_key(|step| step.to != Kept::Nothing);
        let aside = git.line(&["rev-parse", "--absolute-git-dir"])?;
        let aside = ScratchFolder::new_in("assay-", Path::new(&aside)).map_err(layout)?;
        for (number, step) in steps.iter().enumerate() {
            let put = match step.to != Kept::Nothing && leads_elsewhere(&git.root, &step.path) {
                true => Err(io::Error::other("a link leads out of the folder")),
                false => step.to.put(&step.path, aside.path()),
            };
            if let Err(source) = put {
                for Step { path, now, .. } in steps[..=number].iter().rev() {
                    let _ = now.put(path, aside.path());
                }
                return Err(layout(source));
            }
        }
        Ok(())
    }

    fn touched(&self, git: &Git) -> Result<Vec<Touched>, GitError> {
        let Patch { start, end, .. } = self;
        let listed = git.run(&["diff-tree", "-r", "-z", "--raw", "--no-renames", start, end])?;
        let mut parts = listed.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        let mut touched = Vec::new();
        // Each entry has the modes and objects of both sides, followed by the name.
        while let (Some(about), Some(name)) = (parts.next(), parts.next()) {
            let about = text(about);
            let about: Vec<&str> = about.trim_start_matches(':').split(' ').collect();
            let [mode_before, mode_after, before, after, _] = about[..] else { continue };
            let object = |mode: &str, id: &str| Object { mode: mode.to_owned(), id: id.to_owned() };
            touched.push(Touched {
                name: name.to_vec(),
                before: object(mode_before, before),
                after: object(mode_after, after),
            });
        }
        Ok(touched)
    }
}

/// A file that differs between the two trees.
struct Touched {
    name: Vec<u8>,
    before: Object,
    after: Object,
}

/// The object of a tree in git at a path.
struct Object {
    mode: String,
    id: String,
}

impl Object {
    fn content(&self, git: &Git) -> Result<Kept, GitError> {
        let bytes = || git.run(&["cat-file", "blob", &self.id]);
        Ok(match self.mode.as_str() {
            "000000" => Kept::Nothing,
            "120000" => Kept::Link(bytes()?),
            mode => Kept::File { bytes: bytes()?, is_executable: mode == "100755" },
        })
    }
}

/// Copies the read and write permissions of the replaced file to its replacement. An executable
/// replacement is executable for all users who could read the replaced file.
fn keep_mode(path: &Path, made: &Path) -> io::Result<()> {
    let (Ok(before), Ok(after)) = (fs::symlink_metadata(path), fs::symlink_metadata(made)) else {
        return Ok(());
    };
    if !before.is_file() || !after.is_file() {
        return Ok(());
    }
    let (before, after) = (before.permissions().mode(), after.permissions().mode());
    let executable = if after & 0o100 != 0 { (before & 0o444) >> 2 } else { 0 };
    fs::set_permissions(made, fs::Permissions::from_mode((before & 0o666) | executable))
}

/// Returns true if a folder in a path is a link: the file is then outside of the tree.
fn leads_elsewhere(root: &Path, path: &Path) -> bool {
    let folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
    folders.into_iter().any(Path::is_symlink)
}

/// Returns true if the error means that no file is at the path, nor can be.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The content at a path.
#[derive(Debug, PartialEq, Eq)]
enum Kept {
    Nothing,
    File { bytes: Vec<u8>, is_executable: bool },
    Link(Vec<u8>),
}

impl Kept {
    fn read(path: &Path) -> io::Result<Kept> {
        match fs::symlink_metadata(path) {
            Err(error) if is_nothing(&error) => Ok(Kept::Nothing),
            Err(error) => Err(error),
            Ok(about) if about.is_symlink() => {
                Ok(Kept::Link(fs::read_link(path)?.as_os_str().as_bytes().to_vec()))
            }
            // Git tracks files only.
            Ok(about) if about.is_dir() => Ok(Kept::Nothing),
            Ok(_) => Ok(Kept::File { bytes: fs::read(path)?, is_executable: is_executable(path) }),
        }
    }

    /// Writes the content to a path by a rename, so that a process that is killed leaves either the
    /// old content or the new. The file is written in the folder `aside`, which is outside of the
    /// tree.
    fn put(&self, path: &Path, aside: &Path) -> io::Result<()> {
        if *self == Kept::Nothing {
            return match fs::remove_file(path) {
                Err(error) if !is_nothing(&error) => Err(error),
                Ok(()) | Err(_) => Ok(()),
            };
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if fs::symlink_metadata(path).is_ok_and(|about| about.is_dir()) {
            // The folder is empty by now, or removing it fails.
            fs::remove_dir(path)?;
        }
        let made = aside.join("made");
        self.make(&made)?;
        keep_mode(path, &made)?;
        match fs::rename(&made, path) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let _ = fs::remove_file(path);
                self.make(path)
            }
            renamed => renamed,
        }
    }

    fn make(&self, path: &Path) -> io::Result<()> {
        match self {
            Kept::Nothing => Ok(()),
            Kept::Link(to) => std::os::unix::fs::symlink(argument(to), path),
            Kept::File { bytes, is_executable } => {
                fs::write(path, bytes)?;
                let mode = if *is_executable { 0o755 } else { 0o644 };
                fs::set_permissions(path, fs::Permissions::from_mode(mode))
            }
        }
    }
}
