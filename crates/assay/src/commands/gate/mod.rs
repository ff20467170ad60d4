//! `assay gate`: quality gates, and single steps of them for scripts.

mod items;
mod reconcile;
mod rounds;
mod view;

use std::path::PathBuf;

use anyhow::{Context, bail};
use assay_engine::gate_outcome::next_command;
use assay_engine::gate_session::{GateLocation, GateOptions, ModelChoice, OpenGate};
use assay_engine::unknown_outcome::UnknownOutcome;
use assay_findings::reason::is_reason;
use assay_gates::answer::{GateAnswer, GuideAnswer, ListAnswer};
use assay_gates::foreign_items::ForeignItems;
use assay_gates::gate::{Decomposition, GateError, IfExists, NewItem, Release};
use assay_gates::gate_status::GateOutcome;
use assay_gates::gate_store::IfDeleted;
use assay_gates::guide::instructions;
use assay_gates::phase::Phase;
use assay_gates::sidecar::ChecklistSource;
use assay_gates::text::write::{decomposed, guidance, verified};
use assay_gates::verifier::Judge;
use assay_gates::verify::GateVerification;
use assay_rules::redact_text;
use clap::{Subcommand, ValueEnum};

use super::{note, print_json, print_safely, user_name, warn};
use crate::exit::Exit;
use crate::process::environment;

/// Arguments of `assay gate`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    step: Option<Step>,
    #[command(flatten)]
    gate: GateArgs,
    /// Print instructions for the failed items, as `guide` does
    #[arg(long)]
    qr_fail: bool,
}

#[derive(Subcommand)]
enum Step {
    /// Build the list of items to verify
    Decompose(DecomposeArgs),
    /// Verify the items of the list, and print whether the gate passes
    Verify,
    /// Print instructions for the failed items
    Guide,
    /// Build the list, verify the items and fix failures, until the gate passes or needs a
    /// person
    Run,
    /// Show the status of a gate; without `--phase`, of all gates
    Status,
    /// Compare the plan with the change, milestone by milestone
    Reconcile,
    /// Record the result of an item, for scripts
    UpdateItem(items::UpdateArgs),
    /// Accept a failed item, with a reason
    Accept(items::AcceptArgs),
}

/// Options that select a gate and its verifiers.
#[derive(Debug, Clone, clap::Args)]
struct GateArgs {
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".", global = true)]
    folder: PathBuf,
    /// The phase of the gate: plan-structure, plan-code, plan-docs, impl-code, impl-docs, reconcile
    #[arg(long, value_name = "PHASE", global = true)]
    phase: Option<Phase>,
    /// Store the state of the gate here instead of in .assay/gates
    #[arg(long, value_name = "DIR", global = true)]
    state_dir: Option<PathBuf>,
    /// The plan, in Markdown or JSON; later steps use the same plan
    #[arg(long, value_name = "FILE", global = true)]
    plan: Option<PathBuf>,
    /// The base of the change; later steps use the same base
    #[arg(long, value_name = "REF", global = true)]
    base: Option<String>,
    /// Let a model verify the items that code cannot verify: the configured model, or MODEL
    #[arg(
        long, value_name = "MODEL", num_args = 0..=1, require_equals = true,
        default_missing_value = "", global = true
    )]
    models: Option<String>,
    /// Use no model, even if the configuration enables models
    #[arg(long, conflicts_with = "models", global = true)]
    no_models: bool,
    /// The output format
    #[arg(long, value_name = "FORM", default_value = "text", global = true)]
    format: Form,
}

/// The output format of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Text for people and agents
    Text,
    /// JSON for programs
    Json,
}

/// Arguments of `assay gate decompose`.
#[derive(Default, clap::Args)]
struct DecomposeArgs {
    /// Build a new list in place of the current one; its open requirements are kept
    #[arg(long)]
    again: bool,
    /// Drop the open requirements of the current list, for this reason
    #[arg(long, value_name = "TEXT", requires = "again")]
    reason: Option<String>,
    /// The person who drops the requirements [default: the git user]
    #[arg(long, value_name = "NAME", requires = "reason")]
    by: Option<String>,
    /// Add items from this JSON file, or from stdin if it is `-`
    #[arg(long, value_name = "FILE")]
    items: Option<PathBuf>,
    /// Use only the items of `--items`, without the built-in checklist
    #[arg(long, requires = "items")]
    only_items: bool,
}

