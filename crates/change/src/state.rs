//! State of a work tree, which assay stores below `.assay/`: [`State`].
//!
//! A commit, an archive, a test or a fixer can put files there as well. So a unit of state (a run,
//! a cached answer, the ledger) is used only if git does not track its folder, no link leads to it,
//! and its digest is the one that this machine recorded. That record, the *seal*, is in the state
//! home, outside of every work tree. All kinds of state use this module: a kind is opened with
//! [`State::open`], and its units are checked or held. State that is refused is the error
//! [`StateError::Refused`], which no caller may turn into an absence. A new kind of state needs a
//! name and nothing else.
//!
//! The outbox, the spending of a day and the deliveries that `assay serve` has received are in the
//! state home themselves ([`State::home_folder`]): every program that runs in the work tree can
//! write to the tree, and a message of the outbox is sent with the user's token. A journal of the
//! validation loop, which people commit, is sealed by its chain instead
//! (`assay_validate::journal`).
//!
//! A ledger in a database is not sealed: the user chooses the database, which decides who may write.

mod folder;
mod identity;
mod seal;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use assay_base::hash::short_hash;

pub use self::folder::{is_at_or_below, is_state, write_atomically};
pub use self::seal::{StateKind, UnitLock};
use crate::git::Git;

/// The folder at the root of a work tree that holds state and configuration.
pub const FOLDER: &str = ".assay";

/// The folder of older versions for outgoing messages, which programs in the work tree can write
/// to.
const OLD_OUTBOX: &str = "outbox";

/// The reason that a unit of state is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalReason {
    /// Git tracks the unit, or a folder around it.
    Tracked,
    /// The unit is a link, or is behind one.
    Link,
    /// The unit is another repository, or is in one.
    Repository,
    /// The unit has no seal of this machine.
    Unsealed,
    /// The unit differs from its seal.
    Changed,
    /// The unit is at a place that is no longer used.
    Retired,
}

impl RefusalReason {
    /// Formats the reason and the remedy.
    fn describe(self, path: &str) -> String {
        match self {
            RefusalReason::Tracked => format!(
                "the path is tracked in git, and assay does not trust committed state; run `git rm \
                 -r --cached {path}` if the state is your own"
            ),
            RefusalReason::Link => {
                "the path is a symbolic link, or is behind one; create a real folder there, or \
                 remove the link"
                    .to_owned()
            }
            RefusalReason::Repository => {
                "the path is another git repository, or is inside of one; move it away".to_owned()
            }
            RefusalReason::Unsealed => format!(
                "assay did not write the state on this machine at this path; check its content, and \
                 {}",
                remedy(path)
            ),
            RefusalReason::Changed => {
                format!(
                    "another program changed the state; check its content, and {}",
                    remedy(path)
                )
            }
            RefusalReason::Retired => format!(
                "the outbox is outside of the work tree now, and messages in this folder may be \
                 forged, so they are not sent. Post the reviews again with `assay review --pr … \
                 --post`, and delete the folder with `rm -r {path}`"
            ),
        }
    }
}

/// Returns the remedy for a unit that this machine did not write. Only the decisions in a ledger
/// cannot be recreated by another run, so a user can adopt a ledger.
fn remedy(path: &str) -> String {
    let delete = format!("delete it with `rm -r {path}`");
    match Path::new(path).extension().is_some_and(|end| end == "db") {
        true => format!("{delete}, or adopt it with `assay findings adopt`"),
        false => delete,
    }
}

/// The reason that state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The state is not trusted.
    #[error("`{path}` is not used: {}", .reason.describe(.path))]
    Refused {
        /// The file or folder; relative to the root if it is in the work tree.
        path: String,
        /// The reason that the state is refused.
        reason: RefusalReason,
    },
    /// There is no state home outside of the work tree.
    #[error(
        "cannot use `{path}`: no state folder for its seals outside of the work tree: {why}; set \
         `XDG_STATE_HOME` or `HOME` to a writable folder"
    )]
    NoHome {
        /// The state that was requested.
        path: String,
        /// The problem with the state home.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("cannot access `{path}`")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl StateError {
    /// Returns true if the state exists and is not trusted.
    pub fn is_refusal(&self) -> bool {
        matches!(self, StateError::Refused { .. })
    }
}

