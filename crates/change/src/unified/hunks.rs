//! Application of a file's hunks to its lines: [`apply`].

use super::hunk_locator::HunkLocator;
use super::patched_line::{Budget, LineOrigin, PatchedLine};
use super::{FilePatch, HunkText, LineEnd, Mark, Misfit, MisfitKind, MovedHunk};

/// The lines of a patched file, and the hunks that do not fit or that moved.
#[derive(Default)]
pub(super) struct AppliedHunks {
    pub(super) lines: Vec<PatchedLine>,
    pub(super) misfits: Vec<Misfit>,
    pub(super) moved: Vec<MovedHunk>,
}

/// Applies the hunks of a file, one after another. A hunk that does not fit is skipped.
pub(super) fn apply(
    before: Vec<PatchedLine>,
    file: &FilePatch<'_>,
    end: LineEnd,
    budget: &mut Budget,
) -> AppliedHunks {
    let mut applied = AppliedHunks::default();
    let mut placed: Vec<(usize, &HunkText<'_>)> = Vec::new();
    let places = HunkLocator::new(&before);
    let mut from = 0;
    for hunk in &file.hunks {
        let found = match hunk.is_whole {
            true => places.find(hunk, from, budget),
            false => Err(MisfitKind::Unreadable),
        };
        match found {
            Ok(at) => {
                let count = hunk.before().count();
                let (stated, fits) = (hunk.old.start, u32::try_from(at + 1).unwrap_or(u32::MAX));
                if count > 0 && fits != stated {
                    applied.moved.push(MovedHunk { line: hunk.line, stated, fits });
                }
                placed.push((at, hunk));
                from = at + count;
            }
            Err(kind) => applied.misfits.push(Misfit { line: hunk.line, kind }),
        }
    }
    budget.spend(before.len());
    applied.lines = merge(before, &placed, end);
    applied
}

/// Inserts the added lines and leaves the removed ones out.
fn merge(
    before: Vec<PatchedLine>,
    placed: &[(usize, &HunkText<'_>)],
    end: LineEnd,
) -> Vec<PatchedLine> {
    let mut lines = Vec::with_capacity(before.len());
    let mut rest = before.into_iter();
    let mut passed = 0;
    for (at, hunk) in placed {
        lines.extend(rest.by_ref().take(at - passed));
        passed = at + hunk.before().count();
        let is_mixed = is_mixed(hunk);
        for line in &hunk.lines {
            match line.mark {
                // A hunk with an unmarked line is never placed.
                Mark::Context | Mark::Unmarked => lines.extend(rest.next()),
                Mark::Removed => drop(rest.next()),
                Mark::Added => {
                    let end = if is_mixed || line.end == LineEnd::None { line.end } else { end };
                    lines.push(PatchedLine::new(line.text, end, LineOrigin::Diff(line.at)));
                }
            }
        }
    }
    lines.extend(rest);
    lines
}

/// Returns true if some lines of a hunk end with a carriage return and others do not: then the hunk
/// changes line ends.
fn is_mixed(hunk: &HunkText<'_>) -> bool {
    let ends = |end: LineEnd| hunk.lines.iter().any(|line| line.end == end);
    ends(LineEnd::Feed) && ends(LineEnd::ReturnFeed)
}
