//! Tests that are deleted or weakened.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use assay_change::diff::FileDiff;
use assay_findings::grounding::Symbol;
use assay_findings::vote::LineRange;
use regex::Regex;

use super::file_facts::{FileFacts, FileKind, test_names};
use super::{ChangeCheck, ChangeFacts, ChangedFile, CheckMatch, FileCheck};
use crate::language;
use crate::rule_text::RuleText;
use crate::syntax::Syntax;

pub(super) const FILE_DELETED: ChangeCheck = ChangeCheck {
    rule_text: RuleText {
        id: "test/file-deleted",
        grade: "MEDIUM",
        category: "testing",
        title: "Test file deleted",
        message: "What it checked is no longer checked by anything in this change.",
        advice: "Keep the tests, or say why nothing of what they check is left.",
    },
    find: deleted_files,
};

pub(super) const REMOVED: ChangeCheck = ChangeCheck {
    rule_text: RuleText {
        id: "test/removed",
        grade: "MEDIUM",
        category: "testing",
        title: "Tests removed",
        message: "What they checked is no longer checked.",
        advice: "Keep the tests, or say why nothing of what they check is left.",
    },
    find: removed_tests,
};

pub(super) const WEAKENED: FileCheck = FileCheck {
    rule_text: RuleText {
        id: "test/weakened",
        grade: "MEDIUM",
        category: "testing",
        title: "Test checks less than before",
        message: "A test that lost an assertion passes where it would have failed.",
        advice: "Mend the code until the old assertion holds, or replace it by one as strict.",
    },
    find: weakened_tests,
};

static ASSERTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:assert\w*!?|expect|require\.\w+|should|must_\w+|t\.(?:Error|Fatal)f?|verify)\b",
    )
    .expect("the pattern is valid")
});

/// Returns true if code was deleted as well, so that its tests had to be deleted with it.
fn deletes_code(change_facts: &ChangeFacts<'_>) -> bool {
    change_facts
        .reviewed_files()
        .any(|(file, facts)| facts.kind == FileKind::Code && file.new_path.is_none())
}

/// Returns the names of all tests in the touched files after the change: a test may be moved.
fn remaining_tests<'w>(change_facts: &'w ChangeFacts<'_>) -> BTreeSet<&'w String> {
    change_facts.reviewed_files().flat_map(|(_, facts)| &facts.tests_after).collect()
}

fn deleted_files(change_facts: &ChangeFacts<'_>) -> Vec<CheckMatch> {
    if deletes_code(change_facts) {
        return Vec::new();
    }
    let kept = remaining_tests(change_facts);
    let deleted = change_facts.reviewed_files().filter(|(file, _)| file.new_path.is_none());
    let seen = deleted.filter_map(|(file, facts)| {
        let gone = facts.tests_before.iter().filter(|name| !kept.contains(name)).count();
        (gone > 0 && facts.kind == FileKind::Test).then(|| CheckMatch {
            file: file.old_path.clone(),
            lines: None,
            note: format!("{} went with it.", tests(gone)),
            subject: file.path().to_owned(),
        })
    });
    seen.collect()
}

fn removed_tests(change_facts: &ChangeFacts<'_>) -> Vec<CheckMatch> {
    if deletes_code(change_facts) {
        return Vec::new();
    }
    let kept = remaining_tests(change_facts);
    let there = change_facts.reviewed_files().filter(|(file, _)| file.new_path.is_some());
    there.filter_map(|(file, facts)| removed_from(file, facts, &kept)).collect()
}

fn removed_from(
    file: &FileDiff,
    facts: &FileFacts,
    kept: &BTreeSet<&String>,
) -> Option<CheckMatch> {
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
    Some(CheckMatch {
        file: file.new_path.clone(),
        lines: None,
        note: format!("{} gone: {}{more}.", tests(gone.len()), named.join(", ")),
        subject: gone.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(","),
    })
}

fn tests(count: usize) -> String {
    if count == 1 { "1 test".to_owned() } else { format!("{count} tests") }
}

fn weakened_tests(view: &ChangedFile<'_>) -> Vec<CheckMatch> {
    let is_test = language::is_test(view.file.path());
    let both = view.tree_facts.zip(view.after).filter(|_| is_test && view.file.old_path.is_some());
    let Some((tree_facts, after)) = both else { return Vec::new() };
    let Some(before) = view.before() else { return Vec::new() };
    let Some(old_syntax) = Syntax::of(view.file.path(), before) else { return Vec::new() };
    let (before, after) = (
        Assertions::of(old_syntax.outline(), before),
        Assertions::of(tree_facts.symbols.clone(), after),
    );
    let seen = after.outline.iter().filter_map(|symbol| {
        let old = before.outline.iter().find(|old| old.name == symbol.name)?;
        let (had, has) = (before.within(old), after.within(symbol));
        let line = view.first_added(symbol.lines).unwrap_or(symbol.lines.start());
        (has < had && before.is_test(old)).then(|| CheckMatch {
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
