//! Generated files that are edited by hand.

use super::{Check, Sighting, Whole};
use crate::wording::Wording;

pub(super) const CHECK: Check = Check {
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

/// Only a change that touches nothing but generated files is told: beside anything else, the
/// files may well have been generated anew.
fn look(whole: &Whole<'_>) -> Vec<Sighting> {
    let generated = whole.files.iter().map(|file| {
        let before = whole.before(file)?;
        says_generated(&before).then(|| Sighting {
            file: file.new_path.clone(),
            lines: file.added().next(),
            note: "Its head says that it is generated.".to_owned(),
            subject: String::new(),
        })
    });
    let all: Option<Vec<Sighting>> = generated.collect();
    let untouched_besides = whole.files.len() == whole.change.files.len();
    all.filter(|_| untouched_besides).unwrap_or_default()
}

/// Says whether a file's first lines call it generated.
fn says_generated(text: &str) -> bool {
    text.lines().take(5).any(|line| {
        let folded = line.to_ascii_lowercase();
        folded.contains("@generated")
            || (folded.contains("generated") && folded.contains("do not edit"))
            || (folded.contains("automatically generated") && folded.contains("do not modify"))
    })
}
