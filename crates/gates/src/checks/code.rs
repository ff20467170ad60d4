//! Fixes and messages that checks of planned code and of written code share.

use super::Fix;
use crate::facts::rule_results::RuleFinding;
use crate::item::Severity;

pub(super) const RESOLVE: Fix =
    Fix::of("Remove conflict markers (<<<<<<, ======, >>>>>>) and resolve merge conflicts.");

pub(super) const REWRITE: Fix = Fix::of(
    "Change the named lines so that the rules no longer match. If a rule is wrong about a line, \
     add a comment to the line: `assay: ignore RULE reason`.",
);

pub(super) const ADD_TESTS: Fix = Fix {
    what: "Add or change tests for the behaviour that changes.",
    include: &["A test that fails without the change", "The file of the test"],
};

pub(super) const TRIM: Fix = Fix::of("Remove the stray whitespace, for example with a formatter.");

/// Formats the findings of one severity, each with the location that `at` returns for its line.
pub(super) fn told(
    found: &[RuleFinding],
    severity: Severity,
    at: impl Fn(u32) -> String,
) -> Vec<String> {
    let found = found.iter().filter(|found| found.severity == severity);
    let told = found.map(|found| match found.line {
        Some(line) => format!("{}: {}", at(line), found.said),
        None => found.said.clone(),
    });
    told.collect()
}
