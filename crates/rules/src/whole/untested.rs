//! Changed behaviour without a changed test.

use super::facts::Kind;
use super::{ChangeCheck, Sighting, Whole};
use crate::language;
use crate::wording::Wording;

/// The minimum number of added lines of code: many small changes need no new test.
const MIN_LINES: usize = 30;

pub(super) const CHECK: ChangeCheck = ChangeCheck {
    wording: Wording {
        id: "change/untested",
        grade: "LOW",
        category: "testing",
        title: "Behaviour changed and no test touched",
        message: "The tests say nothing about what is new, so the next change can break it unseen.",
        advice: "Add or change a test that fails without this change.",
    },
    look,
};

fn look(whole: &Whole<'_>) -> Vec<Sighting> {
    let lines: usize = whole.known().map(|(_, facts)| facts.added_code).sum();
    let tests_touched =
        whole.known().any(|(_, facts)| facts.kind == Kind::Test || facts.touches_tests);
    if lines < MIN_LINES || tests_touched || !has_tests(whole) {
        return Vec::new();
    }
    vec![Sighting {
        file: None,
        lines: None,
        note: format!("{lines} lines of code come without a test."),
        subject: String::new(),
    }]
}

/// Returns true if the repository has any tests.
fn has_tests(whole: &Whole<'_>) -> bool {
    // If the files cannot be listed, the change records the error, and the review is incomplete.
    let Ok(paths) = whole.change.base().paths() else { return true };
    paths.iter().any(|path| language::is_code(path.as_str()) && language::is_test(path.as_str()))
}
