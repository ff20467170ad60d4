//! Positions in a text, in the encoding that client and server agreed on: [`LineIndex`].
//!
//! A line of the protocol ends with `\n`, `\r\n` or `\r`; a line of a finding ends with `\n`. So
//! lines of findings become bytes first, and bytes become positions.

use std::ops::Range as Bytes;

use serde::{Deserialize, Serialize};

/// A place between two characters: a line and an offset in it, both from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) line: u32,
    /// The offset in code units of the encoding.
    pub(super) character: u32,
}

/// A range of a text; the end is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Range {
    pub(super) start: Position,
    pub(super) end: Position,
}

/// The unit in which characters of a line are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum PositionEncoding {
    /// Bytes.
    Utf8,
    /// The default of the protocol.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl PositionEncoding {
    const NAMES: [(&'static str, PositionEncoding); 3] = [
        ("utf-8", PositionEncoding::Utf8),
        ("utf-16", PositionEncoding::Utf16),
        ("utf-32", PositionEncoding::Utf32),
    ];

    /// Returns the first encoding of a client's list that the server knows, or the default of the
    /// protocol.
    pub(super) fn negotiate<'a>(offered: impl Iterator<Item = &'a str>) -> PositionEncoding {
        let known = |name: &str| PositionEncoding::NAMES.iter().find(|(known, _)| *known == name);
        offered.filter_map(known).map(|(_, encoding)| *encoding).next().unwrap_or_default()
    }

    /// Returns the name in the protocol.
    pub(super) fn name(self) -> &'static str {
        let mut names = PositionEncoding::NAMES.iter();
        names.find(|(_, encoding)| *encoding == self).map_or("utf-16", |(name, _)| name)
    }

    fn width(self, c: char) -> usize {
        match self {
            PositionEncoding::Utf8 => c.len_utf8(),
            PositionEncoding::Utf16 => c.len_utf16(),
            PositionEncoding::Utf32 => 1,
        }
    }
}

/// The lines of a text.
#[derive(Debug)]
pub(super) struct LineIndex<'t> {
    text: &'t str,
    encoding: PositionEncoding,
    /// The first byte of each line.
    starts: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    pub(super) fn new(text: &'t str, encoding: PositionEncoding) -> LineIndex<'t> {
        let bytes = text.as_bytes();
        let ends = (0..bytes.len()).filter(|at| match bytes[*at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        let starts = std::iter::once(0).chain(ends.map(|at| at + 1)).collect();
        LineIndex { text, encoding, starts }
    }

    /// Returns the bytes of a line, without its end.
    fn line(&self, line: usize) -> Bytes<usize> {
        let start = self.starts[line];
        let next = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let content = self.text[start..next].trim_end_matches(['\r', '\n']);
        start..start + content.len()
    }

    /// Returns the byte of a position. A position beyond the end of its line, or of the text, is
    /// that end, and one inside of a character is the start of the character.
    pub(super) fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return self.text.len();
        }
        let line = self.line(line);
        let mut units = 0;
        for (at, c) in self.text[line.clone()].char_indices() {
            units += self.encoding.width(c);
            if units > position.character as usize {
                return line.start + at;
            }
        }
        line.end
    }

    /// Returns the position of a byte. A byte inside of a character, or of a line end, is the
    /// position before it.
    pub(super) fn position(&self, offset: usize) -> Position {
        let offset = floor_boundary(self.text, offset);
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let content = self.line(line);
        let before = &self.text[content.start..offset.min(content.end)];
        let character: usize = before.chars().map(|c| self.encoding.width(c)).sum();
        Position { line: to_u32(line), character: to_u32(character) }
    }

    /// Returns the range of bytes.
    pub(super) fn range(&self, bytes: Bytes<usize>) -> Range {
        Range { start: self.position(bytes.start), end: self.position(bytes.end) }
    }

    /// Returns the bytes of a range; the ends of a reversed range are exchanged.
    pub(super) fn bytes(&self, range: Range) -> Bytes<usize> {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        start.min(end)..start.max(end)
    }
}

fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The place of a finding: lines from 1, which end with `\n`, and a column in bytes from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct FindingPlace {
    pub(super) line: u32,
    pub(super) end_line: u32,
    pub(super) column: Option<u32>,
}

