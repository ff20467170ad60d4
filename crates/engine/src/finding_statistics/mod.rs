//! Statistics of the ledger: [`compute`] returns [`LedgerStatistics`].
//!
//! The ledger returns facts; every number is computed here from these facts, so neither the order
//! nor the repetition of recorded runs matters. `group` has the numbers of a group, `timeline` the
//! findings over time, `history` these and the files of a page, `spending` costs and budgets, `teams`
//! the teams of authors, and `switch_off` the reviewers and rules whose findings are mostly dismissed.

mod group;
mod history;
mod precision;
mod spending;
mod switch_off;
mod teams;
mod timeline;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::Path;

use anyhow::Context;
use assay_base::csv;
use assay_change::code_owners::{CodeOwners, PLACES};
use assay_models::Caps;
use assay_review::ledger;
use assay_review::persona::Personas;
use assay_rules::Rulebook;
use assay_store::ledger::facts::{CostSum, FindingFacts, LedgerFacts};
use assay_store::ledger::{FindingKey, Ledger};
use assay_store::task::Moment;
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::Value;

use self::group::{Tally, folder_of, group_by, group_by_all, group_by_severity, sort_by_size};
use self::switch_off::ConfiguredReviewers;
use self::teams::Teams;
use crate::config::{self, Configuration};
use crate::dates::today;
use crate::environment::Environment;
use crate::finding_ledger::HistoryStart;
use crate::wording::count;

pub use self::group::{FindingGrouping, GroupStatistics};
pub use self::history::{FileSeverities, FindingHistory, history};
pub use self::spending::{BudgetScope, BudgetUnit, BudgetUse, CostStatistics};
pub use self::switch_off::{MostlyDismissed, SourceKind};
pub use self::timeline::{Period, SeverityTimeline, Timeline};

/// The version of the JSON output.
const VERSION: u32 = 1;

/// The name of the JSON schema.
pub const SCHEMA: &str = "findings-stats";

/// The number of groups of each kind in the overview.
const MAX_TOP: usize = 5;

/// The selection of statistics.
#[derive(Debug, Clone, Copy, Default)]
pub struct StatisticsRequest {
    /// The start of the time; `None` for the whole ledger.
    pub since: Option<HistoryStart>,
    /// The grouping of the only table; `None` for the overview.
    pub by: Option<FindingGrouping>,
}

impl StatisticsRequest {
    pub(crate) fn since_moment(&self, environment: &Environment) -> anyhow::Result<Option<Moment>> {
        let now = environment.clock().now();
        self.since.map(|since| since.moment(now)).transpose()
    }
}

/// The statistics of a ledger.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LedgerStatistics {
    /// The version of this format.
    pub version: u32,
    /// The time at which the statistics were computed.
    pub as_of: String,
    /// The start of the time: only later reviews count, and findings that were first reported later.
    /// Null for the whole ledger.
    pub since: Option<String>,
    /// The reviews.
    pub runs: RunCounts,
    /// The numbers of all findings, with the cost of all reviews.
    pub total: GroupStatistics,
    /// The property by which the groups are made; null in the overview.
    pub by: Option<FindingGrouping>,
    /// True if a finding can be in several groups, so that the groups add up to more than the total.
    pub overlapping: bool,
    /// The groups; empty in the overview.
    pub groups: Vec<GroupStatistics>,
    /// The overview; null with a grouping.
    pub overview: Option<Overview>,
    /// Limits of the numbers, in words.
    pub notes: Vec<String>,
}

/// The number of reviews.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunCounts {
    /// The number of reviews in the ledger.
    pub total: u64,
    /// The number of reviews in which all required reviewers finished.
    pub complete: u64,
    /// The number of other reviews, which resolve no finding.
    pub incomplete: u64,
}

