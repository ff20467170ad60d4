//! The environment of this process. No other module reads it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use assay_base::clock::Clock;
use assay_change::state::State;
use assay_engine::dates;
use assay_engine::environment::Environment;
use assay_findings::identity::Day;
use assay_store::task::Moment;

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(read_environment);

#[expect(clippy::disallowed_methods, reason = "this is the module that reads the environment")]
fn read_environment() -> Environment {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    Environment::new(std::env::vars_os().filter_map(text), &Clock::system(), output_files)
}

/// Returns the files that stdout and stderr are redirected to; empty if the system cannot tell.
fn output_files() -> Vec<PathBuf> {
    let file = |stream: &i32| std::fs::read_link(format!("/proc/self/fd/{stream}")).ok();
    [1, 2].iter().filter_map(file).collect()
}

/// Returns the environment of this process.
pub(crate) fn environment() -> &'static Environment {
    &ENVIRONMENT
}

/// Returns the clock of this process.
pub(crate) fn clock() -> &'static Clock {
    ENVIRONMENT.clock()
}

/// Returns the current time.
pub(crate) fn now() -> Moment {
    Moment::now(clock())
}

/// Returns today's date in the format of dismissals.
pub(crate) fn today() -> Option<Day> {
    dates::today(clock())
}

/// Returns the value of a variable; `None` if it is not set, or empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    ENVIRONMENT.variable(name)
}

/// Returns the state of a work tree.
pub(crate) fn state_of(root: &Path) -> State {
    ENVIRONMENT.state_of(root)
}

/// Returns the name of the user for the record of a decision: from git, or else from the system.
pub(crate) fn user_name(root: &Path) -> String {
    let named = || variable("USER").or_else(|| variable("LOGNAME"));
    assay_change::user_name(root).or_else(named).unwrap_or_else(|| "somebody".to_owned())
}
