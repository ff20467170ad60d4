//! What assay sends to services, held against the descriptions that their makers publish.
//!
//! The descriptions are not part of the project: they lie in a folder of whoever runs this.

mod github;
mod jira;
mod linear;
mod prism;

use std::path::{Path, PathBuf};

use super::{Check, Outcome};

/// The variable that names the folder with the descriptions.
const FOLDER: &str = "ASSAY_API_DESCRIPTIONS";

/// Has every call that the product makes judged.
pub(super) fn run(descriptions: Option<&Path>) -> anyhow::Result<Vec<Check>> {
    let from_environment = || std::env::var_os(FOLDER).map(PathBuf::from);
    let folder = descriptions.map(Path::to_owned).or_else(from_environment);
    let folder = folder.as_deref();
    let mut checks = github::run(folder);
    checks.extend(jira::run(folder));
    checks.extend(linear::run(folder));
    Ok(checks)
}

/// Finds a description, or says what could not be run without it.
fn description(folder: Option<&Path>, name: &str) -> Result<PathBuf, Outcome> {
    let Some(folder) = folder else {
        return Err(Outcome::Failed(format!(
            "not run without `{name}`: name the folder that it is in with `--descriptions DIR` or \
             the variable `{FOLDER}`"
        )));
    };
    let path = folder.join(name);
    match path.is_file() {
        // Programs are started elsewhere.
        true => path.canonicalize().map_err(|error| Outcome::Failed(error.to_string())),
        false => Err(Outcome::Failed(format!("not run: there is no `{}`", path.display()))),
    }
}