/// The most important groups of each kind.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Overview {
    /// The severities, the worst first.
    pub severities: Vec<GroupStatistics>,
    /// The findings over time; null if there is no finding.
    pub timeline: Option<Timeline>,
    /// The five largest categories.
    pub categories: Vec<GroupStatistics>,
    /// The five rules with the most findings.
    pub rules: Vec<GroupStatistics>,
    /// The five files with the most findings.
    pub files: Vec<GroupStatistics>,
    /// The five folders with the most findings.
    pub folders: Vec<GroupStatistics>,
    /// All reviewers. A finding is in the group of each reviewer that voted for it.
    pub reviewers: Vec<GroupStatistics>,
    /// All models. A finding is in the group of each model with which a reviewer voted for it.
    pub models: Vec<GroupStatistics>,
    /// The use of each limit in `models.budget`.
    pub budgets: Vec<BudgetUse>,
    /// The reviewers and rules with at least five decided findings, fewer than half of them accepted.
    pub mostly_dismissed: Vec<MostlyDismissed>,
}

/// Returns the JSON schema of the statistics.
pub fn schema() -> Value {
    schema_for!(LedgerStatistics).to_value()
}

/// Computes the statistics of the ledger of the work tree at `root`. A work tree without a ledger
/// has no run. Fails if the ledger, the configuration or CODEOWNERS cannot be read.
pub fn compute(
    environment: &Environment,
    root: &Path,
    request: &StatisticsRequest,
) -> anyhow::Result<LedgerStatistics> {
    let facts = match ledger::open_read_only(&environment.state_of(root))? {
        Some(ledger) => read_facts(environment, request, &ledger)?,
        None => LedgerFacts::default(),
    };
    compute_from(environment, root, request, &facts)
}

/// Returns the facts of a ledger that a request needs.
pub(crate) fn read_facts(
    environment: &Environment,
    request: &StatisticsRequest,
    ledger: &Ledger,
) -> anyhow::Result<LedgerFacts> {
    let day = today(environment.clock()).map(String::from).context("there is no day today")?;
    Ok(ledger.facts(request.since_moment(environment)?, &day)?)
}

/// Computes statistics from the facts of the ledger of the work tree at `root`.
pub(crate) fn compute_from(
    environment: &Environment,
    root: &Path,
    request: &StatisticsRequest,
    facts: &LedgerFacts,
) -> anyhow::Result<LedgerStatistics> {
    let since = request.since_moment(environment)?;
    let teams = match request.by {
        Some(FindingGrouping::AuthorTeam) => Some(teams(environment, root)?),
        Some(_) | None => None,
    };
    let now = Moment(environment.clock().now());
    let calculation = Calculation { facts, teams, since, now };
    Ok(match request.by {
        Some(by) => calculation.by(by),
        None => calculation.overview(&OverviewSettings::read(environment, root)?),
    })
}

/// The error for a grouping by team in a repository that names neither teams nor owners of files.
#[derive(Debug)]
pub(crate) struct MissingCodeOwners;

impl fmt::Display for MissingCodeOwners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = PLACES.map(|place| format!("`{place}`")).join(", ");
        let reason = "cannot group findings by team: the commit `HEAD` has no file";
        write!(f, "{reason} {places}; commit one, set `ledger.teams`, or use `--by folder`")
    }
}

impl std::error::Error for MissingCodeOwners {}

/// Returns the configured teams, or else the owners of files.
fn teams(environment: &Environment, root: &Path) -> anyhow::Result<Teams> {
    let configuration = Configuration::on_disk_or_default(environment, root)?;
    match Teams::configured(&configuration.ledger.teams)? {
        Some(teams) => Ok(teams),
        None => Ok(Teams::OfFiles(CodeOwners::at_head(root)?.ok_or(MissingCodeOwners)?)),
    }
}

/// The settings of the work tree that the overview refers to.
struct OverviewSettings {
    reviewers: ConfiguredReviewers,
    /// The configured limits of a run and of a day.
    caps: (Caps, Caps),
}

impl OverviewSettings {
    fn read(environment: &Environment, root: &Path) -> anyhow::Result<OverviewSettings> {
        let configuration = Configuration::on_disk(environment, root)?;
        let persona_files = config::personas_on_disk(root)?;
        let analysers = configuration.as_ref().map(Configuration::commands).transpose()?;
        let analysers = analysers.into_iter().flatten().map(|analyser| analyser.name);
        let reviewers = ConfiguredReviewers {
            rules: Rulebook::with_repository_rules(config::rules_on_disk(root)?)?,
            personas: Personas::with_repository_personas(persona_files.clone())?,
            persona_files,
            analysers: analysers.collect(),
        };
        let caps = configuration.map(|configuration| configuration.models().configured_caps());
        Ok(OverviewSettings { reviewers, caps: caps.unwrap_or_default() })
    }
}

