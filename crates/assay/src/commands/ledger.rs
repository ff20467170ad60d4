//! `assay findings list|show|dismiss|reopen|adopt`: the ledger of findings.

use std::path::PathBuf;

use anyhow::{Context, bail};
use assay_engine::finding_ledger::{DismissRequest, FindingLedger, HistoryStart, TimeSpan};
use assay_findings::grade::Grade;
use assay_findings::identity::Day;
use assay_review::ledger::{self, FileGlob};
use assay_store::ledger::FindingState;
use assay_store::ledger::query::{FindingEntry, FindingFilter, History};
use assay_store::task::Moment;
use clap::ValueEnum;
use jiff::Timestamp;
use serde::Serialize;

use super::{parse_severity, print_json, user_name};
use crate::exit::Exit;
use crate::process::{self, environment, state_of};
use crate::terminal;

/// The version of the JSON output.
const VERSION: u32 = 1;

/// Arguments of `assay findings list`.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// List findings in this state
    #[arg(long, value_enum, default_value = "open")]
    state: StateArg,
    /// List findings of this severity or worse
    #[arg(long, value_name = "SEVERITY", value_parser = parse_severity)]
    severity: Option<Grade>,
    /// List findings of this category, such as `security`
    #[arg(long)]
    category: Option<String>,
    /// List findings in files that match, such as `src/*.rs`
    #[arg(long, value_name = "GLOB")]
    file: Option<FileGlob>,
    /// List findings that this reviewer voted for
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,
    /// List findings first seen since a day (`2026-12-31`), or within a time (`7d`, `2w`, `12h`)
    #[arg(long, value_name = "DAY|TIME")]
    since: Option<HistoryStart>,
    /// List findings at least this old (`7d`, `2w`, `12h`)
    #[arg(long, value_name = "TIME")]
    age: Option<TimeSpan>,
    /// The output format
    #[arg(long, value_enum, default_value = "terminal")]
    format: Output,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Arguments of `assay findings show`.
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// The id of the finding, or a prefix of the id
    id: String,
    /// The output format
    #[arg(long, value_enum, default_value = "terminal")]
    format: Output,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Arguments of `assay findings dismiss`.
#[derive(clap::Args)]
pub(crate) struct DismissArgs {
    /// The ids of the findings, or prefixes of the ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// The reason, which `assay findings show` prints
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// The last day of the dismissal, such as `2026-12-31` [default: no end]
    #[arg(long, value_name = "DAY", value_parser = day)]
    until: Option<Day>,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Arguments of `assay findings reopen`.
#[derive(clap::Args)]
pub(crate) struct ReopenArgs {
    /// The ids of the findings, or prefixes of the ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Arguments of `assay findings adopt`.
#[derive(clap::Args)]
pub(crate) struct AdoptArgs {
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StateArg {
    /// Found by the last review that looked for it
    Open,
    /// No longer found by a later review
    Gone,
    /// Dismissed by a decision of a person
    Dismissed,
    /// All findings
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Terminal,
    Json,
}

fn day(text: &str) -> Result<Day, String> {
    Day::try_from(text.to_owned())
}

/// The JSON output of `list`.
#[derive(Serialize)]
struct ListOutput<'a> {
    version: u32,
    /// The number of reviews in the ledger: with none, the state of findings is unknown.
    runs: u64,
    findings: &'a [FindingEntry],
}

/// The JSON output of `show`.
#[derive(Serialize)]
struct ShowOutput<'a> {
    version: u32,
    #[serde(flatten)]
    history: &'a History,
}

/// Lists findings.
pub(super) fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let now = process::clock().now();
    let Some(ledger) = ledger::open_read_only(&state_of(&root))? else {
        match args.format {
            Output::Json => print_json(&ListOutput { version: VERSION, runs: 0, findings: &[] })?,
            Output::Terminal => super::print("the ledger is empty; `assay review` fills it\n")?,
        }
        return Ok(Exit::Ready);
    };
    let today = process::today().map(String::from).context("cannot determine the current date")?;
    let mut entries = ledger.list(&args.filter(now)?, &today)?;
    if let Some(glob) = &args.file {
        entries.retain(|entry| entry.file.as_deref().is_some_and(|file| glob.matches(file)));
    }
    match args.format {
        Output::Json => {
            print_json(&ListOutput { version: VERSION, runs: ledger.runs()?, findings: &entries })?;
        }
        Output::Terminal => {
            terminal::ledger::print_list(&entries, &root, state_filter(args.state), Moment(now))?;
        }
    }
    Ok(Exit::Ready)
}

fn state_filter(state: StateArg) -> Option<FindingState> {
    match state {
        StateArg::Open => Some(FindingState::Open),
        StateArg::Gone => Some(FindingState::Gone),
        StateArg::Dismissed => Some(FindingState::Dismissed),
        StateArg::All => None,
    }
}

impl ListArgs {
    fn filter(&self, now: Timestamp) -> anyhow::Result<FindingFilter> {
        Ok(FindingFilter {
            state: state_filter(self.state),
            impact: self.severity.as_ref().map(|grade| grade.impact().level()),
            category: self.category.clone(),
            reviewer: self.reviewer.clone(),
            from: self.since.map(|since| since.moment(now)).transpose()?,
            until: self.age.map(|age| age.before(now)).transpose()?,
        })
    }
}

/// Shows the history of a finding.
pub(super) fn show(args: &ShowArgs) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let history = FindingLedger::open_to_read(environment(), &root)?.history(&args.id)?;
    match args.format {
        Output::Json => print_json(&ShowOutput { version: VERSION, history: &history })?,
        Output::Terminal => terminal::ledger::print_history(&history, &root)?,
    }
    Ok(Exit::Ready)
}

/// Dismisses findings.
pub(super) fn dismiss(args: &DismissArgs) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let dismissal = DismissRequest::new(environment(), &args.reason, args.until.as_ref())?;
    let mut ledger = FindingLedger::open(environment(), &root)?;
    let by = user_name(&root);
    print_entries("dismissed", &ledger.dismiss(&args.ids, &by, &dismissal)?)
}

/// Accepts a ledger that assay did not write here.
pub(super) fn adopt(args: &AdoptArgs) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    if !ledger::adopt(&state_of(&root))? {
        bail!("no ledger found; `assay review` creates it");
    }
    super::print("accepted the ledger in its current state\n")?;
    Ok(Exit::Ready)
}

/// Reopens findings.
pub(super) fn reopen(args: &ReopenArgs) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let mut ledger = FindingLedger::open(environment(), &root)?;
    print_entries("reopened", &ledger.reopen(&args.ids, &user_name(&root))?)
}

fn print_entries(what: &str, entries: &[FindingEntry]) -> anyhow::Result<Exit> {
    for entry in entries {
        terminal::ledger::print_line(what, entry)?;
    }
    Ok(Exit::Ready)
}
