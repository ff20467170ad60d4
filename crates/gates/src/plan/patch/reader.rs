//! Reading a planned diff line by line: [`read`].
//!
//! A hunk is read by the counts in its header first, since its lines may look like headers
//! themselves. Where those do not add up it is read up to what must be the next header, so that
//! what is wrong can be told and the rest of the diff is still read.

use assay_change::diff::{self, Content, Span, Unread};
use assay_findings::path::RepoPath;

use super::{End, Fault, FilePatch, Hunk, Line, Mark, Patch, Spot};
use crate::plan::PlannedDiff;
use crate::quote::quoted;

/// No system has longer paths, in bytes.
const MAX_PATH: usize = 4096;

/// So many faults of one file are told.
const MAX_FAULTS: usize = 20;

/// The beginning of a hunk.
const HUNK: &str = "@@";

/// Reads a planned diff. It is read to its end, whatever is wrong with it.
pub fn read(diff: &PlannedDiff) -> Patch<'_> {
    let mut lines: Vec<&str> = diff.text.split('\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let mut reader = Reader { lines, at: 0, diff, patch: Patch::default() };
    reader.read();
    reader.patch
}

struct Reader<'p> {
    /// Each without its line feed.
    lines: Vec<&'p str>,
    at: usize,
    diff: &'p PlannedDiff,
    patch: Patch<'p>,
}

/// The lines of a hunk, up to where it ends.
struct Body<'p> {
    lines: Vec<Line<'p>>,
    end: usize,
}

impl<'p> Reader<'p> {
    fn read(&mut self) {
        while let Some(line) = self.lines.get(self.at).copied() {
            if self.opens_file(self.at) {
                self.file();
            } else if line.starts_with(HUNK) {
                let why = "a hunk stands under no file; put `--- a/PATH` and `+++ b/PATH` above it";
                self.astray(self.at, why.to_owned());
                self.at = self.next_header(self.at + 1);
            } else {
                // Text before the first file, such as a message, is no part of the diff.
                self.at += 1;
            }
        }
        if self.patch.files.is_empty() && self.patch.faults.is_empty() {
            let why = "the diff names no file; put `--- a/PATH` and `+++ b/PATH` above its hunks";
            self.astray(0, why.to_owned());
        }
    }

    fn spot(&self, at: usize) -> Spot {
        Spot::of(self.diff, at)
    }

    /// Tells a fault that belongs to no file.
    fn astray(&mut self, at: usize, why: String) {
        if self.patch.faults.len() < MAX_FAULTS {
            self.patch.faults.push(Fault { line: self.spot(at), why });
        }
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

    /// Returns where the next hunk or file begins.
    fn next_header(&self, from: usize) -> usize {
        let mut rest = from..self.lines.len();
        rest.find(|at| self.lines[*at].starts_with(HUNK) || self.opens_file(*at))
            .unwrap_or(self.lines.len())
    }

    /// Reads a file from its header on.
    fn file(&mut self) {
        let start = self.at;
        let end = self.end_of_header();
        let header = self.lines[start..end].join("\n");
        let mut file = FilePatch {
            old: None,
            new: None,
            origin: Default::default(),
            line: self.spot(start),
            hunks: Vec::new(),
            faults: Vec::new(),
            stray: Vec::new(),
        };
        let named = name(&mut file, header.as_bytes());
        let is_git = self.is_git_header(start);
        self.at = end;
        self.hunks(&mut file);
        // Git tells of renames and modes in its header; two names alone change nothing.
        if !is_git && file.hunks.is_empty() && file.faults.is_empty() {
            let at = self.spot(start);
            tell(&mut file, at, "no hunk follows the names of the file".to_owned());
        }
        match named {
            Ok(()) => self.patch.files.push(file),
            Err(why) => self.astray(start, why),
        }
    }

    /// Returns where the header of the file that begins here ends.
    fn end_of_header(&self) -> usize {
        if !self.is_git_header(self.at) {
            return self.at + 2;
        }
        let mut rest = self.at + 1..self.lines.len();
        let stop = rest.find(|at| self.opens_file(*at) || self.lines[*at].starts_with(HUNK));
        let stop = stop.unwrap_or(self.lines.len());
        if self.has_names(stop) { stop + 2 } else { stop }
    }

    fn hunks(&mut self, file: &mut FilePatch<'p>) {
        let mut is_told = false;
        while let Some(line) = self.lines.get(self.at).copied() {
            if line.starts_with(HUNK) {
                self.hunk(file);
            } else if self.opens_file(self.at) {
                return;
            } else if is_signature(line) {
                self.at = self.next_header(self.at);
            } else {
                file.stray.extend(self.line_or_unmarked(self.at));
                if !is_blank(line) && !std::mem::replace(&mut is_told, true) {
                    let why = format!(
                        "{} stands in no hunk; a hunk begins with `@@ -LINE,COUNT +LINE,COUNT @@`",
                        quoted(line)
                    );
                    tell(file, self.spot(self.at), why);
                }
                self.at += 1;
            }
        }
    }

    fn hunk(&mut self, file: &mut FilePatch<'p>) {
        let head = self.at;
        let line = self.lines[head].strip_suffix('\r').unwrap_or(self.lines[head]);
        let Some((old, new)) = diff::hunk_header(line) else {
            let why = format!(
                "{} does not say which lines it is about, as `@@ -LINE,COUNT +LINE,COUNT @@` does",
                quoted(line)
            );
            tell(file, self.spot(head), why);
            let body = self.uncounted(head + 1);
            self.at = body.end;
            let (line, old) = (self.spot(head), Span { start: 0, count: 0 });
            let (is_at_top, is_whole) = (false, false);
            file.hunks.push(Hunk { line, old, is_at_top, lines: body.lines, is_whole });
            return;
        };
        let body = self.counted(head + 1, old.count, new.count);
        let body = body.unwrap_or_else(|| self.uncounted(head + 1));
        self.check(file, head, (old, new), &body);
        self.at = body.end;
        file.hunks.push(Hunk {
            line: self.spot(head),
            old,
            is_at_top: new.start <= 1,
            is_whole: body.lines.iter().all(|line| line.mark != Mark::Unmarked),
            lines: body.lines,
        });
    }

    /// Reads a hunk by its counts; `None` where they do not add up.
    fn counted(&self, from: usize, old: u32, new: u32) -> Option<Body<'p>> {
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
            line.starts_with(HUNK) || is_signature(line) || self.opens_file(end)
        });
        ends.then_some(Body { lines, end })
    }

    /// Reads a hunk up to the next header.
    fn uncounted(&self, from: usize) -> Body<'p> {
        let end = self.next_header(from);
        let said = self.lines[from..end].iter().rposition(|line| !is_blank(line));
        let mut body = Body { lines: Vec::new(), end };
        for at in from..said.map_or(from, |last| from + last + 1) {
            match self.line_or_unmarked(at) {
                Some(line) => body.lines.push(line),
                None => end_with_file(&mut body.lines),
            }
        }
        body
    }

    /// Reads a line of a hunk: none if it has no mark, nothing if it only says that the line before
    /// has no end.
    fn line(&self, at: usize) -> Option<Option<Line<'p>>> {
        self.lines.get(at)?;
        let line = self.line_or_unmarked(at);
        line.is_none_or(|line| line.mark != Mark::Unmarked).then_some(line)
    }

    /// Reads a line, whatever is before it; nothing if it only says that the line before has no end.
    fn line_or_unmarked(&self, at: usize) -> Option<Line<'p>> {
        let whole = self.lines.get(at)?;
        let (line, end) = match whole.strip_suffix('\r') {
            Some(line) => (line, End::ReturnFeed),
            None => (*whole, End::Feed),
        };
        // An empty line of context may have lost its blank on the way.
        let (mark, text) = match line.as_bytes().first() {
            None => (Mark::Context, line),
            Some(b' ') => (Mark::Context, &line[1..]),
            Some(b'+') => (Mark::Added, &line[1..]),
            Some(b'-') => (Mark::Removed, &line[1..]),
            Some(b'\\') => return None,
            Some(_) => (Mark::Unmarked, line),
        };
        Some(Line { mark, text, end, at: self.spot(at) })
    }

    /// Tells what is wrong with a hunk.
    fn check(&self, file: &mut FilePatch<'p>, head: usize, said: (Span, Span), body: &Body<'p>) {
        if let Some(line) = body.lines.iter().find(|line| line.mark == Mark::Unmarked) {
            let why = format!(
                "{} in a hunk has none of the marks ` `, `+` and `-` before it",
                quoted(line.text)
            );
            return tell(file, line.at, why);
        }
        let count = |other: Mark| body.lines.iter().filter(|line| line.mark != other).count();
        let (old, new) = (count(Mark::Added), count(Mark::Removed));
        let (said_old, said_new) = (said.0.count as usize, said.1.count as usize);
        if (old, new) != (said_old, said_new) {
            let why = format!(
                "the head of the hunk says {said_old} lines before and {said_new} after, and it has \
                 {old} and {new}"
            );
            tell(file, self.spot(head), why);
        }
    }
}

