//! Faults of a diff: [`DiffFault`] in its syntax, [`Misfit`] if it does not apply.

use assay_findings::grounding::TreeError;
use assay_findings::path::RepoPath;

/// A fault in the syntax of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffFault<'t> {
    /// The line of the diff.
    pub line: u32,
    /// The kind of the fault.
    pub kind: DiffFaultKind<'t>,
}

/// The kind of a fault in the syntax of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffFaultKind<'t> {
    /// The diff names no file.
    NoFile,
    /// A hunk precedes the first file.
    HunkWithoutFile,
    /// The names of a file cannot be parsed.
    NoNames,
    /// The file at the path is binary.
    Binary(String),
    /// The file at the path is a link or a submodule.
    Link(String),
    /// The file at the path is compared with several others.
    Merge(String),
    /// The path leaves the repository, belongs to git or is invalid.
    BadPath {
        /// The path as it is written.
        path: String,
        /// The reason of the fault.
        reason: String,
    },
    /// No hunk follows the names of a file.
    NoHunk,
    /// The line is in no hunk.
    OutsideHunk(&'t str),
    /// The header of a hunk does not state its lines.
    BadHeader(&'t str),
    /// A line of a hunk has no mark.
    Unmarked(&'t str),
    /// The header of a hunk states other counts than the hunk has: of lines before and of lines
    /// after.
    Counts {
        /// The counts in the header.
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
    /// The reason of the misfit.
    pub kind: MisfitKind,
}

/// The reason that a hunk or a file cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MisfitKind {
    /// The hunk cannot be parsed.
    Unreadable,
    /// The search for the place of the hunk takes too long.
    TooMuch,
    /// The diffs before this file used up the budget.
    TooMuchBefore,
    /// The hunk does not fit at the stated line and fits at several others.
    Ambiguous {
        /// The line in the header.
        stated: u32,
        /// The first lines at which the hunk fits.
        fits: Vec<usize>,
    },
    /// A hunk without context is after the end of the file.
    BehindEnd {
        /// The line in the header.
        stated: u32,
        /// The number of lines of the file.
        count: usize,
    },
    /// A hunk without context precedes the hunk above it.
    BeforeOther,
    /// The file ends before a line of the hunk.
    FileEnds {
        /// The number of lines of the file.
        count: usize,
        /// The line of the diff.
        at: u32,
        /// The text of that line.
        wanted: String,
    },
    /// The last line of the file has a line break and the hunk has none, or the reverse.
    LineBreak {
        /// The line of the file.
        number: usize,
        /// True if the line of the file has a line break.
        has_break: bool,
        /// The line of the diff.
        at: u32,
    },
    /// A line of the file differs from that of the hunk.
    Differs {
        /// The line of the file.
        number: usize,
        /// The text in the file.
        found: String,
        /// The line of the diff.
        at: u32,
        /// The text in the diff.
        wanted: String,
    },
    /// The diff creates the file, which exists already.
    Exists,
    /// A file exists at the path that another file is moved to.
    TargetExists(RepoPath),
    /// The diff deletes the file, of which this many lines are left.
    LinesLeft(usize),
    /// An earlier diff deletes or moves the file.
    TakenAway(RepoPath),
    /// The file is not text.
    NotText(RepoPath),
    /// The file does not exist.
    NoFile(RepoPath),
    /// The tree could not be read.
    Tree(TreeError),
}

impl From<TreeError> for MisfitKind {
    fn from(error: TreeError) -> MisfitKind {
        MisfitKind::Tree(error)
    }
}

/// A hunk that fits at another line than its header states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedHunk {
    /// The line of the hunk's header.
    pub line: u32,
    /// The line of the file in the header.
    pub stated: u32,
    /// The line of the file at which the hunk fits.
    pub fits: u32,
}

impl DiffFaultKind<'_> {
    /// Describes the fault. `quote` formats a text of the diff.
    pub fn describe(&self, quote: &dyn Fn(&str) -> String) -> String {
        const NAMES: &str = "`--- a/PATH` and `+++ b/PATH`";
        const HEADER: &str = "`@@ -LINE,COUNT +LINE,COUNT @@`";
        match self {
            DiffFaultKind::NoFile => format!("the diff names no file; put {NAMES} above its hunks"),
            DiffFaultKind::HunkWithoutFile => {
                format!("a hunk has no file; put {NAMES} above it")
            }
            DiffFaultKind::NoNames => "the file names cannot be parsed".to_owned(),
            DiffFaultKind::Binary(path) => {
                format!("{} is binary, so it cannot be checked", quote(path))
            }
            DiffFaultKind::Link(path) => {
                format!("{} is a symbolic link, so it cannot be checked", quote(path))
            }
            DiffFaultKind::Merge(path) => format!("{} is compared with several files", quote(path)),
            DiffFaultKind::BadPath { path, reason } => {
                format!("{} is not a valid path: {reason}", quote(path))
            }
            DiffFaultKind::NoHunk => "no hunk follows the names of the file".to_owned(),
            DiffFaultKind::OutsideHunk(line) => {
                format!("{} is outside of a hunk; a hunk begins with {HEADER}", quote(line))
            }
            DiffFaultKind::BadHeader(line) => {
                format!("{} is not a valid hunk header; expected {HEADER}", quote(line))
            }
            DiffFaultKind::Unmarked(line) => {
                format!("{} in a hunk does not begin with ` `, `+` or `-`", quote(line))
            }
            DiffFaultKind::Counts { stated: (old, new), found: (has_old, has_new) } => format!(
                "the hunk header states {old} lines before and {new} after, and the hunk has \
                 {has_old} and {has_new}"
            ),
        }
    }
}

