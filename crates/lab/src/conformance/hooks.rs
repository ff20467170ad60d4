//! The hook for `pre-commit`, run by the real `pre-commit`: a change that is not ready is not
//! committed.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use assay_testenv::workspace::{command, root, target_folder};

use super::{Check, Outcome};
use crate::peers;
use crate::workspace::output;

/// The version of the Python package `pre-commit`.
const PRE_COMMIT: &str = "4.7.0";

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    let python = match peers::pip("pre-commit", PRE_COMMIT) {
        Ok(python) => python,
        Err(error) => return Ok(vec![("pre-commit".to_owned(), Outcome::unavailable(&error))]),
    };
    output(command("cargo", &["build", "--quiet", "--package", "assay"]))?;
    let folder = target_folder("conformance/hooks")?;
    fs::remove_dir_all(&folder)?;
    fs::create_dir_all(&folder)?;
    Ok(vec![("pre-commit".to_owned(), Outcome::of(check(&folder, &python)))])
}

/// Commits a flawed file, which must fail, and a clean one, which must succeed.
fn check(folder: &Path, python: &Path) -> anyhow::Result<()> {
    let in_folder = |program: &str, args: &[&str]| run_in(folder, program, args);
    must_pass(in_folder("git", &["init", "--quiet"])?)?;
    must_pass(in_folder("git", &["config", "user.name", "tester"])?)?;
    must_pass(in_folder("git", &["config", "user.email", "tester@localhost"])?)?;
    fs::write(folder.join(".pre-commit-config.yaml"), hook_of_the_manual()?)?;
    must_pass(in_folder(&python.to_string_lossy(), &["-m", "pre_commit", "install"])?)?;
    fs::write(folder.join("a.py"), "def f():\n    breakpoint()\n    return 1\n")?;
    must_pass(in_folder("git", &["add", "--all"])?)?;
    let (ended_well, said) = in_folder("git", &["commit", "--message", "flawed"])?;
    if ended_well || !said.contains("python/debugger") {
        bail!("a flawed change was committed, or refused for another reason: {said}");
    }
    fs::write(folder.join("a.py"), "def f():\n    return 1\n")?;
    must_pass(in_folder("git", &["add", "--all"])?)?;
    must_pass(in_folder("git", &["commit", "--message", "clean"])?)
}

/// Returns the configuration of the manual, so that the manual is tested.
fn hook_of_the_manual() -> anyhow::Result<String> {
    let page = fs::read_to_string(root().join("docs/setup.md"))?;
    let block = page.split("```yaml\n").find(|block| block.starts_with("repos:"));
    let block = block.context("docs/setup.md shows no hook of pre-commit")?;
    Ok(block.split("```").next().unwrap_or(block).to_owned())
}

/// Runs a program with assay on its path. Returns true if it succeeded, and its output.
fn run_in(folder: &Path, program: &str, args: &[&str]) -> anyhow::Result<(bool, String)> {
    let built = assay_testenv::workspace::target().join("debug");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new(program)
        .args(args)
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", built.display()))
        .output()
        .with_context(|| format!("could not start `{program}`"))?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

fn must_pass((ended_well, said): (bool, String)) -> anyhow::Result<()> {
    if ended_well { Ok(()) } else { bail!("{said}") }
}
