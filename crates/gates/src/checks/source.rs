//! Code as far as it is shown, in a change or in a plan: [`Source`].

use assay_change::unified::{Mark, Piece};

use super::written::Written;
use crate::facts::lexer::{Language, Lexed};

/// Lines of a file of code, with nothing between them that is not shown.
pub(super) struct Source<'t> {
    pub(super) path: &'t str,
    pub(super) language: Language,
    pub(super) lines: Vec<&'t str>,
    /// Which of them came, from 0.
    pub(super) added: Vec<usize>,
    /// Whether lines may stand before them that are not shown.
    pub(super) is_cut: bool,
    lexed: Lexed,
}

impl<'t> Source<'t> {
    /// Reads a whole file; nothing where its language is not known.
    pub(super) fn of_file(written: &'t Written<'_>) -> Option<Source<'t>> {
        let added = written.added().into_iter().map(|(number, _)| number as usize - 1);
        Source::new(written.path, written.text.lines().collect(), added.collect(), false)
    }

    /// Reads what a planned diff shows of a file.
    pub(super) fn of_piece(path: &'t str, piece: &Piece<'t>) -> Option<Source<'t>> {
        let lines = piece.lines.iter();
        let added = lines.clone().enumerate().filter(|(_, line)| line.mark == Mark::Added);
        let added = added.map(|(at, _)| at).collect();
        Source::new(path, lines.map(|line| line.text).collect(), added, piece.is_cut)
    }

    pub(super) fn new(
        path: &'t str,
        lines: Vec<&'t str>,
        added: Vec<usize>,
        is_cut: bool,
    ) -> Option<Source<'t>> {
        let language = Language::of(path)?;
        let lexed = Lexed::read_lines(language, &lines, is_cut);
        Some(Source { path, language, lines, added, is_cut, lexed })
    }

    /// Returns the code on a line, without what stands in strings.
    pub(super) fn code(&self, at: usize) -> &str {
        self.lexed.code.get(at).map_or("", |code| code.trim())
    }

    /// Returns the comment on a line, with its marks.
    pub(super) fn comment(&self, at: usize) -> &str {
        self.lexed.comments.get(at).map_or("", |comment| comment.trim())
    }

    /// Returns true if a line is a comment and nothing else.
    pub(super) fn is_comment(&self, at: usize) -> bool {
        self.code(at).is_empty() && !self.comment(at).is_empty()
    }

    /// Returns how many bytes of blanks a line begins with.
    pub(super) fn indent(&self, at: usize) -> usize {
        let line = self.lines.get(at).copied().unwrap_or_default();
        line.len() - line.trim_start().len()
    }
}
