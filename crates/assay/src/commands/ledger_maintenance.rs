//! `assay ledger copy|export|prune`: copies, exports and prunes the ledger of findings.

use std::path::{Path, PathBuf};

use assay_engine::ledger_transfer::{self, ExportFormat};
use assay_engine::wording::count;
use assay_store::interval::Interval;
use assay_store::ledger::copy::{CopyCount, CopyCounts};
use assay_store::ledger::prune::PruneMode;
use clap::{Subcommand, ValueEnum};

use super::print;
use crate::exit::Exit;
use crate::output;
use crate::process::environment;

/// Arguments of `assay ledger`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".", global = true)]
    folder: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Copy a ledger with its whole history, between files and PostgreSQL
    Copy(CopyArgs),
    /// Export the ledger as JSON or CSV
    Export(ExportArgs),
    /// Remove findings that are gone since a long time, and old runs
    Prune(PruneArgs),
}

/// Arguments of `assay ledger copy`.
#[derive(clap::Args)]
struct CopyArgs {
    /// The source: a file, the address of a database, or a variable with one, such as `${NAME}`
    #[arg(long, value_name = "PLACE")]
    from: String,
    /// The target, which is created if it does not exist
    #[arg(long, value_name = "PLACE")]
    to: String,
}

/// Arguments of `assay ledger export`.
#[derive(clap::Args)]
struct ExportArgs {
    /// The format: JSON with the history of each finding, or CSV with one line for each finding
    #[arg(long, value_enum, default_value = "json")]
    format: FormatArg,
    /// Write to this file [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    Json,
    Csv,
}

impl From<FormatArg> for ExportFormat {
    fn from(format: FormatArg) -> ExportFormat {
        match format {
            FormatArg::Json => ExportFormat::Json,
            FormatArg::Csv => ExportFormat::Csv,
        }
    }
}

/// Arguments of `assay ledger prune`.
#[derive(clap::Args)]
struct PruneArgs {
    /// Remove findings last checked, and runs made, at least this long ago, such as 180d; open and
    /// dismissed findings stay [default: `ledger.retention_days`]
    #[arg(long, value_name = "TIME")]
    older_than: Option<Interval>,
    /// Count the findings and runs, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    match &args.command {
        Command::Copy(args) => copy(&root, args),
        Command::Export(args) => export(&root, args),
        Command::Prune(args) => prune(&root, args),
    }
}

fn copy(root: &Path, args: &CopyArgs) -> anyhow::Result<Exit> {
    let counts = ledger_transfer::copy_ledger(environment(), root, &args.from, &args.to)?;
    let copied = in_words(&counts, |count| count.copied);
    let present = in_words(&counts, |count| count.present);
    print(&format!("copied: {copied}\nalready present: {present}\nthe source is unchanged\n"))?;
    Ok(Exit::Ready)
}

fn in_words(counts: &CopyCounts, part: impl Fn(CopyCount) -> u64) -> String {
    let kinds = [
        (counts.runs, "run"),
        (counts.findings, "finding"),
        (counts.outcomes, "outcome"),
        (counts.votes, "vote"),
        (counts.dismissals, "dismissal"),
    ];
    let words = kinds.map(|(number, noun)| count(part(number) as usize, noun));
    words.join(", ")
}

fn export(root: &Path, args: &ExportArgs) -> anyhow::Result<Exit> {
    let format = args.format.into();
    let Some(path) = &args.output else {
        let mut text = Vec::new();
        ledger_transfer::export(environment(), root, format, &mut text)?;
        output::write(&text);
        return Ok(Exit::Ready);
    };
    let findings = ledger_transfer::export_to_file(environment(), root, format, path)?;
    print(&format!("wrote {} to `{}`\n", count(findings, "finding"), path.display()))?;
    Ok(Exit::Ready)
}

fn prune(root: &Path, args: &PruneArgs) -> anyhow::Result<Exit> {
    let (mode, verb) = match args.dry_run {
        true => (PruneMode::Count, "would remove"),
        false => (PruneMode::Remove, "removed"),
    };
    let counts = ledger_transfer::prune(environment(), root, args.older_than, mode)?;
    let (findings, runs) = (count(counts.findings, "finding"), count(counts.runs, "run"));
    print(&format!("{verb} {findings} and {runs}\n"))?;
    Ok(Exit::Ready)
}
