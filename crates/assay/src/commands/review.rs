//! `assay review`: reviews a change and reports if it is ready.

mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use assay_base::shutdown::Shutdown;
use assay_change::Scope;
use assay_engine::imports::FindingsImport;
use assay_engine::interactive_review::FixTarget;
use assay_engine::models::{CachePolicy, ModelOptions, ReviewOptions};
use assay_engine::publish::{PostKind, ReviewPost};
use assay_engine::reporter::Reporter;
use assay_engine::review_command_options::ReviewCommandOptions;
use assay_engine::review_session::{ReviewSession, SavedRun, retry_missing_pull};
use assay_engine::rule_options::RuleOptions;
use assay_engine::safe_fixes::{AutofixOutcome, autofix};
use assay_engine::wording::count;
use assay_findings::gate::ReviewMode;
use assay_findings::grade::Grade;
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_findings::verdict::VerdictState;
use assay_findings::write;
use assay_review::prompt_preview::{preview_prompts, write_prompts};
use assay_review::roster::{CostEstimates, build_roster};
use assay_review::{interrupted_report, recording};
use clap::ValueEnum;

use super::{ModeArg, note, parse_severity, print, print_safely, warn};
use crate::accepted_findings::record_accepted;
use crate::change_args::ChangeArgs;
use crate::exit::Exit;
use crate::interactive::{self, InteractiveReview};
use crate::messages::Stderr;
use crate::model_args::ModelArgs;
use crate::output;
use crate::process::environment;
use crate::progress::Progress;
use crate::review_output::{OutputArgs, ShownReview};
use crate::signals::{self, ReviewInterrupts};
use crate::terminal::{self, PrintOptions};

/// Arguments of `assay review`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    what: ChangeArgs,
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
    /// Set the behaviour of the review [default: print and store the review]
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,
    /// List the reviewers of the change with the reasons, and review nothing
    #[arg(long, conflicts_with_all = ["quiet", "output"])]
    roster: bool,
    /// List the reviewers of the change with the expected cost, and call no model
    #[arg(long, conflicts_with_all = ["quiet", "output"])]
    dry_run: bool,
    /// Write the prompts for the models to DIR, a new or empty folder
    #[arg(long, value_name = "DIR", requires = "dry_run")]
    prompts: Option<PathBuf>,
    /// Post the review on the pull request or merge request
    #[arg(
        long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true,
        default_missing_value = "review", requires = "request",
        conflicts_with_all = ["paths", "roster", "dry_run", "replay", "accept"],
    )]
    post: Option<PostForm>,
    /// Apply only these rules: ids and globs such as `secret/*`, separated by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',', conflicts_with = "replay")]
    select: Vec<String>,
    /// Leave these rules out: ids and globs such as `*/debug-print`, separated by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',', conflicts_with = "replay")]
    ignore: Vec<String>,
    /// Add the findings of another tool from a file, such as `sarif=results.sarif`: sarif, rdjson,
    /// rdjsonl, checkstyle, lines (`file:line:column: message`), or a format of an analyser
    #[arg(long, value_name = "FORMAT=FILE", conflicts_with = "replay")]
    import: Vec<FindingsImport>,
    /// Use this configuration instead of that of the repository; the output says so
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    config: Option<PathBuf>,
    #[command(flatten)]
    models: ModelArgs,
    /// Record the review to DIR, so that it can be replayed anywhere
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Replay the review that was recorded in DIR, and call no model
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "base", "staged", "commit", "pr", "mr", "diff", "all", "untracked", "paths", "models", "no_models",
        "persona", "accept", "mode",
    ])]
    replay: Option<PathBuf>,
    /// Reuse the answers of models of the last review, which was interrupted
    #[arg(long, conflicts_with_all = ["replay", "no_models", "roster", "dry_run"])]
    resume: bool,
    /// Review again whenever a file changes, until the review is interrupted
    #[arg(long, conflicts_with_all = [
        "commit", "pr", "diff", "mode", "hook", "post", "accept", "record", "replay", "roster",
        "dry_run", "resume",
    ])]
    watch: bool,
    /// Accept all findings into the baseline, with this reason
    #[arg(long, value_name = "REASON", conflicts_with_all = ["mode", "roster", "dry_run", "quiet", "output"])]
    accept: Option<String>,
}

