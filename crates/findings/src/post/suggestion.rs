//! A fix that can be taken over with one click: [`suggest`] makes the block where it is exact.
//!
//! The block replaces just the lines of its comment, so both are decided here together.

use super::anchor::{Fit, Place, Placed, overlap};
use super::diff::Side;
use super::files::Files;
use crate::finding::{Finding, Mark};
use crate::likeness::squeeze;
use crate::path::RepoPath;
use crate::vote::{Lines, Replacement};
use crate::write::plain;

/// The most lines that a block repeats for the sake of its comment's range.
const MOST_LINES: u32 = 30;
/// The most bytes of a block.
const MOST_BYTES: usize = 10_000;
/// A line this long, blanks apart, does not stand twice in a row by chance.
const TELLING: usize = 8;

/// Says whether the text of a file is well-formed in its language.
///
/// An implementation answers for the text alone: it reads no file, and runs nothing.
pub trait Parses {
    /// Says whether the text parses without an error; `None` where the language is unknown.
    fn parses(&self, path: &RepoPath, text: &str) -> Option<bool>;
}

/// A block, and the lines that it replaces.
pub(super) struct Suggestion {
    pub(super) block: String,
    pub(super) lines: Lines,
}

/// Makes the block of a finding whose fix is exact, applies to the file as it is, lies in the hunk
/// of its comment, and leaves a file that parses.
pub(super) fn suggest(
    finding: &Finding,
    placed: &Placed,
    files: &Files<'_>,
    parses: Option<&dyn Parses>,
) -> Option<Suggestion> {
    let replacement = finding.replacement.as_ref().filter(|_| is_where_it_was_said(finding))?;
    let path = finding.file.as_ref()?;
    let lines = range(replacement, placed)?;
    let text = files.read(path)?;
    let edit = Edit::new(&text, replacement)?;
    if edit.changes_nothing() || edit.repeats_a_neighbour() {
        return None;
    }
    if let Some(parses) = parses
        && parses.parses(path, &edit.whole()) == Some(false)
        && parses.parses(path, &text) != Some(false)
    {
        return None;
    }
    let code = edit.within(lines)?;
    let is_plain =
        matches!(plain::visible(&code.replace("\r\n", "\n")), std::borrow::Cow::Borrowed(_));
    if !is_plain || code.len() > MOST_BYTES {
        return None;
    }
    let fence = plain::fence_around(&code);
    Some(Suggestion { block: format!("{fence}suggestion\n{code}{fence}"), lines })
}

/// Says whether the finding stands where its reviewer put it: else its fix is off as well.
fn is_where_it_was_said(finding: &Finding) -> bool {
    let off = [Mark::FileMoved, Mark::LineMoved, Mark::LineBeyondEnd, Mark::QuoteNotFound];
    !finding.marks.iter().any(|mark| off.contains(mark))
}

/// Gives the lines that both the comment and the fix are on, if one hunk holds them.
fn range(replacement: &Replacement, placed: &Placed) -> Option<Lines> {
    let Place::Lines { side: Side::Right, start, line } = placed.place else { return None };
    let (Fit::Exact | Fit::Clipped(_)) = placed.fit else { return None };
    let run = placed.run?;
    let shown = Lines::range(start.unwrap_or(line), line)?;
    let fixed = Lines::range(replacement.start_line(), replacement.end_line())?;
    overlap(shown, fixed)?;
    let both = Lines::range(shown.start().min(fixed.start()), shown.end().max(fixed.end()))?;
    let fits = |lines: &Lines| overlap(run, *lines) == Some(*lines);
    let is_short = both.end() - both.start() < MOST_LINES;
    Some(both).filter(|both| is_short && fits(both)).or(Some(fixed).filter(fits))
}

/// A replacement and the file that it is made in.
struct Edit<'t> {
    /// The file's lines, each with its end.
    lines: Vec<&'t str>,
    /// The first line to go, counted from 0.
    from: usize,
    /// The first line to stay again.
    to: usize,
    /// The lines that come, each with its end.
    new: Vec<String>,
}

impl<'t> Edit<'t> {
    fn new(text: &'t str, replacement: &Replacement) -> Option<Edit<'t>> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let from = usize::try_from(replacement.start_line()).ok()?.checked_sub(1)?;
        let to = usize::try_from(replacement.end_line()).ok()?;
        let replaced = lines.get(from..to).filter(|lines| !lines.is_empty())?;
        let whole = replaced.iter().chain(lines.first()).find(|line| line.ends_with('\n'));
        let is_crlf = whole.is_some_and(|line| line.ends_with("\r\n"));
        let end = if is_crlf { "\r\n" } else { "\n" };
        let new = replacement.text().lines().map(|line| format!("{line}{end}")).collect();
        Some(Edit { lines, from, to, new })
    }

    fn changes_nothing(&self) -> bool {
        let ends = |line: &str| line.trim_end_matches(['\r', '\n']).to_owned();
        let old = self.lines[self.from..self.to].iter().map(|line| ends(line));
        old.eq(self.new.iter().map(|line| ends(line)))
    }

    /// Says whether it brings a line that already stands just before or after it, as whoever counts
    /// lines wrongly does.
    fn repeats_a_neighbour(&self) -> bool {
        let is_new_twin = |new: Option<&String>, old: Option<&&str>, neighbour: Option<&&str>| {
            let (Some(new), Some(neighbour)) = (new, neighbour) else { return false };
            let new = squeeze(new);
            let was_so = old.is_some_and(|old| squeeze(old) == new);
            new.chars().count() >= TELLING && squeeze(neighbour) == new && !was_so
        };
        let replaced = &self.lines[self.from..self.to];
        let before = self.from.checked_sub(1).and_then(|at| self.lines.get(at));
        is_new_twin(self.new.first(), replaced.first(), before)
            || is_new_twin(self.new.last(), replaced.last(), self.lines.get(self.to))
    }

    /// Gives the whole file after it.
    fn whole(&self) -> String {
        let mut out = self.lines[..self.from].concat();
        out.push_str(&self.new.concat());
        out.push_str(&self.lines[self.to..].concat());
        out
    }

    /// Gives what stands on some lines around it after it, each with its end; `None` where the file
    /// has no such lines.
    fn within(&self, lines: Lines) -> Option<String> {
        let (start, end) = (lines.start() as usize - 1, lines.end() as usize);
        let before = self.lines.get(start..self.from)?;
        let after = self.lines.get(self.to..end)?;
        let mut out = before.concat() + &self.new.concat() + &after.concat();
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        Some(out)
    }
}
