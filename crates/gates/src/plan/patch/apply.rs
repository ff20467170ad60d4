//! The hunks of a file applied to its lines: [`weave`].

use super::patched_line::{Budget, LineOrigin, Misfit, Moved, Written};
use super::place::Places;
use super::{End, FilePatch, Hunk, Mark};

/// The result of applying.
pub(super) struct Woven {
    pub(super) lines: Vec<Written>,
    pub(super) misfits: Vec<Misfit>,
    pub(super) moved: Vec<Moved>,
}

/// Applies the hunks of a file, one after another. One that does not fit is left out.
pub(super) fn weave(
    before: Vec<Written>,
    file: &FilePatch<'_>,
    end: End,
    budget: &mut Budget,
) -> Woven {
    let mut woven = Woven { lines: Vec::new(), misfits: Vec::new(), moved: Vec::new() };
    let mut placed: Vec<(usize, &Hunk<'_>)> = Vec::new();
    let places = Places::new(&before);
    let mut from = 0;
    for hunk in &file.hunks {
        let found = match hunk.is_whole {
            true => places.find(hunk, from, budget),
            false => Err("it cannot be read".to_owned()),
        };
        match found {
            Ok(at) => {
                let count = hunk.before().count();
                note_moved(&mut woven.moved, hunk, at, count);
                placed.push((at, hunk));
                from = at + count;
            }
            Err(why) => woven.misfits.push(Misfit { line: hunk.line, why }),
        }
    }
    budget.spend(before.len());
    woven.lines = merged(before, &placed, end);
    woven
}

fn note_moved(moved: &mut Vec<Moved>, hunk: &Hunk<'_>, at: usize, count: usize) {
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    if count > 0 && number(at + 1) != hunk.old.start {
        moved.push(Moved { line: hunk.line, stated: hunk.old.start, fits: number(at + 1) });
    }
}

/// Puts the added lines where they belong and leaves the removed ones out.
fn merged(before: Vec<Written>, placed: &[(usize, &Hunk<'_>)], end: End) -> Vec<Written> {
    let mut lines = Vec::with_capacity(before.len());
    let mut rest = before.into_iter();
    let mut passed = 0;
    for (at, hunk) in placed {
        lines.extend(rest.by_ref().take(at - passed));
        passed = *at;
        let end = if is_mixed(hunk) { None } else { Some(end) };
        for line in &hunk.lines {
            match line.mark {
                // A line without a mark is in no hunk that is placed.
                Mark::Context | Mark::Unmarked => {
                    lines.extend(rest.next());
                    passed += 1;
                }
                Mark::Removed => {
                    rest.next();
                    passed += 1;
                }
                Mark::Added => {
                    let end = match (line.end, end) {
                        (End::None, _) | (_, None) => line.end,
                        (End::Feed | End::ReturnFeed, Some(end)) => end,
                    };
                    lines.push(Written::new(line.text, end, LineOrigin::Plan(line.at)));
                }
            }
        }
    }
    lines.extend(rest);
    lines
}

/// Returns true if some lines of a hunk end with a return and some without: then it is about that.
fn is_mixed(hunk: &Hunk<'_>) -> bool {
    let ends = |end: End| hunk.lines.iter().any(|line| line.end == end);
    ends(End::Feed) && ends(End::ReturnFeed)
}
