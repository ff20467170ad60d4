//! Rust: `cargo test`, or nextest if it is configured.

use std::collections::BTreeSet;

use super::survey::{Language, Survey, around, outermost};
use super::{Build, CoverageRun, Discovery, Framework, Reading, TestKind};
use crate::command::{CommandLine, REPORTS};
use crate::results::Form;

pub(super) fn look(survey: &Survey<'_>, found: &mut Discovery) {
    let folders: Vec<&str> = survey.folders_with("Cargo.toml").collect();
    let spaces = folders.iter().copied().filter(|folder| is_workspace(survey, folder));
    let spaces: BTreeSet<&str> = outermost(spaces).into_iter().collect();
    for folder in folders {
        // The run of a workspace covers its members.
        if around(folder, &spaces).is_some_and(|space| space != folder) {
            continue;
        }
        found.frameworks.push(framework(survey, folder, spaces.contains(folder)));
        let command = CommandLine::words(["cargo", "build"]);
        found.builds.push(Build { folder: folder.to_owned(), command });
    }
}

fn is_workspace(survey: &Survey<'_>, folder: &str) -> bool {
    survey
        .text(folder, "Cargo.toml")
        .lines()
        .any(|line| line.trim_start().starts_with("[workspace"))
}

fn framework(survey: &Survey<'_>, folder: &str, is_workspace: bool) -> Framework {
    let config = if folder.is_empty() { ".config".to_owned() } else { format!("{folder}/.config") };
    let is_nextest = survey.has(&config, "nextest.toml");
    let (name, words, form) = match is_nextest {
        true => ("nextest", &["cargo", "nextest", "run"][..], Form::Nextest),
        false => ("cargo_test", &["cargo", "test"][..], Form::Cargo),
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
        reading: Reading::Printed(form),
        coverage: Some(coverage),
        is_set_up: is_nextest,
        has_tests: survey.has_tests(Language::Rust, folder),
        has_integration: survey.tests(Language::Rust, folder).any(|path| path.contains("tests/")),
    }
}
