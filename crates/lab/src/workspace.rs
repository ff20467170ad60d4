//! Helpers that run programs, list files and build the `assay` binary.
//!
//! The folders of the workspace are in `assay_testenv::workspace`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use assay_testenv::workspace::{command, root, target, target_folder};

/// Runs a program to its end and returns its stdout; its stderr is shown as it arrives.
pub(crate) fn output(mut command: Command) -> anyhow::Result<String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("could not start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` ended with {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` wrote no UTF-8"))
}

/// Returns the files below a folder with an extension, in order; symbolic links are not followed.
pub(crate) fn files_below(folder: &Path, extension: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = all_files_below(folder)?;
    found.retain(|path| path.extension().is_some_and(|own| own == extension));
    Ok(found)
}

/// Returns all files below a folder, in order; symbolic links are not followed.
pub(crate) fn all_files_below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("could not read `{}`", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Builds the `assay` binary in the profile of this program, and returns its path.
pub(crate) fn assay() -> anyhow::Result<PathBuf> {
    let (flags, folder): (&[&str], &str) = match cfg!(debug_assertions) {
        true => (&[], "debug"),
        false => (&["--release"], "release"),
    };
    let status =
        command("cargo", &["build", "--quiet", "--package", "assay"]).args(flags).status()?;
    if !status.success() {
        bail!("`assay` could not be built");
    }
    Ok(target().join(folder).join("assay"))
}

/// Writes a value as JSON to a file below the target folder, and prints the path.
pub(crate) fn write_json(
    folder: &str,
    name: &str,
    value: &serde_json::Value,
) -> anyhow::Result<()> {
    let path = target_folder(folder)?.join(name);
    std::fs::write(&path, format!("{value:#}\n"))
        .with_context(|| format!("could not write `{}`", path.display()))?;
    let shown = path.strip_prefix(root()).unwrap_or(&path);
    println!("written to {}", shown.display());
    Ok(())
}
