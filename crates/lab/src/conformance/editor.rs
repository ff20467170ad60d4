//! `assay lsp`, driven by real clients of editors: the extension for VS Code with its own tests,
//! Neovim and Emacs without a window, and pytest-lsp with the capabilities of several editors.

mod emacs;
mod neovim;
mod pytest_lsp;
mod vscode;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use assay_testenv::workspace::{root, target_folder};

use super::Check;
use crate::repository::Repository;
use crate::workspace;

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    let assay = workspace::assay()?;
    let mut checks = vscode::run(&assay);
    checks.extend(neovim::run(&assay));
    checks.extend(emacs::run(&assay));
    checks.extend(pytest_lsp::run(&assay));
    Ok(checks)
}

/// Creates an empty folder for a client.
fn empty_folder(name: &str) -> anyhow::Result<PathBuf> {
    let folder = target_folder("conformance/editor")?.join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("could not empty `{}`", folder.display()))?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Creates a repository with a committed file.
fn shop(folder: &Path) -> anyhow::Result<Repository> {
    let repository = Repository::new(folder.join("repository"))?;
    repository.write("shop.py", b"def total(prices):\n    return sum(prices)\n")?;
    repository.commit("shop")?;
    Ok(repository)
}

/// Returns the block of the manual in a language that begins with a text, so that the manual is
/// tested.
fn block_of_the_manual(language: &str, start: &str) -> anyhow::Result<String> {
    let page = fs::read_to_string(root().join("docs/editor.md"))?;
    let fence = format!("```{language}\n");
    let block = page.split(&fence).skip(1).find(|block| block.starts_with(start));
    let block = block.with_context(|| format!("docs/editor.md has no block `{start}`"))?;
    Ok(block.split("```").next().unwrap_or(block).to_owned())
}

/// Prepares a program that runs in a folder, with a home and state of its own.
fn program(name: impl AsRef<OsStr>, home: &Path, assay: &Path) -> Command {
    // Configurations of the manual start `assay` by its name.
    let folders = assay.parent().map(Path::to_path_buf).into_iter();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path)));
    let mut command = Command::new(name);
    command.envs(path.ok().map(|path| ("PATH", path)));
    command
        .current_dir(home)
        .env("HOME", home)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("ASSAY_PROGRAM", assay)
        .stdin(Stdio::null());
    command
}

/// Runs a program to its end, and returns its output. Fails with the end of its output if the exit
/// code is not 0.
fn run_to_end(mut command: Command) -> anyhow::Result<String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("could not start `{shown}`"))?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(12)..].join(" / ");
    ensure!(output.status.success(), "`{shown}` ended with {}: {last}", output.status);
    Ok(said)
}
