//! The place where a finding is shown: [`place`] finds a line that takes a comment, or the reason
//! why none does.

use serde::{Deserialize, Serialize};

use super::diff::{DiffPosition, DiffSide, PullRequestDiff};
use crate::finding::Finding;
use crate::vote::LineRange;

/// The greatest distance in lines from a finding to a comment on it.
const MAX_COMMENT_DISTANCE: u32 = 10;

/// The place where a finding is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommentPlace {
    /// Lines of the diff, all in one hunk.
    #[serde(rename = "lines")]
    DiffLines {
        /// The side of the diff.
        side: DiffSide,
        /// The first line, from 1; `None` if there is only one.
        start: Option<u32>,
        /// The last line, from 1.
        line: u32,
    },
    /// The file, which is in the diff.
    File,
    /// The summary.
    Summary {
        /// The reason why the finding is there.
        why: SummaryReason,
    },
}

/// The reason why a finding is in the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryReason {
    /// The finding has no file.
    NoFile,
    /// The file of the finding is not in the diff.
    NotInTheDiff,
    /// The defect is older than the change.
    PreExisting,
    /// The finding is for information, or for a role other than the author.
    ReportedOnly,
    /// The maximum number of comments is reached.
    TooMany,
    /// The review folds the finding, as less likely.
    Folded,
}

impl SummaryReason {
    /// Returns the reason in words; `None` if the words would not help the reader.
    pub(super) fn in_words(self) -> Option<&'static str> {
        match self {
            SummaryReason::NoFile
            | SummaryReason::ReportedOnly
            | SummaryReason::PreExisting
            | SummaryReason::Folded => None,
            SummaryReason::NotInTheDiff => Some("the file is not in the diff"),
            SummaryReason::TooMany => Some("the maximum number of comments is reached"),
        }
    }
}

/// A place, with its position relative to the finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placement {
    pub(super) place: CommentPlace,
    pub(super) fit: PlacementOffset,
    /// The lines around the place that one comment may cover.
    pub(super) run: Option<LineRange>,
}

/// The position of a comment's place relative to its finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlacementOffset {
    /// The place is that of the finding, or the finding has no line.
    Exact,
    /// The finding continues outside of the hunk.
    Clipped(LineRange),
    /// The finding is above: its lines, and the distance in lines.
    Above(LineRange, u32),
    /// The finding is below: its lines, and the distance in lines.
    Below(LineRange, u32),
    /// The finding is far from any line that takes a comment.
    Far(LineRange),
}

impl PlacementOffset {
    /// Returns the position in words; `None` if it is exact.
    pub(super) fn in_words(self) -> Option<String> {
        let count = |n: u32| if n == 1 { "1 line".to_owned() } else { format!("{n} lines") };
        let about = |lines: LineRange| match (lines.start(), lines.end()) {
            (start, end) if start == end => format!("About line {start}"),
            (start, end) => format!("About lines {start} to {end}"),
        };
        Some(match self {
            PlacementOffset::Exact => return None,
            PlacementOffset::Clipped(lines) | PlacementOffset::Far(lines) => {
                format!("{}.", about(lines))
            }
            PlacementOffset::Above(lines, n) => format!("{}, {} above.", about(lines), count(n)),
            PlacementOffset::Below(lines, n) => format!("{}, {} below.", about(lines), count(n)),
        })
    }
}

impl Placement {
    /// Returns a place in the summary.
    pub(super) fn in_summary(why: SummaryReason) -> Placement {
        Placement { place: CommentPlace::Summary { why }, fit: PlacementOffset::Exact, run: None }
    }
}

impl CommentPlace {
    /// Returns a place on lines.
    pub(super) fn on(side: DiffSide, lines: LineRange) -> CommentPlace {
        let start = Some(lines.start()).filter(|start| *start < lines.end());
        CommentPlace::DiffLines { side, start, line: lines.end() }
    }
}

/// Finds the place of a finding: its lines, the nearest lines that take a comment, its file, or the
/// summary.
pub(super) fn place(finding: &Finding, diff: &PullRequestDiff) -> Placement {
    let only = |place, fit| Placement { place, fit, run: None };
    let Some(path) = &finding.file else { return Placement::in_summary(SummaryReason::NoFile) };
    let Some(file) = diff.file(path) else {
        return Placement::in_summary(SummaryReason::NotInTheDiff);
    };
    let Some(wanted) = lines_of(finding) else {
        return only(CommentPlace::File, PlacementOffset::Exact);
    };
    let runs = file.commentable();
    let touching = runs.iter().find(|run| overlap(**run, wanted).is_some());
    if let Some((run, lines)) = touching.and_then(|run| Some((*run, overlap(*run, wanted)?))) {
        let fit =
            if lines == wanted { PlacementOffset::Exact } else { PlacementOffset::Clipped(wanted) };
        return Placement { place: CommentPlace::on(file.side(), lines), fit, run: Some(run) };
    }
    let nearest = runs.iter().map(|run| (distance(*run, wanted), *run)).min();
    match nearest.filter(|(distance, _)| *distance <= MAX_COMMENT_DISTANCE) {
        Some((distance, run)) => {
            let (line, fit) = if run.end() < wanted.start() {
                (run.end(), PlacementOffset::Below(wanted, distance))
            } else {
                (run.start(), PlacementOffset::Above(wanted, distance))
            };
            Placement {
                place: CommentPlace::DiffLines { side: file.side(), start: None, line },
                fit,
                run: None,
            }
        }
        None => only(CommentPlace::File, PlacementOffset::Far(wanted)),
    }
}

/// Returns the position of a place in the diff; `None` for a place in the summary.
pub(super) fn position(
    place: &CommentPlace,
    finding: &Finding,
    diff: &PullRequestDiff,
) -> Option<DiffPosition> {
    let file = diff.file(finding.file.as_ref()?)?;
    let whole = file.position()?;
    match *place {
        CommentPlace::File => Some(whole),
        CommentPlace::DiffLines { side, start, line } => Some(DiffPosition {
            first: start.and_then(|start| file.line(side, start)),
            last: Some(file.line(side, line)?),
            ..whole
        }),
        CommentPlace::Summary { .. } => None,
    }
}

pub(super) fn lines_of(finding: &Finding) -> Option<LineRange> {
    let line = finding.line?;
    LineRange::range(line, finding.end_line.unwrap_or(line).max(line))
}

pub(super) fn overlap(a: LineRange, b: LineRange) -> Option<LineRange> {
    let (start, end) = (a.start().max(b.start()), a.end().min(b.end()));
    if start <= end { LineRange::range(start, end) } else { None }
}

fn distance(run: LineRange, wanted: LineRange) -> u32 {
    if run.end() < wanted.start() {
        wanted.start() - run.end()
    } else {
        run.start().saturating_sub(wanted.end())
    }
}
