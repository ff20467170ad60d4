//! Faults of a diff: [`Fault`] of its form, [`Misfit`] where the diff does not apply.

use assay_findings::ground::TreeError;
use assay_findings::path::RepoPath;

/// A fault of form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault<'t> {
    /// The line of the diff.
    pub line: u32,
    /// The fault.
    pub kind: FaultKind<'t>,
}

/// A fault in the form of a diff, by its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind<'t> {
    /// The diff names no file.
    NoFile,
    /// A hunk stands above the first file.
    HunkWithoutFile,
    /// The names of a file cannot be read.
    NoNames,
    /// The file at the path is binary.
    Binary(String),
    /// The file at the path is a link or a submodule.
    Link(String),
    /// The file at the path is compared with several others.
    Merge(String),
    /// The path leaves the repository, belongs to git or is no path.
    BadPath {
        /// The path as it is written.
        path: String,
        /// The reason.
        reason: String,
    },
    /// No hunk follows the names of a file.
    NoHunk,
    /// The line stands in no hunk.
    OutsideHunk(&'t str),
    /// The header of a hunk does not state its lines.
    BadHeader(&'t str),
    /// The line of a hunk has no mark.
    Unmarked(&'t str),
    /// The header of a hunk states other counts than the hunk has: of lines before and of lines after.
    Counts {
        /// The counts by the header.
        stated: (u32, u32),
        /// The counts of the lines.
        found: (usize, usize),
    },
}

/// A hunk or a file that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The line of the diff.
    pub line: u32,
    /// The reason.
    pub kind: MisfitKind,
}

/// The reason why a hunk or a file cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MisfitKind {
    /// The hunk cannot be read.
    Unreadable,
    /// Finding the place of the hunk takes too long.
    TooMuch,
    /// The diffs before this file took all the time that there is.
    TooMuchBefore,
    /// The hunk does not fit at the stated line and fits at several others.
    Ambiguous {
        /// The line by the header.
        stated: u32,
        /// The first lines where the hunk fits.
        fits: Vec<usize>,
    },
    /// A hunk without context stands behind the end of the file.
    BehindEnd {
        /// The line by the header.
        stated: u32,
        /// The number of lines of the file.
        count: usize,
    },
    /// A hunk without context stands before the hunk above it.
    BeforeOther,
    /// The file ends before a line that the hunk has.
    FileEnds {
        /// The number of lines of the file.
        count: usize,
        /// The line of the diff.
        at: u32,
        /// The text of that line.
        wanted: String,
    },
    /// The last line of the file has a line break and the hunk has none, or the other way round.
    LineBreak {
        /// The line of the file.
        number: usize,
        /// Whether the line of the file has a line break.
        has_break: bool,
        /// The line of the diff.
        at: u32,
    },
    /// A line of the file is another than the hunk has.
    Differs {
        /// The line of the file.
        number: usize,
        /// The text of that line.
        found: String,
        /// The line of the diff.
        at: u32,
        /// The text of that line.
        wanted: String,
    },
    /// The file is to be new and is there already.
    Exists,
    /// There is a file already at the path that another file is to be moved to.
    TargetExists(RepoPath),
    /// The file is to be deleted and has this many lines left.
    LinesLeft(usize),
    /// An earlier diff deletes or moves the file.
    TakenAway(RepoPath),
    /// The file is no text.
    NotText(RepoPath),
    /// There is no such file.
    NoFile(RepoPath),
    /// The tree gave no answer.
    Tree(TreeError),
}

impl From<TreeError> for MisfitKind {
    fn from(error: TreeError) -> MisfitKind {
        MisfitKind::Tree(error)
    }
}

/// A hunk that fits at another line than its header states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The line of the hunk's header.
    pub line: u32,
    /// The line of the file by the header.
    pub stated: u32,
    /// The line of the file where the hunk fits.
    pub fits: u32,
}
