//! A fix that a user can apply with one click: [`suggest`] writes the block if the fix is exact.
//!
//! The block replaces exactly the lines of its comment, so both are decided here together.

use super::dialect::CommentDialect;
use super::diff::DiffSide;
use super::file_cache::FileCache;
use super::placement::{CommentPlace, Placement, PlacementOffset, overlap};
use crate::claim_similarity::squeeze;
use crate::finding::{Finding, GroundingMark};
use crate::path::RepoPath;
use crate::vote::{LineRange, Replacement};
use crate::write::escape;

/// The maximum number of lines of a block that is extended to the lines of its comment.
const MAX_BLOCK_LINES: u32 = 30;
/// The maximum length of a block, in bytes.
const MAX_BLOCK_BYTES: usize = 10_000;
/// The minimum length of a line, in characters without whitespace, that does not occur twice in a
/// row by chance.
const MIN_DISTINCTIVE_CHARS: usize = 8;

/// A syntax check for the text of files.
///
/// An implementation checks the text alone: it reads no file, and runs no program.
pub trait SyntaxChecker {
    /// Returns true if the text parses without an error; `None` if the language is unknown.
    fn parses(&self, path: &RepoPath, text: &str) -> Option<bool>;
}

/// A block, and the lines that it replaces.
pub(super) struct Suggestion {
    pub(super) block: String,
    pub(super) lines: LineRange,
}

/// Writes the block of a finding whose fix is exact, applies to the file as it is, is in the hunk
/// of its comment, and does not break the syntax of the file.
pub(super) fn suggest(
    finding: &Finding,
    placed: &Placement,
    files: &FileCache<'_>,
    parses: Option<&dyn SyntaxChecker>,
    dialect: CommentDialect,
) -> Option<Suggestion> {
    let replacement = finding.replacement.as_ref().filter(|_| is_at_stated_place(finding))?;
    let path = finding.file.as_ref()?;
    let lines = range(replacement, placed)?;
    let text = files.read(path)?;
    let edit = Edit::new(&text, replacement)?;
    if edit.changes_nothing() || edit.repeats_a_neighbour() {
        return None;
    }
    if let Some(parses) = parses
        && parses.parses(path, &edit.edited_file()) == Some(false)
        && parses.parses(path, &text) != Some(false)
    {
        return None;
    }
    let code = edit.edited_lines(lines)?;
    let is_plain =
        matches!(escape::escape_hidden(&code.replace("\r\n", "\n")), std::borrow::Cow::Borrowed(_));
    if !is_plain || code.len() > MAX_BLOCK_BYTES || !dialect.can_show(&code) {
        return None;
    }
    let fence = escape::fence_around(&code);
    let tag = dialect.suggestion_tag(lines);
    Some(Suggestion { block: format!("{fence}{tag}\n{code}{fence}"), lines })
}

/// Returns true if the finding is at the place that its reviewer stated; otherwise the lines of the
/// fix are wrong as well.
fn is_at_stated_place(finding: &Finding) -> bool {
    let off = [
        GroundingMark::FileMoved,
        GroundingMark::LineMoved,
        GroundingMark::LineBeyondEnd,
        GroundingMark::QuoteNotFound,
    ];
    !finding.marks.iter().any(|mark| off.contains(mark))
}

/// Returns the lines of both the comment and the fix, if they are in one hunk.
fn range(replacement: &Replacement, placed: &Placement) -> Option<LineRange> {
    let CommentPlace::DiffLines { side: DiffSide::Right, start, line } = placed.place else {
        return None;
    };
    let (PlacementOffset::Exact | PlacementOffset::Clipped(_)) = placed.fit else { return None };
    let run = placed.run?;
    let shown = LineRange::range(start.unwrap_or(line), line)?;
    let fixed = LineRange::range(replacement.start_line(), replacement.end_line())?;
    overlap(shown, fixed)?;
    let both = LineRange::range(shown.start().min(fixed.start()), shown.end().max(fixed.end()))?;
    let fits = |lines: &LineRange| overlap(run, *lines) == Some(*lines);
    let is_short = both.end() - both.start() < MAX_BLOCK_LINES;
    Some(both).filter(|both| is_short && fits(both)).or(Some(fixed).filter(fits))
}

/// A replacement and the file that it applies to.
struct Edit<'t> {
    /// The file's lines, each with its end.
    lines: Vec<&'t str>,
    /// The index of the first line that is replaced, from 0.
    from: usize,
    /// The index of the first line behind the replaced ones.
    to: usize,
    /// The new lines, each with its end.
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

    /// Returns true if the edit adds a line that already exists just before or after it, as in a
    /// fix whose line numbers are off.
    fn repeats_a_neighbour(&self) -> bool {
        let is_new_twin = |new: Option<&String>, old: Option<&&str>, neighbour: Option<&&str>| {
            let (Some(new), Some(neighbour)) = (new, neighbour) else { return false };
            let new = squeeze(new);
            let was_so = old.is_some_and(|old| squeeze(old) == new);
            new.chars().count() >= MIN_DISTINCTIVE_CHARS && squeeze(neighbour) == new && !was_so
        };
        let replaced = &self.lines[self.from..self.to];
        let before = self.from.checked_sub(1).and_then(|at| self.lines.get(at));
        is_new_twin(self.new.first(), replaced.first(), before)
            || is_new_twin(self.new.last(), replaced.last(), self.lines.get(self.to))
    }

    /// Returns the whole file after the edit.
    fn edited_file(&self) -> String {
        let mut out = self.lines[..self.from].concat();
        out.push_str(&self.new.concat());
        out.push_str(&self.lines[self.to..].concat());
        out
    }

    /// Returns the text of some lines around the edit after it, each with its end; `None` if the
    /// file has no such lines.
    fn edited_lines(&self, lines: LineRange) -> Option<String> {
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
