//! Sets the commit and the target for `assay --version`.
//!
//! The commit is that of `ASSAY_COMMIT`, or of git in a release build. A debug build has none:
//! otherwise each commit would compile the program again.
#![allow(clippy::disallowed_methods, reason = "a build script is outside of the layers")]
#![allow(clippy::print_stdout, reason = "cargo reads the output of a build script")]

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=ASSAY_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
    let stated = env::var("ASSAY_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = stated.or_else(commit_of_release).unwrap_or_else(|| "development build".into());
    println!("cargo:rustc-env=ASSAY_COMMIT={commit}");
    let target = env::var("TARGET").unwrap_or_else(|_| "unknown target".into());
    println!("cargo:rustc-env=ASSAY_TARGET={target}");
}

/// Returns the commit of a release build; `None` for a debug build and outside of a repository.
fn commit_of_release() -> Option<String> {
    if env::var("PROFILE").ok()? != "release" {
        return None;
    }
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo:rerun-if-changed={log}");
    Some(format!("commit {}", git(&["rev-parse", "--short=12", "HEAD"])?))
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|out| out.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}
