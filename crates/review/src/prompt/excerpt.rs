//! A changed file as prompts show it: [`Excerpt`], in units that stay together.
//!
//! A unit has changed lines and the symbol around them. Every line is shown with its number, and
//! whether it was added, removed or unchanged.

use std::collections::{BTreeMap, BTreeSet};

use assay_base::text::first_bytes;
use assay_change::diff::{FileDiff, Hunk, Origin};
use assay_findings::grounding::{Symbol, Tree};
use assay_findings::path::RepoPath;
use assay_findings::vote::LineRange;
use assay_rules::{WITHHELD_LINE, find_injections_in_file};

use crate::sanitize::names;

/// The number of lines up to which a function or type is shown as a whole.
const MAX_SYMBOL_LINES: u32 = 80;

/// The number of lines around a change that are shown of anything longer.
const CONTEXT_LINES: u32 = 8;

/// The maximum number of bytes of a line; a longer one is truncated.
const MAX_LINE_BYTES: usize = 2_000;

/// The number of unchanged blank lines in a row from which a mark replaces them. If only the diff of a
/// change is known, unknown lines are blank.
const MIN_LEFT_OUT_LINES: usize = 4;

/// The maximum number of lines of a deleted file.
const MAX_DELETED_LINES: usize = 120;

/// A changed file as text.
#[derive(Debug, Clone)]
pub(crate) struct Excerpt {
    pub(crate) path: RepoPath,
    pub(crate) heading: String,
    pub(crate) units: Vec<Unit>,
}

/// Lines that stay together if possible.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unit {
    pub(crate) lines: Vec<Line>,
    /// The name of the symbol around the lines; `None` if there is none.
    pub(crate) symbol: Option<String>,
}

/// A line as it is shown.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// The byte offset at which the file's own text begins.
    own: usize,
    /// The number of the line's hunk, counted over the whole change; `None` for an unchanged line.
    pub(crate) hunk: Option<usize>,
}

impl Line {
    /// Creates a line from its prefix and the text of the file.
    fn new(about: String, own: &str, hunk: Option<usize>) -> Line {
        Line { own: about.len(), text: about + own, hunk }
    }
}

impl Line {
    /// Returns true if the change added the line.
    pub(super) fn is_added(&self) -> bool {
        self.hunk.is_some() && self.text[..self.own].ends_with("+ ")
    }

    /// Returns the text of the file in the line, without its number and sign.
    pub(super) fn own_text(&self) -> &str {
        &self.text[self.own..]
    }

    /// Returns the number of the line in the file after the change; `None` for a removed line.
    pub(super) fn number(&self) -> Option<u32> {
        self.text[..self.own].trim_start().split(' ').next()?.parse().ok()
    }
}

impl Unit {
    pub(crate) fn hunks(&self) -> BTreeSet<usize> {
        self.lines.iter().filter_map(|line| line.hunk).collect()
    }
}

/// The trees that an excerpt is built from.
pub(crate) struct Sides<'t> {
    pub(crate) before: &'t dyn Tree,
    /// The tree after the change, which must know symbols.
    pub(crate) after: &'t dyn Tree,
}

impl Excerpt {
    /// Builds the excerpt of a file of a change; `first_hunk` is the number of its first hunk.
    /// Returns `None` if the file could not be read, before or after the change.
    pub(crate) fn of(file: &FileDiff, first_hunk: usize, sides: &Sides<'_>) -> Option<Excerpt> {
        let path = RepoPath::exact(file.path()).ok()?;
        let read = |tree: &dyn Tree, path: &Option<String>| -> Option<Option<Vec<String>>> {
            let path = path.as_deref().and_then(|path| RepoPath::exact(path).ok());
            let Some(text) = path.map_or(Ok(None), |path| tree.read(&path)).ok()? else {
                return Some(None);
            };
            Some(Some(
                text.lines().map(|line| names::replace_line_breaks(&truncate_line(line))).collect(),
            ))
        };
        let before = read(sides.before, &file.old_path)?.unwrap_or_default();
        let units = match &file.new_path {
            None => vec![deleted_unit(&before, first_hunk)],
            Some(_) => {
                let after = read(sides.after, &file.new_path)??;
                let sheet = PatchedFile::new(file, first_hunk, &before, &after);
                sheet.units(|line| sides.after.symbol_at(&path, line).ok().flatten())
            }
        };
        Some(Excerpt { heading: heading(file), path, units })
    }

