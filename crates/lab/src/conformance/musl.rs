//! The package for musl: the program in the archive is static, and runs in a root folder that holds
//! nothing else.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use assay_testenv::workspace::{answers, command, target_folder};

use super::packages::{only_file, review_with, run_program, unpack};
use super::{Check, Outcome};
use crate::workspace::output;
use crate::{dist, dist::DistArgs};

const TARGET: &str = "x86_64-unknown-linux-musl";

/// A review as a model writes reviews, for `assay findings parse`.
const REVIEW: &str = "## CRITICAL: The token is printed\n\nFile: `a.py`, line 2\n";

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    const NAME: &str = "archive for musl";
    if let Some(reason) = missing()? {
        return Ok(vec![(NAME.to_owned(), Outcome::Unavailable(reason))]);
    }
    let folder = target_folder("conformance/musl")?;
    fs::remove_dir_all(&folder)?;
    let packages = folder.join("dist");
    fs::create_dir_all(&packages)?;
    dist::run(&DistArgs::of_target(TARGET, &packages))?;
    let program = unpack(&only_file(&packages, ".tar.gz")?, &folder)?.join("assay");
    let check = |name: &str, result| (format!("{NAME}: {name}"), Outcome::of(result));
    Ok(vec![
        check("reviews a change", review_with(&program, &folder)),
        check("runs in an empty root", run_in_empty_root(&program, &folder)),
    ])
}

/// Returns what the build lacks on this machine; `None` if nothing is missing.
fn missing() -> anyhow::Result<Option<String>> {
    let libraries = output(command("rustc", &["--print", "target-libdir", "--target", TARGET]))?;
    Ok(if !Path::new(libraries.trim()).is_dir() {
        Some(format!("`rustup target add {TARGET}` was not done"))
    } else if !answers("musl-gcc", &["--version"]) {
        Some("`musl-gcc` is not installed".to_owned())
    } else {
        None
    })
}

/// Runs the program where no other file exists, as in an image that is built from nothing.
fn run_in_empty_root(program: &Path, folder: &Path) -> anyhow::Result<()> {
    let root = folder.join("root");
    fs::create_dir_all(&root)?;
    fs::copy(program, root.join("assay"))?;
    let in_root = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "chroot"]).arg(&root).arg("/assay").args(arguments);
        command
    };
    let version = output(in_root(&["--version"]))?;
    if !version.contains(TARGET) {
        bail!("the version names another target: {version}");
    }
    run_program(&mut in_root(&["rules", "show", "python/debugger"]))?;
    let review = folder.join("review.md");
    fs::write(&review, REVIEW)?;
    let mut parse = in_root(&["findings", "parse"]);
    parse.stdin(fs::File::open(&review).context("the review was written")?);
    let findings = output(parse)?;
    match findings.contains("The token is printed") {
        true => Ok(()),
        false => bail!("`assay findings parse` printed: {findings}"),
    }
}
