//! The surroundings of a judged tree, which influence its results without being part of it:
//! [`Surroundings`].
//!
//! Each round records its surroundings in the journal, so that a later round can recognise what has
//! changed since: another base, another program that runs the tests, a file that git ignores and a
//! test runner loads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::issue::{Issue, IssueKind, Remedy};

/// The surroundings of a tree that influence its results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Surroundings {
    /// The base commit of the tree; `None` if there is none.
    pub base: Option<String>,
    /// The last commit of the work tree; `None` if there is no commit.
    pub head: Option<String>,
    /// The files that the work adds, changes or deletes, each with the id of the git object that it
    /// would be; [`DELETED`] for a deleted file.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub work: BTreeMap<String, String>,
    /// The programs of the tree that checks use, each with a digest.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, String>,
    /// The files that git ignores and that change what a test runner loads, each with a digest.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub loaded: BTreeMap<String, String>,
}

/// The value in place of an object id for a file that the work deletes.
pub const DELETED: &str = "deleted";

/// Returns an issue for each program that differs from the one in the first round of the loop, or
/// was not used there.
pub(crate) fn of_programs(first: &Surroundings, now: &Surroundings) -> Vec<Issue> {
    let differs =
        now.programs.iter().filter(|(path, digest)| first.programs.get(*path) != Some(*digest));
    differs
        .map(|(path, digest)| {
            let why = match first.programs.contains_key(path) {
                true => "is not the program that the first round of the loop used",
                false => "is a program in the tree that the first round of the loop did not use",
            };
            for_person(
                format!("Program was changed: {path}"),
                format!("program:{path}:{digest}"),
                format!(
                    "`{path}` {why}, and git does not track it; a changed test runner can report \
                     any result"
                ),
            )
        })
        .collect()
}

/// Returns an issue for each ignored file that changes what a test runner loads, and that was
/// different or absent in the first round of the loop.
pub(crate) fn of_loaded(first: &Surroundings, now: &Surroundings) -> Vec<Issue> {
    let differs =
        now.loaded.iter().filter(|(path, digest)| first.loaded.get(*path) != Some(*digest));
    differs
        .map(|(path, digest)| {
            let why = match first.loaded.contains_key(path) {
                true => "differs from the first round of the loop",
                false => "did not exist in the first round of the loop",
            };
            for_person(
                format!("Ignored file changes what tests load: {path}"),
                format!("loaded:{path}:{digest}"),
                format!(
                    "git ignores `{path}`, a test runner or an interpreter loads it, and it \
                     {why}; delete the file, or track it in git"
                ),
            )
        })
        .collect()
}

/// Creates an issue that a person decides, or that disappears with its cause.
pub(crate) fn for_person(title: String, key: String, why: String) -> Issue {
    Issue::new(title, IssueKind::Security)
        .with_key(key)
        .with_description(why)
        .with_remedy(Remedy::Decision)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(programs: &[(&str, &str)], loaded: &[(&str, &str)]) -> Surroundings {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(path, digest)| ((*path).to_owned(), (*digest).to_owned())).collect()
        };
        Surroundings { programs: map(programs), loaded: map(loaded), ..Surroundings::default() }
    }

    #[test]
    fn unchanged_or_removed_programs_and_loaded_files_are_no_issue() {
        let first = with(&[(".venv/bin/pytest", "1")], &[("a.pth", "1")]);
        assert_eq!(of_programs(&first, &first), []);
        assert_eq!(of_loaded(&first, &first), []);
        let less = with(&[], &[]);
        assert_eq!(of_programs(&first, &less), []);
        assert_eq!(of_loaded(&first, &less), []);
    }

    #[test]
    fn new_or_changed_programs_and_loaded_files_are_issues_for_a_person() {
        let first = with(&[(".venv/bin/pytest", "1")], &[("a.pth", "1")]);
        let now = with(
            &[(".venv/bin/pytest", "2"), (".venv/bin/tox", "1")],
            &[("a.pth", "2"), ("conftest.py", "1")],
        );
        let issues = [of_programs(&first, &now), of_loaded(&first, &now)].concat();
        let titles: Vec<&str> = issues.iter().map(|issue| issue.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "Program was changed: .venv/bin/pytest",
                "Program was changed: .venv/bin/tox",
                "Ignored file changes what tests load: a.pth",
                "Ignored file changes what tests load: conftest.py",
            ]
        );
        assert!(issues.iter().all(|issue| issue.remedy == Remedy::Decision));
    }
}
