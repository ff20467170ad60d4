//! `assay findings list|show|dismiss|reopen|adopt`: what became of findings.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, bail};
use assay_findings::grade::Grade;
use assay_findings::identity::Day;
use assay_review::ledger::{self, FileGlob, OpenLedger};
use assay_store::ledger::decision::Terms;
use assay_store::ledger::query::{Entry, Filter, History, Named};
use assay_store::ledger::{FindingKey, Ledger, State};
use assay_store::task::Moment;
use clap::ValueEnum;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{parse_severity, print_json, user_name};
use crate::exit::Exit;
use crate::process::{self, state_of};
use crate::terminal;

/// The version of what is printed as JSON.
const VERSION: u32 = 1;

/// Which findings to list.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Those in this state
    #[arg(long, value_enum, default_value = "open")]
    state: StateArg,
    /// Those of this severity or worse
    #[arg(long, value_name = "SEVERITY", value_parser = parse_severity)]
    severity: Option<Grade>,
    /// Those of this category, such as `security`
    #[arg(long)]
    category: Option<String>,
    /// Those in files like this, such as `src/*.rs`
    #[arg(long, value_name = "GLOB")]
    file: Option<FileGlob>,
    /// Those that this reviewer voted for
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,
    /// Those that were first seen since a day (`2026-12-31`), or within a time (`7d`, `2w`, `12h`)
    #[arg(long, value_name = "DAY|TIME")]
    since: Option<Since>,
    /// Those that have been there for so long or longer (`7d`, `2w`, `12h`)
    #[arg(long, value_name = "TIME")]
    age: Option<Span>,
    /// The form of the output
    #[arg(long, value_enum, default_value = "terminal")]
    format: Output,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Which finding to show.
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// Its id, or the beginning of it
    id: String,
    /// The form of the output
    #[arg(long, value_enum, default_value = "terminal")]
    format: Output,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Which findings to leave alone, and why.
#[derive(clap::Args)]
pub(crate) struct DismissArgs {
    /// Their ids, or the beginnings of them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Why, for whoever asks later
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// The last day on which they are left alone, such as `2026-12-31`; without it, for good
    #[arg(long, value_name = "DAY", value_parser = day)]
    until: Option<Day>,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Which findings to raise again.
#[derive(clap::Args)]
pub(crate) struct ReopenArgs {
    /// Their ids, or the beginnings of them
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Which ledger to take over.
#[derive(clap::Args)]
pub(crate) struct AdoptArgs {
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StateArg {
    /// There when somebody last looked
    Open,
    /// Looked for again, and not there
    Gone,
    /// Left alone, since somebody decided so
    Dismissed,
    /// All of them
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Terminal,
    Json,
}

/// A time such as `7d`.
#[derive(Debug, Clone, Copy)]
struct Span(SignedDuration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let wrong = || format!("`{text}` is no time such as 7d, 2w or 12h");
        let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let number: u32 = text[..split].parse().map_err(|_| wrong())?;
        let hours = match &text[split..] {
            "h" => 1,
            "d" => 24,
            "w" => 24 * 7,
            _ => return Err(wrong()),
        };
        Ok(Span(SignedDuration::from_hours(i64::from(number) * hours)))
    }
}

/// A day, or a time before now.
#[derive(Debug, Clone, Copy)]
enum Since {
    Day(Timestamp),
    Within(Span),
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Since, String> {
        if let Ok(span) = text.parse() {
            return Ok(Since::Within(span));
        }
        let day = day(text).map_err(|_| {
            format!("`{text}` is neither a day such as 2026-12-31 nor a time such as 7d, 2w or 12h")
        })?;
        let start = format!("{}T00:00:00Z", String::from(day)).parse();
        start.map(Since::Day).map_err(|error: jiff::Error| error.to_string())
    }
}

fn day(text: &str) -> Result<Day, String> {
    Day::try_from(text.to_owned())
}

/// What `list` prints as JSON.
#[derive(Serialize)]
struct Listed<'a> {
    version: u32,
    /// How many reviews are in the ledger: with none, nothing is known.
    runs: u64,
    findings: &'a [Entry],
}

/// What `show` prints as JSON.
#[derive(Serialize)]
struct Shown<'a> {
    version: u32,
    #[serde(flatten)]
    history: &'a History,
}

/// Lists findings.
pub(super) fn list(args: &ListArgs) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let now = process::clock().now();
    let Some(ledger) = ledger::open_to_read(&state_of(&root))? else {
        match args.format {
            Output::Json => print_json(&Listed { version: VERSION, runs: 0, findings: &[] })?,
            Output::Terminal => super::print("the ledger is empty; `assay review` fills it\n")?,
        }
        return Ok(Exit::Ready);
    };
    let mut entries = ledger.list(&args.filter(now)?, &this_day()?)?;
    if let Some(glob) = &args.file {
        entries.retain(|entry| entry.file.as_deref().is_some_and(|file| glob.matches(file)));
    }
    match args.format {
        Output::Json => {
            print_json(&Listed { version: VERSION, runs: ledger.runs()?, findings: &entries })?;
        }
        Output::Terminal => {
            terminal::ledger::print_list(&entries, wanted(args.state), Moment(now))?;
        }
    }
    Ok(Exit::Ready)
}