/// Adds the path to an I/O error.
fn with_path(path: &Path) -> impl FnOnce(io::Error) -> StateError {
    let path = path.to_owned();
    move |source| StateError::File { path, source }
}

/// The state of one work tree.
#[derive(Debug, Clone)]
pub struct State {
    root: PathBuf,
    /// The root with all links resolved.
    real_root: PathBuf,
    /// The state home for all work trees of this user, or the reason that there is none.
    home: Result<PathBuf, String>,
    /// The URL of the ledger's database; `None` if the ledger is a file.
    ledger_url: Option<LedgerUrl>,
}

/// The URL of a ledger's database, which may contain a password.
#[derive(Clone)]
struct LedgerUrl(String);

impl fmt::Debug for LedgerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LedgerUrl(…)")
    }
}

impl State {
    /// Creates the state of the work tree at `root`, with its seals below `home`, such as
    /// `~/.local/state/assay`.
    pub fn new(root: &Path, home: Option<&Path>) -> State {
        let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let home = match home {
            None => Err("neither variable is an absolute path".to_owned()),
            Some(home) => match resolve_links(home).starts_with(&real_root) {
                true => Err(format!("`{}` is inside of the work tree", home.display())),
                false => Ok(home.to_owned()),
            },
        };
        State { root: root.to_owned(), real_root, home, ledger_url: None }
    }

    /// Returns the state with its ledger in a database; `None` for a ledger in a file.
    pub fn with_ledger_url(mut self, url: Option<String>) -> State {
        self.ledger_url = url.map(LedgerUrl);
        self
    }

    /// Returns the URL of the ledger's database; `None` if the ledger is a file. The URL may
    /// contain a password.
    pub fn ledger_url(&self) -> Option<&str> {
        self.ledger_url.as_ref().map(|url| url.0.as_str())
    }