/// The facts of a ledger, and the time for which they are counted.
struct Calculation<'f> {
    facts: &'f LedgerFacts,
    /// The teams; `None` if no grouping needs them.
    teams: Option<Teams>,
    /// The start of the time; `None` for the whole ledger.
    since: Option<Moment>,
    now: Moment,
}

impl Calculation<'_> {
    /// Returns the statistics without groups.
    fn base(&self) -> LedgerStatistics {
        let LedgerFacts { runs, findings, .. } = self.facts;
        let complete = runs.iter().filter(|run| run.is_complete).count() as u64;
        let runs_total = runs.len() as u64;
        let tally = Tally::of(findings);
        let cost = CostStatistics::new(&spending::total(runs), tally.accepted());
        LedgerStatistics {
            version: VERSION,
            as_of: self.now.to_string(),
            since: self.since.map(|since| since.to_string()),
            runs: RunCounts { total: runs_total, complete, incomplete: runs_total - complete },
            total: tally.finish(None, Some(cost)),
            by: None,
            overlapping: false,
            groups: Vec::new(),
            overview: None,
            notes: Vec::new(),
        }
    }

    /// Returns the statistics with the groups of one kind.
    fn by(&self, by: FindingGrouping) -> LedgerStatistics {
        let notes = match by {
            FindingGrouping::Reviewer => self.unattributed_note().into_iter().collect(),
            FindingGrouping::AuthorTeam => {
                self.teams.iter().flat_map(|teams| teams.notes(&self.facts.findings)).collect()
            }
            FindingGrouping::Category
            | FindingGrouping::File
            | FindingGrouping::Folder
            | FindingGrouping::Severity
            | FindingGrouping::Rule => Vec::new(),
        };
        let (groups, overlapping) = (self.groups(by), by.overlaps());
        LedgerStatistics { by: Some(by), overlapping, groups, notes, ..self.base() }
    }

    fn teams_of(&self, finding: &FindingFacts) -> Vec<String> {
        self.teams.as_ref().map(|teams| teams.of(finding)).unwrap_or_default()
    }

    fn groups(&self, by: FindingGrouping) -> Vec<GroupStatistics> {
        let findings = &self.facts.findings;
        match by {
            FindingGrouping::Category => group_by(findings, |finding| Some(&finding.category)),
            FindingGrouping::File => group_by(findings, |finding| finding.file.as_deref()),
            FindingGrouping::Folder => {
                group_by(findings, |finding| finding.file.as_deref().map(folder_of))
            }
            FindingGrouping::Rule => group_by(findings, |finding| finding.rule.as_deref()),
            FindingGrouping::Severity => group_by_severity(findings),
            FindingGrouping::Reviewer => {
                self.by_voters(&self.facts.votes, &self.facts.reviewer_costs)
            }
            FindingGrouping::AuthorTeam => group_by_all(findings, |finding| self.teams_of(finding)),
        }
    }

    /// Groups findings by those who voted for them: reviewers or models. A voter that only has costs
    /// is a group, too.
    fn by_voters(
        &self,
        votes: &BTreeMap<String, Vec<FindingKey>>,
        costs: &BTreeMap<String, CostSum>,
    ) -> Vec<GroupStatistics> {
        let by_key: HashMap<FindingKey, &FindingFacts> =
            self.facts.findings.iter().map(|finding| (finding.key, finding)).collect();
        let names: BTreeSet<&String> = votes.keys().chain(costs.keys()).collect();
        let groups = names.into_iter().filter_map(|name| {
            let keys = votes.get(name).into_iter().flatten();
            let tally = Tally::of(keys.filter_map(|key| by_key.get(key).copied()));
            let cost = costs.get(name).map(|sum| CostStatistics::new(sum, tally.accepted()));
            let group = tally.finish(Some(name.clone()), cost);
            (group.findings > 0 || group.cost.is_some()).then_some(group)
        });
        sort_by_size(groups.collect())
    }

    fn overview(&self, settings: &OverviewSettings) -> LedgerStatistics {
        let LedgerFacts { runs, findings, model_votes, model_costs, .. } = self.facts;
        let top = |mut groups: Vec<GroupStatistics>| {
            groups.retain(|group| group.name.is_some());
            groups.truncate(MAX_TOP);
            groups
        };
        let (reviewers, rules) =
            (self.groups(FindingGrouping::Reviewer), self.groups(FindingGrouping::Rule));
        let overview = Overview {
            severities: self.groups(FindingGrouping::Severity),
            timeline: Timeline::new(findings, self.since, self.now),
            categories: top(self.groups(FindingGrouping::Category)),
            files: top(self.groups(FindingGrouping::File)),
            folders: top(self.groups(FindingGrouping::Folder)),
            models: self.by_voters(model_votes, model_costs),
            budgets: spending::budget_uses(runs, settings.caps),
            mostly_dismissed: settings.reviewers.mostly_dismissed(&reviewers, &rules),
            reviewers,
            rules: top(rules),
        };
        let notes = self.unattributed_note().into_iter().collect();
        LedgerStatistics { overview: Some(overview), notes, ..self.base() }
    }

    /// Returns the note on runs whose costs are in no group.
    fn unattributed_note(&self) -> Option<String> {
        let runs = usize::try_from(self.facts.unattributed_runs).ok().filter(|runs| *runs > 0)?;
        Some(format!(
            "the costs of {} are known in total only: an earlier version of assay recorded them",
            count(runs, "review")
        ))
    }
}