    /// Withholds instructions to a reviewer that only arise in the excerpt, where removed lines are
    /// next to added ones, and distant lines next to each other. Returns the hunks of the affected
    /// units.
    pub(crate) fn withhold(&mut self) -> BTreeSet<usize> {
        let lines = self.units.iter().flat_map(|unit| &unit.lines);
        let shown: String = lines.flat_map(|line| [&line.text[line.own..], "\n"]).collect();
        let orders = find_injections_in_file(self.path.as_str(), &shown);
        let mut numbers = 1u32..;
        let mut touched = BTreeSet::new();
        for unit in &mut self.units {
            let mut is_touched = false;
            for (line, number) in unit.lines.iter_mut().zip(&mut numbers) {
                let is_in = |order: &assay_rules::Injection| {
                    (order.lines.start()..=order.lines.end()).contains(&number)
                };
                if orders.iter().any(is_in) {
                    line.text.truncate(line.own);
                    line.text.push_str(WITHHELD_LINE);
                    is_touched = true;
                }
            }
            if is_touched {
                touched.extend(unit.hunks());
            }
        }
        touched
    }
}

impl Excerpt {
    /// Returns true if a line of the file after the change is shown.
    pub(super) fn shows(&self, number: u32) -> bool {
        let lines = self.units.iter().flat_map(|unit| &unit.lines);
        lines.into_iter().any(|line| line.number() == Some(number))
    }

    /// Returns the number of bytes of the lines.
    pub(crate) fn bytes(&self) -> usize {
        let lines = self.units.iter().flat_map(|unit| &unit.lines);
        lines.map(|line| line.text.len() + 1).sum()
    }
}

/// Truncates a line that is too long.
fn truncate_line(line: &str) -> String {
    if line.len() <= MAX_LINE_BYTES {
        return line.to_owned();
    }
    let kept = first_bytes(line, MAX_LINE_BYTES);
    format!("{kept}… [{} more bytes]", line.len() - kept.len())
}

/// Returns true if a file has lines that are truncated.
pub(crate) fn has_truncated_lines(text: &str) -> bool {
    text.lines().any(|line| line.len() > MAX_LINE_BYTES)
}

fn heading(file: &FileDiff) -> String {
    let path = file.path();
    match (&file.old_path, &file.new_path, file.origin) {
        (None, _, _) => format!("### FILE {path} (new)"),
        (_, None, _) => format!("### FILE {path} (deleted)"),
        (Some(old), _, Origin::Renamed) => format!("### FILE {path} (renamed from {old})"),
        (Some(old), _, Origin::Copied) => format!("### FILE {path} (copied from {old})"),
        (Some(_), Some(_), Origin::Same) => format!("### FILE {path}"),
    }
}

fn numbered_line(number: u32, sign: char, text: &str, hunk: Option<usize>) -> Line {
    Line::new(format!("{number:>5} {sign} "), text, hunk)
}

fn removed_line(text: &str, hunk: usize) -> Line {
    Line::new("      - ".to_owned(), text, Some(hunk))
}

fn deleted_unit(before: &[String], hunk: usize) -> Unit {
    let line = |text: String| Line::new(text, "", Some(hunk));
    let mut lines: Vec<Line> =
        before.iter().take(MAX_DELETED_LINES).map(|text| removed_line(text, hunk)).collect();
    if before.len() > MAX_DELETED_LINES {
        lines
            .push(line(format!("      … {} more removed lines", before.len() - MAX_DELETED_LINES)));
    }
    if lines.is_empty() {
        lines.push(line("      (the file was empty)".to_owned()));
    }
    Unit { lines, symbol: None }
}

/// A file after the change, with its added and removed lines.
struct PatchedFile<'t> {
    file: &'t FileDiff,
    first_hunk: usize,
    after: &'t [String],
    /// The added lines, each with its hunk.
    added: BTreeMap<u32, usize>,
    /// The removed lines with their hunks, by the number of the line that follows them.
    removed: BTreeMap<u32, Vec<(usize, &'t str)>>,
}

