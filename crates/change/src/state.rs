//! State of a work tree: what assay keeps below `.assay/`, guarded by [`State`].
//!
//! A commit, an archive, a test or a fixer can put files there as well. So a unit of state (a run,
//! a cached answer, the ledger) is used only if git does not track its folder, no link leads to it,
//! and its digest is the one that this machine recorded. That record, the *seal*, lies in the state
//! home, outside of every work tree. All kinds of state go through this module: a kind is opened
//! with [`State::open`], and its units are checked or held. State that is refused is the error
//! [`StateError::Refused`], which no caller may turn into an absence. A new kind of state needs a
//! name and nothing else.
//!
//! The outbox, the spending of a day and the deliveries that `assay serve` has seen lie in the
//! state home themselves ([`State::outside`]): everything that runs in the work tree can write to
//! the tree, and a message of the outbox is sent with the user's token. A journal of the validation
//! loop, which people commit, is sealed by its chain instead (`assay_validate::journal`).

mod folder;
mod identity;
mod seal;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use assay_base::hash::short_hash;

pub use self::folder::{is_at_or_below, is_state, write_whole};
pub use self::seal::{Held, Kind};
use crate::git::Git;

/// The folder at the root of a work tree that holds state, and what people configure.
pub const FOLDER: &str = ".assay";

/// Where older versions kept messages to services: in reach of whatever runs in the work tree.
const OLD_OUTBOX: &str = "outbox";

/// Why a unit of state is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Git tracks it, or what it lies in.
    Tracked,
    /// It is a link, or lies behind one.
    Link,
    /// It is another repository, or lies in one.
    Repository,
    /// It has no seal of this machine.
    Unsealed,
    /// It is not what was sealed.
    Changed,
    /// It lies where nothing of its kind is kept any more.
    Retired,
}

impl Reason {
    /// Returns the reason and the remedy in words.
    fn in_words(self, path: &str) -> String {
        match self {
            Reason::Tracked => format!(
                "it came with the repository, since git tracks it; `git rm -r --cached {path}` if \
                 it is your own"
            ),
            Reason::Link => "it is a link, or lies behind one; put a folder of its own there, or \
                             remove the link"
                .to_owned(),
            Reason::Repository => {
                "it is a repository of its own, or lies in one; move it away".to_owned()
            }
            Reason::Unsealed => format!(
                "this version of assay did not write it on this machine at this place; look at it, \
                 and {}",
                remedy(path)
            ),
            Reason::Changed => {
                format!("something else than assay changed it; look at it, and {}", remedy(path))
            }
            Reason::Retired => format!(
                "messages wait outside of the work tree now, and what lies here may be forged; \
                 nothing of it is sent. Post those reviews again with `assay review --pr … --post`, \
                 and delete it with `rm -r {path}`"
            ),
        }
    }
}

/// Returns what the user can do about a unit that this machine did not write. Only decisions in a
/// ledger cannot be made again by another run, so a user can vouch for one.
fn remedy(path: &str) -> String {
    let delete = format!("delete it with `rm -r {path}`");
    match Path::new(path).extension().is_some_and(|end| end == "db") {
        true => format!("{delete}, or take it over as it is with `assay findings adopt`"),
        false => delete,
    }
}

/// Why state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It has no authority.
    #[error("`{path}` is not used: {}", .reason.in_words(.path))]
    Refused {
        /// The file or folder, from the root of the work tree where it lies inside.
        path: String,
        /// Why.
        reason: Reason,
    },
    /// There is no place outside of the work tree.
    #[error(
        "assay has no folder for its seals outside of the work tree, so `{path}` cannot be used: \
         {why}; set `XDG_STATE_HOME` or `HOME` to a folder that can be written"
    )]
    NoHome {
        /// What was to be used.
        path: String,
        /// What is wrong with the state home.
        why: String,
    },
    /// A file cannot be read or written.
    #[error("could not use `{path}`")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl StateError {
    /// Returns true if the state is there and has no authority.
    pub fn is_refusal(&self) -> bool {
        matches!(self, StateError::Refused { .. })
    }
}

/// Gives an error the path that it is about.
fn at(path: &Path) -> impl FnOnce(io::Error) -> StateError {
    let path = path.to_owned();
    move |source| StateError::File { path, source }
}

/// The state of one work tree.
#[derive(Debug, Clone)]
pub struct State {
    root: PathBuf,
    /// The root without links in it.
    real_root: PathBuf,
    /// The folder for all work trees of this user, or why there is none.
    home: Result<PathBuf, String>,
}

impl State {
    /// The state of the work tree at `root`, with its seals below `home`, such as
    /// `~/.local/state/assay`.
    pub fn new(root: &Path, home: Option<&Path>) -> State {
        let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let home = match home {
            None => Err("neither variable is set to an absolute path".to_owned()),
            Some(home) => match real(home).starts_with(&real_root) {
                true => Err(format!("`{}` lies inside of the work tree", home.display())),
                false => Ok(home.to_owned()),
            },
        };
        State { root: root.to_owned(), real_root, home }
    }

