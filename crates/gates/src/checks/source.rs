//! Source lines in a change or in a plan: [`of_file`], [`of_piece`].

use assay_change::unified::{Mark, Piece};
use assay_rules::SourceLines;

use super::changed_file::ChangedFileText;

/// Returns the lines of a whole file; `None` if its language is unknown.
pub(super) fn of_file<'t>(written: &'t ChangedFileText<'_>) -> Option<SourceLines<'t>> {
    let added = written.added().into_iter().map(|(number, _)| number as usize - 1);
    SourceLines::new(written.path, written.text.lines().collect(), added.collect(), false)
}

/// Returns the lines of a file in a piece of a planned diff; `None` if its language is unknown.
pub(super) fn of_piece<'t>(path: &'t str, piece: &Piece<'t>) -> Option<SourceLines<'t>> {
    let lines = piece.lines.iter();
    let added = lines.clone().enumerate().filter(|(_, line)| line.mark == Mark::Added);
    let added = added.map(|(at, _)| at).collect();
    SourceLines::new(path, lines.map(|line| line.text).collect(), added, piece.is_cut)
}