impl GateArgs {
    fn options(&self) -> anyhow::Result<GateOptions<'_>> {
        let phase = self
            .phase
            .context("missing `--phase`: name a gate, such as `--phase plan-structure`")?;
        Ok(GateOptions {
            environment: environment(),
            folder: &self.folder,
            phase,
            state_dir: self.state_dir.as_deref(),
            plan: self.plan.as_deref(),
            base: self.base.as_deref(),
            models: match (&self.models, self.no_models) {
                (Some(name), _) => {
                    ModelChoice::Yes(Some(name.as_str()).filter(|name| !name.is_empty()))
                }
                (None, true) => ModelChoice::No,
                (None, false) => ModelChoice::AsConfigured,
            },
        })
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let gate = &args.gate;
    match &args.step {
        Some(Step::Decompose(how)) => decompose(gate, how),
        Some(Step::Verify) => verify(gate),
        Some(Step::Guide) => guide(gate),
        None if args.qr_fail => guide(gate),
        Some(Step::Run) => rounds::run(gate),
        Some(Step::Status) => view::status(gate),
        Some(Step::Reconcile) => reconcile::run(gate),
        Some(Step::UpdateItem(update)) => items::update(gate, update),
        Some(Step::Accept(accept)) => items::accept(gate, accept),
        None => bail!("missing subcommand; `assay gate --help` lists the subcommands"),
    }
}

fn decompose(args: &GateArgs, how: &DecomposeArgs) -> anyhow::Result<Exit> {
    let options = args.options()?;
    if how.reason.as_deref().is_some_and(|reason| !is_reason(reason)) {
        bail!(
            "`--reason` must state why the list drops items of the previous list; words such as \
             `because` or `n/a` alone state no reason"
        );
    }
    let lost = if how.reason.is_some() { IfDeleted::Release } else { IfDeleted::Refuse };
    let opened = match how.again {
        true => OpenGate::for_new_list(options, lost)?,
        false => open_or_create(options)?,
    };
    print_notes(&opened);
    let Decomposition { state, was_there, carried, elsewhere } = build_list(&opened, how)?;
    match (was_there, how.again) {
        (true, _) => warn("the existing list was kept; build a new list with `--again`"),
        (false, true) => {
            warn("this is a new list; items that were verified before are verified again")
        }
        (false, false) => {}
    }
    for folder in elsewhere {
        warn(&format!(
            "the gate of this plan with its files in `{folder}` has not passed; this gate requires \
             the same items and everything that the plan required there"
        ));
    }
    for id in carried {
        warn(&format!(
            "{id} of the previous list stays on this list; a person can release it with `--reason \
             TEXT`"
        ));
    }
    if state.sidecar.inputs.checklist == ChecklistSource::HandedIn {
        warn(NO_CHECKLIST_WARNING);
    }
    match args.format {
        Form::Text => print_safely(&decomposed(state.list.items()))?,
        Form::Json => print_json(&ListAnswer::of(&state, was_there))?,
    }
    Ok(Exit::Ready)
}

/// Opens a gate with its list, or a gate whose list is not built yet.
fn open_or_create(options: GateOptions<'_>) -> anyhow::Result<OpenGate> {
    let place =
        GateLocation::of(options.environment, options.folder, options.phase, options.state_dir)?;
    match place.keep.exists() {
        true => OpenGate::with_list(options),
        false => OpenGate::for_new_list(options, IfDeleted::Refuse),
    }
}

/// Builds the list, unless it exists.
fn build_list(opened: &OpenGate, how: &DecomposeArgs) -> anyhow::Result<Decomposition> {
    let release = how.reason.as_ref().map(|reason| Release {
        reason: redact_text(reason.trim()),
        by: redact_text(&how.by.clone().unwrap_or_else(|| user_name(&opened.place.root))),
    });
    let earlier = match (how.again, &release) {
        (true, Some(release)) => IfExists::Release(release),
        (true, None) => IfExists::Replace,
        (false, _) => IfExists::Keep,
    };
    let mut made_from = opened.made_from.clone();
    made_from.checklist =
        if how.only_items { ChecklistSource::HandedIn } else { ChecklistSource::BuiltIn };
    let mut items = how.items.as_deref().map(items::read).transpose()?.unwrap_or_default();
    let is_needed = how.again || !opened.place.keep.exists();
    let commands = opened.policy.verifiers.iter();
    if is_needed {
        items.extend(commands.filter(|v| v.phases.contains(&opened.phase)).map(|v| v.item()));
    }
    if is_needed && !how.only_items {
        items.extend(propose_items(opened)?);
    }
    let decomposed = opened.with_gate(|gate| gate.decompose(made_from, items, earlier))?;
    if how.items.is_some() && !decomposed.was_there {
        let author = user_name(&opened.place.root);
        opened.with_gate(|gate| gate.credit(&author))?;
    }
    Ok(decomposed)
}

