//! Requests of assay to services, validated against the published API descriptions.
//!
//! The descriptions are not part of the project: the user provides them in a folder.

mod github;
mod jira;
mod linear;
mod prism;

use std::path::{Path, PathBuf};

use super::{Check, Outcome};

/// The variable with the folder of API descriptions.
const FOLDER: &str = "ASSAY_API_DESCRIPTIONS";

/// Validates every call of the product.
pub(super) fn run(descriptions: Option<&Path>) -> anyhow::Result<Vec<Check>> {
    let from_environment = || std::env::var_os(FOLDER).map(PathBuf::from);
    let folder = descriptions.map(Path::to_owned).or_else(from_environment);
    let folder = folder.as_deref();
    let mut checks = github::run(folder);
    checks.extend(jira::run(folder));
    checks.extend(linear::run(folder));
    Ok(checks)
}

/// Returns the path of a description, or the outcome of checks without it.
fn description(folder: Option<&Path>, name: &str) -> Result<PathBuf, Outcome> {
    let Some(folder) = folder else {
        return Err(Outcome::Failed(format!(
            "not run without `{name}`: name the folder that it is in with `--descriptions DIR` or \
             the variable `{FOLDER}`"
        )));
    };
    let path = folder.join(name);
    match path.is_file() {
        // Programs run in other folders.
        true => path.canonicalize().map_err(|error| Outcome::Failed(error.to_string())),
        false => Err(Outcome::Failed(format!("not run: there is no `{}`", path.display()))),
    }
}
