//! Changed behaviour without a changed test.

use super::file_facts::FileKind;
use super::{ChangeCheck, ChangeFacts, CheckMatch};
use crate::language;
use crate::rule_text::RuleText;

/// The minimum number of added lines of code: many small changes need no new test.
const MIN_LINES: usize = 30;

pub(super) const CHECK: ChangeCheck = ChangeCheck {
    rule_text: RuleText {
        id: "change/untested",
        grade: "LOW",
        category: "testing",
        title: "Behaviour changed and no test touched",
        message: "The tests do not cover the new behaviour, so the next change can break it \
                  unnoticed.",
        advice: "Add or change a test that fails without this change.",
    },
    find,
};

fn find(change_facts: &ChangeFacts<'_>) -> Vec<CheckMatch> {
    let lines: usize = change_facts.reviewed_files().map(|(_, facts)| facts.added_code).sum();
    let tests_touched = change_facts
        .reviewed_files()
        .any(|(_, facts)| facts.kind == FileKind::Test || facts.touches_tests);
    if lines < MIN_LINES || tests_touched || !has_tests(change_facts) {
        return Vec::new();
    }
    vec![CheckMatch {
        file: None,
        lines: None,
        note: format!("{lines} lines of code come without a test."),
        subject: String::new(),
    }]
}

/// Returns true if the repository has any tests.
fn has_tests(change_facts: &ChangeFacts<'_>) -> bool {
    // If the files cannot be listed, the change records the error, and the review is incomplete.
    let Ok(paths) = change_facts.change.base().paths() else { return true };
    paths.iter().any(|path| language::is_code(path.as_str()) && language::is_test(path.as_str()))
}
