//! `assay fix`: applies the safe fixes of a run or of the staged changes, and nothing else.

use std::io::Write;
use std::path::PathBuf;

use assay_engine::staged_fixes::{FixAction, StagedFixOutcome, fix_staged};
use assay_findings::synthesis::Synthesis;
use assay_findings::verdict::VerdictState;
use assay_findings::vote::AutofixClass;
use assay_findings::write::escape;
use assay_review::fix::FixPlan;
use assay_review::runs::{self, StoredFix};

use super::warn;
use crate::exit::Exit;
use crate::output::StyledStdout;
use crate::process::{environment, state_of};
use crate::terminal;

/// Arguments of `assay fix`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The run whose fixes are applied [default: the newest run]
    run: Option<String>,
    /// Review the staged changes by the rules, and apply the safe fixes to the index and the work
    /// tree; unstaged edits stay
    #[arg(long, conflicts_with = "run")]
    staged: bool,
    /// Print the fixes without applying them; exits 1 if there are any
    #[arg(long)]
    check: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    if args.staged {
        return run_staged(args);
    }
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
    write_others(&mut out, others.len())?;
    Ok(exit(&plan, args.check))
}

/// Fixes the staged changes.
fn run_staged(args: &Args) -> anyhow::Result<Exit> {
    let action = if args.check { FixAction::Check } else { FixAction::Apply };
    let fixed = fix_staged(environment(), &args.folder, action)?;
    let plan = &fixed.plan;
    if matches!(fixed.outcome, StagedFixOutcome::MadeWorse) {
        warn("the safe fixes were reverted: they added a blocking finding");
        return Ok(Exit::NotReady);
    }
    let mut out = StyledStdout::new();
    terminal::write_plan(&mut out, &plan.index, args.check)?;
    for path in &plan.partly_staged {
        let path = escape::one_line(path.as_str());
        writeln!(out, "{path} has unstaged edits, which stay unstaged")?;
    }
    write_others(&mut out, fixed.others)?;
    if let StagedFixOutcome::Applied(after) = &fixed.outcome {
        write_state(&mut out, after)?;
    }
    Ok(exit(&plan.index, args.check))
}

/// Prints the verdict of the rules on what is staged now.
fn write_state(out: &mut impl Write, after: &Synthesis) -> anyhow::Result<()> {
    let state = after.verdict.state.in_words();
    let caveat = after.coverage.as_ref().and_then(|coverage| coverage.caveat());
    let caveat = caveat.map(|caveat| format!(" ({caveat})")).unwrap_or_default();
    writeln!(out, "staged now: {state}{caveat}")?;
    let is_open = after.verdict.state != VerdictState::Ready;
    for reason in after.verdict.because.iter().filter(|_| is_open) {
        writeln!(out, "  {}", escape::one_line(&assay_rules::redact(&reason.text)))?;
    }
    Ok(())
}

fn write_others(out: &mut impl Write, others: usize) -> anyhow::Result<()> {
    if others > 0 {
        let noun = if others == 1 { "fix needs" } else { "fixes need" };
        writeln!(out, "{others} more {noun} approval by a person; the review shows them")?;
    }
    Ok(())
}

fn exit(plan: &FixPlan, is_check: bool) -> Exit {
    let left = is_check && !plan.files.is_empty();
    if left { Exit::NotReady } else { Exit::Ready }
}
