//! The lines of a file, prepared for finding quotes: [`FileView`].

use std::cell::OnceCell;
use std::collections::HashMap;

use super::quote_variant::{Piece, QuoteVariant};
use crate::claim_similarity::squeeze;
use crate::identity;
use crate::vote::LineRange;

/// The maximum number of lines that a quote leaves out in one gap.
const MAX_GAP_LINES: usize = 60;

/// The lines of a file, prepared for finding quotes.
pub(super) struct FileView {
    pub(super) text: String,
    /// The lines without whitespace.
    squeezed: Vec<String>,
    /// The line numbers of each text in `squeezed`.
    places: HashMap<String, Vec<u32>>,
    hashes: OnceCell<Vec<String>>,
}

impl FileView {
    pub(super) fn new(text: String) -> FileView {
        let squeezed: Vec<String> = text.lines().map(squeeze).collect();
        let mut places: HashMap<String, Vec<u32>> = HashMap::new();
        for (line, number) in squeezed.iter().zip(1u32..) {
            places.entry(line.clone()).or_default().push(number);
        }
        FileView { text, squeezed, places, hashes: OnceCell::new() }
    }

    pub(super) fn len(&self) -> u32 {
        self.squeezed.len() as u32
    }

    pub(super) fn line(&self, number: u32) -> Option<&str> {
        let at = (number as usize).checked_sub(1)?;
        self.squeezed.get(at).map(String::as_str)
    }

    pub(super) fn surroundings(&self, line: u32) -> String {
        (line.saturating_sub(1)..=line + 1)
            .filter_map(|number| self.line(number))
            .collect::<Vec<_>>()
            .join("\n")
    }

    pub(super) fn hash(&self, line: u32) -> Option<String> {
        let hashes = self.hashes.get_or_init(|| identity::line_hashes(&self.text));
        hashes.get((line as usize).checked_sub(1)?).cloned()
    }

    pub(super) fn text_of(&self, lines: LineRange) -> String {
        let numbers = lines.start()..=lines.end();
        numbers.filter_map(|number| self.line(number)).collect::<Vec<_>>().join("\n")
    }

    /// Finds the lines that a quote proves, nearest to the stated lines. A quote that is part of a
    /// stated line proves that line, even if another line consists of the quote. A lone name proves
    /// only a line that has no other text: many lines contain the name.
    pub(super) fn find(&self, quote: &QuoteVariant, stated: LineRange) -> Option<LineRange> {
        let near = stated.start();
        let whole = self.places.get(quote.first_line()).map(Vec::as_slice).unwrap_or_default();
        let whole = nearest(whole.iter().filter_map(|at| self.lines_from(quote, *at)), near);
        if quote.is_name || whole.is_some_and(|lines| starts_in(lines, stated)) {
            return whole;
        }
        let within = self.find_within(quote, near);
        let stated_part = within.filter(|lines| starts_in(*lines, stated));
        stated_part.or(whole).or(within).or_else(|| self.find_pieces(quote, near))
    }

    /// Returns true if the file contains a quote anywhere, even a quote that is only a name.
    pub(super) fn contains(&self, quote: &QuoteVariant) -> bool {
        self.find_within(quote, 1).is_some()
    }

    /// Finds a quote whose first line is part of a line, nearest to a line.
    fn find_within(&self, quote: &QuoteVariant, near: u32) -> Option<LineRange> {
        let within = self.squeezed.iter().zip(1u32..);
        let within = within.filter(|(line, _)| line.contains(quote.first_line()));
        nearest(within.filter_map(|(_, at)| self.lines_from(quote, at)), near)
    }

    /// Finds a quote that leaves out code, nearest to a line.
    fn find_pieces(&self, quote: &QuoteVariant, near: u32) -> Option<LineRange> {
        let (first, rest) = quote.pieces.split_first()?;
        let starts = self.squeezed.iter().enumerate();
        let starts = starts.filter_map(|(at, line)| {
            let end = line.find(&first.text)? + first.text.len();
            let last = self.follow_pieces(rest, at, end)?;
            LineRange::range(at as u32 + 1, last as u32 + 1)
        });
        nearest(starts, near)
    }

    /// Returns the index of the line on which the further pieces of a quote end.
    fn follow_pieces(&self, pieces: &[Piece], at: usize, end: usize) -> Option<usize> {
        let (mut at, mut end) = (at, end);
        for piece in pieces {
            let position = |line: &String| line.find(&piece.text);
            let mut after = self.squeezed.iter().enumerate().skip(at + 1);
            let on_line = || Some((at, end + self.squeezed[at][end..].find(&piece.text)?));
            let found = if piece.is_after_gap {
                let in_gap = after.take(MAX_GAP_LINES);
                let mut later = in_gap.filter_map(|(line, text)| Some((line, position(text)?)));
                on_line().or_else(|| later.next())
            } else {
                let next = after.find(|(_, text)| !text.is_empty());
                next.and_then(|(line, text)| Some((line, position(text)?)))
            };
            let (line, column) = found?;
            (at, end) = (line, column + piece.text.len());
        }
        Some(at)
    }

    /// Returns the lines of a quote whose first line is known; `None` if the lines of the file that
    /// follow, without blank lines, do not match the quote.
    fn lines_from(&self, quote: &QuoteVariant, first: u32) -> Option<LineRange> {
        let after = self.squeezed.iter().zip(1u32..).skip(first as usize);
        let mut after = after.filter(|(line, _)| !line.is_empty());
        let mut last = first;
        for wanted in &quote.lines[1..] {
            let (_, number) = after.next().filter(|(line, _)| line.contains(wanted))?;
            last = number;
        }
        LineRange::range(first, last)
    }
}

fn starts_in(lines: LineRange, around: LineRange) -> bool {
    around.start() <= lines.start() && lines.start() <= around.end()
}

fn nearest(lines: impl Iterator<Item = LineRange>, near: u32) -> Option<LineRange> {
    lines.min_by_key(|lines| lines.start().abs_diff(near))
}
