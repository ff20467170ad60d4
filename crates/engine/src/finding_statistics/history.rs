//! The findings of a ledger over time and by file, for a page: [`FindingHistory`].

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use assay_findings::grade::SEVEN_LEVELS;
use assay_review::ledger;
use assay_store::ledger::facts::FindingFacts;
use assay_store::task::Moment;
use jiff::{SignedDuration, Timestamp};

use super::timeline::Timeline;
use crate::dates::today;
use crate::environment::Environment;

/// The longest time that is shown, in hours: half a year.
const MAX_HOURS: i64 = 26 * 7 * 24;

/// The maximum number of files.
const MAX_FILES: usize = 10;

/// The findings of a ledger over time and by file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingHistory {
    /// The number of reviews in the ledger.
    pub runs: usize,
    /// The findings over time, of the last half year; `None` if there is no finding.
    pub timeline: Option<Timeline>,
    /// The files with most findings, in any state.
    pub files: Vec<FileSeverities>,
}

/// The findings of one file by severity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSeverities {
    /// The path of the file.
    pub file: String,
    /// The number of findings of each of the seven levels, the worst first.
    pub counts: [u64; SEVEN_LEVELS.len()],
}

impl FileSeverities {
    fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Reads the history of the ledger of the work tree at `root`; `None` if there is no ledger, or no
/// review in it.
pub fn history(environment: &Environment, root: &Path) -> anyhow::Result<Option<FindingHistory>> {
    let now = environment.clock().now();
    let day = today(environment.clock()).map(String::from).context("there is no day today")?;
    let Some(ledger) = ledger::open_read_only(&environment.state_of(root))? else {
        return Ok(None);
    };
    let facts = ledger.facts(None, &day)?;
    Ok((!facts.runs.is_empty()).then(|| FindingHistory {
        runs: facts.runs.len(),
        timeline: Timeline::new(&facts.findings, since(&facts.findings, now), Moment(now)),
        files: files(&facts.findings),
    }))
}

/// Returns the start of the time that is shown; `None` to begin with the first finding.
fn since(findings: &[FindingFacts], now: Timestamp) -> Option<Moment> {
    let start = Moment(now.checked_sub(SignedDuration::from_hours(MAX_HOURS)).ok()?);
    findings.iter().any(|finding| finding.first_seen < start).then_some(start)
}

fn files(findings: &[FindingFacts]) -> Vec<FileSeverities> {
    let mut counts: BTreeMap<&str, [u64; SEVEN_LEVELS.len()]> = BTreeMap::new();
    for finding in findings {
        let Some(file) = finding.file.as_deref().filter(|file| !file.is_empty()) else { continue };
        let level = usize::from(finding.impact).min(SEVEN_LEVELS.len() - 1);
        counts.entry(file).or_default()[level] += 1;
    }
    let files = counts.into_iter();
    let mut files: Vec<FileSeverities> =
        files.map(|(file, counts)| FileSeverities { file: file.to_owned(), counts }).collect();
    files.sort_by_key(|file| (Reverse(file.total()), Reverse(file.counts)));
    files.truncate(MAX_FILES);
    files
}
