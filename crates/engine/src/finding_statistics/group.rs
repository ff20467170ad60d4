//! Groups of findings: [`GroupStatistics`] has the numbers of one group.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use assay_findings::grade::SEVEN_LEVELS;
use assay_store::ledger::FindingState;
use assay_store::ledger::facts::{FindingFacts, Reception};
use schemars::JsonSchema;
use serde::Serialize;

use super::precision::{Precision, median, percentile_90, share};
use super::spending::CostStatistics;

/// The property by which findings are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingGrouping {
    /// The category, such as `security`.
    Category,
    /// The file.
    File,
    /// The folder of the file.
    Folder,
    /// The severity, as a word of the seven levels.
    Severity,
    /// The reviewer. A finding is in the group of each reviewer that voted for it.
    Reviewer,
    /// The rule.
    Rule,
    /// The team of the author of the line, as `ledger.teams` names it; without that key, the owner of
    /// the file, as CODEOWNERS names it. A finding is in the group of each team.
    AuthorTeam,
}

impl FindingGrouping {
    /// Returns the grouping as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            FindingGrouping::Category => "category",
            FindingGrouping::File => "file",
            FindingGrouping::Folder => "folder",
            FindingGrouping::Severity => "severity",
            FindingGrouping::Reviewer => "reviewer",
            FindingGrouping::Rule => "rule",
            FindingGrouping::AuthorTeam => "author-team",
        }
    }

    /// All groupings.
    pub const ALL: [FindingGrouping; 7] = [
        FindingGrouping::Category,
        FindingGrouping::File,
        FindingGrouping::Folder,
        FindingGrouping::Severity,
        FindingGrouping::Reviewer,
        FindingGrouping::Rule,
        FindingGrouping::AuthorTeam,
    ];

    /// Returns true if a finding can be in several groups, so that the groups add up to more than
    /// the total.
    pub fn overlaps(self) -> bool {
        match self {
            FindingGrouping::Reviewer | FindingGrouping::AuthorTeam => true,
            FindingGrouping::Category
            | FindingGrouping::File
            | FindingGrouping::Folder
            | FindingGrouping::Severity
            | FindingGrouping::Rule => false,
        }
    }
}

/// The numbers of a group of findings.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GroupStatistics {
    /// The name of the group; null for findings without this property, and for the total.
    pub name: Option<String>,
    /// The number of findings, in any state.
    pub findings: u64,
    /// The number of open findings.
    pub open: u64,
    /// The number of open findings that no review checked again after the first.
    pub unchecked: u64,
    /// The number of findings that are gone: a later review looked for them and did not find them.
    pub resolved: u64,
    /// The number of dismissed findings.
    pub dismissed: u64,
    /// The resolved findings as a share of all; null if there is no finding.
    pub share_resolved: Option<f64>,
    /// The number of findings whose code was changed after they were reported.
    pub accepted: u64,
    /// The number of accepted findings, and of findings that were dismissed with a reason.
    pub decided: u64,
    /// Accepted ÷ decided; null if nothing was decided.
    pub precision: Option<f64>,
    /// The lower end of the 95 % interval of the precision, by Wilson.
    pub precision_low: Option<f64>,
    /// The upper end of the 95 % interval of the precision, by Wilson.
    pub precision_high: Option<f64>,
    /// The median time from the first report to the resolution, in seconds; null if no finding is
    /// resolved. Open findings do not count.
    pub median_seconds: Option<u64>,
    /// The 90th percentile of the same times, in seconds.
    pub p90_seconds: Option<u64>,
    /// The cost; null for groups that have no cost of their own.
    pub cost: Option<CostStatistics>,
}

/// The counts of a group while findings are added.
#[derive(Debug, Default)]
pub(super) struct Tally {
    findings: u64,
    open: u64,
    unchecked: u64,
    resolved: u64,
    dismissed: u64,
    accepted: u64,
    rejected: u64,
    /// The times from the first report to the resolution, in seconds.
    times: Vec<u64>,
}

