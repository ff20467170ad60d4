//! Generated files that are edited by hand.

use super::{ChangeCheck, ChangeFacts, CheckMatch};
use crate::rule_text::RuleText;

pub(super) const CHECK: ChangeCheck = ChangeCheck {
    rule_text: RuleText {
        id: "change/generated-file-edited",
        grade: "MEDIUM",
        category: "maintainability",
        title: "Generated file edited by hand",
        message: "The next run of the generator overwrites the edit.",
        advice: "Change the source of the generated file, and generate the file again.",
    },
    find,
};

/// Reports only a change that touches nothing but generated files: otherwise the files may have
/// been generated again.
fn find(change_facts: &ChangeFacts<'_>) -> Vec<CheckMatch> {
    let is_generated =
        |facts: &Option<super::FileFacts>| facts.as_ref().is_some_and(|f| f.was_generated);
    if !change_facts.facts.iter().all(is_generated) {
        return Vec::new();
    }
    let seen = change_facts.reviewed_files().map(|(file, _)| CheckMatch {
        file: file.new_path.clone(),
        lines: file.added().next(),
        note: "The header of the file says that the file is generated.".to_owned(),
        subject: String::new(),
    });
    seen.collect()
}
