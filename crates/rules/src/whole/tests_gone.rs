//! Tests that are deleted or weakened.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use assay_change::diff::FileDiff;
use assay_findings::grounding::Symbol;
use assay_findings::vote::LineRange;
use regex::Regex;

use super::facts::{Facts, Kind, test_names};
use super::{ChangeCheck, FileCheck, Sighting, View, Whole};
use crate::language;
use crate::syntax::Syntax;
use crate::wording::Wording;

pub(super) const FILE_DELETED: ChangeCheck = ChangeCheck {
    wording: Wording {
        id: "test/file-deleted",
        grade: "MEDIUM",
        category: "testing",
        title: "Test file deleted",
        message: "What it checked is no longer checked by anything in this change.",
        advice: "Keep the tests, or say why nothing of what they check is left.",
    },
    look: deleted_files,
};

pub(super) const REMOVED: ChangeCheck = ChangeCheck {
    wording: Wording {
        id: "test/removed",
        grade: "MEDIUM",
        category: "testing",
        title: "Tests removed",
        message: "What they checked is no longer checked.",
        advice: "Keep the tests, or say why nothing of what they check is left.",
    },
    look: removed_tests,
};

pub(super) const WEAKENED: FileCheck = FileCheck {
    wording: Wording {
        id: "test/weakened",
        grade: "MEDIUM",
        category: "testing",
        title: "Test checks less than before",
        message: "A test that lost an assertion passes where it would have failed.",
        advice: "Mend the code until the old assertion holds, or replace it by one as strict.",
    },
    look: weakened_tests,
};

static ASSERTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:assert\w*!?|expect|require\.\w+|should|must_\w+|t\.(?:Error|Fatal)f?|verify)\b",
    )
    .expect("the pattern is valid")
});

/// Returns true if code was deleted as well, so that its tests had to be deleted with it.
fn code_went(whole: &Whole<'_>) -> bool {
    whole.known().any(|(file, facts)| facts.kind == Kind::Code && file.new_path.is_none())
}

/// Returns the names of all tests in the touched files after the change: a test may be moved.
fn kept<'w>(whole: &'w Whole<'_>) -> BTreeSet<&'w String> {
    whole.known().flat_map(|(_, facts)| &facts.tests_after).collect()
}

fn deleted_files(whole: &Whole<'_>) -> Vec<Sighting> {
    if code_went(whole) {
        return Vec::new();
    }
    let kept = kept(whole);
    let deleted = whole.known().filter(|(file, _)| file.new_path.is_none());
    let seen = deleted.filter_map(|(file, facts)| {
        let gone = facts.tests_before.iter().filter(|name| !kept.contains(name)).count();
        (gone > 0 && facts.kind == Kind::Test).then(|| Sighting {
            file: file.old_path.clone(),
            lines: None,
            note: format!("{} went with it.", tests(gone)),
            subject: file.path().to_owned(),
        })
    });
    seen.collect()
}

fn removed_tests(whole: &Whole<'_>) -> Vec<Sighting> {
    if code_went(whole) {
        return Vec::new();
    }
    let kept = kept(whole);
    let there = whole.known().filter(|(file, _)| file.new_path.is_some());
    there.filter_map(|(file, facts)| removed_from(file, facts, &kept)).collect()
}

fn removed_from(file: &FileDiff, facts: &Facts, kept: &BTreeSet<&String>) -> Option<Sighting> {
    let gone: Vec<&String> =
        facts.tests_before.iter().filter(|name| !kept.contains(name)).collect();
    let came = facts.tests_after.difference(&facts.tests_before).count();
    // As many new names as old ones count as renames.
    if gone.len() <= came {
        return None;
    }
    let named: Vec<String> = gone.iter().take(3).map(|name| format!("`{name}`")).collect();
    let more = gone.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(Sighting {
        file: file.new_path.clone(),
        lines: None,
        note: format!("{} gone: {}{more}.", tests(gone.len()), named.join(", ")),
        subject: gone.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(","),
    })
}

fn tests(count: usize) -> String {
    if count == 1 { "1 test".to_owned() } else { format!("{count} tests") }
}

fn weakened_tests(view: &View<'_>) -> Vec<Sighting> {
    let is_test = language::is_test(view.file.path());
    let both = view.survey.zip(view.after).filter(|_| is_test && view.file.old_path.is_some());
    let Some((survey, after)) = both else { return Vec::new() };
    let Some(before) = view.before() else { return Vec::new() };
    let Some(old_syntax) = Syntax::of(view.file.path(), before) else { return Vec::new() };
    let (before, after) = (
        Assertions::of(old_syntax.outline(), before),
        Assertions::of(survey.symbols.clone(), after),
    );
    let seen = after.outline.iter().filter_map(|symbol| {
        let old = before.outline.iter().find(|old| old.name == symbol.name)?;
        let (had, has) = (before.within(old), after.within(symbol));
        let line = view.first_added(symbol.lines).unwrap_or(symbol.lines.start());
        (has < had && before.is_test(old)).then(|| Sighting {
            file: view.file.new_path.clone(),
            lines: LineRange::at(line),
            note: format!("`{}` had {had} assertions and has {has}.", symbol.name),
            subject: symbol.name.clone(),
        })
    });
    seen.collect()
}

/// The functions of a test file, and its assertions.
struct Assertions {
    outline: Vec<Symbol>,
    names: BTreeSet<String>,
    /// The line of each assertion.
    lines: Vec<u32>,
}

impl Assertions {
    fn of(outline: Vec<Symbol>, text: &str) -> Assertions {
        let lines = text.lines().zip(1..).filter(|(line, _)| ASSERTION.is_match(line));
        Assertions {
            outline,
            names: test_names(text),
            lines: lines.map(|(_, number)| number).collect(),
        }
    }

    fn within(&self, symbol: &Symbol) -> usize {
        let lines = symbol.lines;
        self.lines.iter().filter(|line| lines.start() <= **line && **line <= lines.end()).count()
    }

    fn is_test(&self, symbol: &Symbol) -> bool {
        symbol.name.rsplit('.').next().is_some_and(|name| self.names.contains(name))
    }
}
