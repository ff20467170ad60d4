//! The code of a file that a change removes and adds, hunk by hunk.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use assay_change::diff::Hunk;
use assay_findings::vote::LineRange;
use regex::Regex;

use super::ChangedFile;
use crate::executable_lines::looks_like_comment;

/// A word that may name a value.
static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z_$][\w$]+").expect("the pattern is valid"));

/// The maximum number of lines between a removed line and a use of its value.
const MAX_DISTANCE: usize = 40;

/// The code of a file before and after a change. Comments and tests are no code.
pub(super) struct ChangedCode<'v> {
    view: &'v ChangedFile<'v>,
    before: Vec<&'v str>,
    after: Vec<&'v str>,
}

/// The code that one hunk removes and adds.
pub(super) struct ChangedHunk<'v> {
    pub(super) removed: Vec<&'v str>,
    /// The added lines, with their numbers.
    pub(super) added: Vec<(u32, &'v str)>,
    /// The line after the change at which the hunk stands.
    pub(super) place: u32,
}

impl<'v> ChangedCode<'v> {
    /// Returns the code of a file that a change edits; `None` for any other file.
    pub(super) fn of(view: &'v ChangedFile<'v>) -> Option<ChangedCode<'v>> {
        let after = view.edited_code()?;
        let code = |line: &'v str| Some(line.trim()).filter(|line| !looks_like_comment(line));
        let lines = |text: &'v str| text.lines().map(|line| code(line).unwrap_or_default());
        let (before, after) = (lines(view.before()?).collect(), lines(after).collect());
        Some(ChangedCode { view, before, after })
    }

    /// Returns the hunks that remove code.
    pub(super) fn hunks(&self) -> impl Iterator<Item = ChangedHunk<'v>> {
        self.view
            .file
            .hunks
            .iter()
            .map(|hunk| self.hunk(hunk))
            .filter(|own| !own.removed.is_empty())
    }

    fn hunk(&self, hunk: &Hunk) -> ChangedHunk<'v> {
        let added: Vec<(u32, &str)> = lines_in(&self.after, &hunk.added);
        let removed = lines_in(&self.before, &hunk.removed);
        let first = hunk.removed.first().map_or(1, |lines| lines.start());
        let place = hunk.place_of_removed(first);
        let removed = removed.into_iter().map(|(_, line)| line).collect();
        ChangedHunk { removed, added, place }
    }

    /// Returns true if one of the next lines of the file has a name.
    pub(super) fn uses_below(&self, line: u32, name: &str) -> bool {
        let below = self.after.iter().skip(line as usize - 1).take(MAX_DISTANCE);
        below.clone().any(|line| line.contains(name))
    }

    /// Returns true if the file has a pattern less often than before.
    pub(super) fn is_rarer(&self, pattern: &Regex) -> bool {
        let count = |lines: &[&str]| {
            lines.iter().map(|line| pattern.find_iter(line).count()).sum::<usize>()
        };
        count(&self.after) < count(&self.before)
    }
}

/// Returns the lines of code in some ranges, with their numbers.
fn lines_in<'t>(lines: &[&'t str], ranges: &[LineRange]) -> Vec<(u32, &'t str)> {
    let numbers = ranges.iter().flat_map(|range| range.start()..=range.end());
    let line = |number: u32| Some((number, *lines.get(number as usize - 1)?));
    numbers.filter_map(line).filter(|(_, line)| !line.is_empty()).collect()
}

/// Returns the words in a line that may name a value.
pub(super) fn words(line: &str) -> BTreeSet<&str> {
    WORD.find_iter(line).map(|word| word.as_str()).collect()
}
