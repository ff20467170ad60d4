//! Tests that are deleted.

use std::collections::BTreeSet;

use assay_change::diff::FileDiff;

use super::file_facts::{FileFacts, FileKind};
use super::{ChangeCheck, ChangeFacts, CheckMatch};
use crate::rule_text::RuleText;

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
        let has_nameless = facts.had_tests && facts.tests_before.is_empty();
        let note = match gone {
            0 => "The tests of a macro went with it.".to_owned(),
            _ => format!("{} went with it.", tests(gone)),
        };
        ((gone > 0 || has_nameless) && facts.kind == FileKind::Test).then(|| CheckMatch {
            file: file.old_path.clone(),
            lines: None,
            note,
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
