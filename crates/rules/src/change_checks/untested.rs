//! Changed behaviour without a changed test.

use std::collections::HashMap;

use assay_change::diff::FileDiff;
use assay_findings::path::RepoPath;

use super::file_facts::{FileFacts, lines_with_content};
use super::{ChangeCheck, ChangeFacts, CheckMatch};
use crate::language;
use crate::rule_text::RuleText;
use crate::syntax::LineSet;

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
    let added: usize = behaviour(change_facts).map(|(_, facts)| facts.added_code).sum();
    if added < MIN_LINES || touches_tests(change_facts) || !has_tests(change_facts) {
        return Vec::new();
    }
    let lines = added.saturating_sub(moved_lines(change_facts));
    if lines < MIN_LINES {
        return Vec::new();
    }
    vec![CheckMatch {
        file: None,
        lines: None,
        note: format!("{lines} lines of code come without a test."),
        subject: String::new(),
    }]
}

/// Returns the files whose behaviour tests of the repository could check.
fn behaviour<'f>(
    change_facts: &'f ChangeFacts<'_>,
) -> impl Iterator<Item = (&'f FileDiff, &'f FileFacts)> {
    change_facts.reviewed_files().filter(|(file, facts)| {
        !facts.is_generated && !file.generated && !language::is_usually_untested(file.path())
    })
}

/// Returns true if the change touches a test in any language, also in one without a grammar, or a
/// file of tests that is not reviewed, such as a snapshot.
fn touches_tests(change_facts: &ChangeFacts<'_>) -> bool {
    change_facts.change.files.iter().any(|file| language::is_test(file.path()))
        || change_facts.reviewed_files().any(|(_, facts)| facts.touches_tests)
}

/// Returns the number of added lines that the change removes at another place.
fn moved_lines(change_facts: &ChangeFacts<'_>) -> usize {
    let mut removed: HashMap<u64, usize> = HashMap::new();
    for file in &change_facts.change.files {
        for (_, hash) in removed_lines(change_facts, file) {
            *removed.entry(hash).or_default() += 1;
        }
    }
    let added = behaviour(change_facts).flat_map(|(_, facts)| &facts.added_lines);
    let moved = added.filter(|(_, hash)| match removed.get_mut(hash) {
        Some(left) if *left > 0 => {
            *left -= 1;
            true
        }
        _ => false,
    });
    moved.count()
}

fn removed_lines(change_facts: &ChangeFacts<'_>, file: &FileDiff) -> Vec<(u32, u64)> {
    let removed = LineSet::new(file.hunks.iter().flat_map(|hunk| hunk.removed.iter().copied()));
    let path = file.old_path.as_deref().and_then(|path| RepoPath::exact(path).ok());
    // If the text cannot be read, the change records the error, and the review is incomplete.
    let text = path.and_then(|path| change_facts.change.base().read(&path).ok().flatten());
    text.map(|text| lines_with_content(&text, &removed)).unwrap_or_default()
}

/// Returns true if the repository has any tests.
fn has_tests(change_facts: &ChangeFacts<'_>) -> bool {
    // If the files cannot be listed, the change records the error, and the review is incomplete.
    let Ok(paths) = change_facts.change.base().paths() else { return true };
    paths.iter().any(|path| language::is_code(path.as_str()) && language::is_test(path.as_str()))
}
