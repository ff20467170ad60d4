//! The parser of diffs, line by line, from pieces of any size: [`Parser`].

use std::ops::RangeInclusive;

use assay_findings::vote::LineRange;

use super::names::{self, Names};
use super::{Content, FileDiff, Hunk, Mode, Origin, Span, Unread};
use crate::file_name::{display_name, to_raw_name};

/// The maximum number of bytes of a line that are stored. A header may name two paths of 4096
/// bytes, each byte as `\ooo`.
const MAX_LINE: usize = 40 << 10;

/// The maximum number of hunks and runs of lines over all files; the rest is not parsed.
const MAX_HUNKS_AND_RUNS: usize = 1 << 20;

/// A parser of a diff that arrives in pieces.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    files: Vec<FileDiff>,
    place: ParserState,
    /// The start of a line whose end has not arrived yet.
    partial: Vec<u8>,
    /// True if that line is longer than the stored part.
    is_cut: bool,
    /// The name on the preceding `---` line, and true if it was truncated.
    old_name: Option<(Vec<u8>, bool)>,
    /// The number of old and new lines that the current hunk still lacks.
    left: (u32, u32),
    /// The numbers of the next old and the next new line.
    next: (u32, u32),
    /// The number of hunks and runs of lines so far.
    places: usize,
    /// The number of lines that were read.
    number: usize,
    /// The first fault; `None` while all files could be parsed.
    fault: Option<ParseFault>,
    /// The lines of all hunks; `None` if they are not stored.
    kept: Option<Vec<HunkLine>>,
    /// True if a hunk without a file, or names without a hunk, are a fault.
    is_strict: bool,
    /// The first line of the current file.
    opened_at: usize,
    /// The line of the names that no hunk follows yet.
    named_at: Option<usize>,
    /// The notes that binary files differ.
    notes: Vec<BinaryNote>,
}

/// A note that two binary files differ, without their content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BinaryNote {
    /// The index of the file in the diff.
    pub(crate) file: usize,
    /// The lines of the diff, from 1: the header of the file and the note.
    pub(crate) lines: RangeInclusive<usize>,
}

/// A diff with the parts that `git apply` does not apply.
#[derive(Debug)]
pub(crate) struct StrictDiff {
    pub(crate) files: Vec<FileDiff>,
    /// The notes that binary files differ.
    pub(crate) notes: Vec<BinaryNote>,
    /// The first fault; `None` if all files could be parsed.
    pub(crate) fault: Option<ParseFault>,
}

/// The first reason that a file of a diff could not be parsed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParseFault {
    /// The line of the diff, from 1.
    pub(crate) line: usize,
    pub(crate) reason: &'static str,
}

/// A line of a hunk.
#[derive(Debug)]
pub(super) struct HunkLine {
    /// The index of the file in the diff.
    pub(super) file: usize,
    pub(super) kind: LineKind,
    /// The numbers of the line, or of the next line, before and after the change.
    pub(super) numbers: (u32, u32),
    /// The line of the diff, from 1.
    pub(super) line: usize,
    /// The text without its sign.
    pub(super) text: Vec<u8>,
}

/// The position of a line in a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ParserState {
    /// In text that belongs to no file.
    #[default]
    Outside,
    /// In the headers of a file, before its names.
    Header,
    /// After the names of a file.
    Named,
    /// In a diff with more than one old side.
    Merge,
}

/// The kind of a line in a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Context,
    Added,
    Removed,
}

impl Parser {
    /// Creates a parser that stores the lines of hunks, however long they are.
    pub(super) fn with_lines() -> Parser {
        Parser { kept: Some(Vec::new()), ..Parser::strict() }
    }

    /// Creates a parser that reports hunks without a file.
    pub(super) fn strict() -> Parser {
        Parser { is_strict: true, ..Parser::default() }
    }

    /// Ends the diff. Returns the files, the notes on binary files and the first fault.
    pub(super) fn finish_strictly(mut self) -> StrictDiff {
        let fault = self.end().err();
        StrictDiff { files: self.files, notes: self.notes, fault }
    }

