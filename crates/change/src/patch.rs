//! The work that was done on a copy of the work tree: [`Patch`], applied completely or not at all.
//!
//! A fixer works on a copy of the work tree, a [`ScratchWorktree`](crate::ScratchWorktree). Its
//! patch is applied before checks run on it, since checks need the dependencies that are installed
//! in the work tree.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use assay_sandbox::ScratchFolder;
use serde::{Deserialize, Serialize};

use crate::GitError;
use crate::file_name::display_name;
use crate::git::{Git, argument, text};
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
struct FileStep {
    path: PathBuf,
    now: FileContent,
    to: FileContent,
}

impl Patch {
    /// Returns the folders that were made repositories, because of which the patch is empty.
    pub fn repositories(&self) -> &[String] {
        &self.repositories
    }

    /// Returns the paths of the files that the patch touches.
    pub fn files(&self, root: &Path) -> Result<Vec<String>, GitError> {
        let touched = self.patched_files(&Git::find(root)?)?;
        Ok(touched.iter().map(|file| display_name(&file.name)).collect())
    }

    /// Applies the patch to the work tree, without the files for which `is_excluded` returns true.
    /// Fails if another process changed one of the files since. Files that are already patched
    /// stay.
    pub fn apply(&self, root: &Path, is_excluded: &dyn Fn(&str) -> bool) -> Result<(), GitError> {
        self.convert(root, is_excluded, |file| (&file.before, &file.after))
    }

    /// Reverts the patch in the work tree, as far as it is applied.
    pub fn revert(&self, root: &Path, is_excluded: &dyn Fn(&str) -> bool) -> Result<(), GitError> {
        self.convert(root, is_excluded, |file| (&file.after, &file.before))
    }

    fn convert(
        &self,
        root: &Path,
        is_excluded: &dyn Fn(&str) -> bool,
        direction: impl Fn(&PatchedFile) -> (&Object, &Object),
    ) -> Result<(), GitError> {
        let git = Git::find(root)?;
        let layout = |source| GitError::Layout { source };
        let mut steps = Vec::new();
        for file in
            self.patched_files(&git)?.iter().filter(|file| !is_excluded(&display_name(&file.name)))
        {
            let path = git.root.join(argument(&file.name));
            let (from, to) = direction(file);
            let now = match is_behind_link(&git.root, &path) {
                true => FileContent::Nothing,
                false => FileContent::read(&path).map_err(layout)?,
            };
            let to = to.content(&git)?;
            if now == to {
                continue;
            }
            if now != from.content(&git)? {
                return Err(GitError::Moved { file: display_name(&file.name) });
            }
            steps.push(FileStep { path, now, to });
        }
        // Files are removed first: a folder can become a file, and a file a folder.
        steps.sort_by_key(|step| step.to != FileContent::Nothing);
        let aside = git.line(&["rev-parse", "--absolute-git-dir"])?;
        let aside = ScratchFolder::new_in("assay-", Path::new(&aside)).map_err(layout)?;
        for (number, step) in steps.iter().enumerate() {
            let put = match step.to != FileContent::Nothing && is_behind_link(&git.root, &step.path)
            {
                true => Err(io::Error::other("a link leads out of the folder")),
                false => step.to.write(&step.path, aside.path()),
            };
            if let Err(source) = put {
                for FileStep { path, now, .. } in steps[..=number].iter().rev() {
                    let _ = now.write(path, aside.path());
                }
                return Err(layout(source));
            }
        }
        Ok(())
    }

    fn patched_files(&self, git: &Git) -> Result<Vec<PatchedFile>, GitError> {
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
            touched.push(PatchedFile {
                name: name.to_vec(),
                before: object(mode_before, before),
                after: object(mode_after, after),
            });
        }
        Ok(touched)
    }
}

/// A file that differs between the two trees.
struct PatchedFile {
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
    fn content(&self, git: &Git) -> Result<FileContent, GitError> {
        let bytes = || git.run(&["cat-file", "blob", &self.id]);
        Ok(match self.mode.as_str() {
            "000000" => FileContent::Nothing,
            "120000" => FileContent::Link(bytes()?),
            mode => FileContent::File { bytes: bytes()?, is_executable: mode == "100755" },
        })
    }
}

/// Copies the read and write permissions of the replaced file to its replacement. An executable
/// replacement is executable for all users who could read the replaced file.
fn copy_permissions(path: &Path, made: &Path) -> io::Result<()> {
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
fn is_behind_link(root: &Path, path: &Path) -> bool {
    let folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
    folders.into_iter().any(Path::is_symlink)
}

/// Returns true if the error means that no file is at the path, nor can be.
fn is_not_found(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The content at a path.
#[derive(Debug, PartialEq, Eq)]
enum FileContent {
    Nothing,
    File { bytes: Vec<u8>, is_executable: bool },
    Link(Vec<u8>),
}

impl FileContent {
    fn read(path: &Path) -> io::Result<FileContent> {
        match fs::symlink_metadata(path) {
            Err(error) if is_not_found(&error) => Ok(FileContent::Nothing),
            Err(error) => Err(error),
            Ok(about) if about.is_symlink() => {
                Ok(FileContent::Link(fs::read_link(path)?.as_os_str().as_bytes().to_vec()))
            }
            // Git tracks files only.
            Ok(about) if about.is_dir() => Ok(FileContent::Nothing),
            Ok(_) => {
                Ok(FileContent::File { bytes: fs::read(path)?, is_executable: is_executable(path) })
            }
        }
    }

    /// Writes the content to a path by a rename, so that a process that is killed leaves either the
    /// old content or the new. The file is written in the folder `aside`, which is outside of the
    /// tree.
    fn write(&self, path: &Path, aside: &Path) -> io::Result<()> {
        if *self == FileContent::Nothing {
            return match fs::remove_file(path) {
                Err(error) if !is_not_found(&error) => Err(error),
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
        self.create(&made)?;
        copy_permissions(path, &made)?;
        match fs::rename(&made, path) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let _ = fs::remove_file(path);
                self.create(path)
            }
            renamed => renamed,
        }
    }

    fn create(&self, path: &Path) -> io::Result<()> {
        match self {
            FileContent::Nothing => Ok(()),
            FileContent::Link(to) => std::os::unix::fs::symlink(argument(to), path),
            FileContent::File { bytes, is_executable } => {
                fs::write(path, bytes)?;
                let mode = if *is_executable { 0o755 } else { 0o644 };
                fs::set_permissions(path, fs::Permissions::from_mode(mode))
            }
        }
    }
}
