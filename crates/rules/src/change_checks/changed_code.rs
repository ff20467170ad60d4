//! The code of a file that a change removes and adds, hunk by hunk.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use assay_change::diff::Hunk;
use assay_findings::vote::LineRange;
use regex::Regex;

use super::guard_forms::regex;
use super::{ChangedFile, CheckMatch};
use crate::executable_lines::looks_like_comment;

/// A word that may name a value.
static WORD: LazyLock<Regex> = LazyLock::new(|| regex(r"[A-Za-z_$][\w$]+"));

/// The maximum number of lines between a removed line and a use of its value.
const MAX_DISTANCE: usize = 40;

/// The code of a file before and after a change. Comments and tests are no code.
pub(super) struct ChangedCode<'v> {
    path: Option<String>,
    before: Vec<&'v str>,
    after: Vec<&'v str>,
    /// The hunks that remove code.
    pub(super) hunks: Vec<ChangedHunk<'v>>,
}

/// The code that one hunk removes and adds.
pub(super) struct ChangedHunk<'v> {
    pub(super) removed: Vec<&'v str>,
    /// The added lines, with their numbers.
    pub(super) added: Vec<(u32, &'v str)>,
    /// The line after the change at which the hunk stands.
    pub(super) place: u32,
    /// The removed lines that no added line stands in for.
    pub(super) runs: Vec<RemovedRun<'v>>,
}

/// Successive lines that a change removes without a replacement.
pub(super) struct RemovedRun<'v> {
    pub(super) lines: Vec<&'v str>,
    /// The line after the change that follows.
    pub(super) place: u32,
}

impl<'v> ChangedCode<'v> {
    /// Returns the code of a file that a change edits; `None` for any other file.
    pub(super) fn of(view: &'v ChangedFile<'v>) -> Option<ChangedCode<'v>> {
        let after = view.edited_code()?;
        let code = |line: &'v str| Some(line.trim()).filter(|line| !looks_like_comment(line));
        let lines = |text: &'v str| -> Vec<&str> {
            text.lines().map(|line| code(line).unwrap_or_default()).collect()
        };
        let (before, after) = (lines(view.before()?), lines(after));
        let hunks = view.file.hunks.iter().map(|hunk| ChangedHunk::of(hunk, &before, &after));
        let hunks = hunks.filter(|own| !own.removed.is_empty()).collect();
        Some(ChangedCode { path: view.file.new_path.clone(), before, after, hunks })
    }

    /// Returns true if one of the next lines of the file has a name.
    pub(super) fn uses_below(&self, line: u32, name: &str) -> bool {
        let mut below = self.after.iter().skip(line as usize - 1).take(MAX_DISTANCE);
        below.any(|line| line.contains(name))
    }

    /// Returns the match of a check on the first hunk that loses a protection, unless the file has the
    /// protection as often as before. `lost_in` returns the form that a hunk loses, and its line.
    pub(super) fn lost_protection(
        &self,
        name: &str,
        pattern: &Regex,
        lost_in: impl Fn(&ChangedHunk<'v>) -> Option<(&'v str, u32)>,
    ) -> Option<CheckMatch> {
        let (form, line) = self.hunks.iter().find_map(lost_in)?;
        self.is_rarer(pattern).then(|| CheckMatch {
            file: self.path.clone(),
            lines: LineRange::at(line),
            note: format!("The change takes away {name} (`{form}`)."),
            subject: name.to_owned(),
        })
    }

    /// Returns true if the file has a pattern less often than before.
    fn is_rarer(&self, pattern: &Regex) -> bool {
        let count = |lines: &[&str]| {
            lines.iter().map(|line| pattern.find_iter(line).count()).sum::<usize>()
        };
        count(&self.after) < count(&self.before)
    }
}

impl<'v> ChangedHunk<'v> {
    fn of(hunk: &Hunk, before: &[&'v str], after: &[&'v str]) -> ChangedHunk<'v> {
        let first = hunk.removed.first().map_or(1, |lines| lines.start());
        let removed = lines_in(before, &hunk.removed).into_iter().map(|(_, line)| line);
        let run = |own: &LineRange| {
            let place = hunk.place_of_removed(own.start());
            let in_place = hunk.added.iter().find(|added| added.start() == place);
            let is_replaced = in_place.is_some_and(|added| !lines_in(after, &[*added]).is_empty());
            let lines = lines_in(before, &[*own]).into_iter().map(|(_, line)| line).collect();
            (!is_replaced).then_some(RemovedRun { lines, place })
        };
        ChangedHunk {
            runs: hunk.removed.iter().filter_map(run).collect(),
            removed: removed.collect(),
            added: lines_in(after, &hunk.added),
            place: hunk.place_of_removed(first),
        }
    }

    /// Returns the number of the added line that replaces a removed line: the first one that is wanted
    /// and has a word of the removed line, other than those of a form in that line.
    pub(super) fn replacement_of(
        &self,
        removed: &str,
        form: Range<usize>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Option<u32> {
        let around = [&removed[..form.start], &removed[form.end..]];
        let values: BTreeSet<&str> = around.into_iter().flat_map(words).collect();
        let has_value = |line: &str| words(line).any(|word| values.contains(word));
        let mut added = self.added.iter();
        let line = added.find(|(_, line)| is_wanted(line) && has_value(line));
        line.map(|(number, _)| *number)
    }
}

/// Returns the lines of code in some ranges, with their numbers.
fn lines_in<'t>(lines: &[&'t str], ranges: &[LineRange]) -> Vec<(u32, &'t str)> {
    let numbers = ranges.iter().flat_map(|range| range.start()..=range.end());
    let line = |number: u32| Some((number, *lines.get(number as usize - 1)?));
    numbers.filter_map(line).filter(|(_, line)| !line.is_empty()).collect()
}

/// Returns the words in a line that may name a value.
fn words(line: &str) -> impl Iterator<Item = &str> {
    WORD.find_iter(line).map(|word| word.as_str())
}
