//! `assay replay`: replays a recorded run offline.

use std::path::PathBuf;

use assay_findings::grade::Grade;
use assay_review::runs;

use super::parse_severity;
use super::review;
use crate::exit::Exit;
use crate::process::state_of;
use crate::review_output::OutputArgs;

/// Arguments of `assay replay`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The id of the run [default: the newest run]
    run: Option<String>,
    #[command(flatten)]
    output: OutputArgs,
    /// Of the findings, block only on those of this severity or worse
    #[arg(long, value_name = "SEVERITY", value_parser = parse_severity)]
    fail_on: Option<Grade>,
    /// Also show findings that are folded as less likely, in the terminal
    #[arg(long)]
    all_findings: bool,
    /// Also list the leads of the rules, patterns without known data, in the terminal
    #[arg(long)]
    leads: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let run = runs::find(&state_of(&root), args.run.as_deref())?;
    let recording = runs::recording(&run);
    let shown = review::ShownLists { all_findings: args.all_findings, leads: args.leads };
    review::replay(&recording, root, &args.output, args.fail_on.as_ref(), shown)
}
