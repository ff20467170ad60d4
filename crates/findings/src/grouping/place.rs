//! The relation of the places of two votes: [`Relation`].

use std::borrow::Cow;

use crate::collections::FastMap;
use crate::finding::GroundingMark;
use crate::grounding::GroundedVote;
use crate::vote::LineRange;

/// The greatest distance of lines that are near each other.
const MAX_LINE_DISTANCE: u32 = 10;

/// The maximum number of lines of ranges that count as one line if they overlap.
const MAX_SHORT_RANGE: u32 = 3;

/// The greatest distance in lines of equal titles that are one claim.
const MAX_TITLE_DISTANCE: u32 = 3;

/// The relation of the places of two votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// The same line, or the same quoted line.
    SameLine,
    /// Places near each other or in one symbol; or a vote names no place.
    Plain,
    /// Places far from each other in one file.
    Far,
    /// Places in different files, or far from each other in different symbols.
    Elsewhere,
}

/// The place of a vote, with texts as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VotePlace {
    /// The file; `None` if the vote named no place. A place that grounding found excludes the vote
    /// from no group.
    pub(super) file: Option<u32>,
    lines: Option<LineRange>,
    symbol: Option<u32>,
    quote: Option<u32>,
    category: Option<u32>,
    /// True if the tree shows the lines around the vote.
    is_checked: bool,
    /// The folded title.
    title: u32,
}

/// Numbers for texts, one for each different text.
#[derive(Debug, Default)]
pub(super) struct TextNumbers<'t>(FastMap<Cow<'t, str>, u32>);

impl<'t> TextNumbers<'t> {
    fn of(&mut self, text: impl Into<Cow<'t, str>>) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(text.into()).or_insert(next)
    }
}

impl VotePlace {
    /// Returns the place of a vote with its folded title.
    pub(super) fn of<'t>(
        vote: &'t GroundedVote<'_>,
        title: &'t str,
        numbers: &mut TextNumbers<'t>,
    ) -> VotePlace {
        let is_loose = vote.file.is_none() || vote.marks.contains(&GroundingMark::PlacedByAssay);
        let file = vote.file.as_ref().filter(|_| !is_loose);
        let category = vote.vote.category.as_ref().map(|name| name.to_lowercase());
        VotePlace {
            file: file.map(|file| numbers.of(file.as_str())),
            lines: vote.lines,
            symbol: vote.symbol.as_deref().map(|symbol| numbers.of(symbol)),
            quote: vote.quote.as_deref().map(|quote| numbers.of(quote)),
            category: category.map(|name| numbers.of(name)),
            is_checked: vote.surroundings.is_some(),
            title: numbers.of(title),
        }
    }

    pub(super) fn is_loose(&self) -> bool {
        self.file.is_none()
    }

    /// Returns true if two places have equal titles and are next to each other: one claim, whatever
    /// the descriptions state.
    pub(super) fn has_title_beside(&self, other: &VotePlace) -> bool {
        let lines = self.lines.zip(other.lines);
        let are_near =
            || lines.is_none_or(|(a, b)| a.start().abs_diff(b.start()) <= MAX_TITLE_DISTANCE);
        self.title == other.title && self.file.is_some() && self.file == other.file && are_near()
    }

    /// Returns true if both votes name a category, and the categories differ.
    fn differs_in_kind(&self, other: &VotePlace) -> bool {
        self.category.zip(other.category).is_some_and(|(a, b)| a != b)
    }
}

impl Relation {
    /// Returns the relation of two places.
    pub(super) fn of(a: &VotePlace, b: &VotePlace) -> Relation {
        if a.is_loose() || b.is_loose() {
            return Relation::Plain;
        }
        if a.file != b.file {
            return Relation::Elsewhere;
        }
        let one_line = if a.differs_in_kind(b) { Relation::Plain } else { Relation::SameLine };
        let lines = a.lines.zip(b.lines);
        if lines.is_some_and(|(a, b)| is_same_line(a, b)) {
            return one_line;
        }
        let in_one_symbol = a.symbol.is_some() && a.symbol == b.symbol;
        let is_near =
            lines.is_none_or(|(a, b)| distance(a, b) <= MAX_LINE_DISTANCE) || in_one_symbol;
        // If the tree is known, one text may be on two lines.
        let is_checked = a.is_checked && b.is_checked;
        match a.quote.is_some() && a.quote == b.quote && (is_near || !is_checked) {
            true => one_line,
            // Nearness is no evidence if both votes quote code, and the quotes are different lines.
            false if is_near && is_checked && a.quote.is_some() && b.quote.is_some() => {
                Relation::Far
            }
            false if is_near => Relation::Plain,
            false if a.symbol.is_some() || b.symbol.is_some() => Relation::Elsewhere,
            false => Relation::Far,
        }
    }

    /// Returns the factor by which this relation raises or lowers a similarity.
    pub(super) fn factor(self) -> f64 {
        match self {
            Relation::SameLine => 1.5,
            Relation::Plain => 1.0,
            Relation::Far => 2.0 / 3.0,
            Relation::Elsewhere => 0.0,
        }
    }
}

fn is_same_line(a: LineRange, b: LineRange) -> bool {
    let is_short = |lines: LineRange| lines.end() - lines.start() < MAX_SHORT_RANGE;
    a == b || (distance(a, b) == 0 && is_short(a) && is_short(b))
}

/// Returns the number of lines between the nearest lines of two ranges; 0 if they overlap.
fn distance(a: LineRange, b: LineRange) -> u32 {
    a.start().max(b.start()).saturating_sub(a.end().min(b.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the place of a line with a quote, checked against the tree.
    fn place(line: u32, quote: Option<u32>) -> VotePlace {
        VotePlace {
            file: Some(0),
            lines: LineRange::at(line),
            symbol: None,
            quote,
            category: None,
            is_checked: true,
            title: 0,
        }
    }

    #[test]
    fn near_lines_do_not_relate_votes_that_quote_different_lines() {
        for (expected, a, b) in [
            (Relation::SameLine, place(7, Some(1)), place(7, Some(1))),
            (Relation::SameLine, place(7, Some(1)), place(7, Some(2))),
            (Relation::SameLine, place(7, Some(1)), place(9, Some(1))),
            (Relation::Far, place(7, Some(1)), place(8, Some(2))),
            (Relation::Far, place(7, Some(1)), place(10, Some(2))),
            (Relation::Plain, place(7, Some(1)), place(8, None)),
            (Relation::Plain, place(7, None), place(8, None)),
            (Relation::Far, place(7, None), place(40, None)),
        ] {
            assert_eq!(Relation::of(&a, &b), expected, "{a:?} {b:?}");
            assert_eq!(Relation::of(&b, &a), expected, "{b:?} {a:?}");
        }
    }

    #[test]
    fn unchecked_quotes_do_not_separate_votes_on_near_lines() {
        let unchecked = |line, quote| VotePlace { is_checked: false, ..place(line, Some(quote)) };
        assert_eq!(Relation::of(&unchecked(7, 1), &unchecked(8, 2)), Relation::Plain);
    }
}
