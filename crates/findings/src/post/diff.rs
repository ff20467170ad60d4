//! The diff of a pull request as the service shows it: [`Diff`], the lines that take a comment.

use serde::{Deserialize, Serialize};

use crate::path::RepoPath;
use crate::vote::Lines;

/// What a pull request changes, file by file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// The files.
    pub files: Vec<FileHunks>,
}

/// What it changes in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHunks {
    /// The file's path before; `None` for a new one.
    pub old_path: Option<RepoPath>,
    /// The file's path after; `None` for a deleted one.
    pub new_path: Option<RepoPath>,
    /// The places that are shown, from the top down.
    pub hunks: Vec<HunkLines>,
}

/// One place that is shown, line by line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkLines {
    /// The number before of the first line that was there before.
    pub old_start: u32,
    /// The number after of the first line that is there after.
    pub new_start: u32,
    /// What each line is, from the top down.
    pub lines: Vec<Kind>,
}

/// What a line of a diff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It is there before and after.
    Context,
    /// It came.
    Added,
    /// It went.
    Removed,
}

/// Which side of a diff a line stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Side {
    /// What was there before.
    Left,
    /// What is there after.
    Right,
}

impl Diff {
    /// Gives a file by the path that it is shown under: its new one, or the old one of a deleted
    /// file.
    pub fn file(&self, path: &RepoPath) -> Option<&FileHunks> {
        self.files.iter().find(|file| file.path() == Some(path))
    }
}

impl FileHunks {
    fn path(&self) -> Option<&RepoPath> {
        self.new_path.as_ref().or(self.old_path.as_ref())
    }

    /// Gives the side on which what is said of the file is shown.
    pub fn side(&self) -> Side {
        if self.new_path.is_some() { Side::Right } else { Side::Left }
    }

    /// Gives the runs of lines that take a comment on the file's side; no two are in one hunk
    /// unless lines of the other side stand between them.
    pub(super) fn commentable(&self) -> Vec<Lines> {
        let side = self.side();
        self.hunks.iter().flat_map(|hunk| hunk.commentable(side)).collect()
    }
}

impl HunkLines {
    /// Gives the lines that take a comment: on the right what is there after, on the left what went.
    fn commentable(&self, side: Side) -> Vec<Lines> {
        let mut runs: Vec<Lines> = Vec::new();
        let mut number = match side {
            Side::Left => self.old_start,
            Side::Right => self.new_start,
        };
        for kind in &self.lines {
            let (counts, takes_comment) = match (side, kind) {
                (Side::Right, Kind::Context | Kind::Added) => (true, true),
                (Side::Left, Kind::Removed) => (true, true),
                (Side::Left, Kind::Context) => (true, false),
                (Side::Right, Kind::Removed) | (Side::Left, Kind::Added) => (false, false),
            };
            if takes_comment {
                match runs.last_mut().filter(|run| run.end().checked_add(1) == Some(number)) {
                    Some(run) => *run = Lines::range(run.start(), number).unwrap_or(*run),
                    None => runs.extend(Lines::at(number)),
                }
            }
            if counts {
                number = number.saturating_add(1);
            }
        }
        runs
    }
}