    /// Ends the diff. Returns the files, and the lines of their hunks or the first fault.
    pub(super) fn finish_with_lines(
        mut self,
    ) -> (Vec<FileDiff>, Result<Vec<HunkLine>, ParseFault>) {
        let kept = self.end();
        (self.files, kept)
    }

    /// Parses the next piece.
    pub(crate) fn feed(&mut self, mut piece: &[u8]) {
        while let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
            self.store(&piece[..end]);
            self.end_line();
            piece = &piece[end + 1..];
        }
        self.store(piece);
    }

    /// Ends the diff and returns its files.
    pub(crate) fn finish(mut self) -> Vec<FileDiff> {
        let _ = self.end();
        self.files
    }

    /// Parses the last line. Returns the stored lines, or the first fault.
    fn end(&mut self) -> Result<Vec<HunkLine>, ParseFault> {
        if !self.partial.is_empty() {
            self.end_line();
        }
        if self.left != (0, 0) {
            self.give_up(Unread::Broken, "the hunk ends before its last line");
        }
        if self.old_name.is_some() {
            self.check_end(b"--- ");
        }
        self.check_hunk();
        self.check_named();
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(self.kept.take().unwrap_or_default()),
        }
    }

    /// Marks a file that no line named as one that could not be parsed.
    fn check_named(&mut self) {
        if self.files.last().is_some_and(|file| file.path().is_empty()) {
            self.give_up(Unread::Broken, "the file has no name");
        }
    }

    /// Marks a file as broken if no hunk follows its names. A parser that is not strict also parses
    /// headers alone.
    fn check_hunk(&mut self) {
        if let Some(line) = self.named_at.take().filter(|_| self.is_strict) {
            let reason = "no hunk follows the names of the file";
            self.fault.get_or_insert(ParseFault { line, reason });
            self.give_up(Unread::Broken, reason);
        }
    }

    /// Marks a file as broken if its hunk goes on after the lines that its header states.
    fn check_end(&mut self, line: &[u8]) {
        let is_sign = matches!(line, [b'+' | b'-' | b' ', ..]);
        if self.place == ParserState::Named && is_sign && line != SIGNATURE && !is_blank(line) {
            self.give_up(Unread::Broken, TOO_MANY_LINES);
        }
    }

    fn store(&mut self, piece: &[u8]) {
        let most = if self.kept.is_some() { usize::MAX } else { MAX_LINE };
        let room = most - self.partial.len();
        self.is_cut |= piece.len() > room;
        self.partial.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.partial);
        self.number += 1;
        self.line(&line);
        // The buffer is reused.
        self.partial = line;
        self.partial.clear();
        self.is_cut = false;
    }

    fn line(&mut self, line: &[u8]) {
        if self.left != (0, 0) {
            if self.hunk_line(line) {
                return;
            }
            let has_sign = matches!(line, [] | [b'+' | b'-' | b' ' | b'\r', ..]);
            let reason = match has_sign {
                true => TOO_MANY_LINES,
                false => "the hunk ends before its last line",
            };
            self.give_up(Unread::Broken, reason);
            self.left = (0, 0);
        }
        if self.place == ParserState::Header && line == b"GIT binary patch\r" {
            self.give_up(Unread::Broken, "the line ends of a binary patch were converted");
        }
        self.header(line.strip_suffix(b"\r").unwrap_or(line));
    }

    /// Parses a line of a hunk. Returns false if the line is none.
    fn hunk_line(&mut self, line: &[u8]) -> bool {
        let kind = match line {
            [b'+', ..] => LineKind::Added,
            [b'-', ..] => LineKind::Removed,
            // An empty line of context may have lost its blank in transport.
            [b' ', ..] | [] | [b'\r'] => LineKind::Context,
            // A note that the last line has no line end.
            [b'\\', ..] => return true,
            _ => return false,
        };
        let takes_old = u32::from(kind != LineKind::Added);
        let takes_new = u32::from(kind != LineKind::Removed);
        let (Some(old), Some(new)) =
            (self.left.0.checked_sub(takes_old), self.left.1.checked_sub(takes_new))
        else {
            return false;
        };
        self.left = (old, new);
        let number = self.next;
        self.next = (number.0.saturating_add(takes_old), number.1.saturating_add(takes_new));
        if let Some(kept) = &mut self.kept {
            let text = line.get(1..).unwrap_or_default().to_vec();
            let file = self.files.len().saturating_sub(1);
            kept.push(HunkLine { file, kind, numbers: number, line: self.number, text });
        }
        match kind {
            LineKind::Context => {}
            LineKind::Added => self.add_line_number(number.1, |hunk| &mut hunk.added),
            LineKind::Removed => self.add_line_number(number.0, |hunk| &mut hunk.removed),
        }
        true
    }

    /// Adds a line number to the lines of the current hunk.
    fn add_line_number(&mut self, number: u32, lines: fn(&mut Hunk) -> &mut Vec<LineRange>) {
        let Some(hunk) = self.files.last_mut().and_then(|file| file.hunks.last_mut()) else {
            return;
        };
        let lines = lines(hunk);
        match lines.last_mut() {
            Some(last) if last.end().saturating_add(1) == number => {
                *last = LineRange::range(last.start(), number).unwrap_or(*last);
            }
            _ => {
                if lines.is_empty() {
                    // Most hunks have one run of lines.
                    lines.reserve_exact(1);
                }
                lines.extend(LineRange::at(number));
                self.count_place();
            }
        }
    }

    fn count_place(&mut self) {
        self.places += 1;
        if self.places > MAX_HUNKS_AND_RUNS {
            self.give_up(Unread::TooMany, "the diff has too many hunks");
        }
    }

    /// Marks the current file as one whose hunks could not be parsed.
    fn give_up(&mut self, why: Unread, reason: &'static str) {
        self.fault.get_or_insert(ParseFault { line: self.number, reason });
        if let Some(file) = self.files.last_mut() {
            file.content = Content::Unread(why);
            file.hunks = Vec::new();
        }
    }

    fn header(&mut self, line: &[u8]) {
        let old_name = self.old_name.take();
        if old_name.is_some() && !line.starts_with(b"+++ ") {
            self.check_end(b"--- ");
        }
        // The hunks of a merge have a column for each old side, so any line may occur there.
        if self.opens(line) || self.place == ParserState::Merge {
            return;
        }
        if let Some(name) = line.strip_prefix(b"--- ") {
            self.old_name = Some((name.to_vec(), self.is_cut));
        } else if let (Some((old, is_cut)), Some(new)) = (old_name, line.strip_prefix(b"+++ ")) {
            self.is_cut |= is_cut;
            self.names(&old, new);
        } else {
            let taken = match self.place {
                // Git applies hunks after a header without names.
                ParserState::Header if !line.starts_with(b"@@") => self.git_header(line),
                ParserState::Header | ParserState::Named => self.hunk(line),
                ParserState::Outside => self.is_strict && starts_hunk(line) && self.hunk(line),
                ParserState::Merge => false,
            };
            if !taken && !line.starts_with(b"\\") {
                self.after_hunk(line);
            }
        }
    }

    /// Parses a line after the end of a hunk, or outside of a file.
    fn after_hunk(&mut self, line: &[u8]) {
        self.check_hunk();
        self.check_end(line);
        // A person may have put a blank line between two hunks.
        if self.place != ParserState::Named || !is_blank(line) {
            self.outside(line);
        }
    }

    /// Parses a line that starts a file. Returns false if the line is none.
    fn opens(&mut self, line: &[u8]) -> bool {
        let unread = Content::Unread(Unread::Merge);
        let (name, content, place) = if let Some(names) = line.strip_prefix(b"diff --git ") {
            (names::parse_git_line(names), Content::Text, ParserState::Header)
        } else if let Some(name) = line.strip_prefix(b"diff --cc ") {
            (Some(names::parse_unprefixed(name)), unread, ParserState::Merge)
        } else if let Some(name) = line.strip_prefix(b"diff --combined ") {
            (Some(names::parse_unprefixed(name)), unread, ParserState::Merge)
        } else if let Some(name) = line.strip_prefix(b"* Unmerged path ") {
            (Some(name.to_vec()), unread, ParserState::Outside)
        } else {
            return false;
        };
        self.open((name.clone(), name), content, place);
        if content == unread {
            self.give_up(Unread::Merge, "the file is not merged, or compared with several files");
        }
        true
    }

    fn open(&mut self, (old, new): Names, content: Content, place: ParserState) {
        self.check_hunk();
        self.check_named();
        self.opened_at = self.number;
        let [old_path, new_path] = [old, new].map(|name| name.as_deref().map(display_name));
        self.files.push(FileDiff { old_path, new_path, content, ..FileDiff::default() });
        self.place = place;
        self.check_whole();
    }

    /// Marks a file as broken if its name was truncated, since the rest could be any name.
    fn check_whole(&mut self) {
        if self.is_cut {
            self.give_up(Unread::Broken, "the file name is too long");
        }
    }

    /// Parses a `---` and a `+++` line, which start a new file unless a `diff --git` line did.
    fn names(&mut self, old: &[u8], new: &[u8]) {
        let (old_name, new_name) = names::parse_header_lines(old, new);
        if self.place != ParserState::Header {
            self.open((old_name, new_name), Content::Text, ParserState::Named);
            self.named_at = Some(self.number);
            return;
        }
        self.place = ParserState::Named;
        self.named_at = Some(self.number);
        self.check_whole();
        let Some(file) = self.files.last_mut() else { return };
        correct(&mut file.old_path, names::parse_prefixed(old), old_name);
        correct(&mut file.new_path, names::parse_prefixed(new), new_name);
    }

    /// Parses a header of git. Returns false if the line is none.
    fn git_header(&mut self, line: &[u8]) -> bool {
        let Some(file) = self.files.last_mut() else { return false };
        if let Some(mode) = line.strip_prefix(b"new file mode ") {
            file.old_path = None;
            file.new_mode = Some(Mode::read(mode));
        } else if let Some(mode) = line.strip_prefix(b"deleted file mode ") {
            file.new_path = None;
            file.old_mode = Some(Mode::read(mode));
        } else if let Some(mode) = line.strip_prefix(b"old mode ") {
            file.old_mode = Some(Mode::read(mode));
        } else if let Some(mode) = line.strip_prefix(b"new mode ") {
            file.new_mode = Some(Mode::read(mode));
        } else if let Some(ids) = line.strip_prefix(b"index ") {
            if let Some(blank) = ids.iter().position(|byte| *byte == b' ') {
                let mode = Some(Mode::read(&ids[blank + 1..]));
                (file.old_mode, file.new_mode) = (mode, mode);
            }
        } else if line == b"GIT binary patch" || binary_names(line).is_some() {
            if !matches!(file.content, Content::Unread(_)) {
                file.content = Content::Binary;
            }
            if binary_names(line).is_some() {
                self.add_note();
            }
            self.place = ParserState::Outside;
            return true;
        } else {
            return self.move_header(line);
        }
        let mode = file.new_mode.or(file.old_mode);
        if file.content == Content::Text {
            file.content = mode.map_or(Content::Text, Mode::content);
        }
        true
    }

    /// Parses a header of a rename or a copy. Returns false if the line is none.
    fn move_header(&mut self, line: &[u8]) -> bool {
        let Some(file) = self.files.last_mut() else { return false };
        let name_after = |prefix: &[u8]| {
            let name = line.strip_prefix(prefix)?;
            Some(display_name(&names::parse_unprefixed(name)))
        };
        if let Some(name) = name_after(b"rename from ") {
            (file.old_path, file.origin) = (Some(name), Origin::Renamed);
        } else if let Some(name) = name_after(b"copy from ") {
            (file.old_path, file.origin) = (Some(name), Origin::Copied);
        } else if let Some(name) = name_after(b"rename to ").or(name_after(b"copy to ")) {
            file.new_path = Some(name);
        } else {
            return [&b"similarity index "[..], b"dissimilarity index "]
                .iter()
                .any(|prefix| line.starts_with(prefix));
        }
        self.check_whole();
        true
    }

    /// Parses the header of a hunk. Returns false if the line is none.
    fn hunk(&mut self, line: &[u8]) -> bool {
        if !line.starts_with(b"@@") {
            return false;
        }
        self.place = ParserState::Named;
        self.named_at = None;
        let Some((old, new)) = hunk_header(line) else {
            match line.starts_with(b"@@@") {
                true => self.give_up(
                    Unread::Merge,
                    "the hunk is part of a merge diff with more than one parent",
                ),
                false => self.give_up(Unread::Broken, "the hunk header is invalid"),
            }
            return true;
        };
        self.left = (old.count, new.count);
        self.next = (old.start, new.start);
        let ends = [old, new].map(|side| side.start.checked_add(side.count));
        if ends.contains(&None) {
            self.give_up(Unread::Broken, "the line numbers are too high");
        }
        let Some(file) = self.files.last_mut() else { return false };
        if matches!(file.content, Content::Text | Content::Link) {
            file.hunks.push(Hunk { old, new, added: Vec::new(), removed: Vec::new() });
            self.count_place();
        }
        true
    }

    /// Parses a line that belongs to no file, or is the only line of one.
    fn outside(&mut self, line: &[u8]) {
        self.place = ParserState::Outside;
        let Some(names) = binary_names(line) else { return };
        let between =
            names.windows(NAME_SEPARATOR.len()).position(|window| window == NAME_SEPARATOR);
        if let Some(at) = between {
            let names =
                names::parse_header_lines(&names[..at], &names[at + NAME_SEPARATOR.len()..]);
            self.open(names, Content::Binary, ParserState::Outside);
            self.add_note();
        }
    }

    /// Adds the current line as the note that the current file is binary.
    fn add_note(&mut self) {
        let file = self.files.len().saturating_sub(1);
        self.notes.push(BinaryNote { file, lines: self.opened_at..=self.number });
    }
}

