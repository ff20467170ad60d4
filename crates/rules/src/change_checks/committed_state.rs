//! State of assay that is part of a change.

use std::collections::BTreeMap;

use assay_change::diff::FileDiff;
use assay_change::state::is_state;

use super::{ChangeCheck, ChangeFacts, CheckMatch};
use crate::rule_text::RuleText;

pub(super) const CHECK: ChangeCheck = ChangeCheck {
    rule_text: RuleText {
        id: "change/state-committed",
        grade: "HIGH",
        category: "security",
        title: "State of assay is part of the change",
        message: "Runs, answers, decisions and messages below `.assay/` belong to one machine. In a \
                  repository they can be forged, to pass for a review that took place.",
        advice: "Take the files out with `git rm -r --cached`, and commit none of them: people write \
                 rules, personas, prompts, flows and the baseline, and nothing else there.",
    },
    find,
};

/// Returns one finding for each kind of state, however many files it has. Files that no reviewer
/// reads, such as a database or a link, count as well.
fn find(change_facts: &ChangeFacts<'_>) -> Vec<CheckMatch> {
    let mut kinds: BTreeMap<String, Vec<&FileDiff>> = BTreeMap::new();
    for file in &change_facts.change.files {
        let Some(path) = file.new_path.as_deref().filter(|path| is_state(path)) else { continue };
        let kind: Vec<&str> = path.split('/').take(2).collect();
        kinds.entry(kind.join("/")).or_default().push(file);
    }
    let seen = kinds.into_iter().filter_map(|(kind, files)| {
        let first = files.first()?;
        let count = match files.len() {
            1 => "1 file".to_owned(),
            count => format!("{count} files"),
        };
        Some(CheckMatch {
            file: first.new_path.clone(),
            lines: first.added().next(),
            note: format!("The change has {count} in `{kind}`."),
            subject: kind,
        })
    });
    seen.collect()
}
