//! The diff of a pull request as the service shows it: [`PullRequestDiff`], with the lines that
//! take a comment.

use serde::{Deserialize, Serialize};

use crate::path::RepoPath;
use crate::vote::LineRange;

/// The changes of a pull request, by file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequestDiff {
    /// The changed files.
    pub files: Vec<FileHunks>,
}

/// The changes of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHunks {
    /// The path of the file before the change; `None` for a new file.
    pub old_path: Option<RepoPath>,
    /// The path of the file after the change; `None` for a deleted file.
    pub new_path: Option<RepoPath>,
    /// The hunks, from the top down.
    pub hunks: Vec<HunkLines>,
}

/// A hunk, line by line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkLines {
    /// The number, before the change, of the first line on the left side, from 1.
    pub old_start: u32,
    /// The number, after the change, of the first line on the right side, from 1.
    pub new_start: u32,
    /// The kind of each line, from the top down.
    pub lines: Vec<DiffLineKind>,
}

/// The kind of a line of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffLineKind {
    /// The line exists before and after the change.
    Context,
    /// The change adds the line.
    Added,
    /// The change removes the line.
    Removed,
}

/// The side of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum DiffSide {
    /// The text before the change.
    Left,
    /// The text after the change.
    Right,
}

/// A line of a diff, with the numbers that the service counts on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DiffLine {
    /// The kind of the line.
    pub kind: DiffLineKind,
    /// The number before the change; of an added line, that of the next line before the change.
    pub old: u32,
    /// The number after the change; of a removed line, that of the next line after the change.
    pub new: u32,
}

/// The place of a comment in a diff, with the paths and line numbers of both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffPosition {
    /// The path before the change; the new path of a new file.
    pub old_path: RepoPath,
    /// The path after the change; the old path of a deleted file.
    pub new_path: RepoPath,
    /// The first of several lines; `None` for a single line, or for the whole file.
    pub first: Option<DiffLine>,
    /// The line, or the last of several; `None` for the whole file.
    pub last: Option<DiffLine>,
}

impl PullRequestDiff {
    /// Returns a file by the path that the diff shows: its new path, or the old path of a deleted
    /// file.
    pub fn file(&self, path: &RepoPath) -> Option<&FileHunks> {
        self.files.iter().find(|file| file.path() == Some(path))
    }
}

impl FileHunks {
    fn path(&self) -> Option<&RepoPath> {
        self.new_path.as_ref().or(self.old_path.as_ref())
    }

    /// Returns the side that comments on the file are shown on.
    pub fn side(&self) -> DiffSide {
        if self.new_path.is_some() { DiffSide::Right } else { DiffSide::Left }
    }

    /// Returns the position of the whole file; `None` if the file has no path.
    pub(super) fn position(&self) -> Option<DiffPosition> {
        let (old, new) = (self.old_path.as_ref(), self.new_path.as_ref());
        Some(DiffPosition {
            old_path: old.or(new)?.clone(),
            new_path: new.or(old)?.clone(),
            first: None,
            last: None,
        })
    }

    /// Returns the line with a number on a side; `None` if the diff does not show the line.
    pub(super) fn line(&self, side: DiffSide, number: u32) -> Option<DiffLine> {
        let line = self.hunks.iter().flat_map(HunkLines::numbered).find(|line| {
            match (side, line.kind) {
                (DiffSide::Left, DiffLineKind::Added)
                | (DiffSide::Right, DiffLineKind::Removed) => false,
                (DiffSide::Left, _) => line.old == number,
                (DiffSide::Right, _) => line.new == number,
            }
        })?;
        // The side of a file that does not exist has no lines to count.
        let old = if self.old_path.is_some() { line.old } else { 0 };
        let new = if self.new_path.is_some() { line.new } else { 0 };
        Some(DiffLine { old, new, ..line })
    }

    /// Returns the runs of lines that take a comment on the file's side. Two runs are in one hunk
    /// only if lines of the other side separate them.
    pub(super) fn commentable(&self) -> Vec<LineRange> {
        let side = self.side();
        self.hunks.iter().flat_map(|hunk| hunk.commentable(side)).collect()
    }
}

impl HunkLines {
    /// Returns the lines with their numbers on both sides.
    fn numbered(&self) -> impl Iterator<Item = DiffLine> {
        let (mut old, mut new) = (self.old_start, self.new_start);
        self.lines.iter().map(move |&kind| {
            let line = DiffLine { kind, old, new };
            old = old.saturating_add(u32::from(kind != DiffLineKind::Added));
            new = new.saturating_add(u32::from(kind != DiffLineKind::Removed));
            line
        })
    }

    /// Returns the lines that take a comment: on the right the lines after the change, on the left
    /// the removed lines.
    fn commentable(&self, side: DiffSide) -> Vec<LineRange> {
        let mut runs: Vec<LineRange> = Vec::new();
        let mut number = match side {
            DiffSide::Left => self.old_start,
            DiffSide::Right => self.new_start,
        };
        for kind in &self.lines {
            let (counts, takes_comment) = match (side, kind) {
                (DiffSide::Right, DiffLineKind::Context | DiffLineKind::Added) => (true, true),
                (DiffSide::Left, DiffLineKind::Removed) => (true, true),
                (DiffSide::Left, DiffLineKind::Context) => (true, false),
                (DiffSide::Right, DiffLineKind::Removed)
                | (DiffSide::Left, DiffLineKind::Added) => (false, false),
            };
            if takes_comment {
                match runs.last_mut().filter(|run| run.end().checked_add(1) == Some(number)) {
                    Some(run) => *run = LineRange::range(run.start(), number).unwrap_or(*run),
                    None => runs.extend(LineRange::at(number)),
                }
            }
            if counts {
                number = number.saturating_add(1);
            }
        }
        runs
    }
}
