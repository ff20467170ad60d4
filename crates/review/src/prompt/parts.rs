//! Cutting a change to fit: [`parts`], along files and units.

use std::collections::BTreeSet;

use super::briefing::Briefing;
use super::excerpt::{Line, Unit};

/// A change is read in so many parts at most.
const MAX_PARTS: usize = 12;

/// A part of a change that fits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    pieces: Vec<Piece>,
}

/// Lines of one file that stand together in a part.
#[derive(Debug, Clone)]
struct Piece {
    heading: String,
    lines: Vec<Line>,
    /// Who calls what they are about.
    callers: String,
}

/// A change in parts, and the hunks that did not fit into so many.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) parts: Vec<Part>,
    pub(crate) left_over: BTreeSet<usize>,
}

/// Cuts a change into parts of about so many bytes at most; a single line is never cut.
pub(crate) fn parts(briefing: &Briefing, most: usize) -> Parts {
    let mut parts: Vec<Part> = Vec::new();
    let mut bytes = 0;
    for piece in briefing.excerpts.iter().flat_map(|excerpt| {
        let pieces = |unit| pieces(briefing, &excerpt.heading, unit, most);
        excerpt.units.iter().flat_map(pieces).collect::<Vec<Piece>>()
    }) {
        bytes += piece.bytes();
        if parts.is_empty() || bytes > most {
            parts.push(Part::default());
            bytes = piece.bytes();
        }
        parts.last_mut().expect("one is there").pieces.push(piece);
    }
    let beyond = parts.drain(parts.len().min(MAX_PARTS)..);
    let left_over = beyond.flat_map(|part| part.hunks()).collect();
    Parts { parts, left_over }
}

/// Makes one piece of a unit, or several where it is too long.
fn pieces(briefing: &Briefing, heading: &str, unit: &Unit, most: usize) -> Vec<Piece> {
    let callers = callers_of(briefing, unit);
    let room = most.saturating_sub(heading.len() + callers.len());
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
    let piece = |lines| Piece { heading: heading.to_owned(), lines, callers: callers.clone() };
    runs.into_iter().map(piece).collect()
}

/// Writes out who calls what a unit is about.
fn callers_of(briefing: &Briefing, unit: &Unit) -> String {
    let Some(symbol) = &unit.symbol else { return String::new() };
    let callers = briefing.callers.iter().filter(|caller| symbol.ends_with(&caller.name));
    callers.map(|c| format!("  called in {} (unchanged):\n{}", c.path, c.text)).collect()
}

impl Piece {
    fn bytes(&self) -> usize {
        let lines: usize = self.lines.iter().map(|line| line.text.len() + 1).sum();
        self.heading.len() + lines + self.callers.len() + 2
    }
}

impl Part {
    /// Gives the hunks that have lines in it.
    pub(crate) fn hunks(&self) -> BTreeSet<usize> {
        let lines = self.pieces.iter().flat_map(|piece| &piece.lines);
        lines.filter_map(|line| line.hunk).collect()
    }

    /// Writes it out, each file under its heading.
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
        out
    }

    /// Cuts it in two; `None` where there is but one line.
    pub(crate) fn halves(mut self) -> Option<[Part; 2]> {
        if self.pieces.len() > 1 {
            let second = self.pieces.split_off(self.pieces.len() / 2);
            return Some([self, Part { pieces: second }]);
        }
        let mut piece = self.pieces.pop().filter(|piece| piece.lines.len() > 1)?;
        let second = piece.lines.split_off(piece.lines.len() / 2);
        let second = Piece { lines: second, ..piece.clone() };
        Some([piece, second].map(|piece| Part { pieces: vec![piece] }))
    }
}