fn wanted(state: StateArg) -> Option<State> {
    match state {
        StateArg::Open => Some(State::Open),
        StateArg::Gone => Some(State::Gone),
        StateArg::Dismissed => Some(State::Dismissed),
        StateArg::All => None,
    }
}

impl ListArgs {
    fn filter(&self, now: Timestamp) -> anyhow::Result<Filter> {
        let before = |Span(time): Span| now.checked_sub(time).context("nobody has looked so early");
        let from = match self.since {
            None => None,
            Some(Since::Day(start)) => Some(start),
            Some(Since::Within(time)) => Some(before(time)?),
        };
        Ok(Filter {
            state: wanted(self.state),
            impact: self.severity.as_ref().map(|grade| grade.impact().level()),
            category: self.category.clone(),
            reviewer: self.reviewer.clone(),
            from: from.map(Moment),
            until: self.age.map(before).transpose()?.map(Moment),
        })
    }
}

/// Shows all that is known of a finding.
pub(super) fn show(args: &ShowArgs) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let ledger = existing(&root)?;
    let history = ledger.history(named(&ledger, &args.id)?, &this_day()?)?;
    match args.format {
        Output::Json => print_json(&Shown { version: VERSION, history: &history })?,
        Output::Terminal => terminal::ledger::print_history(&history)?,
    }
    Ok(Exit::Ready)
}

/// Has later reviews leave findings alone.
pub(super) fn dismiss(args: &DismissArgs) -> anyhow::Result<Exit> {
    let reason = args.reason.trim();
    if reason.is_empty() {
        bail!("there is no reason; whoever reads the ledger later needs one");
    }
    let today = process::today().context("there is no day today")?;
    if let Some(until) = args.until.as_ref().filter(|until| **until < today) {
        bail!("{} has passed; a finding is left alone up to a day to come", until.as_str());
    }
    let (root, mut ledger) = to_write(&args.folder)?;
    let keys = all_named(&ledger, &args.ids)?;
    let terms = Terms {
        by: &user_name(&root),
        reason: &assay_rules::redact(reason),
        until: args.until.as_ref().map(Day::as_str),
    };
    ledger.dismiss(&keys, terms, process::now())?;
    tell(&ledger, "dismissed", &keys)
}

/// Takes over a ledger that assay did not write here.
pub(super) fn adopt(args: &AdoptArgs) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    if !ledger::adopt(&state_of(&root))? {
        bail!("there is no ledger; `assay review` begins one");
    }
    super::print("the ledger counts from now on as it is\n")?;
    Ok(Exit::Ready)
}

/// Has later reviews raise findings again.
pub(super) fn reopen(args: &ReopenArgs) -> anyhow::Result<Exit> {
    let (root, mut ledger) = to_write(&args.folder)?;
    let keys = all_named(&ledger, &args.ids)?;
    for key in &keys {
        check_dismissed(&ledger.history(*key, &this_day()?)?)?;
    }
    ledger.reopen(&keys, &user_name(&root), process::now())?;
    tell(&ledger, "reopened", &keys)
}

/// Refuses to take back what nobody decided here.
fn check_dismissed(history: &History) -> anyhow::Result<()> {
    if history.decisions.last().is_some_and(|decision| decision.ended.is_none()) {
        return Ok(());
    }
    let (id, state) = (&history.entry.id, history.entry.state);
    if state != State::Dismissed {
        bail!("`{id}` is {}; nobody dismissed it", state.as_str());
    }
    let why = history.looks.last().and_then(|look| look.why.as_deref()).unwrap_or("no reason");
    bail!(
        "`{id}` is left alone by the baseline or a comment in the code, and is taken out there: {why}"
    )
}

fn tell(ledger: &Ledger, what: &str, keys: &[FindingKey]) -> anyhow::Result<Exit> {
    for key in keys {
        let entry = ledger.history(*key, &this_day()?)?.entry;
        terminal::ledger::print_line(what, &entry)?;
    }
    Ok(Exit::Ready)
}

fn this_day() -> anyhow::Result<String> {
    process::today().map(String::from).context("there is no day today")
}

fn existing(root: &Path) -> anyhow::Result<OpenLedger> {
    ledger::open_to_read(&state_of(root))?.context("the ledger is empty; `assay review` fills it")
}

fn to_write(folder: &Path) -> anyhow::Result<(PathBuf, OpenLedger)> {
    let root = assay_change::root(folder)?;
    // Where nothing is known, nothing is made either.
    drop(existing(&root)?);
    let ledger = ledger::open(&state_of(&root))?;
    Ok((root, ledger))
}

/// Finds all findings that are named, each once; one that cannot be found stops the whole.
fn all_named(ledger: &Ledger, ids: &[String]) -> anyhow::Result<Vec<FindingKey>> {
    let mut keys = Vec::new();
    for id in ids {
        let key = named(ledger, id)?;
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(keys)
}

fn named(ledger: &Ledger, id: &str) -> anyhow::Result<FindingKey> {
    match ledger.named(id)? {
        Named::One(key) => Ok(key),
        Named::Nobody => {
            bail!("there is no finding `{id}`; `assay findings list --state all` names them")
        }
        Named::Several(ids) => {
            let some: Vec<&str> = ids.iter().take(5).map(String::as_str).collect();
            let more = if ids.len() > some.len() { " and others" } else { "" };
            bail!("`{id}` begins several ids: {}{more}; type more of it", some.join(", "))
        }
    }
}