/// The columns of the CSV output.
const COLUMNS: [&str; 19] = [
    "by", "name", "findings", "open", "unchecked", "resolved", "dismissed", "share_resolved",
    "accepted", "decided", "precision", "precision_low", "precision_high", "median_seconds",
    "p90_seconds", "calls", "tokens", "usd", "usd_per_accepted",
];

impl LedgerStatistics {
    /// Returns the groups as CSV, with a header. The overview is the total and the groups of every
    /// kind.
    pub fn to_csv(&self) -> String {
        let mut text = csv::row(COLUMNS);
        match (&self.overview, self.by) {
            (Some(overview), _) => {
                text.push_str(&csv_row("total", &self.total));
                for (by, groups) in overview.tables() {
                    groups.iter().for_each(|group| text.push_str(&csv_row(by, group)));
                }
            }
            (None, by) => {
                let by = by.map_or("total", FindingGrouping::as_str);
                self.groups.iter().for_each(|group| text.push_str(&csv_row(by, group)));
            }
        }
        text
    }
}

impl Overview {
    /// Returns the tables with the names of their groupings.
    fn tables(&self) -> [(&'static str, &[GroupStatistics]); 7] {
        [
            (FindingGrouping::Severity.as_str(), &self.severities),
            (FindingGrouping::Category.as_str(), &self.categories),
            (FindingGrouping::Rule.as_str(), &self.rules),
            (FindingGrouping::File.as_str(), &self.files),
            (FindingGrouping::Folder.as_str(), &self.folders),
            (FindingGrouping::Reviewer.as_str(), &self.reviewers),
            ("model", &self.models),
        ]
    }
}

fn csv_row(by: &str, group: &GroupStatistics) -> String {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let whole = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let cost = group.cost.as_ref();
    csv::row([
        by.to_owned(),
        group.name.clone().unwrap_or_default(),
        group.findings.to_string(),
        group.open.to_string(),
        group.unchecked.to_string(),
        group.resolved.to_string(),
        group.dismissed.to_string(),
        number(group.share_resolved),
        group.accepted.to_string(),
        group.decided.to_string(),
        number(group.precision),
        number(group.precision_low),
        number(group.precision_high),
        whole(group.median_seconds),
        whole(group.p90_seconds),
        whole(cost.map(|cost| cost.calls)),
        whole(cost.map(|cost| cost.tokens)),
        number(cost.map(|cost| cost.usd)),
        number(cost.and_then(|cost| cost.usd_per_accepted)),
    ])
}

#[cfg(test)]
mod tests;