    /// Returns the root of the work tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of a file or folder below `.assay/`, without any check.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(FOLDER).join(name)
    }

    /// Returns the folder of this work tree in the state home for state of this name. Creates a
    /// missing folder, with access for the user only.
    pub fn home_folder(&self, name: &str) -> Result<PathBuf, StateError> {
        let no_home = |why| StateError::NoHome { path: self.display_path(&self.path(name)), why };
        let home = self.home.clone().map_err(no_home)?;
        let folder = self.folder_of(&home, name);
        make_private(&folder)
            .map_err(|error| no_home(format!("cannot create `{}`: {error}", folder.display())))?;
        Ok(folder)
    }

    /// Returns the id of this checkout: of its repository on this machine, and of its path there.
    /// Returns `None` if no state home is known.
    pub fn checkout_id(&self) -> Option<String> {
        let home = self.home.as_ref().ok()?;
        let folder = self.folder_of(home, "checkout");
        Some(folder.file_name()?.to_str()?.to_owned())
    }

    /// Opens a kind of state, such as `runs`. Fails if its path is a link or
    /// another repository, or if git tracks it.
    pub fn open(&self, kind: &str) -> Result<StateKind, StateError> {
        let path = self.path(kind);
        let top = self.root.join(FOLDER);
        self.refuse_foreign(&top)?;
        self.refuse_foreign(&path)?;
        for path in [path.clone()].into_iter().chain(seal::sidecar_paths(&path)) {
            let shown = self.display_path(&path);
            if path.symlink_metadata().is_ok() && self.tracks(&shown) {
                return Err(StateError::Refused { path: shown, reason: RefusalReason::Tracked });
            }
        }
        Ok(StateKind::new(self.clone(), path, None))
    }

    /// Opens a folder that the user named for state, which may contain other files, tracked or not.
    /// Fails if git tracks one of `files`.
    pub fn open_folder(&self, folder: &Path, files: &[String]) -> Result<StateKind, StateError> {
        self.refuse_foreign(folder)?;
        let real = resolve_links(folder);
        let inside = real.strip_prefix(&self.real_root).ok().and_then(Path::to_str);
        for file in files {
            let path = inside.map(|inside| format!("{inside}/{file}"));
            let path = path.map(|path| path.trim_start_matches('/').to_owned());
            if let Some(path) = path.filter(|path| self.tracks(path)) {
                return Err(StateError::Refused { path, reason: RefusalReason::Tracked });
            }
        }
        Ok(StateKind::new(self.clone(), folder.to_owned(), Some(real)))
    }

    /// Returns the refusal of messages in the outbox of an older version; `None` if there are none.
    /// The same messages are reported once.
    pub fn refuse_old_outbox(&self) -> Option<StateError> {
        let path = self.path(OLD_OUTBOX);
        let messages = old_messages(&path);
        if messages.is_empty() {
            return None;
        }
        let refused =
            StateError::Refused { path: self.display_path(&path), reason: RefusalReason::Retired };
        let listed = messages.join("\n");
        let record = self.home_folder("told").ok().map(|folder| folder.join(OLD_OUTBOX));
        let is_told = record.as_ref().and_then(|record| fs::read_to_string(record).ok());
        if is_told.as_ref() == Some(&listed) {
            return None;
        }
        // If the record cannot be written, the messages are reported again.
        let _ = record.map(|record| folder::write_atomically(&record, listed.as_bytes()));
        Some(refused)
    }

    /// Creates `.assay/` with a `.gitignore` that covers all state.
    pub fn create(&self) -> Result<(), StateError> {
        let top = self.root.join(FOLDER);
        self.refuse_foreign(&top)?;
        folder::create(&top).map_err(with_path(&top))
    }

    /// Fails if the path is a link, or a folder that is a repository.
    fn refuse_foreign(&self, path: &Path) -> Result<(), StateError> {
        let refused = |reason| StateError::Refused { path: self.display_path(path), reason };
        let Ok(found) = path.symlink_metadata() else { return Ok(()) };
        if found.is_symlink() {
            return Err(refused(RefusalReason::Link));
        }
        match found.is_dir() && path.join(".git").symlink_metadata().is_ok() {
            true => Err(refused(RefusalReason::Repository)),
            false => Ok(()),
        }
    }

    fn tracks(&self, path: &str) -> bool {
        Git::find_without_filters(&self.root).is_ok_and(|git| git.tracks(path))
    }

    /// Returns the folder of this work tree below the state home for state of this name. The folder
    /// depends on the path of the work tree and on its repository.
    fn folder_of(&self, home: &Path, name: &str) -> PathBuf {
        let key = short_hash(self.real_root.as_os_str().as_encoded_bytes(), 16);
        let old = home.join(name).join(&key);
        let Some(id) = identity::repository_id(&self.real_root, home, &key) else { return old };
        let folder = home.join(name).join(format!("{key}-{id}"));
        if old.is_dir() && !folder.exists() {
            // An older version used the path alone. If the rename fails, the state starts empty.
            let _ = fs::rename(&old, &folder);
        }
        folder
    }

    /// Formats a path, relative to the root if it is inside.
    fn display_path(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).or_else(|_| path.strip_prefix(&self.real_root));
        inside.unwrap_or(path).display().to_string()
    }
}

/// Resolves all links in the existing part of a path.
fn resolve_links(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        if let Ok(real) = existing.canonicalize() {
            return missing.iter().rev().fold(real, |path, name| path.join(name));
        }
        let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
            return path.to_owned();
        };
        missing.push(name);
        existing = parent;
    }
}

/// Returns the messages in an outbox of an older version, sorted. A link, or a folder that cannot
/// be read, counts as a message.
fn old_messages(outbox: &Path) -> Vec<String> {
    let mut messages = Vec::new();
    match outbox.symlink_metadata() {
        Err(_) => return messages,
        Ok(found) if !found.is_dir() => return vec![OLD_OUTBOX.to_owned()],
        Ok(_) => {}
    }
    let Ok(entries) = fs::read_dir(outbox) else { return vec![OLD_OUTBOX.to_owned()] };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // These folders never contained waiting messages.
        if ["locks", "memory", "undelivered"].contains(&name.as_str()) {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => match fs::read_dir(entry.path()) {
                Ok(below) => messages.extend(below.flatten().filter_map(|below| {
                    let below = below.file_name().to_string_lossy().into_owned();
                    below.ends_with(".json").then(|| format!("{name}/{below}"))
                })),
                Err(_) => messages.push(name),
            },
            Ok(kind) if kind.is_file() => {}
            Ok(_) | Err(_) => messages.push(name),
        }
    }
    messages.sort();
    messages
}

fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests;
