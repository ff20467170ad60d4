//! The parser of unified diffs, line by line: [`parse`].
//!
//! A hunk is parsed by the counts in its header first, since its lines may look like headers
//! themselves. If the counts do not match, the hunk is parsed up to the next header, so that the
//! fault is reported and the rest of the diff is still parsed.

use assay_findings::path::RepoPath;

use super::{DiffFault, DiffFaultKind, DiffLine, FilePatch, HunkText, LineEnd, Mark, UnifiedDiff};
use crate::diff::{self, Content, Span, Unread};

/// The maximum length of a path in bytes; no system has longer ones.
const MAX_PATH: usize = 4096;

/// The maximum number of faults that are reported per file.
const MAX_FAULTS: usize = 20;

/// The start of a hunk's header.
const HUNK_START: &str = "@@";

/// Parses a unified diff to its end, whatever faults it has. `first_line` is the number of the
/// diff's first line in the text around it, or 1.
pub fn parse(text: &str, first_line: u32) -> UnifiedDiff<'_> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let mut reader = Reader { lines, at: 0, first_line, diff: UnifiedDiff::default() };
    reader.parse();
    reader.diff
}

struct Reader<'t> {
    /// The lines, each without its line feed.
    lines: Vec<&'t str>,
    at: usize,
    first_line: u32,
    diff: UnifiedDiff<'t>,
}

/// The lines of a hunk, and the position of its end.
struct HunkBody<'t> {
    lines: Vec<DiffLine<'t>>,
    end: usize,
}

impl<'t> Reader<'t> {
    fn parse(&mut self) {
        while let Some(line) = self.lines.get(self.at).copied() {
            if self.opens_file(self.at) {
                self.parse_file();
            } else if line.starts_with(HUNK_START) {
                self.report_stray(self.at, DiffFaultKind::HunkWithoutFile);
                self.at = self.next_header(self.at + 1);
            } else {
                // Text before the first file, such as a message, is not part of the diff.
                self.at += 1;
            }
        }
        if self.diff.files.is_empty() && self.diff.faults.is_empty() {
            self.report_stray(0, DiffFaultKind::NoFile);
        }
    }

    /// Returns the number of a line.
    fn number(&self, at: usize) -> u32 {
        self.first_line.saturating_add(u32::try_from(at).unwrap_or(u32::MAX))
    }

    /// Reports a fault that belongs to no file.
    fn report_stray(&mut self, at: usize, kind: DiffFaultKind<'t>) {
        let line = self.number(at);
        report(&mut self.diff.faults, line, kind);
    }

    fn opens_file(&self, at: usize) -> bool {
        self.is_git_header(at) || self.has_names(at)
    }

    fn is_git_header(&self, at: usize) -> bool {
        let kinds = ["diff --git ", "diff --cc ", "diff --combined "];
        self.lines.get(at).is_some_and(|line| kinds.iter().any(|kind| line.starts_with(kind)))
    }

    fn has_names(&self, at: usize) -> bool {
        let starts =
            |at: usize, with: &str| self.lines.get(at).is_some_and(|l| l.starts_with(with));
        starts(at, "--- ") && starts(at + 1, "+++ ")
    }

    /// Returns the position of the next hunk or file.
    fn next_header(&self, from: usize) -> usize {
        let mut rest = from..self.lines.len();
        rest.find(|at| self.lines[*at].starts_with(HUNK_START) || self.opens_file(*at))
            .unwrap_or(self.lines.len())
    }

    /// Parses a file, from its header on.
    fn parse_file(&mut self) {
        let start = self.at;
        let end = self.end_of_header();
        let header = self.lines[start..end].join("\n");
        let mut file = FilePatch {
            old: None,
            new: None,
            origin: Default::default(),
            line: self.number(start),
            hunks: Vec::new(),
            faults: Vec::new(),
            stray: Vec::new(),
        };
        let named = name(&mut file, header.as_bytes());
        let is_git = self.is_git_header(start);
        self.at = end;
        self.parse_hunks(&mut file);
        // A header of git may state a rename or a mode; two names alone change nothing.
        if !is_git && file.hunks.is_empty() && file.faults.is_empty() {
            report(&mut file.faults, self.number(start), DiffFaultKind::NoHunk);
        }
        match named {
            Ok(()) => self.diff.files.push(file),
            Err(kind) => self.report_stray(start, kind),
        }
    }

