//! `assay qa`: does an implementation do what its spec says?

mod view;
mod watch;

use std::path::PathBuf;

use assay_engine::loop_session::{Asked, CameTo, Place, SignOff, Silent, validate};
use assay_validate::ending::Ending;
use clap::ValueEnum;

use self::view::Printing;
use super::warn;
use crate::diagnostics::Diagnostics;
use crate::exit::Exit;
use crate::model_args::ModelArgs;
use crate::process::environment;

/// Which spec, and what to do with it.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// The beginning of the name of the spec's folder in `specs` or `.auto-claude/specs`
    #[arg(long, value_name = "NAME", required_unless_present_any = ["watch", "metrics"])]
    spec: Option<String>,
    /// Say where it stands, and do nothing
    #[arg(long, requires = "spec", conflicts_with_all = ["resume", "sign_off", "watch"])]
    status: bool,
    /// Take up a loop that was handed to a person; counting begins anew
    #[arg(long, requires = "spec", conflicts_with = "watch")]
    resume: bool,
    /// Vouch for the tree as it is, under this name
    #[arg(long, value_name = "NAME", requires = "spec", conflicts_with = "watch")]
    sign_off: Option<String>,
    /// Decide one criterion or issue instead of vouching for the tree: its title, the text of the
    /// criterion, or the criterion's number in `qa_report.md`; can be given several times
    #[arg(long = "for", value_name = "WHAT", requires_all = ["sign_off", "because"])]
    about: Vec<String>,
    /// The reason for the decision, as it is shown in the report
    #[arg(long, value_name = "REASON", requires_all = ["sign_off", "about"])]
    because: Option<String>,
    /// Wait, and validate each spec as soon as its last subtask is completed
    #[arg(long)]
    watch: bool,
    /// Say how loops came out so far: rounds to approval, what fixing achieved, where time went
    #[arg(long, conflicts_with_all = ["status", "resume", "sign_off", "watch"])]
    metrics: bool,
    /// The branch or commit on top of which it was implemented
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// The form of the output
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
    /// Ask this model: one of `models.use`, or a name such as `claude-sonnet-4-5-20250929`
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["models", "no_models"])]
    model: Option<String>,
    #[command(flatten)]
    models: ModelArgs,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// The form of the output.
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
    let place = Place::of(environment(), &args.folder, prefix)?;
    if args.status {
        return view::status(&place, args.format);
    }
    go_on(args, &place, diagnostics)
}

/// Goes on with the loop of a spec, and tells how it came out.
fn go_on(args: &Args, place: &Place, diagnostics: &Diagnostics) -> anyhow::Result<Exit> {
    let models = args.models.request()?.or_model(args.model.as_deref());
    let asked = Asked {
        base: args.base.as_deref(),
        resumes: args.resume,
        sign_off: args.sign_off.as_deref().map(|by| SignOff {
            by,
            about: &args.about,
            because: args.because.as_deref().unwrap_or_default(),
        }),
        models: &models,
        host: None,
    };
    let (came_to, standing) = match args.format {
        Form::Text => {
            validate(place, asked, &Printing::new(place, diagnostics.is_verbose()), &warn)?
        }
        Form::Json => validate(place, asked, &Silent, &warn)?,
    };
    view::ended(place, args.format, &came_to, &standing)?;
    Ok(exit(&came_to))
}

fn exit(came_to: &CameTo) -> Exit {
    match came_to {
        CameTo::ApprovedBefore | CameTo::Ended(Ending::Approved) => Exit::Ready,
        CameTo::Ended(Ending::Errors { .. }) => Exit::Incomplete,
        CameTo::Waits(_) | CameTo::Ended(_) => Exit::HandedOver,
    }
}
