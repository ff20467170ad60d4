//! `assay qa`: validates an implementation against its spec.

mod view;
mod watch;

use std::path::PathBuf;

use assay_engine::loop_session::{
    LoopOptions, LoopOutcome, NullObserver, SignOff, SpecLocation, validate,
};
use assay_validate::ending::Ending;
use clap::ValueEnum;

use self::view::ProgressPrinter;
use super::warn;
use crate::diagnostics::Diagnostics;
use crate::exit::Exit;
use crate::model_args::ModelArgs;
use crate::process::environment;

/// Arguments of `assay qa`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// The name of the spec's folder in `specs` or `.auto-claude/specs`, or a prefix of the name
    #[arg(long, value_name = "NAME", required_unless_present_any = ["watch", "metrics"])]
    spec: Option<String>,
    /// Print the status, and run nothing
    #[arg(long, requires = "spec", conflicts_with_all = ["resume", "sign_off", "watch"])]
    status: bool,
    /// Resume a loop that waits for a person; counters start again
    #[arg(long, requires = "spec", conflicts_with = "watch")]
    resume: bool,
    /// Approve the current tree, under this name
    #[arg(long, value_name = "NAME", requires = "spec", conflicts_with = "watch")]
    sign_off: Option<String>,
    /// Decide one criterion or issue instead of approving the tree: its title, the text of the
    /// criterion, or the criterion's number in `qa_report.md`; can be repeated
    #[arg(long = "for", value_name = "WHAT", requires_all = ["sign_off", "because"])]
    about: Vec<String>,
    /// The reason for the decision, for the report
    #[arg(long, value_name = "REASON", requires_all = ["sign_off", "about"])]
    because: Option<String>,
    /// Wait, and validate each spec as soon as its last subtask is completed
    #[arg(long)]
    watch: bool,
    /// Print metrics of all loops so far: rounds to approval, effect of fixes, time spent
    #[arg(long, conflicts_with_all = ["status", "resume", "sign_off", "watch"])]
    metrics: bool,
    /// The branch or commit that the implementation is based on
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
    /// Use this model: a name of `models.use`, or a name such as `claude-sonnet-4-5-20250929`
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["models", "no_models"])]
    model: Option<String>,
    #[command(flatten)]
    models: ModelArgs,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Json,
}

pub(crate) fn run(args: &Args, diagnostics: &Diagnostics) -> anyhow::Result<Exit> {
    if args.watch {
        return watch::run(args, diagnostics);
    }
    if args.metrics {
        return view::metrics(args);
    }
    let prefix = args.spec.as_deref().unwrap_or_default();
    let place = SpecLocation::of(environment(), &args.folder, prefix)?;
    if args.status {
        return view::status(&place, args.format);
    }
    run_loop(args, &place, diagnostics)
}

/// Runs the loop of a spec, and prints the result.
fn run_loop(args: &Args, place: &SpecLocation, diagnostics: &Diagnostics) -> anyhow::Result<Exit> {
    let models = args.models.options()?.or_model(args.model.as_deref());
    let asked = LoopOptions {
        base: args.base.as_deref(),
        resumes: args.resume,
        sign_off: args.sign_off.as_deref().map(|by| SignOff {
            by,
            about: &args.about,
            because: args.because.as_deref().unwrap_or_default(),
            seen_tree: None,
        }),
        models: &models,
        host: None,
    };
    let (loop_outcome, standing) = match args.format {
        Form::Text => {
            validate(place, asked, &ProgressPrinter::new(place, diagnostics.is_verbose()), &warn)?
        }
        Form::Json => validate(place, asked, &NullObserver, &warn)?,
    };
    view::print_outcome(place, args.format, &loop_outcome, &standing)?;
    Ok(exit(&loop_outcome))
}

fn exit(loop_outcome: &LoopOutcome) -> Exit {
    match loop_outcome {
        LoopOutcome::AlreadyApproved | LoopOutcome::Ended(Ending::Approved) => Exit::Ready,
        LoopOutcome::Ended(Ending::Errors { .. }) => Exit::Incomplete,
        LoopOutcome::Waits(_) | LoopOutcome::Ended(_) => Exit::HandedOver,
    }
}