    /// Returns the end of the current file's header.
    fn end_of_header(&self) -> usize {
        if !self.is_git_header(self.at) {
            return self.at + 2;
        }
        let mut rest = self.at + 1..self.lines.len();
        let stop = rest.find(|at| self.opens_file(*at) || self.lines[*at].starts_with(HUNK_START));
        let stop = stop.unwrap_or(self.lines.len());
        if self.has_names(stop) { stop + 2 } else { stop }
    }

    fn parse_hunks(&mut self, file: &mut FilePatch<'t>) {
        let mut is_reported = false;
        while let Some(line) = self.lines.get(self.at).copied() {
            if line.starts_with(HUNK_START) {
                self.parse_hunk(file);
            } else if self.opens_file(self.at) {
                return;
            } else if is_signature(line) {
                self.at = self.next_header(self.at);
            } else {
                file.stray.extend(self.line_or_unmarked(self.at));
                if !is_blank(line) && !std::mem::replace(&mut is_reported, true) {
                    report(
                        &mut file.faults,
                        self.number(self.at),
                        DiffFaultKind::OutsideHunk(line),
                    );
                }
                self.at += 1;
            }
        }
    }

    fn parse_hunk(&mut self, file: &mut FilePatch<'t>) {
        let head = self.at;
        let line = self.lines[head].strip_suffix('\r').unwrap_or(self.lines[head]);
        let Some((old, new)) = diff::hunk_header(line) else {
            report(&mut file.faults, self.number(head), DiffFaultKind::BadHeader(line));
            let body = self.parse_uncounted(head + 1);
            self.at = body.end;
            let (line, old) = (self.number(head), Span { start: 0, count: 0 });
            let (is_at_top, is_whole) = (false, false);
            file.hunks.push(HunkText { line, old, is_at_top, lines: body.lines, is_whole });
            return;
        };
        let body = self.parse_counted(head + 1, old.count, new.count);
        let body = body.unwrap_or_else(|| self.parse_uncounted(head + 1));
        self.check(file, head, (old, new), &body);
        self.at = body.end;
        file.hunks.push(HunkText {
            line: self.number(head),
            old,
            is_at_top: new.start <= 1,
            is_whole: body.lines.iter().all(|line| line.mark != Mark::Unmarked),
            lines: body.lines,
        });
    }

    /// Parses a hunk by its counts; returns `None` if they do not match.
    fn parse_counted(&self, from: usize, old: u32, new: u32) -> Option<HunkBody<'t>> {
        let mut left = (old, new);
        let mut lines = Vec::new();
        let mut at = from;
        while left != (0, 0) {
            let line = self.line(at)?;
            at += 1;
            if let Some(line) = line {
                left.0 = left.0.checked_sub(u32::from(line.mark != Mark::Added))?;
                left.1 = left.1.checked_sub(u32::from(line.mark != Mark::Removed))?;
                lines.push(line);
            } else {
                end_with_file(&mut lines);
            }
        }
        if let Some(None) = self.line(at) {
            end_with_file(&mut lines);
            at += 1;
        }
        let end = (at..self.lines.len()).find(|at| !is_blank(self.lines[*at]));
        let end = end.unwrap_or(self.lines.len());
        let ends = self.lines.get(end).is_none_or(|line| {
            line.starts_with(HUNK_START) || is_signature(line) || self.opens_file(end)
        });
        ends.then_some(HunkBody { lines, end })
    }

    /// Parses a hunk up to the next header.
    fn parse_uncounted(&self, from: usize) -> HunkBody<'t> {
        let end = self.next_header(from);
        let stated = self.lines[from..end].iter().rposition(|line| !is_blank(line));
        let mut body = HunkBody { lines: Vec::new(), end };
        for at in from..stated.map_or(from, |last| from + last + 1) {
            match self.line_or_unmarked(at) {
                Some(line) => body.lines.push(line),
                None => end_with_file(&mut body.lines),
            }
        }
        body
    }

    /// Parses a line of a hunk. Returns `None` for a line without a mark or after the end, and
    /// `Some(None)` for the note that the line before has no line end.
    fn line(&self, at: usize) -> Option<Option<DiffLine<'t>>> {
        self.lines.get(at)?;
        let line = self.line_or_unmarked(at);
        line.is_none_or(|line| line.mark != Mark::Unmarked).then_some(line)
    }

    /// Parses a line with any mark or none; returns `None` for the note that the line before has no
    /// line end.
    fn line_or_unmarked(&self, at: usize) -> Option<DiffLine<'t>> {
        let whole = self.lines.get(at)?;
        let (line, end) = match whole.strip_suffix('\r') {
            Some(line) => (line, LineEnd::ReturnFeed),
            None => (*whole, LineEnd::Feed),
        };
        // An empty line of context may have lost its blank in transport.
        let (mark, text) = match line.as_bytes().first() {
            None => (Mark::Context, line),
            Some(b' ') => (Mark::Context, &line[1..]),
            Some(b'+') => (Mark::Added, &line[1..]),
            Some(b'-') => (Mark::Removed, &line[1..]),
            Some(b'\\') => return None,
            Some(_) => (Mark::Unmarked, line),
        };
        Some(DiffLine { mark, text, end, at: self.number(at) })
    }

    /// Reports the faults of a hunk.
    fn check(
        &self,
        file: &mut FilePatch<'t>,
        head: usize,
        stated: (Span, Span),
        body: &HunkBody<'t>,
    ) {
        if let Some(line) = body.lines.iter().find(|line| line.mark == Mark::Unmarked) {
            return report(&mut file.faults, line.at, DiffFaultKind::Unmarked(line.text));
        }
        let count = |other: Mark| body.lines.iter().filter(|line| line.mark != other).count();
        let found = (count(Mark::Added), count(Mark::Removed));
        let stated = (stated.0.count, stated.1.count);
        if found != (stated.0 as usize, stated.1 as usize) {
            let kind = DiffFaultKind::Counts { stated, found };
            report(&mut file.faults, self.number(head), kind);
        }
    }
}

