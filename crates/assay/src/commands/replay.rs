//! `assay replay`: a run again, offline.

use std::path::PathBuf;

use assay_findings::grade::Grade;
use assay_review::runs;

use super::parse_severity;
use super::review::{self, Output};
use crate::exit::Exit;
use crate::process::state_of;

/// Which run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The run; the newest where there is none
    run: Option<String>,
    /// The form of the output
    #[arg(long, value_enum, default_value = "terminal")]
    format: Output,
    /// Block on findings of this severity or worse, and on no others
    #[arg(long, value_name = "SEVERITY", value_parser = parse_severity)]
    fail_on: Option<Grade>,
    /// Show in the terminal also the findings that are folded as less likely
    #[arg(long)]
    all_findings: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let run = runs::find(&state_of(&root), args.run.as_deref())?;
    let recording = runs::recording(&run);
    review::replay(&recording, root, args.format, args.fail_on.as_ref(), args.all_findings)
}