fn tell(file: &mut FilePatch<'_>, line: Spot, why: String) {
    if file.faults.len() < MAX_FAULTS {
        file.faults.push(Fault { line, why });
    }
}

/// Takes the end off the last line.
fn end_with_file(lines: &mut [Line<'_>]) {
    if let Some(last) = lines.last_mut() {
        last.end = End::None;
    }
}

fn is_blank(line: &str) -> bool {
    line.is_empty() || line == "\r"
}

/// Returns true if a line ends a mailed diff; what follows is the version of git.
fn is_signature(line: &str) -> bool {
    matches!(line, "-- " | "-- \r")
}

/// Names a file by its header.
fn name(file: &mut FilePatch<'_>, header: &[u8]) -> Result<(), String> {
    let Some(named) = diff::parse(header).pop() else {
        return Err("the names of the file cannot be read".to_owned());
    };
    let path = |name: &Option<String>| name.as_deref().map(inside).transpose();
    (file.old, file.new, file.origin) =
        (path(&named.old_path)?, path(&named.new_path)?, named.origin);
    match named.content {
        Content::Text => Ok(()),
        _ if file.path().is_empty() => Err("the names of the file cannot be read".to_owned()),
        Content::Binary => {
            Err(format!("{} is no text, so nobody can check it", quoted(file.path())))
        }
        Content::Submodule | Content::Link => {
            Err(format!("{} is a link, so nobody can check it", quoted(file.path())))
        }
        Content::Unread(Unread::Merge) => {
            Err(format!("{} is compared with several files", quoted(file.path())))
        }
        Content::Unread(Unread::Broken | Unread::TooMany | Unread::Unreadable) => {
            Err("the names of the file cannot be read".to_owned())
        }
    }
}

/// Takes a path that stays inside the repository, and out of what git keeps there.
fn inside(name: &str) -> Result<RepoPath, String> {
    let refuse = |why: &str| Err(format!("{} is no path to change: {why}", quoted(name)));
    if name.chars().any(char::is_control) {
        return refuse("it holds a control character");
    }
    if name.len() > MAX_PATH {
        return refuse("it is too long");
    }
    if let Err(error) = RepoPath::exact(name) {
        return refuse(&error.to_string());
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        return refuse("it belongs to git");
    }
    RepoPath::exact(&parts.join("/")).or_else(|error| refuse(&error.to_string()))
}
