//! Tests of the rules, with their examples and with whole changes.
#![allow(clippy::unwrap_used, missing_docs)]

mod change_checks;
mod credentials;
mod examples;
mod flow;
mod injection;
mod structure;

use assay_change::{Scope, Selection};
use assay_rules::{Rulebook, RulesResult};
use assay_testkit::Repository;

/// The path and the text of a file.
type File<'t> = (&'t str, &'t str);

/// Reviews the change from some files to others. A file that is missing in `after` is deleted.
fn review(before: &[File<'_>], after: &[File<'_>]) -> RulesResult {
    let repository = Repository::new();
    for (path, text) in before {
        repository.write(path, text);
    }
    repository.commit("before");
    for (path, _) in before.iter().filter(|(path, _)| !after.iter().any(|(p, _)| p == path)) {
        repository.remove(path);
    }
    for (path, text) in after {
        repository.write(path, text);
    }
    repository.commit("after");
    let scope = Scope::Commits("HEAD".to_owned());
    let change = assay_change::open(repository.path(), &scope, &Selection::default()).unwrap();
    Rulebook::builtin().review(&change)
}

/// Formats the findings, one per line: `file:line rule`.
fn format_findings(reviewed: &RulesResult) -> String {
    let mut lines: Vec<String> = reviewed
        .report
        .votes
        .iter()
        .map(|vote| {
            let file = vote.file.as_ref().map_or("the change", |file| file.as_str());
            let line = vote.line().map(|line| format!(":{line}")).unwrap_or_default();
            format!("{file}{line} {}", vote.rule.as_deref().unwrap_or("-"))
        })
        .collect();
    lines.sort();
    lines.join("\n")
}
