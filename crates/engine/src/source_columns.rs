//! The columns of findings in the units that formats count in: [`utf16_columns`].

use std::collections::{BTreeMap, HashMap};

use assay_change::Change;
use assay_findings::finding::Finding;
use assay_findings::path::RepoPath;

/// Returns the columns at which findings start, in UTF-16 code units from 1, by the ids of the
/// findings. A finding whose line cannot be read has none.
pub fn utf16_columns(change: &Change, findings: &[Finding]) -> BTreeMap<String, u32> {
    let mut texts: HashMap<&RepoPath, Option<String>> = HashMap::new();
    let mut columns = BTreeMap::new();
    for finding in findings {
        let (Some(file), Some(line), Some(column)) = (&finding.file, finding.line, finding.column)
        else {
            continue;
        };
        let read = || change.tree().read(file).ok().flatten();
        let text = texts.entry(file).or_insert_with(read).as_deref().unwrap_or_default();
        let start = text.lines().nth(line as usize - 1).and_then(|line| utf16_column(line, column));
        columns.extend(start.map(|start| (finding.id.clone(), start)));
    }
    columns
}

/// Converts a column in bytes from 1; `None` if no letter of the line starts there.
fn utf16_column(line: &str, column: u32) -> Option<u32> {
    let before = line.get(..(column as usize).checked_sub(1)?)?;
    u32::try_from(before.encode_utf16().count() + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_outside_of_ascii_are_counted_in_utf_16() {
        assert_eq!(utf16_column("a\u{e9}b", 4), Some(3));
        assert_eq!(utf16_column("\u{1f980}b", 5), Some(3));
        assert_eq!(utf16_column("ab", 1), Some(1));
    }

    #[test]
    fn a_column_within_a_letter_or_beyond_the_line_is_unknown() {
        assert_eq!(utf16_column("\u{e9}b", 2), None);
        assert_eq!(utf16_column("ab", 9), None);
        assert_eq!(utf16_column("ab", 0), None);
    }
}