/// The form in which a review is posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PostForm {
    /// Comments on the lines, and a summary
    Review,
    /// A check run with annotations, which requires the token of an app or of a workflow
    CheckRun,
    /// Alerts of code scanning
    Sarif,
}

impl From<PostForm> for PostKind {
    fn from(form: PostForm) -> PostKind {
        match form {
            PostForm::Review => PostKind::Review,
            PostForm::CheckRun => PostKind::CheckRun,
            PostForm::Sarif => PostKind::Sarif,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    args.output.check()?;
    match args.watch {
        true => watch::run(&args.what.folder, |interrupts| review(args, interrupts)),
        false => review(args, &ReviewInterrupts::watch()),
    }
}

fn review(args: &Args, interrupts: &ReviewInterrupts) -> anyhow::Result<Exit> {
    if let Some(folder) = &args.replay {
        signals::stop_commands_on_signal();
        let here = assay_change::root(&args.what.folder);
        let here = here.unwrap_or_else(|_| args.what.folder.clone());
        let shown = ShownLists { all_findings: args.all_findings, leads: args.leads };
        return replay(folder, here, &args.output, args.fail_on.as_ref(), shown);
    }
    if args.output.limits_stdout()
        && matches!(args.mode, Some(ModeArg::Interactive | ModeArg::Headless))
    {
        bail!("`--mode interactive` and `headless` print on stdout; leave `-o` and `-q` out");
    }
    let (scope, selection) = (args.what.scope()?, args.what.selection());
    let shows_only = args.roster || args.dry_run;
    let cache_policy = match args.mode {
        _ if shows_only => CachePolicy::NoModels,
        Some(ModeArg::ReportOnly) => CachePolicy::Off,
        _ => CachePolicy::On,
    };
    if let Some(folder) = &args.record {
        recording::check_folder(folder)?;
    }
    let models = ModelOptions { resume: args.resume, ..args.models.options()? };
    let rules = RuleOptions { select: args.select.clone(), ignore: args.ignore.clone() };
    let imports = args.import.clone();
    let command = ReviewCommandOptions { rules, config: args.config.clone(), imports };
    let open = |model_session| {
        let options = ReviewOptions { models: &models, cache_policy, model_session, also: None };
        let folder = &args.what.folder;
        ReviewSession::open_with(environment(), folder, &scope, &selection, options, &command)
    };
    let reporter: Arc<dyn Reporter> = Arc::new(Stderr);
    let opened = retry_missing_pull(&reporter, || open(None));
    if !interrupts.begin_reading() {
        return show_interrupted(args);
    }
    let mut prepared = opened?;
    prepared.memory_warning().into_iter().for_each(warn);
    if let Some(folder) = &args.prompts {
        let prompts = preview_prompts(&prepared.change, &prepared.reviewers)?;
        write_prompts(folder, &prompts)?;
        note(&format!("wrote {} to `{}`", count(prompts.len(), "prompt"), folder.display()));
    }
    if shows_only {
        let cost = if args.dry_run { CostEstimates::Included } else { CostEstimates::Omitted };
        let roster = build_roster(&prepared.change, &prepared.reviewers, cost);
        terminal::print_roster(&roster, prepared.panel.is_some(), args.dry_run)?;
        return Ok(Exit::Ready);
    }
    // Without a mode, the review asks no questions, and is stored.
    let mode = args.mode.map_or(ReviewMode::ReportOnly, ReviewMode::from);
    if mode == ReviewMode::Interactive {
        interactive::check_terminal()?;
    }
    if mode == ReviewMode::Autofix && !prepared.change.is_in_work_tree() {
        bail!("`--mode autofix` fixes the work tree, but this change is not in the work tree");
    }
    let shutdown = interrupts.shutdown();
    let progress = || if args.output.is_quiet() { Progress::hidden() } else { Progress::new() };
    let mut reviewed = prepared.review(mode, args.fail_on.as_ref(), &progress(), shutdown);
    if mode == ReviewMode::Autofix && !reviewed.is_interrupted() {
        let review_again = |model_session| {
            let mended = open(model_session)?;
            let again = mended.review(mode, args.fail_on.as_ref(), &progress(), shutdown);
            Ok((mended, again))
        };
        match autofix(&prepared, &reviewed, review_again)? {
            AutofixOutcome::Interrupted => {
                warn("the safe fixes were reverted: their review was interrupted");
                prepared.mark_interrupted(&mut reviewed, "review of the fixes");
            }
            AutofixOutcome::MadeWorse => {
                warn("the safe fixes were reverted: they added a blocking finding")
            }
            AutofixOutcome::Applied { fixes, session, review } => {
                (prepared, reviewed) = (*session, *review);
                let applied = count(fixes.len(), "safe fix");
                prepared.notes.push(format!("{applied} applied; `git diff` shows what changed"));
            }
        }
    }
    interrupts.begin_showing();
    // A review that cannot be stored is still shown.
    let kept = match args.mode {
        Some(ModeArg::ReportOnly) => Ok(None),
        _ => reviewed.save(&prepared).map(Some),
    };
    if let Some(folder) = &args.record {
        reviewed.record(&prepared, folder)?;
    }
    let run = kept.as_ref().ok().and_then(|kept| Some(kept.as_ref()?.id.as_str()));
    let trouble = match &kept {
        Ok(Some(kept)) => kept.warning.clone(),
        Ok(None) | Err(_) => prepared.ledger_warning(),
    };
    if let Some(reason) = &args.accept {
        trouble.iter().for_each(|trouble| warn(trouble));
        return accept(prepared, &reviewed.synthesis, reason, run);
    }
    let exit = Exit::from(reviewed.synthesis.verdict.state);
    let shown = ShownLists { all_findings: args.all_findings, leads: args.leads };
    let mut review = shown_review(&prepared, &reviewed.synthesis, run, shown);
    review.options.caller = args.what.caller();
    match mode {
        ReviewMode::Headless => {
            args.output.write_files(&review)?;
            show_headless(&reviewed.synthesis)?;
        }
        // The dialogue shows each finding with its question.
        ReviewMode::Interactive => args.output.write_files(&review)?,
        ReviewMode::ReportOnly | ReviewMode::Autofix => args.output.show(&review)?,
    }
    output::flush();
    trouble.iter().for_each(|trouble| warn(trouble));
    if let Err(error) = &kept {
        warn(&format!("cannot store the review: {error:#}; `--mode report-only` stores none"));
    }
    if !interrupts.end_showing() {
        if args.post.is_some() {
            warn("the review was not posted: it was interrupted");
        }
        return Ok(if exit == Exit::Ready { Exit::Incomplete } else { exit });
    }
    if let Some(form) = args.post
        && !post(
            form,
            &scope,
            &prepared,
            &reviewed.synthesis,
            kept.as_ref().ok().and_then(Option::as_ref),
        )
    {
        return Ok(if exit == Exit::Ready { Exit::Incomplete } else { exit });
    }
    if mode == ReviewMode::Interactive {
        let dialogue = InteractiveReview {
            target: FixTarget::of(&prepared.change, args.what.is_staged()),
            all_findings: args.all_findings,
            run,
            interrupts,
        };
        return dialogue.run(&mut prepared, &reviewed, |model_session| {
            let session = open(model_session)?;
            interrupts.begin_reading();
            let again = session.review(mode, args.fail_on.as_ref(), &progress(), shutdown);
            Ok((session, again))
        });
    }
    Ok(exit)
}

/// Prints that the review was interrupted before the change was read.
fn show_interrupted(args: &Args) -> anyhow::Result<Exit> {
    let report = interrupted_report("the change");
    let synthesis = synthesize(&[report], &SynthesisInputs::default());
    let options = PrintOptions::default();
    let review = ShownReview { change: None, synthesis: &synthesis, options };
    match args.mode {
        Some(ModeArg::Headless) => show_headless(&synthesis)?,
        _ => args.output.show(&review)?,
    }
    Ok(Exit::from(synthesis.verdict.state))
}

/// Posts a review, and returns false if that failed.
fn post(
    form: PostForm,
    scope: &Scope,
    prepared: &ReviewSession,
    synthesis: &Synthesis,
    saved_run: Option<&SavedRun>,
) -> bool {
    let post = ReviewPost {
        environment: environment(),
        scope,
        change: &prepared.change,
        synthesis,
        services: &prepared.services,
        saved_run,
        reporter: Arc::new(Stderr),
    };
    let posted = post.post(form.into());
    match &posted {
        Ok(done) => note(done),
        Err(error) => warn(&format!("cannot post the review: {error:#}")),
    }
    posted.is_ok()
}

/// The lists of findings that are shown in the terminal although they are usually counted alone.
#[derive(Clone, Copy)]
pub(super) struct ShownLists {
    pub(super) all_findings: bool,
    pub(super) leads: bool,
}

/// Replays a recorded review. Paths are shown relative to the folder.
pub(super) fn replay(
    recording: &Path,
    root: PathBuf,
    output: &OutputArgs,
    fail_on: Option<&Grade>,
    shown: ShownLists,
) -> anyhow::Result<Exit> {
    output.check()?;
    let prepared = ReviewSession::recorded(environment(), recording, root)?;
    let reviewed =
        prepared.review(ReviewMode::ReportOnly, fail_on, &Progress::new(), &Shutdown::default());
    output.show(&shown_review(&prepared, &reviewed.synthesis, None, shown))?;
    Ok(Exit::from(reviewed.synthesis.verdict.state))
}

/// Returns a review with the facts for its output.
fn shown_review<'a>(
    prepared: &'a ReviewSession,
    synthesis: &'a Synthesis,
    run: Option<&'a str>,
    shown: ShownLists,
) -> ShownReview<'a> {
    let notes = &prepared.notes;
    let ShownLists { all_findings, leads } = shown;
    let options = PrintOptions { run, all_findings, leads, notes, ..PrintOptions::default() };
    ShownReview { change: Some(&prepared.change), synthesis, options }
}

