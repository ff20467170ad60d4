//! Splits a change to fit into prompts: [`parts`], along files and units.

use std::collections::BTreeSet;

use assay_findings::path::RepoPath;

use super::briefing::Briefing;
use super::definitions::Definition;
use super::excerpt::{Excerpt, Line, Unit};
use super::related;
use super::relevance::FileWords;

/// The maximum number of parts of a change.
const MAX_PARTS: usize = 12;

/// A part of a change that fits into a prompt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    pieces: Vec<PartPiece>,
}

/// Lines of one file that stay together in a part.
#[derive(Debug, Clone)]
struct PartPiece {
    path: RepoPath,
    heading: String,
    lines: Vec<Line>,
    /// The callers of the symbol around the lines, formatted.
    callers: String,
    /// The definitions that the lines use.
    definitions: Vec<Definition>,
}

/// A change in parts, and the hunks that did not fit into the maximum number of parts.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) parts: Vec<Part>,
    pub(crate) left_over: BTreeSet<usize>,
}

/// The number of bytes of a change that a model reads with full attention. A larger change is read
/// in parts of about this size, each with the documents and definitions that belong to it.
const COMFORTABLE_PART_BYTES: usize = 16 << 10;

/// Returns the maximum number of bytes of a part, for a change with a number of bytes in total.
fn part_limit(bytes: usize, most: usize) -> usize {
    if bytes <= COMFORTABLE_PART_BYTES * 3 / 2 {
        return most;
    }
    let parts = bytes.div_ceil(COMFORTABLE_PART_BYTES).min(MAX_PARTS - 1);
    // Pieces do not divide evenly, and a last part of a few lines would be of no use.
    (bytes / parts * 9 / 8).max(COMFORTABLE_PART_BYTES).min(most)
}

/// Splits a change into parts of at most about `most` bytes; a single line is never split.
pub(crate) fn parts(briefing: &Briefing, most: usize) -> Parts {
    let most = part_limit(briefing.excerpts.iter().map(Excerpt::bytes).sum(), most);
    let groups = groups(briefing, most);
    let mut parts = pack(&groups, most, Packing::GroupsWhole);
    if parts.len() > MAX_PARTS {
        // A complete change has priority over groups that stay together.
        parts = pack(&groups, most, Packing::Dense);
    }
    let beyond = parts.drain(parts.len().min(MAX_PARTS)..);
    let left_over = beyond.flat_map(|part| part.hunks()).collect();
    Parts { parts, left_over }
}

/// Returns the pieces of the change, those of related files together.
fn groups(briefing: &Briefing, most: usize) -> Vec<Vec<PartPiece>> {
    let pieces_of = |file: &usize| {
        let excerpt = &briefing.excerpts[*file];
        let pieces = |unit| pieces(briefing, excerpt, unit, most);
        excerpt.units.iter().flat_map(pieces).collect::<Vec<PartPiece>>()
    };
    let groups = related::groups(&briefing.excerpts, most);
    groups.iter().map(|files| files.iter().flat_map(pieces_of).collect()).collect()
}

/// The way in which groups of pieces are packed into parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    /// A group that fits into one part is not split.
    GroupsWhole,
    /// Every part is filled.
    Dense,
}

/// Packs groups of pieces into parts of at most `most` bytes, in their order.
fn pack(groups: &[Vec<PartPiece>], most: usize, packing: Packing) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut bytes = 0;
    for group in groups {
        let whole: usize = group.iter().map(PartPiece::bytes).sum();
        let is_cut = bytes + whole > most && whole <= most;
        if is_cut && packing == Packing::GroupsWhole {
            bytes = most;
        }
        for piece in group {
            bytes += piece.bytes();
            if parts.is_empty() || bytes > most {
                parts.push(Part::default());
                bytes = piece.bytes();
            }
            parts.last_mut().expect("one is there").pieces.push(piece.clone());
        }
    }
    parts
}

/// Creates a piece from a unit, or several if it is too long.
fn pieces(briefing: &Briefing, excerpt: &Excerpt, unit: &Unit, most: usize) -> Vec<PartPiece> {
    let heading = &excerpt.heading;
    let callers = callers_of(briefing, unit);
    let definitions = definitions_for(briefing, unit);
    let defined: usize = definitions.iter().map(|definition| definition.text.len()).sum();
    let room = most.saturating_sub(heading.len() + callers.len() + defined);
    let mut runs: Vec<Vec<Line>> = Vec::new();
    let mut bytes = 0;
    for line in &unit.lines {
        bytes += line.text.len() + 1;
        if runs.is_empty() || bytes > room {
            runs.push(Vec::new());
            bytes = line.text.len() + 1;
        }
        runs.last_mut().expect("one is there").push(line.clone());
    }
    let piece = |lines| PartPiece {
        path: excerpt.path.clone(),
        heading: heading.to_owned(),
        lines,
        callers: callers.clone(),
        definitions: definitions.clone(),
    };
    runs.into_iter().map(piece).collect()
}

