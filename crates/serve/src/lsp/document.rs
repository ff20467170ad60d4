//! A file that is open in the editor: [`Document`], with the text as the user sees it.

use std::path::PathBuf;
use std::sync::Arc;

use assay_findings::path::RepoPath;
use serde::Deserialize;

use super::position::{LineIndex, PositionEncoding, Range};

/// A change of a text: of a range, or of the whole text.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct TextChange {
    /// The range that is replaced; `None` for the whole text.
    pub(super) range: Option<Range>,
    pub(super) text: String,
}

/// An open file.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) path: PathBuf,
    /// The repository of the file, by its root, and the path in it; `None` if the file belongs to
    /// no repository of the workspace.
    pub(super) place: Option<(PathBuf, RepoPath)>,
    pub(super) version: i32,
    pub(super) text: Arc<str>,
    /// True if the text is that of the file on disk.
    pub(super) is_saved: bool,
    /// True if the file on disk begins with a byte order mark, which editors do not show.
    pub(super) has_mark: bool,
}

/// The byte order mark.
const MARK: &str = "\u{feff}";

impl Document {
    /// Applies changes in their order.
    pub(super) fn apply(
        &mut self,
        version: i32,
        changes: &[TextChange],
        encoding: PositionEncoding,
    ) {
        let mut text = String::from(&*self.text);
        for change in changes {
            match change.range {
                None => text.clone_from(&change.text),
                Some(range) => {
                    let bytes = LineIndex::new(&text, encoding).bytes(range);
                    text.replace_range(bytes, &change.text);
                }
            }
        }
        self.text = text.into();
        self.version = version;
        self.is_saved = false;
    }

    /// Compares the text with the file on disk.
    pub(super) fn compare_with_disk(&mut self) {
        let saved = std::fs::read(&self.path).unwrap_or_default();
        self.has_mark = saved.starts_with(MARK.as_bytes()) && !self.text.starts_with(MARK);
        self.is_saved = saved == self.unsaved_text().as_bytes();
    }

    /// Returns the text as the editor would save it.
    pub(super) fn unsaved_text(&self) -> Arc<str> {
        match self.has_mark {
            true => format!("{MARK}{}", self.text).into(),
            false => Arc::clone(&self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::position::Position;
    use super::*;

    fn document(text: &str) -> Document {
        Document {
            path: PathBuf::from("/a"),
            place: None,
            version: 1,
            text: text.into(),
            is_saved: true,
            has_mark: false,
        }
    }

    fn change(start: (u32, u32), end: (u32, u32), text: &str) -> TextChange {
        let at = |(line, character)| Position { line, character };
        TextChange { range: Some(Range { start: at(start), end: at(end) }), text: text.to_owned() }
    }

    #[test]
    fn changes_apply_in_their_order_to_the_text_so_far() {
        let mut document = document("one\ntwo\n");
        let changes = [change((0, 0), (0, 3), "1\n1"), change((1, 1), (2, 0), "+")];
        document.apply(2, &changes, PositionEncoding::Utf16);
        assert_eq!((&*document.text, document.version), ("1\n1+two\n", 2));
        assert!(!document.is_saved);
        let whole = TextChange { range: None, text: "all".to_owned() };
        document.apply(3, &[whole], PositionEncoding::Utf16);
        assert_eq!(&*document.text, "all");
    }

    #[test]
    fn characters_of_two_code_units_are_replaced_whole() {
        let mut document = document("x😀y\r\nz");
        document.apply(2, &[change((0, 1), (0, 3), "é")], PositionEncoding::Utf16);
        assert_eq!(&*document.text, "xéy\r\nz");
    }

    proptest! {
        #[test]
        fn any_change_leaves_valid_text(
            text in "[aé😀\r\n]{0,20}", new in "[b表\n]{0,5}",
            a in (0..6u32, 0..6u32), b in (0..6u32, 0..6u32),
        ) {
            let mut document = document(&text);
            document.apply(2, &[change(a, b, &new)], PositionEncoding::Utf16);
            prop_assert!(document.text.contains(&new));
        }
    }
}
