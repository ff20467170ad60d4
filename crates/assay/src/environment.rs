//! The environment: the one place that reads it.

use std::path::{Path, PathBuf};

use assay_change::state::State;

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

/// Returns the state of a work tree, with its seals in the user's state home.
pub(crate) fn state_of(root: &Path) -> State {
    State::new(root, state_folder().as_deref())
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
