//! Edits of a text that fix findings: [`edit`].

use std::ops::Range;

use assay_findings::path::RepoPath;
use assay_findings::vote::AutofixClass;
use assay_review::fix::FixPlan;
use assay_review::runs::StoredFix;

use super::EditorFinding;

/// An edit of a text: bytes, and the text that replaces them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByteEdit {
    /// The bytes that are replaced; both ends are at the start of a line or the end of the text.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

/// Returns the edit that applies fixes to a text; `None` if no fix applies to it. A fix does not
/// apply if it was made for another text, or if the file would not parse after it.
pub fn edit(path: &RepoPath, text: &str, fixes: Vec<StoredFix>) -> Option<ByteEdit> {
    let plan = FixPlan::of_text(path, text, fixes);
    let after = plan.files.into_iter().next()?.after;
    Some(difference(text, &after))
}

/// Returns the edit that applies all safe fixes of a file to its text; `None` if there is none.
pub fn edit_safe(path: &RepoPath, text: &str, findings: &[EditorFinding]) -> Option<ByteEdit> {
    let fixes = findings.iter().filter_map(|found| found.fix.clone());
    let safe: Vec<StoredFix> = fixes.filter(|fix| fix.class == AutofixClass::SafeAuto).collect();
    edit(path, text, safe)
}

/// Returns the smallest edit of whole lines between two texts.
fn difference(before: &str, after: &str) -> ByteEdit {
    let same = |pair: &(&str, &str)| pair.0 == pair.1;
    let lines = |text: &'_ str| text.split_inclusive('\n').map(str::len).collect::<Vec<usize>>();
    let pairs = before.split_inclusive('\n').zip(after.split_inclusive('\n'));
    let start: usize = pairs.take_while(same).map(|(line, _)| line.len()).sum();
    let (old, new) = (&before[start..], &after[start..]);
    let ends = lines(old).into_iter().rev().zip(lines(new).into_iter().rev());
    let mut end = 0;
    for (old_line, new_line) in ends {
        let is_same = old_line == new_line
            && old[old.len() - end - old_line..] == new[new.len() - end - new_line..];
        if !is_same {
            break;
        }
        end += old_line;
    }
    ByteEdit { range: start..before.len() - end, text: after[start..after.len() - end].to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(text: &str, edit: &ByteEdit) -> String {
        format!("{}{}{}", &text[..edit.range.start], edit.text, &text[edit.range.end..])
    }

    #[test]
    fn the_difference_of_two_texts_turns_one_into_the_other() {
        let texts =
            ["", "a", "a\n", "a\nb\n", "b\n", "a\nb\nc", "a\na\na\n", "a\r\nb\r\n", "é\n😀\n"];
        for before in texts {
            for after in texts {
                let edit = difference(before, after);
                assert_eq!(apply(before, &edit), after, "{before:?} to {after:?}: {edit:?}");
            }
        }
    }

    #[test]
    fn the_difference_covers_only_lines_that_differ() {
        let edit = difference("a\nb\nc\nd\n", "a\nx\nd\n");
        assert_eq!(edit, ByteEdit { range: 2..6, text: "x\n".to_owned() });
    }
}
