//! The receipt of a report: [`Receipt`] describes how each finding and each second look in the
//! report was read.
//!
//! A finding is checked against the change as the briefs show it. Other files are looked up when
//! the review ends.

use std::fmt;

use assay_change::Change;
use assay_findings::finding::GroundingMark;
use assay_findings::grade::Scheme;
use assay_findings::grounding::{GroundedVote, Grounder};
use assay_findings::path::RepoPath;
use assay_findings::read::repair_json;
use assay_findings::report::{Report, Reviewer};
use assay_findings::vote::Vote;
use assay_rules::{RedactedTree, SymbolTree};
use serde_json::Value;

/// The receipt of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The persona that reported.
    pub persona: String,
    /// The part of the change, counted from 1.
    pub part: usize,
    /// The state of the report.
    pub state: ReportState,
    /// The findings that were read from the report of a persona.
    pub findings: Vec<FindingReceipt>,
    /// The answers that were read from a second look.
    pub looks: Vec<SecondLookReceipt>,
    /// The reasons why entries of the report could not be read.
    pub not_read: Vec<String>,
}

/// The state of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportState {
    /// The report counts.
    Accepted,
    /// The report is unusable, and may be submitted once more.
    Resubmit {
        /// The fault of the report.
        why: String,
    },
    /// The report is unusable, and cannot be submitted again.
    Refused {
        /// The fault of the report.
        why: String,
    },
}

/// A finding as it was read from a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingReceipt {
    /// The title of the finding.
    pub title: String,
    /// The severity that counts, `P0` to `P3`.
    pub severity: String,
    /// The confidence that counts, from 0 to 100.
    pub confidence: u8,
    /// The location that counts, as `file:line`; `None` if there is none.
    pub place: Option<String>,
    /// The way in which the location was found.
    pub placement: Placement,
    /// The result of the search for the quoted code at the location of the finding.
    pub quote: QuoteCheck,
    /// The fields of the schema that the finding lacks.
    pub missing: Vec<&'static str>,
    /// The values that count differently than given.
    pub notes: Vec<String>,
}

/// The way in which the location of a finding was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// The location is the one that the finding names.
    AsNamed,
    /// The quote is on another line, or the file at another path.
    Moved {
        /// The location that the finding names.
        from: String,
    },
    /// The finding names no location; assay found one by names and quotes.
    ByAssay,
    /// The line is beyond the end of the file.
    LineBeyondEnd,
    /// The file is neither part of the change nor of the files that were read for it.
    OtherFile,
    /// The file could not be read.
    Unreadable,
    /// The finding names no location, and none was found.
    None,
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placement::AsNamed => f.write_str("as named"),
            Placement::Moved { from } => write!(f, "moved from {from}, by its quote"),
            Placement::ByAssay => f.write_str("placed by assay"),
            Placement::LineBeyondEnd => f.write_str("the line is beyond the end of the file"),
            Placement::OtherFile => f.write_str(
                "the file is not in the change; the place is checked when the review ends",
            ),
            Placement::Unreadable => f.write_str("the file could not be read"),
            Placement::None => f.write_str("no place"),
        }
    }
}

/// The result of the search for quoted code in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuoteCheck {
    /// The quote is in the named file.
    Found,
    /// The quote is not in the named file.
    NotFound,
    /// The quote is in another file of the change.
    Elsewhere {
        /// The location, as `file:line`.
        place: String,
    },
    /// The quote is from a file that is looked up when the review ends.
    NotChecked,
    /// There is no quote, or none that is long enough to prove anything.
    None,
}

impl fmt::Display for QuoteCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuoteCheck::Found => f.write_str("found"),
            QuoteCheck::NotFound => f.write_str("not_found"),
            QuoteCheck::Elsewhere { place } => write!(f, "found elsewhere at {place}"),
            QuoteCheck::NotChecked => f.write_str("not_checked"),
            QuoteCheck::None => f.write_str("none"),
        }
    }
}

/// An answer of a second look as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondLookReceipt {
    /// The number of the finding in the brief.
    pub finding: usize,
    /// The title of the finding.
    pub title: String,
    /// `confirm`, `refute`, `unsure`, or `missing` if the report does not answer.
    pub answer: &'static str,
    /// The result of the search for the quoted code in the tree.
    pub quote: QuoteCheck,
    /// `block`, `later` or `ignore`; `None` if the answer names none.
    pub consequence: Option<&'static str>,
    /// The effect of the answer on the finding.
    pub effect: String,
}

impl FindingReceipt {
    /// Checks the findings of a report against the change of the review.
    pub(super) fn of_report(
        report: &Report,
        text: &str,
        by: &Reviewer,
        change: &Change,
    ) -> Vec<FindingReceipt> {
        let changed = change.changed_lines();
        let redacted = RedactedTree(change.tree());
        let tree = SymbolTree::new(&redacted);
        let ground = Grounder::new(Some(&tree), Some(&changed));
        let written = written_findings(text);
        let votes = report.votes.iter().enumerate();
        let receipt = |(at, vote): (usize, &Vote)| {
            let grounded = ground.check(vote, by, (0, at));
            // Findings that were read from another part of the report than the list have no entry
            // of their own.
            let entry = written.get(at).filter(|_| written.len() == report.votes.len());
            FindingReceipt {
                title: vote.title.clone(),
                severity: grounded.grade.word_in_scheme(Scheme::P).to_owned(),
                confidence: grounded.confidence.percent(),
                place: place(grounded.file.as_ref(), grounded.lines.map(|lines| lines.start())),
                placement: placement(&grounded),
                quote: quote_check(&grounded, &ground, by, change),
                missing: missing_fields(vote, entry),
                notes: notes(&grounded),
            }
        };
        votes.map(receipt).collect()
    }
}