impl MisfitKind {
    /// Describes the reason. `place` formats a line of the diff, and `quote` a text.
    pub fn describe(
        &self,
        place: &dyn Fn(u32) -> String,
        quote: &dyn Fn(&str) -> String,
    ) -> String {
        match self {
            MisfitKind::Unreadable => "it cannot be read".to_owned(),
            MisfitKind::TooMuch => "the search for its position takes too long".to_owned(),
            MisfitKind::TooMuchBefore => "the diffs before it take too long to apply".to_owned(),
            MisfitKind::Ambiguous { stated, fits } => {
                let fits: Vec<String> = fits.iter().map(usize::to_string).collect();
                format!(
                    "it does not apply at line {stated}, and matches several other positions: \
                     lines {}",
                    fits.join(", ")
                )
            }
            MisfitKind::BehindEnd { stated, count } => {
                format!("it inserts after line {stated}, and the file has {count} lines")
            }
            MisfitKind::BeforeOther => {
                "it has no context lines, and its position is before that of the previous hunk"
                    .to_owned()
            }
            MisfitKind::FileEnds { count, at, wanted } => {
                format!("{} has {}, and the file ends at line {count}", place(*at), quote(wanted))
            }
            MisfitKind::LineBreak { number, has_break, at } => format!(
                "line {number} of the file ends {} a line break, unlike {}",
                if *has_break { "with" } else { "without" },
                place(*at)
            ),
            MisfitKind::Differs { number, found, at, wanted } => format!(
                "line {number} of the file is {}, and {} {}",
                quote(found),
                place(*at),
                quote(wanted)
            ),
            MisfitKind::Exists => "the diff creates the file, which already exists".to_owned(),
            MisfitKind::TargetExists(path) => {
                format!("{} already exists", quote(path.as_str()))
            }
            MisfitKind::LinesLeft(left) => {
                format!("the diff deletes the file, and {left} of its lines remain")
            }
            MisfitKind::TakenAway(path) => {
                format!("an earlier diff removes {}", quote(path.as_str()))
            }
            MisfitKind::NotText(path) => {
                format!("{} is not readable text", quote(path.as_str()))
            }
            MisfitKind::NoFile(path) => format!("there is no file {}", quote(path.as_str())),
            MisfitKind::Tree(error) => error.to_string(),
        }
    }
}
