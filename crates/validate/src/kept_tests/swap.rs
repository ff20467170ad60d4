//! Replaces files of a work tree with their kept version for a while: [`Swap`].
//!
//! Checks need installed packages, virtual environments and build caches, so kept tests run in the
//! work tree itself. Each replaced file is moved into a folder inside git's own, and moved back
//! afterwards: the same file, with its mode and owner. The list of all moves is on the disk before
//! the first move. If the process is killed, the next run reads the list and moves all files back.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use assay_sandbox::ShutdownHook;
use assay_store::durable_fs::{self, DiskError, Durability, Lock};
use serde::{Deserialize, Serialize};

/// The folder, in git's own, for the replaced files.
const ASIDE_DIR: &str = "assay-kept";

/// The folder, in git's own, for files that appeared at the path of a replaced file.
const DISPLACED_DIR: &str = "assay-displaced";

/// The name of the file with the list of all moves.
const MOVES_FILE: &str = "moves.json";

/// A marker file: it exists once all files of the list were swapped in.
const SWAPPED_MARKER: &str = "put-in";

/// A file that is written to read the current time of the file system.
const CLOCK_FILE: &str = "clock";

/// Serializes moving back within this process: a signal handler and the loop may both do it.
static MOVE_BACK_LOCK: Mutex<()> = Mutex::new(());

/// A file that is to have another content for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// The path of the file, from the root.
    pub(crate) path: String,
    /// The content; `None` if no file is to be at the path.
    pub(crate) content: Option<FileContent>,
}

/// The content to write at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileContent {
    File {
        bytes: Vec<u8>,
        /// True if the file is executable.
        is_executable: bool,
    },
    /// A symbolic link, with its target.
    Link(Vec<u8>),
}

impl FileContent {
    fn digest(&self) -> String {
        match self {
            FileContent::File { bytes, .. } => digest(bytes),
            FileContent::Link(target) => link_digest(target),
        }
    }

    /// Writes the content to a path that does not exist.
    fn write(&self, path: &Path) -> io::Result<()> {
        match self {
            FileContent::File { bytes, is_executable } => {
                fs::write(path, bytes)?;
                set_executable(path, *is_executable)
            }
            FileContent::Link(target) => {
                std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), path)
            }
        }
    }
}

/// An entry in the list of moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Move {
    path: String,
    /// True if the path exists and is moved away.
    had_original: bool,
    /// The digest of the file that is swapped in; `None` if there is none.
    digest: Option<String>,
    /// True if a folder is created at the path.
    #[serde(default)]
    is_folder: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Moves {
    root: PathBuf,
    moves: Vec<Move>,
}

/// The reason why files cannot be swapped in or moved back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SwapError {
    /// Another process has kept tests in this work tree.
    #[error("another assay process uses kept tests in this work tree; wait until it ends")]
    Busy,
    /// A file cannot be moved or written.
    #[error("cannot move or write `{path}`")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The list of moves cannot be parsed.
    #[error(
        "cannot parse `{path}`: expected a list of moved files; the moved files are in the same \
         folder"
    )]
    List {
        /// The path of the list.
        path: PathBuf,
    },
    /// The state on the disk cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Kept files in a work tree. Dropping the value removes them and moves the files of the work tree
/// back.
#[derive(Debug)]
pub(crate) struct Swap {
    git_folder: PathBuf,
    moves: Vec<Move>,
    root: PathBuf,
    is_done: bool,
    _hook: Option<ShutdownHook>,
    _lock: Lock,
}

impl Swap {
    /// Swaps files in. Fails if another process has files swapped in, and then leaves the work tree
    /// unchanged.
    pub(crate) fn swap_in(
        root: &Path,
        git_folder: &Path,
        files: &[Replacement],
    ) -> Result<Swap, SwapError> {
        let lock = lock(git_folder)?.ok_or(SwapError::Busy)?;
        move_back(git_folder)?;
        let moves = plan_moves(root, files);
        let list = Moves { root: root.to_owned(), moves: moves.clone() };
        let aside = git_folder.join(ASIDE_DIR);
        durable_fs::make_folder(&aside)?;
        let text =
            serde_json::to_vec(&list).map_err(|_| SwapError::List { path: aside.clone() })?;
        durable_fs::write(&aside.join(MOVES_FILE), &text, Durability::Fsync)?;
        let folder = git_folder.to_owned();
        let hook = ShutdownHook::new(move || drop(move_back(&folder)));
        let swap = Swap {
            git_folder: git_folder.to_owned(),
            moves,
            root: root.to_owned(),
            is_done: false,
            _hook: hook,
            _lock: lock,
        };
        swap.apply(files)?;
        durable_fs::write(&aside.join(SWAPPED_MARKER), b"", Durability::PageCache)?;
        Ok(swap)
    }