/// Returns the items that a model proposes in addition; empty if no model is asked.
fn propose_items(opened: &OpenGate) -> anyhow::Result<Vec<NewItem>> {
    let Some(judge) = opened.judge() else { return Ok(Vec::new()) };
    let proposed = opened.with_gate(|gate| judge.propose(opened.phase, gate.subject));
    proposed.map_err(anyhow::Error::msg).context(UnknownOutcome(
        "cannot build the list: the model that proposes further items did not answer; \
         `--no-models` builds the list without a model",
    ))
}

fn verify(args: &GateArgs) -> anyhow::Result<Exit> {
    let opened = OpenGate::with_list(args.options()?)?;
    print_notes(&opened);
    let gate = opened.with_gate(|gate| gate.verify(opened.verifiers()))?;
    show(&opened, args.format, &gate)?;
    print_next_command(opened.phase, &gate.status.outcome);
    Ok(exit_of(&gate.status.outcome))
}

/// Prints the result of a verification, and warns of content that was not verified.
fn show(opened: &OpenGate, form: Form, gate: &GateVerification) -> anyhow::Result<()> {
    for altered in &gate.status.altered {
        warn(&format!("the list was modified by a program other than assay: {altered}"));
    }
    for id in &gate.added {
        warn(&format!("{id} was added to the list: there is more content to verify than before"));
    }
    for ForeignItems { folder, items } in &gate.elsewhere {
        for id in items {
            warn(&format!(
                "{id} was added to the list: the gate of this plan with its files in `{folder}` \
                 requires it"
            ));
        }
    }
    for id in &gate.retired {
        warn(&format!(
            "{id} was removed from the list: the content that it verified no longer exists"
        ));
    }
    for (id, why) in &gate.unseen {
        warn(&format!("{id} was not verified: {why}"));
    }
    match form {
        Form::Text => print_safely(&verified(&gate.status)),
        Form::Json => print_json(&GateAnswer::of_verified(opened.phase, gate)),
    }
}

/// Prints the next command on stderr.
fn print_next_command(phase: Phase, outcome: &GateOutcome) {
    if let Some(command) = next_command(phase, outcome) {
        note(&format!("next: {command}"));
    }
}

fn exit_of(outcome: &GateOutcome) -> Exit {
    match outcome {
        GateOutcome::Pass => Exit::Ready,
        GateOutcome::Fail => Exit::NotReady,
        GateOutcome::Open | GateOutcome::Empty | GateOutcome::Incomplete(_) => Exit::Incomplete,
        GateOutcome::HandedOver(_) => Exit::HandedOver,
    }
}

fn guide(args: &GateArgs) -> anyhow::Result<Exit> {
    let opened = OpenGate::with_list(args.options()?)?;
    let (state, standing) = opened.with_gate(|gate| gate.status())?;
    let steps = instructions(&state, &standing);
    match args.format {
        Form::Text => print_safely(&guidance(&steps))?,
        Form::Json => print_json(&GuideAnswer::of(opened.phase, &steps))?,
    }
    Ok(Exit::Ready)
}

/// Prints the notes on the settings of a gate as warnings.
fn print_notes(opened: &OpenGate) {
    for note in &opened.policy.notes {
        warn(note);
    }
}

/// The warning for a list that `--only-items` built.
const NO_CHECKLIST_WARNING: &str = "this list does not contain the built-in checklist, so its gate \
                                    does not pass unless `gates.allow_only_items` is true";

/// Returns true if an error means that the state of a gate is unknown, which is not a mistake of
/// the user.
pub(crate) fn is_unknown(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(GateError::Store(_))) || error.is::<UnknownOutcome>()
}