/// Adds all findings to the baseline.
fn accept(
    mut prepared: ReviewSession,
    synthesis: &Synthesis,
    reason: &str,
    run: Option<&str>,
) -> anyhow::Result<Exit> {
    if reason.trim().is_empty() {
        bail!("missing reason: `--accept` must state why the findings are accepted");
    }
    if synthesis.verdict.incomplete {
        bail!("cannot accept the findings: the review is incomplete");
    }
    let by = super::user_name(&prepared.change.root);
    let new = prepared.baseline.accept(&synthesis.findings, &by, reason);
    prepared.baseline.save(&prepared.change.root)?;
    let accepted: Vec<_> = synthesis.findings.iter().map(|finding| (finding, reason)).collect();
    record_accepted(&prepared, run, &accepted);
    let path = assay_review::baseline::PATH;
    let findings = count(new, "finding");
    print(&format!(
        "accepted {findings} into `{path}`; commit the file in a separate change to keep them \
         accepted\n"
    ))?;
    Ok(Exit::Ready)
}

/// Prints JSON, and on the last line whether the review is complete.
fn show_headless(synthesis: &Synthesis) -> anyhow::Result<()> {
    print_safely(&write::pretty(synthesis))?;
    let degraded =
        synthesis.verdict.incomplete || synthesis.verdict.state == VerdictState::Incomplete;
    print(if degraded { "degraded\n" } else { "complete\n" })
}