/// The reason that a hunk with lines after its end is broken.
const TOO_MANY_LINES: &str = "the hunk has more lines than its header states";

/// The line that ends a mailed diff.
const SIGNATURE: &[u8] = b"-- ";

/// Returns true if a line has no text.
fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| *byte == b' ')
}

/// Returns true if a line is the header of a hunk, valid or not.
fn starts_hunk(line: &[u8]) -> bool {
    line.starts_with(b"@@ -") || line.starts_with(b"@@@ -")
}

/// The separator between the names of two binary files.
const NAME_SEPARATOR: &[u8] = b" and ";

/// Returns both names in a note that two binary files differ.
fn binary_names(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(b"Binary files ")?.strip_suffix(b" differ")
}

/// Corrects the path from a `diff --git` line by the name on a later line.
fn correct(path: &mut Option<String>, name: Option<Vec<u8>>, without_prefix: Option<Vec<u8>>) {
    let agrees =
        |path: &String| name.as_ref().is_some_and(|name| name.ends_with(&to_raw_name(path)));
    if !path.as_ref().is_some_and(agrees) {
        *path = without_prefix.as_deref().map(display_name);
    }
}

/// Parses `@@ -1,2 +3,4 @@` into the lines of both sides.
pub(super) fn hunk_header(line: &[u8]) -> Option<(Span, Span)> {
    let line = line.strip_prefix(b"@@ ")?;
    let end = line.windows(3).position(|window| window == b" @@")?;
    let (old, new) = std::str::from_utf8(&line[..end]).ok()?.split_once(' ')?;
    let side = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some(Span { start: number(start)?, count: number(count)? })
    };
    Some((side(old.strip_prefix('-')?)?, side(new.strip_prefix('+')?)?))
}

/// Parses digits; unlike `str::parse`, a sign is not accepted, as in git.
fn number(digits: &str) -> Option<u32> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests;
