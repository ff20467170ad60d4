//! Applies the edits of an analyser to the text of a file: [`replacement`] converts them to whole
//! lines.

use assay_findings::vote::{LineRange, Replacement};

/// The maximum size of a file that is edited, in bytes.
const MAX_FILE_BYTES: usize = 1 << 20;

/// The maximum size of a replacement in bytes: no user would review a longer fix.
const MAX_REPLACEMENT_BYTES: usize = 64 << 10;

/// The unit of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnUnit {
    /// Bytes of UTF-8.
    Byte,
    /// Characters.
    Char,
    /// Units of UTF-16.
    Utf16,
    /// An unknown unit: tools do not agree on the unit of their format. Only a position after
    /// nothing but ASCII on its line is certain.
    Any,
}

/// A position in a text, as an analyser counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Point {
    /// UTF-16 units from the start of the text.
    Utf16(usize),
    /// A line and a column, both from 1.
    At { line: u32, column: u32, unit: ColumnUnit },
}

/// An edit: replaces the range between two positions by a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) start: Point,
    pub(crate) end: Point,
    pub(crate) text: String,
}

/// The text of a file, with the starts of its lines.
#[derive(Debug)]
pub(crate) struct FileText {
    text: String,
    /// The byte offset of each line; after a last line break, also the end of the text.
    starts: Vec<usize>,
    /// True if positions in the text are reliable.
    exact: bool,
}

impl FileText {
    pub(crate) fn new(text: String) -> FileText {
        let exact = is_exact(&text);
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        FileText { text, starts, exact }
    }

    /// Returns a line without its line break; lines count from 1.
    pub(crate) fn line(&self, number: u32) -> Option<&str> {
        let at = (number as usize).checked_sub(1)?;
        let start = *self.starts.get(at)?;
        Some(self.text[start..self.end_of(at)].trim_end_matches(['\n', '\r']))
    }

    /// Returns true if the text starts with a byte order mark.
    pub(crate) fn has_mark(&self) -> bool {
        self.text.starts_with('\u{feff}')
    }

    /// Returns the end of the line with an index, its line break included.
    fn end_of(&self, at: usize) -> usize {
        self.starts.get(at + 1).copied().unwrap_or(self.text.len())
    }

    /// Returns the index of the line that contains a byte.
    fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// Returns the number of lines, without the empty one after the last line break.
    fn len(&self) -> usize {
        let ends_with_break = self.starts.last() == Some(&self.text.len());
        self.starts.len() - usize::from(ends_with_break)
    }

    fn byte_of(&self, point: Point) -> Option<usize> {
        match point {
            Point::Utf16(offset) => byte_offset(&self.text, offset, ColumnUnit::Utf16),
            Point::At { line, column, unit } => {
                let at = (line as usize).checked_sub(1)?;
                let start = *self.starts.get(at)?;
                let content = self.text[start..self.end_of(at)].trim_end_matches('\n');
                Some(start + byte_offset(content, (column as usize).checked_sub(1)?, unit)?)
            }
        }
    }
}

/// Returns true if positions in a text are reliable: the text is short enough to be scanned for
/// each edit, no character was replaced when it was decoded, and all tools agree on the ends of its
/// lines.
fn is_exact(text: &str) -> bool {
    let bytes = text.as_bytes();
    let alone = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
    text.len() <= MAX_FILE_BYTES && !text.contains('\u{fffd}') && !(0..bytes.len()).any(alone)
}

/// Returns the byte offset of a number of units; `None` beyond the end of the text or inside of a
/// character.
fn byte_offset(text: &str, count: usize, unit: ColumnUnit) -> Option<usize> {
    match unit {
        ColumnUnit::Byte => return text.is_char_boundary(count).then_some(count),
        ColumnUnit::Any => return text.as_bytes().get(..count)?.is_ascii().then_some(count),
        ColumnUnit::Char | ColumnUnit::Utf16 => {}
    }
    let mut left = count;
    for (at, c) in text.char_indices() {
        if left == 0 {
            return Some(at);
        }
        let size = if unit == ColumnUnit::Utf16 { c.len_utf16() } else { 1 };
        left = left.checked_sub(size)?;
    }
    (left == 0).then_some(text.len())
}

/// Applies edits to a text, and returns the whole lines that they change. Returns `None` if the
/// edits do not fit the text, overlap, change nothing, or change too much.
pub(crate) fn replacement(file: &FileText, edits: &[Edit]) -> Option<Replacement> {
    let ranges = ranges(file, edits)?;
    let (first, last) = touched_lines(file, &ranges)?;
    let from = file.starts[first];
    let mut changed = String::new();
    let mut at = from;
    for (start, end, text) in &ranges {
        changed.push_str(&file.text[at..*start]);
        changed.push_str(text);
        at = *end;
    }
    let mut last = last;
    changed.push_str(&file.text[at..file.end_of(last)]);
    if !changed.is_empty() && !changed.ends_with('\n') && last + 1 < file.len() {
        // The line break was removed as well, so the next line is joined to this one.
        last += 1;
        changed.push_str(&file.text[file.starts[last]..file.end_of(last)]);
    }
    if changed == file.text[from..file.end_of(last)] || changed.len() > MAX_REPLACEMENT_BYTES {
        return None;
    }
    let lines = LineRange::range(u32::try_from(first + 1).ok()?, u32::try_from(last + 1).ok()?)?;
    Some(Replacement::new(lines, changed))
}

