//! The number of files that a review of all files leaves out: [`left_out_note`].

use std::collections::BTreeMap;

use assay_change::Change;
use assay_change::diff::FileDiff;

use crate::wording::count;

/// Returns a note with the number of files that are left out, by the rule that left them out; `None`
/// if there are none. The rules for excluded files must have been applied.
pub(crate) fn left_out_note(change: &Change) -> Option<String> {
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for rule in change.files.iter().filter_map(rule) {
        *rules.entry(rule).or_default() += 1;
    }
    let number: usize = rules.values().sum();
    let counts: Vec<String> =
        rules.iter().map(|(rule, files)| format!("{files} ({rule})")).collect();
    let of_all = format!("{number} of {}", count(change.files.len(), "file"));
    (number > 0).then(|| format!("{of_all} left out: {}", counts.join(", ")))
}

fn rule(file: &FileDiff) -> Option<&str> {
    let excluded = file.left_out.as_ref().map(|exclusion| exclusion.rule.as_str());
    excluded.or_else(|| file.without_content())
}