impl Tally {
    pub(super) fn of<'f>(findings: impl IntoIterator<Item = &'f FindingFacts>) -> Tally {
        let mut tally = Tally::default();
        findings.into_iter().for_each(|finding| tally.add(finding));
        tally
    }

    fn add(&mut self, finding: &FindingFacts) {
        self.findings += 1;
        match finding.state {
            FindingState::Open => {
                self.open += 1;
                self.unchecked += u64::from(finding.last_look <= finding.first_seen);
            }
            FindingState::Gone => self.resolved += 1,
            FindingState::Dismissed => self.dismissed += 1,
        }
        match finding.reception {
            Reception::Accepted => self.accepted += 1,
            Reception::Rejected => self.rejected += 1,
            Reception::Undecided => {}
        }
        let time = finding.resolved.map(|at| at.0.duration_since(finding.first_seen.0).as_secs());
        self.times.extend(time.and_then(|seconds| u64::try_from(seconds).ok()));
    }

    pub(super) fn accepted(&self) -> u64 {
        self.accepted
    }

    pub(super) fn finish(
        mut self,
        name: Option<String>,
        cost: Option<CostStatistics>,
    ) -> GroupStatistics {
        self.times.sort_unstable();
        let decided = self.accepted + self.rejected;
        let precision = Precision::new(self.accepted, decided);
        GroupStatistics {
            name,
            findings: self.findings,
            open: self.open,
            unchecked: self.unchecked,
            resolved: self.resolved,
            dismissed: self.dismissed,
            share_resolved: share(self.resolved, self.findings),
            accepted: self.accepted,
            decided,
            precision: precision.map(|precision| precision.share),
            precision_low: precision.map(|precision| precision.low),
            precision_high: precision.map(|precision| precision.high),
            median_seconds: median(&self.times),
            p90_seconds: percentile_90(&self.times),
            cost,
        }
    }
}

/// Groups findings by one name each, the largest group first.
pub(super) fn group_by<'f>(
    findings: &'f [FindingFacts],
    name: impl Fn(&'f FindingFacts) -> Option<&'f str>,
) -> Vec<GroupStatistics> {
    let mut tallies: BTreeMap<Option<&str>, Tally> = BTreeMap::new();
    for finding in findings {
        tallies.entry(name(finding)).or_default().add(finding);
    }
    let groups =
        tallies.into_iter().map(|(name, tally)| tally.finish(name.map(str::to_owned), None));
    sort_by_size(groups.collect())
}

/// Groups findings by any number of names each, the largest group first. Findings without a name
/// are a group.
pub(super) fn group_by_all<'f>(
    findings: &'f [FindingFacts],
    names: impl Fn(&'f FindingFacts) -> Vec<String>,
) -> Vec<GroupStatistics> {
    let mut tallies: BTreeMap<Option<String>, Tally> = BTreeMap::new();
    for finding in findings {
        let names = names(finding);
        if names.is_empty() {
            tallies.entry(None).or_default().add(finding);
        }
        for name in names {
            tallies.entry(Some(name)).or_default().add(finding);
        }
    }
    let groups = tallies.into_iter().map(|(name, tally)| tally.finish(name, None));
    sort_by_size(groups.collect())
}

/// Groups findings by severity, the worst first.
pub(super) fn group_by_severity(findings: &[FindingFacts]) -> Vec<GroupStatistics> {
    let mut tallies: BTreeMap<u8, Tally> = BTreeMap::new();
    for finding in findings {
        tallies.entry(finding.impact).or_default().add(finding);
    }
    let groups = tallies.into_iter();
    groups.map(|(level, tally)| tally.finish(Some(severity_name(level)), None)).collect()
}

/// Sorts groups: the largest first, then by the number of open findings, then by name.
pub(super) fn sort_by_size(mut groups: Vec<GroupStatistics>) -> Vec<GroupStatistics> {
    groups.sort_by(|one, other| {
        let size = |group: &GroupStatistics| (Reverse(group.findings), Reverse(group.open));
        size(one).cmp(&size(other)).then_with(|| one.name.cmp(&other.name))
    });
    groups
}

/// Returns the word of the seven levels for a severity.
pub(super) fn severity_name(level: u8) -> String {
    let name = SEVEN_LEVELS.get(usize::from(level)).copied();
    name.unwrap_or("SUGGESTION").to_owned()
}

/// Returns the folder of a file; `.` for the root.
pub(super) fn folder_of(file: &str) -> &str {
    file.rsplit_once('/').map_or(".", |(folder, _)| folder)
}