    fn apply(&self, files: &[Replacement]) -> Result<(), SwapError> {
        let aside = self.git_folder.join(ASIDE_DIR);
        for (number, it) in self.moves.iter().enumerate() {
            let path = self.root.join(&it.path);
            let at = |source| SwapError::File { path: path.clone(), source };
            if it.had_original {
                move_file(&path, &aside.join(number.to_string())).map_err(at)?;
            }
            let file = files.iter().find(|file| file.path == it.path);
            match file.and_then(|file| file.content.as_ref()) {
                _ if it.is_folder => fs::create_dir_all(&path).map_err(at)?,
                Some(content) => {
                    let made = aside.join(format!("{number}.new"));
                    content.write(&made).map_err(at)?;
                    move_file(&made, &path).map_err(at)?;
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Returns the paths of the files that changed since they were swapped in.
    pub(crate) fn altered_files(&self) -> Vec<String> {
        let put = self.moves.iter().filter(|it| !it.is_folder);
        let altered_files = put.filter(|it| digest_of(&self.root.join(&it.path)) != it.digest);
        altered_files.map(|it| it.path.clone()).collect()
    }

    /// Moves the files of the work tree back. Returns the new paths of files that were in their
    /// place.
    pub(crate) fn swap_out(mut self) -> Result<Vec<PathBuf>, SwapError> {
        self.is_done = true;
        move_back(&self.git_folder)
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        if !self.is_done {
            // The next run moves back the files that cannot be moved back now.
            let _ = move_back(&self.git_folder);
        }
    }
}

/// Moves back the files that a killed run had moved away. Returns the new paths of files that were
/// in their place. Does nothing while another process has files swapped in.
pub(crate) fn recover(git_folder: &Path) -> Result<Vec<PathBuf>, SwapError> {
    if !git_folder.join(ASIDE_DIR).join(MOVES_FILE).exists() {
        return Ok(Vec::new());
    }
    match lock(git_folder)? {
        Some(_lock) => move_back(git_folder),
        None => Ok(Vec::new()),
    }
}

fn lock(git_folder: &Path) -> Result<Option<Lock>, SwapError> {
    Ok(durable_fs::try_lock(&git_folder.join(format!("{ASIDE_DIR}.lock")))?)
}

/// Lists the moves: each path that blocks a needed folder, then the file itself.
fn plan_moves(root: &Path, files: &[Replacement]) -> Vec<Move> {
    let mut moves: Vec<Move> = Vec::new();
    for file in files {
        let digest = file.content.as_ref().map(FileContent::digest);
        if digest.is_some() {
            for (at, _) in file.path.match_indices('/') {
                let folder = &file.path[..at];
                let about = fs::symlink_metadata(root.join(folder));
                let is_there = about.as_ref().is_ok_and(|about| about.is_dir());
                if is_there || moves.iter().any(|it| it.path == folder && it.is_folder) {
                    continue;
                }
                let (path, had_original) = (folder.to_owned(), about.is_ok());
                moves.push(Move { path, had_original, digest: None, is_folder: true });
            }
        }
        let is_beneath = |it: &Move| {
            it.is_folder
                && file.path.strip_prefix(&it.path).is_some_and(|rest| rest.starts_with('/'))
        };
        // A folder that is created has no content.
        let had_original =
            !moves.iter().any(is_beneath) && fs::symlink_metadata(root.join(&file.path)).is_ok();
        moves.push(Move { path: file.path.clone(), had_original, digest, is_folder: false });
    }
    moves
}

/// Moves all files back. The function is idempotent: files that are back already stay.
fn move_back(git_folder: &Path) -> Result<Vec<PathBuf>, SwapError> {
    let _one = MOVE_BACK_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let aside = git_folder.join(ASIDE_DIR);
    let list = aside.join(MOVES_FILE);
    let Some(bytes) = durable_fs::read(&list)? else { return Ok(Vec::new()) };
    let moves: Moves =
        serde_json::from_slice(&bytes).map_err(|_| SwapError::List { path: list.clone() })?;
    let was_put_in = aside.join(SWAPPED_MARKER).exists();
    let mut displaced = Vec::new();
    for (number, it) in moves.moves.iter().enumerate().rev() {
        let path = moves.root.join(&it.path);
        let at = |source| SwapError::File { path: path.clone(), source };
        let original = aside.join(number.to_string());
        let is_aside = fs::symlink_metadata(&original).is_ok();
        if it.had_original && !is_aside {
            // The file was never moved, or is back.
            continue;
        }
        if let Ok(about) = fs::symlink_metadata(&path) {
            let is_ours = match it.is_folder {
                true => about.is_dir() && fs::remove_dir(&path).is_ok(),
                false => !about.is_dir() && is_digest(&path, it.digest.as_deref()),
            };
            match is_ours {
                true if it.is_folder => {}
                true => fs::remove_file(&path).map_err(at)?,
                // A run that was killed before it swapped the file in did not write this file.
                false if !was_put_in && !is_aside => continue,
                false => displaced.push(displace(git_folder, &path, &it.path).map_err(at)?),
            }
        }
        if is_aside {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(at)?;
            }
            move_file(&original, &path).map_err(at)?;
            // The file is back even if its time cannot be set.
            let _ = refresh(&path, &aside);
        }
    }
    durable_fs::remove(&list)?;
    let _ = fs::remove_dir_all(&aside);
    Ok(displaced)
}

fn is_digest(path: &Path, wanted: Option<&str>) -> bool {
    wanted.is_some() && digest_of(path).as_deref() == wanted
}

/// Returns the digest of a file or of the target of a link; `None` if neither can be read.
fn digest_of(path: &Path) -> Option<String> {
    let about = fs::symlink_metadata(path).ok()?;
    match about.is_symlink() {
        true => Some(link_digest(fs::read_link(path).ok()?.as_os_str().as_bytes())),
        false => fs::read(path).ok().map(|bytes| digest(&bytes)),
    }
}

fn link_digest(target: &[u8]) -> String {
    format!("link {}", digest(target))
}

fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Moves a file that is in the way into `DISPLACED_DIR`, and returns its new path.
fn displace(git_folder: &Path, path: &Path, name: &str) -> io::Result<PathBuf> {
    let folder = git_folder.join(DISPLACED_DIR);
    fs::create_dir_all(&folder)?;
    let folder = tempfile::Builder::new().prefix("at-").tempdir_in(&folder)?.keep();
    let to = folder.join(name.replace('/', "_"));
    move_file(path, &to)?;
    Ok(to)
}

/// Moves a file. Between file systems, the file is copied with its mode.
fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let about = fs::symlink_metadata(from)?;
            if about.is_symlink() {
                std::os::unix::fs::symlink(fs::read_link(from)?, to)?;
            } else {
                let made = to.with_extension("assay-part");
                fs::copy(from, &made)?;
                fs::rename(&made, to)?;
            }
            fs::remove_file(from)
        }
        moved => moved,
    }
}