fn place(file: Option<&RepoPath>, line: Option<u32>) -> Option<String> {
    let file = file?;
    Some(line.map_or_else(|| file.to_string(), |line| format!("{file}:{line}")))
}

fn placement(grounded: &GroundedVote<'_>) -> Placement {
    let has = |mark: GroundingMark| grounded.marks.contains(&mark);
    if has(GroundingMark::PlacedByAssay) {
        return Placement::ByAssay;
    }
    let Some(named) = place(grounded.vote.file.as_ref(), grounded.vote.line()) else {
        return Placement::None;
    };
    if has(GroundingMark::FileNotFound) {
        Placement::OtherFile
    } else if has(GroundingMark::FileUnreadable) {
        Placement::Unreadable
    } else if has(GroundingMark::LineBeyondEnd) {
        Placement::LineBeyondEnd
    } else if has(GroundingMark::FileMoved) || has(GroundingMark::LineMoved) {
        Placement::Moved { from: named }
    } else {
        Placement::AsNamed
    }
}

fn quote_check(
    grounded: &GroundedVote<'_>,
    ground: &Grounder<'_>,
    by: &Reviewer,
    change: &Change,
) -> QuoteCheck {
    let has = |mark: GroundingMark| grounded.marks.contains(&mark);
    let is_unknown = has(GroundingMark::FileNotFound) || has(GroundingMark::FileUnreadable);
    if grounded.quoted.is_none() {
        return QuoteCheck::None;
    }
    if !is_unknown && !has(GroundingMark::QuoteNotFound) {
        return QuoteCheck::Found;
    }
    let paths = change.files.iter().filter_map(|file| file.new_path.as_deref());
    let mut paths = paths.filter_map(|path| RepoPath::exact(path).ok());
    let elsewhere = paths.find_map(|path| {
        let vote = Vote { file: Some(path), lines: None, ..grounded.vote.clone() };
        let checked = ground.check(&vote, by, grounded.source);
        let is_there = checked.marks.contains(&GroundingMark::LineMoved);
        is_there.then(|| place(checked.file.as_ref(), checked.lines.map(|l| l.start()))).flatten()
    });
    match elsewhere {
        Some(place) => QuoteCheck::Elsewhere { place },
        None if is_unknown => QuoteCheck::NotChecked,
        None => QuoteCheck::NotFound,
    }
}

/// Returns the values that count differently than in the report.
fn notes(grounded: &GroundedVote<'_>) -> Vec<String> {
    let vote = grounded.vote;
    let mut notes = vote.faults.clone();
    if grounded.marks.contains(&GroundingMark::GradeCapped) {
        notes.push(format!("{} is above the maximum severity of this persona", vote.grade.word()));
    }
    if let Some(stated) = vote.confidence.filter(|stated| *stated != grounded.confidence) {
        notes.push(format!(
            "confidence {} counts as {}",
            stated.percent(),
            grounded.confidence.percent()
        ));
    }
    if grounded.pre_existing {
        notes.push("the finding existed before the change".to_owned());
    } else if grounded.marks.contains(&GroundingMark::OutsideTheHunks) {
        notes.push("the finding is not on a changed line".to_owned());
    }
    notes
}

/// Returns the fields of the schema that a finding lacks; `entry` is the finding as written in the
/// report.
fn missing_fields(vote: &Vote, entry: Option<&Value>) -> Vec<&'static str> {
    let is_written = |name: &str| {
        let plain = |key: &str| key.replace(['_', '-'], "").to_ascii_lowercase();
        let fields = entry.and_then(Value::as_object);
        fields.is_none_or(|fields| fields.keys().any(|key| plain(key) == plain(name)))
    };
    let fields = [
        ("severity", !vote.faults.iter().any(|fault| fault == "no severity")),
        ("file", vote.file.is_some()),
        ("line", vote.lines.is_some()),
        ("why_it_matters", vote.description != vote.title),
        ("evidence", !vote.evidence.is_empty()),
        ("confidence", vote.confidence.is_some()),
        ("autofix_class", vote.autofix_class.is_some()),
        ("owner", vote.owner.is_some()),
        ("requires_verification", is_written("requires_verification")),
        ("pre_existing", is_written("pre_existing")),
    ];
    fields.into_iter().filter(|(_, is_there)| !is_there).map(|(name, _)| name).collect()
}

/// Returns the findings of a report as written.
fn written_findings(text: &str) -> Vec<Value> {
    match repair_json(text) {
        Some(Value::Array(findings)) => findings,
        Some(Value::Object(fields)) => match fields.get("findings") {
            Some(Value::Array(findings)) => findings.clone(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
