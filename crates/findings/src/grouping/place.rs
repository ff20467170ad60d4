//! How the places of two votes lie to each other: [`Relation`].

use crate::ground::{Grounded, Mark};
use crate::vote::Lines;

/// Lines at most this far apart are near each other.
const NEAR_LINES: u32 = 10;

/// Ranges that overlap are one line if none has more lines than this.
const SHORT_RANGE: u32 = 3;

/// How the places of two votes lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// One line, or one quoted line.
    SameLine,
    /// Near each other or in one symbol; or a vote names no place.
    Plain,
    /// Far from each other in one file.
    Far,
    /// Other files, or far from each other in other symbols.
    Elsewhere,
}

impl Relation {
    /// Finds the relation of two votes.
    pub(super) fn of(a: &Grounded<'_>, b: &Grounded<'_>) -> Relation {
        if is_loose(a) || is_loose(b) {
            return Relation::Plain;
        }
        if a.file != b.file {
            return Relation::Elsewhere;
        }
        let lines = a.lines.zip(b.lines);
        if lines.is_some_and(|(a, b)| is_same_line(a, b)) {
            return if differ_in_kind(a, b) { Relation::Plain } else { Relation::SameLine };
        }
        let in_one_symbol = a.symbol.is_some() && a.symbol == b.symbol;
        let is_near = lines.is_none_or(|(a, b)| distance(a, b) <= NEAR_LINES) || in_one_symbol;
        // Where the tree is known, one text may stand on two lines.
        let is_checked = a.surroundings.is_some() && b.surroundings.is_some();
        let in_one_quote = a.quote.is_some() && a.quote == b.quote && (is_near || !is_checked);
        match (in_one_quote, is_near) {
            (true, _) if !differ_in_kind(a, b) => Relation::SameLine,
            (true, _) | (_, true) => Relation::Plain,
            (false, false) if a.symbol.is_some() || b.symbol.is_some() => Relation::Elsewhere,
            (false, false) => Relation::Far,
        }
    }

    /// Returns how much a likeness counts at this relation, in hundredths of its value.
    pub(super) fn factor(self) -> f64 {
        match self {
            Relation::SameLine => 1.5,
            Relation::Plain => 1.0,
            Relation::Far => 2.0 / 3.0,
            Relation::Elsewhere => 0.0,
        }
    }
}

/// Returns true if a vote named no place: a place that grounding gave it keeps it from no group.
pub(super) fn is_loose(vote: &Grounded<'_>) -> bool {
    vote.file.is_none() || vote.marks.contains(&Mark::PlacedByAssay)
}

fn is_same_line(a: Lines, b: Lines) -> bool {
    let is_short = |lines: Lines| lines.end() - lines.start() < SHORT_RANGE;
    a == b || (distance(a, b) == 0 && is_short(a) && is_short(b))
}

/// Returns how many lines lie between the nearest lines of two ranges; 0 where they overlap.
fn distance(a: Lines, b: Lines) -> u32 {
    a.start().max(b.start()).saturating_sub(a.end().min(b.end()))
}

/// Returns true if both votes name a category, and not the same one.
fn differ_in_kind(a: &Grounded<'_>, b: &Grounded<'_>) -> bool {
    matches!((&a.vote.category, &b.vote.category), (Some(a), Some(b)) if !a.eq_ignore_ascii_case(b))
}
