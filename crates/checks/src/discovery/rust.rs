//! Rust: `cargo test`, or nextest if it is configured.

use std::collections::BTreeSet;

use super::file_index::{FileIndex, Language, around, outermost};
use super::{Build, CoverageRun, Discovery, Framework, ResultSource, TestKind};
use crate::command::{CommandLine, REPORTS};
use crate::results::ResultFormat;

pub(super) fn detect(index: &FileIndex<'_>, found: &mut Discovery) {
    let folders: Vec<&str> = index.folders_with("Cargo.toml").collect();
    let spaces = folders.iter().copied().filter(|folder| is_workspace(index, folder));
    let spaces: BTreeSet<&str> = outermost(spaces).into_iter().collect();
    for folder in folders {
        // The run of a workspace covers its members.
        if around(folder, &spaces).is_some_and(|space| space != folder) {
            continue;
        }
        found.frameworks.push(framework(index, folder, spaces.contains(folder)));
        let command = CommandLine::words(["cargo", "build"]);
        found.builds.push(Build { folder: folder.to_owned(), command });
    }
}

fn is_workspace(index: &FileIndex<'_>, folder: &str) -> bool {
    index.text(folder, "Cargo.toml").lines().any(|line| line.trim_start().starts_with("[workspace"))
}

fn framework(index: &FileIndex<'_>, folder: &str, is_workspace: bool) -> Framework {
    let config = if folder.is_empty() { ".config".to_owned() } else { format!("{folder}/.config") };
    let is_nextest = index.has(&config, "nextest.toml");
    let (name, words, form) = match is_nextest {
        true => ("nextest", &["cargo", "nextest", "run"][..], ResultFormat::Nextest),
        false => ("cargo_test", &["cargo", "test"][..], ResultFormat::Cargo),
    };
    let whole: &[&str] = if is_workspace { &["--workspace"] } else { &[] };
    let command = CommandLine::words(words.iter().copied()).with(whole);
    let report = format!("{REPORTS}/llvm.json");
    let coverage = CoverageRun {
        command: CommandLine::words(["cargo", "llvm-cov"])
            .with(whole)
            .with(["--json", "--output-path", &report]),
        glob: report,
    };
    Framework {
        name: name.to_owned(),
        kind: TestKind::All,
        folder: folder.to_owned(),
        run: command.clone().with(["--no-fail-fast"]),
        command,
        reading: ResultSource::Printed(form),
        coverage: Some(coverage),
        is_set_up: is_nextest,
        has_tests: index.has_tests(Language::Rust, folder),
        has_integration: index.tests(Language::Rust, folder).any(|path| path.contains("tests/")),
    }
}
