//! Generated files that are edited by hand.

use super::{ChangeCheck, Sighting, Whole};
use crate::wording::Wording;

pub(super) const CHECK: ChangeCheck = ChangeCheck {
    wording: Wording {
        id: "change/generated-file-edited",
        grade: "MEDIUM",
        category: "maintainability",
        title: "Generated file edited by hand",
        message: "The next run of the generator takes the edit away.",
        advice: "Change what the file is generated from, and generate it again.",
    },
    look,
};

/// Reports only a change that touches nothing but generated files: otherwise the files may have
/// been generated again.
fn look(whole: &Whole<'_>) -> Vec<Sighting> {
    let is_generated =
        |facts: &Option<super::Facts>| facts.as_ref().is_some_and(|f| f.was_generated);
    if !whole.facts.iter().all(is_generated) {
        return Vec::new();
    }
    let seen = whole.known().map(|(file, _)| Sighting {
        file: file.new_path.clone(),
        lines: file.added().next(),
        note: "Its head says that it is generated.".to_owned(),
        subject: String::new(),
    });
    seen.collect()
}
