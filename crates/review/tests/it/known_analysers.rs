//! The table of well-known analysers.

use assay_review::command::FILES_PLACEHOLDER;
use assay_review::command::known_analysers::{KNOWN_ANALYSERS, find};

use crate::flawed::path_of;

#[test]
fn each_known_analyser_has_a_unique_name_and_becomes_a_reviewer() {
    for known in KNOWN_ANALYSERS {
        assert_eq!(find(known.name), Some(known));
        let reviewer = known.reviewer();
        assert_eq!((reviewer.name.as_str(), reviewer.format), (known.name, known.format));
        assert!(!reviewer.required);
    }
    assert_eq!(find("lint-o-matic"), None);
}

#[test]
fn analysers_without_names_of_files_run_on_the_whole_project() {
    let whole: Vec<&str> = KNOWN_ANALYSERS
        .iter()
        .filter(|known| !known.args.contains(&FILES_PLACEHOLDER))
        .map(|known| known.name)
        .collect();
    assert_eq!(whole, ["clippy", "gitleaks", "golangci-lint", "tsc"]);
}

#[test]
fn analysers_that_run_repository_code_are_marked() {
    let running: Vec<&str> = KNOWN_ANALYSERS
        .iter()
        .filter(|known| known.runs_code.is_some())
        .map(|known| known.name)
        .collect();
    assert_eq!(running, ["clippy", "eslint", "golangci-lint", "mypy", "pyright", "tsc"]);
}

#[test]
fn a_pattern_without_a_folder_fits_in_every_folder() {
    let ruff = find("ruff").unwrap().reviewer();
    for (path, fits) in [("a.py", true), ("x/y/a.py", true), ("a.pyc", false), ("py", false)] {
        assert_eq!(ruff.files.matches(&path_of(path)), fits, "{path}");
    }
}