/// Returns the definitions that the added lines of a unit use.
fn definitions_for(briefing: &Briefing, unit: &Unit) -> Vec<Definition> {
    let added: Vec<&str> =
        unit.lines.iter().filter(|line| line.is_added()).map(Line::own_text).collect();
    let is_used = |definition: &&Definition| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        added.iter().any(|line| line.split(|c| !is_part(c)).any(|word| word == definition.name))
    };
    briefing.definitions.iter().filter(is_used).cloned().collect()
}

/// Formats the callers of the symbol of a unit.
fn callers_of(briefing: &Briefing, unit: &Unit) -> String {
    let Some(symbol) = &unit.symbol else { return String::new() };
    let callers = briefing.callers.iter().filter(|caller| symbol.ends_with(&caller.name));
    callers.map(|c| format!("  called in {} (unchanged):\n{}", c.path, c.text)).collect()
}

impl PartPiece {
    /// Returns true if a line of a file is shown; for no line, if any line of the file is.
    fn shows(&self, file: &RepoPath, line: Option<u32>) -> bool {
        let has = |number| self.lines.iter().any(|line| line.number() == Some(number));
        self.path == *file && line.is_none_or(has)
    }

    fn bytes(&self) -> usize {
        let lines: usize = self.lines.iter().map(|line| line.text.len() + 1).sum();
        let defined: usize = self.definitions.iter().map(|d| d.text.len()).sum();
        self.heading.len() + lines + self.callers.len() + defined + 2
    }
}

impl Part {
    /// Returns the hunks that have lines in the part.
    pub(crate) fn hunks(&self) -> BTreeSet<usize> {
        let lines = self.pieces.iter().flat_map(|piece| &piece.lines);
        lines.filter_map(|line| line.hunk).collect()
    }

    /// Returns the words of the added lines, by file.
    pub(super) fn files(&self) -> Vec<FileWords> {
        let mut files: Vec<FileWords> = Vec::new();
        for piece in &self.pieces {
            let path = piece.path.as_str();
            let at = files.iter().position(|file| file.is_of(path)).unwrap_or_else(|| {
                files.push(FileWords::new(path));
                files.len() - 1
            });
            let added = piece.lines.iter().filter(|line| line.is_added());
            added.for_each(|line| files[at].add(line.own_text()));
        }
        files
    }

    /// Returns the pieces of several parts that show any of some locations, as one part.
    pub(crate) fn select(parts: &[Part], places: &[(&RepoPath, Option<u32>)]) -> Part {
        let shows = |piece: &&PartPiece| places.iter().any(|(file, line)| piece.shows(file, *line));
        Part { pieces: parts.iter().flat_map(|part| &part.pieces).filter(shows).cloned().collect() }
    }

    /// Returns true if a line of a file is shown; for no line, if any line of the file is.
    pub(crate) fn shows(&self, file: &RepoPath, line: Option<u32>) -> bool {
        self.pieces.iter().any(|piece| piece.shows(file, line))
    }

    /// Formats the part, each file under its heading.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        let mut heading = "";
        for piece in &self.pieces {
            match piece.heading == heading {
                true => out.push_str("      …\n"),
                false => out.push_str(&format!("{}\n", piece.heading)),
            }
            heading = &piece.heading;
            out.extend(piece.lines.iter().flat_map(|line| [line.text.as_str(), "\n"]));
            out.push_str(&piece.callers);
        }
        out.push_str(&self.definitions());
        out
    }

    /// Formats the definitions that the part uses, each once.
    fn definitions(&self) -> String {
        let mut all: Vec<&Definition> = Vec::new();
        for definition in self.pieces.iter().flat_map(|piece| &piece.definitions) {
            if !all.contains(&definition) {
                all.push(definition);
            }
        }
        let written = |definition: &&Definition| {
            let Definition { name, path, text } = definition;
            format!("### USED `{name}`, defined in {path} (not changed here)\n{text}")
        };
        all.iter().map(written).collect()
    }

    /// Splits the part in two; `None` if it has only one line.
    pub(crate) fn halves(mut self) -> Option<[Part; 2]> {
        if self.pieces.len() > 1 {
            let second = self.pieces.split_off(self.pieces.len() / 2);
            return Some([self, Part { pieces: second }]);
        }
        let mut piece = self.pieces.pop().filter(|piece| piece.lines.len() > 1)?;
        let second = piece.lines.split_off(piece.lines.len() / 2);
        let second = PartPiece { lines: second, ..piece.clone() };
        Some([piece, second].map(|piece| Part { pieces: vec![piece] }))
    }
}
