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

    /// Returns the runs of lines that take a comment on the file's side. Two runs are in one hunk
    /// only if lines of the other side separate them.
    pub(super) fn commentable(&self) -> Vec<LineRange> {
        let side = self.side();
        self.hunks.iter().flat_map(|hunk| hunk.commentable(side)).collect()
    }
}

impl HunkLines {
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
