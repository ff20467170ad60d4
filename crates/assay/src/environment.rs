//! The environment: the one place that reads it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use assay_change::state::State;

/// The state homes of work trees that are thrown away, by the root of the work tree without links.
static OWN_STATE_HOMES: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());

/// Gives the value of a variable that is set to something.
#[expect(clippy::disallowed_methods, reason = "this is the room that reads the environment")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Gives the folder for what is kept for a person, whatever the repository.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let home = || Some(PathBuf::from(variable("HOME")?).join(".local/state"));
    let kept = variable("XDG_STATE_HOME").map(PathBuf::from).or_else(home);
    kept.filter(|folder| folder.is_absolute()).map(|folder| folder.join("assay"))
}

/// Returns the state of a work tree, with its seals in the user's state home, or in its own where it
/// has one.
pub(crate) fn state_of(root: &Path) -> State {
    let own = {
        let homes = OWN_STATE_HOMES.lock().unwrap_or_else(|broken| broken.into_inner());
        let real = || root.canonicalize().unwrap_or_else(|_| root.to_owned());
        (!homes.is_empty()).then(|| homes.get(&real()).cloned()).flatten()
    };
    State::new(root, own.or_else(state_folder).as_deref())
}

/// A state home of a work tree's own, for as long as the value lives: nothing of the work tree is left
/// in the user's state home.
#[derive(Debug)]
pub(crate) struct OwnStateHome {
    root: PathBuf,
}

impl OwnStateHome {
    /// Keeps the state of the work tree at a root in a folder.
    pub(crate) fn new(root: &Path, home: &Path) -> OwnStateHome {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let mut homes = OWN_STATE_HOMES.lock().unwrap_or_else(|broken| broken.into_inner());
        homes.insert(root.clone(), home.to_owned());
        OwnStateHome { root }
    }
}

impl Drop for OwnStateHome {
    fn drop(&mut self) {
        let mut homes = OWN_STATE_HOMES.lock().unwrap_or_else(|broken| broken.into_inner());
        homes.remove(&self.root);
    }
}

/// Returns the files below a folder, named from there, that standard output and standard error go to.
/// Where the system does not tell, there are none.
pub(crate) fn own_outputs(root: &Path) -> Vec<String> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let files = [1, 2].iter().filter_map(|stream| {
        let file = std::fs::read_link(format!("/proc/self/fd/{stream}")).ok()?;
        file.strip_prefix(&root).ok()?.to_str().map(str::to_owned)
    });
    files.collect()
}

/// Returns what the file `.env` of a folder says of a variable. Only switches that open nothing may be
/// read from there: whoever writes a change can write that file.
pub(crate) fn dotenv(root: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(root.join(".env")).ok()?;
    // The last of several counts.
    let mut values = text.lines().rev().filter_map(|line| {
        let line = line.trim().trim_start_matches("export ").trim_start();
        let (key, value) = line.split_once('=')?;
        let value = value.split(" #").next().unwrap_or(value).trim();
        (key.trim() == name).then(|| value.trim_matches(['"', '\'']).to_owned())
    });
    values.next().filter(|value| !value.is_empty())
}
