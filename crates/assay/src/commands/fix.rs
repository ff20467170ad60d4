//! `assay fix`: applies the safe fixes of a run, and nothing else.

use std::io::Write;
use std::path::PathBuf;

use assay_findings::vote::AutofixClass;
use assay_review::fix::FixPlan;
use assay_review::runs::{self, StoredFix};

use crate::exit::Exit;
use crate::output::StyledStdout;
use crate::process::state_of;
use crate::terminal;

/// Arguments of `assay fix`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The run whose fixes are applied [default: the newest run]
    run: Option<String>,
    /// Print the fixes without applying them; exits 1 if there are any
    #[arg(long)]
    check: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let run = runs::find(&state_of(&root), args.run.as_deref())?;
    let (safe, others): (Vec<StoredFix>, Vec<StoredFix>) =
        runs::fixes(&run)?.into_iter().partition(|fix| fix.class == AutofixClass::SafeAuto);
    let plan = FixPlan::new(&root, safe);
    if !args.check {
        plan.apply(&root)?;
    }
    let mut out = StyledStdout::new();
    terminal::write_plan(&mut out, &plan, args.check)?;
    if !others.is_empty() {
        let noun = if others.len() == 1 { "fix needs" } else { "fixes need" };
        writeln!(out, "{} more {noun} approval by a person; the review shows them", others.len())?;
    }
    let left = args.check && !plan.files.is_empty();
    Ok(if left { Exit::NotReady } else { Exit::Ready })
}