fn set_executable(path: &Path, is_executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = if is_executable { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Sets the modification time of a restored file to the current time of the file system. Build
/// tools compare times: with the old time, output built from the kept version would count as up to
/// date.
fn refresh(path: &Path, aside: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(());
    }
    let clock = aside.join(CLOCK_FILE);
    fs::write(&clock, b"")?;
    let now = fs::metadata(&clock)?.modified()?;
    fs::File::open(path)?.set_modified(now)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tempfile::TempDir;

    use super::*;

    /// Returns everything in a folder: files with mode and content, links, and empty folders.
    fn all(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![root.to_owned()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let about = fs::symlink_metadata(&path).unwrap();
                let content = match about.file_type() {
                    kind if kind.is_dir() => {
                        waiting.push(path.clone());
                        Vec::new()
                    }
                    kind if kind.is_symlink() => {
                        fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                    }
                    _ => fs::read(&path).unwrap(),
                };
                found.insert(path, (about.permissions().mode(), content));
            }
        }
        found
    }

    fn tree() -> (TempDir, TempDir, Vec<Replacement>) {
        let (root, git) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(root.path().join("tests")).unwrap();
        fs::write(root.path().join("tests/a.py"), "mine").unwrap();
        let mode = fs::Permissions::from_mode(0o640);
        fs::set_permissions(root.path().join("tests/a.py"), mode).unwrap();
        fs::write(root.path().join("conftest.py"), "new").unwrap();
        symlink("/etc", root.path().join("data")).unwrap();
        let kept = |path: &str, content: Option<&str>| Replacement {
            path: path.to_owned(),
            content: content.map(|text| FileContent::File {
                bytes: text.as_bytes().to_vec(),
                is_executable: false,
            }),
        };
        let files = vec![
            kept("tests/a.py", Some("kept")),
            kept("conftest.py", None),
            kept("gone/deep/b.py", Some("kept")),
            kept("data/c.py", Some("kept")),
            Replacement {
                path: "run".to_owned(),
                content: Some(FileContent::Link(b"tests/a.py".to_vec())),
            },
        ];
        (root, git, files)
    }

    #[test]
    fn kept_files_are_swapped_in_and_the_tree_is_restored_afterwards() {
        let (root, git, files) = tree();
        let before = all(root.path());
        let swap = Swap::swap_in(root.path(), git.path(), &files).unwrap();
        let read = |path: &str| fs::read_to_string(root.path().join(path)).ok();
        assert_eq!(read("tests/a.py").as_deref(), Some("kept"));
        assert_eq!(read("gone/deep/b.py").as_deref(), Some("kept"));
        assert_eq!(read("data/c.py").as_deref(), Some("kept"));
        assert_eq!(read("run").as_deref(), Some("kept"), "a link leads to the kept file");
        assert_eq!((read("conftest.py"), swap.altered_files()), (None, vec![]));
        assert!(!Path::new("/etc/c.py").exists(), "no link is followed");
        assert_eq!(swap.swap_out().unwrap(), Vec::<PathBuf>::new());
        assert_eq!(all(root.path()), before);
    }

    #[test]
    fn a_second_swap_is_refused_while_the_first_is_active() {
        let (root, git, files) = tree();
        let _swap = Swap::swap_in(root.path(), git.path(), &files).unwrap();
        let second = Swap::swap_in(root.path(), git.path(), &files);
        assert!(matches!(second, Err(SwapError::Busy)), "{second:?}");
        recover(git.path()).unwrap();
        assert_eq!(fs::read_to_string(root.path().join("tests/a.py")).unwrap(), "kept");
    }

    #[test]
    fn files_that_a_check_writes_over_kept_ones_are_reported_and_preserved() {
        let (root, git, files) = tree();
        let before = all(root.path());
        let swap = Swap::swap_in(root.path(), git.path(), &files).unwrap();
        fs::write(root.path().join("tests/a.py"), "forged").unwrap();
        fs::write(root.path().join("conftest.py"), "forged").unwrap();
        assert_eq!(swap.altered_files(), ["tests/a.py", "conftest.py"]);
        let displaced = swap.swap_out().unwrap();
        assert_eq!(displaced.len(), 2);
        assert!(displaced.iter().all(|path| fs::read_to_string(path).unwrap() == "forged"));
        assert_eq!(all(root.path()), before);
    }

    #[test]
    fn recovery_restores_the_tree_after_a_kill_at_any_move() {
        let (root, git, files) = tree();
        let moves = plan_moves(root.path(), &files);
        // Each move has up to two steps: the original is moved away, the kept file is moved in.
        for steps in 0..=2 * moves.len() {
            let (root, git, files) = tree();
            let before = all(root.path());
            let list = Moves { root: root.path().to_owned(), moves: moves.clone() };
            let aside = git.path().join(ASIDE_DIR);
            fs::create_dir(&aside).unwrap();
            fs::write(aside.join(MOVES_FILE), serde_json::to_vec(&list).unwrap()).unwrap();
            for step in 0..steps {
                let (number, it) = (step / 2, &moves[step / 2]);
                let path = root.path().join(&it.path);
                if step % 2 == 0 && it.had_original {
                    fs::rename(&path, aside.join(number.to_string())).unwrap();
                }
                let file = files.iter().find(|file| file.path == it.path);
                let content = file.and_then(|file| file.content.as_ref());
                match content {
                    _ if step % 2 == 0 => {}
                    _ if it.is_folder => fs::create_dir(&path).unwrap(),
                    Some(content) => content.write(&path).unwrap(),
                    None => {}
                }
            }
            recover(git.path()).unwrap();
            assert_eq!(all(root.path()), before, "after {steps} steps");
            recover(git.path()).unwrap();
            assert_eq!(all(root.path()), before, "and again after {steps}");
        }
        drop((root, git));
    }
}
