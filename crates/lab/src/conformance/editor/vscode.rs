//! The extension for VS Code: its types, its tests with the real server, and its packages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use assay_testenv::workspace::root;

use super::{empty_folder, program, run_to_end};
use crate::conformance::{Check, Outcome};
use crate::peers;
use crate::workspace::all_files_below;

/// The folders of the extension that are made by npm.
const GENERATED: [&str; 3] = ["node_modules", "dist", "dist-test"];

pub(super) fn run(assay: &Path) -> Vec<Check> {
    let name = |part: &str| format!("vscode: {part}");
    let folder = match copy() {
        Ok(folder) => folder,
        Err(error) => return vec![(name("extension"), Outcome::of(Err(error)))],
    };
    if let Err(error) = npm(&folder, assay, &["ci", "--no-audit", "--no-fund"]) {
        return vec![(name("extension"), Outcome::unavailable(&error))];
    }
    vec![
        (name("types"), Outcome::of(npm(&folder, assay, &["run", "check"]).map(drop))),
        (name("tests, with the real server"), Outcome::of(test(&folder, assay))),
        (name("npm pack"), Outcome::of(pack(&folder, assay))),
        (name("vsce package"), package(&folder, assay)),
    ]
}

/// Copies the extension, so that nothing is written beside its sources. Returns the copy.
fn copy() -> anyhow::Result<PathBuf> {
    let folder = empty_folder("vscode")?;
    let source = root().join("editors/vscode");
    for file in all_files_below(&source)? {
        let name = file.strip_prefix(&source)?;
        if GENERATED.iter().any(|generated| name.starts_with(generated)) {
            continue;
        }
        let copy = folder.join(name);
        fs::create_dir_all(copy.parent().unwrap_or(&folder))?;
        fs::copy(&file, copy)?;
    }
    Ok(folder)
}

fn npm(folder: &Path, assay: &Path, args: &[&str]) -> anyhow::Result<String> {
    let mut npm = program("npm", folder, assay);
    npm.args(args);
    run_to_end(npm)
}

fn test(folder: &Path, assay: &Path) -> anyhow::Result<()> {
    let said = npm(folder, assay, &["test"])?;
    let count = |word: &str| {
        let line = said
            .lines()
            .find_map(|line| line.trim_start_matches(['#', 'ℹ', ' ']).strip_prefix(word));
        line.and_then(|rest| rest.trim().parse::<u32>().ok())
    };
    let passed = count("pass ").context("the summary of the tests is missing")?;
    ensure!(
        passed > 20 && count("skipped ") == Some(0),
        "{passed} tests passed, others did not run"
    );
    println!("vscode: {passed} tests passed");
    Ok(())
}

fn pack(folder: &Path, assay: &Path) -> anyhow::Result<()> {
    npm(folder, assay, &["pack"])?;
    let mut list = program("tar", folder, assay);
    list.args(["--list", "--file", "assay-0.1.0.tgz"]);
    let mut files: Vec<String> = run_to_end(list)?.lines().map(str::to_owned).collect();
    files.sort();
    let expected = ["CHANGELOG.md", "LICENSE", "README.md", "dist/extension.js", "package.json"];
    ensure!(files == expected.map(|name| format!("package/{name}")), "the package has {files:?}");
    Ok(())
}

fn package(folder: &Path, assay: &Path) -> Outcome {
    let (vsce, node) = match peers::vsce().and_then(|vsce| Ok((vsce, peers::node()?))) {
        Ok(programs) => programs,
        Err(error) => return Outcome::unavailable(&error),
    };
    let mut command = program(vsce, folder, assay);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", node.display()));
    command.args(["package", "--no-dependencies", "--allow-missing-repository"]);
    Outcome::of(run_to_end(command).and_then(|said| {
        ensure!(folder.join("assay-0.1.0.vsix").is_file(), "there is no package: {said}");
        Ok(())
    }))
}
