//! `assay findings stats`: statistics of the ledger.

use std::path::PathBuf;

use assay_engine::finding_ledger::HistoryStart;
use assay_engine::finding_statistics::{self, FindingGrouping, StatisticsRequest};
use clap::ValueEnum;

use super::{print_json, print_safely};
use crate::exit::Exit;
use crate::process::environment;
use crate::terminal;

/// Arguments of `assay findings stats`.
#[derive(clap::Args)]
pub(crate) struct StatsArgs {
    /// Count the reviews since a day (`2026-12-31`), or within a time (`7d`, `2w`, `12h`), and the
    /// findings that were first reported since then
    #[arg(long, value_name = "DAY|TIME")]
    since: Option<HistoryStart>,
    /// Print one table, grouped by this property, instead of the overview
    #[arg(long, value_enum)]
    by: Option<GroupingArg>,
    /// The output format
    #[arg(long, value_enum, default_value = "table")]
    format: StatsFormat,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StatsFormat {
    Table,
    Json,
    Csv,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GroupingArg {
    /// The category, such as `security`
    Category,
    /// The file
    File,
    /// The folder of the file
    Folder,
    /// The severity
    Severity,
    /// The reviewer: the rules, an analyser or a persona
    Reviewer,
    /// The rule
    Rule,
    /// The owners of the file in CODEOWNERS
    AuthorTeam,
}

impl From<GroupingArg> for FindingGrouping {
    fn from(by: GroupingArg) -> FindingGrouping {
        match by {
            GroupingArg::Category => FindingGrouping::Category,
            GroupingArg::File => FindingGrouping::File,
            GroupingArg::Folder => FindingGrouping::Folder,
            GroupingArg::Severity => FindingGrouping::Severity,
            GroupingArg::Reviewer => FindingGrouping::Reviewer,
            GroupingArg::Rule => FindingGrouping::Rule,
            GroupingArg::AuthorTeam => FindingGrouping::AuthorTeam,
        }
    }
}

/// Prints statistics of the ledger.
pub(super) fn run(args: &StatsArgs) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let request = StatisticsRequest { since: args.since, by: args.by.map(FindingGrouping::from) };
    let statistics = finding_statistics::compute(environment(), &root, &request)?;
    match args.format {
        StatsFormat::Json => print_json(&statistics)?,
        StatsFormat::Csv => print_safely(&statistics.to_csv())?,
        StatsFormat::Table => terminal::statistics::print(&statistics)?,
    }
    Ok(Exit::Ready)
}