fn report<'t>(faults: &mut Vec<DiffFault<'t>>, line: u32, kind: DiffFaultKind<'t>) {
    if faults.len() < MAX_FAULTS {
        faults.push(DiffFault { line, kind });
    }
}

/// Removes the line end of the last line.
fn end_with_file(lines: &mut [DiffLine<'_>]) {
    if let Some(last) = lines.last_mut() {
        last.end = LineEnd::None;
    }
}

fn is_blank(line: &str) -> bool {
    line.is_empty() || line == "\r"
}

/// Returns true if a line ends a mailed diff; the version of git follows it.
fn is_signature(line: &str) -> bool {
    matches!(line, "-- " | "-- \r")
}

/// Sets the paths of a file by its header. Fails if its content cannot be patched.
fn name<'t>(file: &mut FilePatch<'_>, header: &[u8]) -> Result<(), DiffFaultKind<'t>> {
    let Some(named) = diff::parse(header).pop() else { return Err(DiffFaultKind::NoNames) };
    let path = |name: &Option<String>| name.as_deref().map(inside).transpose();
    (file.old, file.new, file.origin) =
        (path(&named.old_path)?, path(&named.new_path)?, named.origin);
    let path = file.path().to_owned();
    Err(match named.content {
        Content::Text => return Ok(()),
        _ if path.is_empty() => DiffFaultKind::NoNames,
        Content::Binary => DiffFaultKind::Binary(path),
        Content::Submodule | Content::Link => DiffFaultKind::Link(path),
        Content::Unread(Unread::Merge) => DiffFaultKind::Merge(path),
        Content::Unread(Unread::Broken | Unread::TooMany | Unread::Unreadable) => {
            DiffFaultKind::NoNames
        }
    })
}

/// Parses a path. Fails if it leaves the repository or is in the folder of git.
fn inside<'t>(name: &str) -> Result<RepoPath, DiffFaultKind<'t>> {
    let refuse = |reason: &str| {
        Err(DiffFaultKind::BadPath { path: name.to_owned(), reason: reason.to_owned() })
    };
    if name.chars().any(char::is_control) {
        return refuse("the path has a control character");
    }
    if name.len() > MAX_PATH {
        return refuse("the path is too long");
    }
    if let Err(error) = RepoPath::exact(name) {
        return refuse(&error.to_string());
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        return refuse("the path is inside of `.git`");
    }
    RepoPath::exact(&parts.join("/")).or_else(|error| refuse(&error.to_string()))
}