    /// Returns the root of the work tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of a file or folder below `.assay/`, and checks nothing.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(FOLDER).join(name)
    }

    /// Returns the folder of this work tree for something that is kept outside of it, which is made
    /// where it is missing. Only the user can enter the folder.
    pub fn outside(&self, name: &str) -> Result<PathBuf, StateError> {
        let no_home = |why| StateError::NoHome { path: self.shown(&self.path(name)), why };
        let home = self.home.clone().map_err(no_home)?;
        let folder = self.folder_of(&home, name);
        make_private(&folder)
            .map_err(|error| no_home(format!("`{}` cannot be made: {error}", folder.display())))?;
        Ok(folder)
    }

    /// Opens a kind of state, such as `runs`. Fails if what lies there came from elsewhere.
    pub fn open(&self, kind: &str) -> Result<Kind, StateError> {
        let path = self.path(kind);
        let top = self.root.join(FOLDER);
        self.refuse_foreign(&top)?;
        self.refuse_foreign(&path)?;
        for path in [path.clone()].into_iter().chain(seal::beside(&path)) {
            let shown = self.shown(&path);
            if path.symlink_metadata().is_ok() && self.tracks(&shown) {
                return Err(StateError::Refused { path: shown, reason: Reason::Tracked });
            }
        }
        Ok(Kind::new(self.clone(), path, None))
    }

    /// Opens a folder that the user named for state, where other files may lie as well, tracked or
    /// not. Of these files, git must track none.
    pub fn open_folder(&self, folder: &Path, files: &[String]) -> Result<Kind, StateError> {
        self.refuse_foreign(folder)?;
        let real = real(folder);
        let inside = real.strip_prefix(&self.real_root).ok().and_then(Path::to_str);
        for file in files {
            let path = inside.map(|inside| format!("{inside}/{file}"));
            let path = path.map(|path| path.trim_start_matches('/').to_owned());
            if let Some(path) = path.filter(|path| self.tracks(path)) {
                return Err(StateError::Refused { path, reason: Reason::Tracked });
            }
        }
        Ok(Kind::new(self.clone(), folder.to_owned(), Some(real)))
    }

    /// Returns the refusal of messages that an older version left in the work tree, or that something
    /// put there; `None` where there are none. The same messages are told of once.
    pub fn refuse_old_outbox(&self) -> Option<StateError> {
        let path = self.path(OLD_OUTBOX);
        let messages = old_messages(&path);
        if messages.is_empty() {
            return None;
        }
        let refused = StateError::Refused { path: self.shown(&path), reason: Reason::Retired };
        let listed = messages.join("\n");
        let record = self.outside("told").ok().map(|folder| folder.join(OLD_OUTBOX));
        let is_told = record.as_ref().and_then(|record| fs::read_to_string(record).ok());
        if is_told.as_ref() == Some(&listed) {
            return None;
        }
        // Where that cannot be recorded, it is told again.
        let _ = record.map(|record| folder::write_whole(&record, listed.as_bytes()));
        Some(refused)
    }

    /// Makes `.assay/` with a `.gitignore` that covers all state.
    pub fn make(&self) -> Result<(), StateError> {
        let top = self.root.join(FOLDER);
        self.refuse_foreign(&top)?;
        folder::make(&top).map_err(at(&top))
    }

    /// Refuses what is no folder or file of its own.
    fn refuse_foreign(&self, path: &Path) -> Result<(), StateError> {
        let refused = |reason| StateError::Refused { path: self.shown(path), reason };
        let Ok(found) = path.symlink_metadata() else { return Ok(()) };
        if found.is_symlink() {
            return Err(refused(Reason::Link));
        }
        match found.is_dir() && path.join(".git").symlink_metadata().is_ok() {
            true => Err(refused(Reason::Repository)),
            false => Ok(()),
        }
    }

    fn tracks(&self, path: &str) -> bool {
        Git::find(&self.root).is_ok_and(|git| git.tracks(path))
    }

    /// Returns the folder of this work tree below the state home, for something that is kept there. The
    /// folder belongs to the work tree's path and to the repository that lies there.
    fn folder_of(&self, home: &Path, name: &str) -> PathBuf {
        let key = short_hash(self.real_root.as_os_str().as_encoded_bytes(), 16);
        let old = home.join(name).join(&key);
        let Some(id) = identity::repository_id(&self.real_root, home, &key) else { return old };
        let folder = home.join(name).join(format!("{key}-{id}"));
        if old.is_dir() && !folder.exists() {
            // An older version knew the path alone. Where this fails, the state begins anew.
            let _ = fs::rename(&old, &folder);
        }
        folder
    }

    /// Returns a path from the root, where it lies inside.
    fn shown(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.root).or_else(|_| path.strip_prefix(&self.real_root));
        inside.unwrap_or(path).display().to_string()
    }
}

/// Returns a path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
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

/// Returns the messages in an outbox of an older version, sorted, and whatever stands in place of one:
/// a link, or a folder that cannot be read.
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
        // These never held messages that wait.
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