/// Returns the edits as sorted byte ranges; `None` if they overlap.
fn ranges<'e>(file: &FileText, edits: &'e [Edit]) -> Option<Vec<(usize, usize, &'e str)>> {
    if edits.is_empty() || !file.exact {
        return None;
    }
    let mut ranges = edits
        .iter()
        .map(|edit| {
            let (start, end) = (file.byte_of(edit.start)?, file.byte_of(edit.end)?);
            (start <= end).then_some((start, end, edit.text.as_str()))
        })
        .collect::<Option<Vec<_>>>()?;
    ranges.sort_by_key(|(start, end, _)| (*start, *end));
    let apart = ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0);
    // The order of two insertions at one position is unknown.
    let twice = ranges.windows(2).any(|pair| pair[0].0 == pair[1].0 && pair[0].1 == pair[1].1);
    (apart && !twice).then_some(ranges)
}

/// Returns the indexes of the first and the last line that byte ranges touch.
fn touched_lines(file: &FileText, ranges: &[(usize, usize, &str)]) -> Option<(usize, usize)> {
    let last_line = file.len().checked_sub(1)?;
    let (start, _, _) = *ranges.first()?;
    let (last_start, end, _) = *ranges.last()?;
    let mut last = file.line_of(end);
    if end > last_start && end == file.starts[last] && last > 0 {
        // A range that ends at the start of a line ends with the line before.
        last -= 1;
    }
    Some((file.line_of(start).min(last_line), last.min(last_line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "one\nzwei ö 😀 x\nthree\nfour";

    fn at(line: u32, column: u32, unit: ColumnUnit) -> Point {
        Point::At { line, column, unit }
    }

    fn check(edits: &[(Point, Point, &str)], expected: &str) {
        let edits: Vec<Edit> = edits
            .iter()
            .map(|(start, end, text)| Edit { start: *start, end: *end, text: (*text).to_owned() })
            .collect();
        let got = match replacement(&FileText::new(TEXT.to_owned()), &edits) {
            Some(made) => {
                format!("{}-{} {:?}", made.start_line(), made.end_line(), made.text())
            }
            None => "none".to_owned(),
        };
        assert_eq!(got, expected);
    }

    #[test]
    fn an_edit_inside_a_line_replaces_the_whole_line() {
        let x = "2-2 \"zwei ö 😀 y\\n\"";
        check(&[(at(2, 10, ColumnUnit::Char), at(2, 11, ColumnUnit::Char), "y")], x);
        check(&[(at(2, 11, ColumnUnit::Utf16), at(2, 12, ColumnUnit::Utf16), "y")], x);
        check(&[(at(2, 14, ColumnUnit::Byte), at(2, 15, ColumnUnit::Byte), "y")], x);
        check(&[(Point::Utf16(14), Point::Utf16(15), "y")], x);
    }

    #[test]
    fn a_deleted_line_is_removed_with_its_line_break() {
        check(&[(at(1, 1, ColumnUnit::Char), at(2, 1, ColumnUnit::Char), "")], "1-1 \"\"");
        check(&[(at(4, 1, ColumnUnit::Char), at(4, 5, ColumnUnit::Char), "")], "4-4 \"\"");
    }

    #[test]
    fn an_edit_that_removes_a_line_break_includes_the_next_line() {
        check(
            &[(at(1, 1, ColumnUnit::Char), at(2, 1, ColumnUnit::Char), "x ")],
            "1-2 \"x zwei ö 😀 x\\n\"",
        );
        check(&[(at(3, 6, ColumnUnit::Char), at(4, 1, ColumnUnit::Char), "")], "3-4 \"threefour\"");
    }

    #[test]
    fn several_edits_are_applied_together() {
        let edits = [
            (at(3, 1, ColumnUnit::Char), at(3, 2, ColumnUnit::Char), "T"),
            (at(1, 1, ColumnUnit::Char), at(1, 1, ColumnUnit::Char), "zero\n"),
        ];
        check(&edits, "1-3 \"zero\\none\\nzwei ö 😀 x\\nThree\\n\"");
    }

    #[test]
    fn invalid_ambiguous_and_overlapping_edits_are_refused() {
        let end = at(9, 1, ColumnUnit::Char);
        check(&[(at(1, 1, ColumnUnit::Char), end, "")], "none");
        check(&[(at(1, 9, ColumnUnit::Char), at(1, 9, ColumnUnit::Char), "x")], "none");
        check(&[(at(2, 7, ColumnUnit::Byte), at(2, 8, ColumnUnit::Byte), "x")], "none");
        check(&[(at(2, 1, ColumnUnit::Any), at(2, 8, ColumnUnit::Any), "x")], "none");
        check(&[(at(1, 1, ColumnUnit::Char), at(1, 2, ColumnUnit::Char), "o")], "none");
        let twice = (at(1, 1, ColumnUnit::Char), at(1, 3, ColumnUnit::Char), "x");
        check(&[twice, twice], "none");
    }
}
