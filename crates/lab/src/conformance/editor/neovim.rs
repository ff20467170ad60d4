//! Neovim without a window, by its own client: typing, hover, fixes, dismissal, restart.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, ensure};
use assay_testenv::workspace::answers;

use super::{block_of_the_manual, empty_folder, program, run_to_end, shop};
use crate::conformance::{Check, Outcome};

/// The script that drives the client of Neovim.
const SCRIPT: &str = include_str!("neovim.lua");

pub(super) fn run(assay: &Path) -> Vec<Check> {
    let outcome = match answers("nvim", &["--version"]) {
        true => Outcome::of(check(assay)),
        false => Outcome::unavailable(&anyhow!("there is no `nvim`; install Neovim 0.7 or newer")),
    };
    vec![("neovim: typing, hover, fixes, dismissal, restart, manual".to_owned(), outcome)]
}

/// Writes the configuration of the manual for the installed version, and returns the file.
fn manual(folder: &Path) -> anyhow::Result<PathBuf> {
    let has_config = ["--headless", "--clean", "-c", "exe has('nvim-0.11') ? 'qall' : 'cquit'"];
    let start = match answers("nvim", &has_config) {
        true => "vim.lsp.config(",
        false => "local clients",
    };
    let file = folder.join("manual.lua");
    std::fs::write(&file, block_of_the_manual("lua", start)?)?;
    Ok(file)
}

fn check(assay: &Path) -> anyhow::Result<()> {
    let folder = empty_folder("neovim")?;
    let script = folder.join("neovim.lua");
    std::fs::write(&script, SCRIPT)?;
    let repository = shop(&folder)?;
    let mut nvim = program("nvim", &folder, assay);
    nvim.env("ASSAY_FILE", repository.folder().join("shop.py"));
    nvim.env("ASSAY_MANUAL", manual(&folder)?);
    nvim.args(["--clean", "--headless", "-n", "-c"]).arg(format!("luafile {}", script.display()));
    run_to_end(nvim)?;
    let mut list = program(assay, &folder, assay);
    list.args(["findings", "list", "--state", "dismissed"]).current_dir(repository.folder());
    let listed = run_to_end(list)?;
    ensure!(listed.contains("1 dismissed finding"), "the dismissal is not stored: {listed}");
    Ok(())
}
