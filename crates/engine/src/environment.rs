//! The environment of a process as a value: [`Environment`].

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use assay_base::clock::Clock;
use assay_change::state::State;

/// The variable with the URL of the ledger's database. A repository cannot choose the database,
/// since the dismissals in a ledger decide on reviews.
pub const LEDGER_URL: &str = "ASSAY_LEDGER_URL";

/// The variables, the clock and the output files of a process. A front end reads the variables once
/// and passes the environment on. Clones share one state.
#[derive(Clone, Default)]
pub struct Environment(Arc<Inner>);

#[derive(Default)]
struct Inner {
    variables: BTreeMap<String, String>,
    clock: Clock,
    /// A function that returns the files that stdout and stderr are currently redirected to; a log
    /// file may be renamed while the process runs.
    outputs: Option<fn() -> Vec<PathBuf>>,
    /// The state homes of temporary work trees, by the root of the work tree without symbolic
    /// links.
    state_homes: Mutex<BTreeMap<PathBuf, PathBuf>>,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A variable may hold a secret.
        f.write_str("Environment(…)")
    }
}

impl Inner {
    fn state_homes(&self) -> MutexGuard<'_, BTreeMap<PathBuf, PathBuf>> {
        self.state_homes.lock().unwrap_or_else(|broken| broken.into_inner())
    }
}

impl Environment {
    /// Creates an environment. If a variable is given twice, the first value is used. `outputs`
    /// returns the files that stdout and stderr are redirected to.
    pub fn new(
        variables: impl IntoIterator<Item = (String, String)>,
        clock: &Clock,
        outputs: fn() -> Vec<PathBuf>,
    ) -> Environment {
        let mut first = BTreeMap::new();
        for (name, value) in variables {
            first.entry(name).or_insert(value);
        }
        Environment(Arc::new(Inner {
            variables: first,
            clock: clock.clone(),
            outputs: Some(outputs),
            state_homes: Mutex::default(),
        }))
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Returns the value of a variable; `None` if it is not set, or empty.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.0.variables.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// Returns the folder for the state of the user, which is the same for all repositories; `None`
    /// if no home is known.
    pub(crate) fn state_folder(&self) -> Option<PathBuf> {
        let home = || Some(PathBuf::from(self.variable("HOME")?).join(".local/state"));
        let folder = self.variable("XDG_STATE_HOME").map(PathBuf::from).or_else(home);
        folder.filter(|folder| folder.is_absolute()).map(|folder| folder.join("assay"))
    }

    /// Returns the state of a work tree. Its seals are in the user's state home, or in the state
    /// home of the work tree if one is set. The ledger is in the user's database if one is set,
    /// except for a temporary work tree.
    pub fn state_of(&self, root: &Path) -> State {
        let own = {
            let homes = self.0.state_homes();
            (!homes.is_empty()).then(|| homes.get(&without_links(root)).cloned()).flatten()
        };
        match own {
            Some(home) => State::new(root, Some(&home)),
            None => State::new(root, self.state_folder().as_deref())
                .with_ledger_url(self.variable(LEDGER_URL)),
        }
    }

    /// Sets the state home of a work tree until the result is dropped.
    pub(crate) fn use_state_home(&self, root: &Path, home: &Path) -> StateHomeGuard {
        let root = without_links(root);
        self.0.state_homes().insert(root.clone(), home.to_owned());
        StateHomeGuard { root, environment: self.clone() }
    }

    /// Returns the files below a folder that stdout and stderr are redirected to, relative to the
    /// folder.
    pub(crate) fn outputs_below(&self, root: &Path) -> Vec<String> {
        let root = without_links(root);
        let below = |file: &PathBuf| Some(file.strip_prefix(&root).ok()?.to_str()?.to_owned());
        let outputs = self.0.outputs.map(|outputs| outputs()).unwrap_or_default();
        outputs.iter().filter_map(below).collect()
    }
}

fn without_links(root: &Path) -> PathBuf {
    root.canonicalize().unwrap_or_else(|_| root.to_owned())
}

/// A state home for one work tree, until the value is dropped. No state of the work tree remains in
/// the user's state home.
#[derive(Debug)]
pub(crate) struct StateHomeGuard {
    root: PathBuf,
    environment: Environment,
}

impl Drop for StateHomeGuard {
    fn drop(&mut self) {
        self.environment.0.state_homes().remove(&self.root);
    }
}

/// Returns the value of a variable in the file `.env` of a folder. Only switches that grant nothing
/// may be read from that file: the author of a change can write it.
pub(crate) fn dotenv(root: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(root.join(".env")).ok()?;
    // The last assignment of a variable is used.
    let mut values = text.lines().rev().filter_map(|line| {
        let line = line.trim().trim_start_matches("export ").trim_start();
        let (key, value) = line.split_once('=')?;
        let value = value.split(" #").next().unwrap_or(value).trim();
        (key.trim() == name).then(|| value.trim_matches(['"', '\'']).to_owned())
    });
    values.next().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_values_of_a_variable_is_used_as_by_getenv() {
        let pair = |value: &str| ("NAME".to_owned(), value.to_owned());
        let environment =
            Environment::new([pair("first"), pair("second")], &Clock::system(), Vec::new);
        assert_eq!(environment.variable("NAME").as_deref(), Some("first"));
    }

    #[test]
    fn a_temporary_work_tree_does_not_use_the_database_of_the_user() {
        let url = (LEDGER_URL.to_owned(), "postgres://db/team".to_owned());
        let environment = Environment::new([url], &Clock::system(), Vec::new);
        let (root, home) = (Path::new("/nonexistent/tree"), Path::new("/nonexistent/home"));
        assert_eq!(environment.state_of(root).ledger_url(), Some("postgres://db/team"));
        let _guard = environment.use_state_home(root, home);
        assert_eq!(environment.state_of(root).ledger_url(), None);
    }

    #[test]
    fn a_variable_that_is_empty_is_not_set() {
        let environment =
            Environment::new([("NAME".to_owned(), String::new())], &Clock::system(), Vec::new);
        assert_eq!(environment.variable("NAME"), None);
    }
}