impl<'t> PatchedFile<'t> {
    fn new(
        file: &'t FileDiff,
        first_hunk: usize,
        before: &'t [String],
        after: &'t [String],
    ) -> PatchedFile<'t> {
        let (added, removed) = (BTreeMap::new(), BTreeMap::new());
        let mut sheet = PatchedFile { file, first_hunk, after, added, removed };
        for (hunk, number) in file.hunks.iter().zip(first_hunk..) {
            sheet.apply_hunk(hunk, number, before);
        }
        sheet
    }

    /// Walks both sides of a hunk together.
    fn apply_hunk(&mut self, hunk: &Hunk, number: usize, before: &'t [String]) {
        let within =
            |spans: &[LineRange], line| spans.iter().any(|s| (s.start()..=s.end()).contains(&line));
        // A side without lines names the line before.
        let first = |span: assay_change::diff::Span| span.start + u32::from(span.count == 0);
        let (mut old, mut new) = (first(hunk.old), first(hunk.new));
        let (old_end, new_end) = (old + hunk.old.count, new + hunk.new.count);
        while old < old_end || new < new_end {
            if old < old_end && within(&hunk.removed, old) {
                let text = before.get(old as usize - 1).map_or("", String::as_str);
                self.removed.entry(new).or_default().push((number, text));
                old += 1;
            } else if new < new_end && within(&hunk.added, new) {
                self.added.insert(new, number);
                new += 1;
            } else {
                old += 1;
                new += 1;
            }
        }
    }

    /// Returns the changed lines with their context; ranges that overlap or touch are merged.
    fn units(&self, symbol_at: impl Fn(u32) -> Option<Symbol>) -> Vec<Unit> {
        if self.file.hunks.is_empty() {
            // The file is renamed, emptied, or new without a line.
            let text = "      (no line changed)".to_owned();
            let line = Line::new(text, "", Some(self.first_hunk));
            return vec![Unit { lines: vec![line], symbol: None }];
        }
        let last = (self.after.len() as u32).max(1);
        let mut windows: Vec<(u32, u32, Option<String>)> = Vec::new();
        for hunk in &self.file.hunks {
            let (start, end, symbol) = window(hunk, last, &symbol_at);
            match windows.last_mut() {
                Some(before) if start <= before.1 + 1 => {
                    before.1 = before.1.max(end);
                    before.2 = before.2.take().or(symbol);
                }
                _ => windows.push((start, end, symbol)),
            }
        }
        windows.into_iter().map(|(start, end, symbol)| self.unit(start, end, symbol)).collect()
    }

    fn unit(&self, start: u32, end: u32, symbol: Option<String>) -> Unit {
        let mut lines = Vec::new();
        // Lines that were removed at the end have the number of the line that would follow.
        for number in start..=end + 1 {
            for (hunk, text) in self.removed.get(&number).into_iter().flatten() {
                lines.push(removed_line(text, *hunk));
            }
            let Some(text) = self.after.get(number as usize - 1).filter(|_| number <= end) else {
                continue;
            };
            let hunk = self.added.get(&number).copied();
            let sign = if hunk.is_some() { '+' } else { ' ' };
            lines.push(numbered_line(number, sign, text, hunk));
        }
        Unit { lines: replace_blank_lines(lines), symbol }
    }
}

/// Replaces each long run of unchanged blank lines by a mark.
fn replace_blank_lines(lines: Vec<Line>) -> Vec<Line> {
    let is_blank = |line: &Line| line.hunk.is_none() && line.own_text().is_empty();
    let runs = lines.chunk_by(|line, next| is_blank(line) && is_blank(next));
    let shown = runs.flat_map(|run| match run.len() < MIN_LEFT_OUT_LINES {
        true => run.to_vec(),
        false => vec![Line::new("      …".to_owned(), "", None)],
    });
    shown.collect()
}

/// Returns the lines to show for a hunk: the symbol around it, or some lines of context.
fn window(
    hunk: &Hunk,
    last: u32,
    symbol_at: &impl Fn(u32) -> Option<Symbol>,
) -> (u32, u32, Option<String>) {
    let first = hunk.added.first().map_or(hunk.new.start.max(1), |lines| lines.start());
    let start = hunk.new.start.max(1).min(last);
    let end = (hunk.new.start + hunk.new.count.max(1) - 1).clamp(start, last);
    let symbol = symbol_at(first);
    let name = symbol.as_ref().map(|symbol| symbol.name.clone());
    match symbol {
        Some(symbol) if symbol.lines.end() - symbol.lines.start() < MAX_SYMBOL_LINES => {
            (start.min(symbol.lines.start()), end.max(symbol.lines.end()).min(last), name)
        }
        _ => (start.saturating_sub(CONTEXT_LINES).max(1), (end + CONTEXT_LINES).min(last), name),
    }
}