/// Returns the bytes of a finding: from its column, or the first character that is no space, to the
/// end of its last line. Lines beyond the end of the text are the last line.
pub(super) fn finding_bytes(text: &str, place: FindingPlace) -> Bytes<usize> {
    let line_at = |number: u32| {
        let mut start = 0;
        let mut found = (0, "");
        for (at, line) in text.split_inclusive('\n').enumerate() {
            if at + 1 > number.max(1) as usize {
                break;
            }
            found = (start, line.trim_end_matches(['\r', '\n']));
            start += line.len();
        }
        found
    };
    let (start, line) = line_at(place.line);
    let indent = line.len() - line.trim_start().len();
    let column = place.column.map(|column| column.saturating_sub(1) as usize);
    let column = column.filter(|column| *column < line.len()).unwrap_or(indent);
    let (last, last_line) = line_at(place.end_line.max(place.line));
    let from = floor_boundary(text, start + column);
    from..(last + last_line.trim_end().len()).max(from)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ENCODINGS: [PositionEncoding; 3] =
        [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn a_character_beyond_the_basic_plane_has_the_width_of_its_encoding() {
        let text = "a😀b\r\né\rz";
        for (encoding, width) in ENCODINGS.into_iter().zip([4, 2, 1]) {
            let index = LineIndex::new(text, encoding);
            assert_eq!(index.position(5), at(0, 1 + width), "{encoding:?}");
            assert_eq!(index.offset(at(0, 1 + width)), 5, "{encoding:?}");
        }
    }

    #[test]
    fn lines_end_with_each_kind_of_line_end() {
        let index = LineIndex::new("a\nb\r\nc\rd", PositionEncoding::Utf16);
        let found = [0, 2, 5, 7].map(|offset| index.position(offset));
        assert_eq!(found, [at(0, 0), at(1, 0), at(2, 0), at(3, 0)]);
    }

    #[test]
    fn a_position_outside_of_the_text_maps_to_the_nearest_offset() {
        let index = LineIndex::new("ab\r\ncd", PositionEncoding::Utf16);
        let found = [at(0, 9), at(7, 0), at(1, 2), at(u32::MAX, u32::MAX)].map(|p| index.offset(p));
        assert_eq!(found, [2, 6, 6, 6]);
        let index = LineIndex::new("😀", PositionEncoding::Utf16);
        assert_eq!(index.offset(at(0, 1)), 0, "inside of a surrogate pair");
    }

    #[test]
    fn the_first_known_encoding_of_the_client_is_used() {
        let of = |offered: &[&str]| PositionEncoding::negotiate(offered.iter().copied()).name();
        assert_eq!(of(&["utf-7", "utf-8", "utf-16"]), "utf-8");
        assert_eq!([of(&["utf-32"]), of(&[]), of(&["ebcdic"])], ["utf-32", "utf-16", "utf-16"]);
    }

    #[test]
    fn a_finding_covers_its_code_and_neither_indent_nor_line_end() {
        let text = "first\r\n    second line  \r\nthird\r\n";
        let covered = |line, end_line, column| {
            &text[finding_bytes(text, FindingPlace { line, end_line, column })]
        };
        assert_eq!(covered(2, 2, None), "second line");
        assert_eq!(covered(2, 2, Some(12)), "line");
        assert_eq!(covered(2, 3, Some(99)), "second line  \r\nthird");
        assert_eq!(covered(9, 1, None), "third");
        assert_eq!(finding_bytes("", FindingPlace { line: 3, end_line: 3, column: Some(2) }), 0..0);
    }

    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("\n"),
            Just("\r\n"),
            Just("\r"),
            Just("a"),
            Just("é"),
            Just("表"),
            Just("😀"),
            Just("\u{2028}"),
            Just("\t"),
            Just(""),
        ];
        prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn an_offset_survives_conversion_to_a_position_and_back(text in texts(), encoding in 0..3usize) {
            let index = LineIndex::new(&text, ENCODINGS[encoding]);
            for (offset, c) in text.char_indices() {
                let before = text[..offset].chars().next_back();
                if c == '\n' && before == Some('\r') {
                    continue;
                }
                prop_assert_eq!(index.offset(index.position(offset)), offset);
            }
            prop_assert_eq!(index.offset(index.position(text.len())), text.len());
        }

        #[test]
        fn positions_are_ordered_like_their_offsets(text in texts(), encoding in 0..3usize) {
            let index = LineIndex::new(&text, ENCODINGS[encoding]);
            let positions: Vec<Position> = (0..=text.len()).map(|at| index.position(at)).collect();
            prop_assert!(positions.is_sorted());
        }

        #[test]
        fn any_position_maps_to_a_character_boundary(
            text in texts(), line in 0..20u32, character in 0..20u32, encoding in 0..3usize,
        ) {
            let index = LineIndex::new(&text, ENCODINGS[encoding]);
            prop_assert!(text.is_char_boundary(index.offset(at(line, character))));
        }

        #[test]
        fn the_range_of_any_finding_is_within_its_text(
            text in texts(), line in 0..20u32, end_line in 0..20u32, column in 0..9u32,
        ) {
            let bytes = finding_bytes(&text, FindingPlace { line, end_line, column: Some(column) });
            prop_assert!(text.get(bytes).is_some());
        }
    }
}
