//! Behaviour changed, and no test with it.

use assay_change::diff::FileDiff;

use super::{Check, Sighting, Whole};
use crate::executable;
use crate::language::{self, Language};
use crate::syntax::{Syntax, Touched};
use crate::wording::Wording;

/// Fewer lines of code are let pass: many small changes need no new test.
const MIN_LINES: usize = 30;

pub(super) const CHECK: Check = Check {
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
    let tests_touched = whole.tests().next().is_some()
        || whole.code().any(|file| touches_tests_inside(whole, file));
    if tests_touched || !has_tests(whole) {
        return Vec::new();
    }
    let lines: usize = whole.code().map(|file| added_code(whole, file)).sum();
    if lines < MIN_LINES {
        return Vec::new();
    }
    vec![Sighting {
        file: None,
        lines: None,
        note: format!("{lines} lines of code come without a test."),
        subject: String::new(),
    }]
}

fn added_code(whole: &Whole<'_>, file: &FileDiff) -> usize {
    let Some(text) = whole.after(file) else { return 0 };
    executable::count(file.path(), &text, &Touched::new(file.added()))
}

/// Says whether the change is in a test that stands among the code, as in Rust.
fn touches_tests_inside(whole: &Whole<'_>, file: &FileDiff) -> bool {
    if language::by_name(file.path()) != Some(Language::Rust) {
        return false;
    }
    let Some(text) = whole.after(file) else { return false };
    let Some(syntax) = Syntax::parse(Language::Rust, &text) else { return false };
    let touched = Touched::new(file.added());
    let is_test = |name: &str| name.split('.').any(|part| part == "tests" || part == "test");
    syntax.outline().iter().any(|symbol| is_test(&symbol.name) && touched.meets(symbol.lines))
}

/// Says whether the repository has tests at all.
fn has_tests(whole: &Whole<'_>) -> bool {
    let paths = whole.change.base().paths();
    paths.iter().any(|path| language::is_code(path.as_str()) && language::is_test(path.as_str()))
}
