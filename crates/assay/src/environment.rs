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
