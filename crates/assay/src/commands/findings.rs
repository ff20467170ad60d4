//! `assay findings …`: single steps on findings with JSON input and output, and the commands of the
//! ledger.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_change::{diff, tree::DirTree};
use assay_findings::finding::Finding;
use assay_findings::grade::Grade;
use assay_findings::grounding::{Grounder, Tree};
use assay_findings::identity::{Dismissal, EarlierFindings};
use assay_findings::merge;
use assay_findings::path::RepoPath;
use assay_findings::persona_schema::ReportTier;
use assay_findings::read::{self, MAX_TEXT};
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::script_api::{
    self, IssuePair, RecurrenceQuery, SeverityFormat, SimilarityMeasure,
};
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_findings::verdict::VerdictState;
use assay_findings::write::{self, FindingsDocument, OutputFormat};
use assay_review::templates;
use assay_rules::SymbolTree;
use clap::{Subcommand, ValueEnum};
use serde_json::{Map, Value};

use super::{
    ModeArg, ledger, parse_severity, print, print_json, read_file, read_stdin, statistics,
    templates as template_commands,
};
use crate::exit::{Exit, UnusableInput};
use crate::process;

/// Subcommands of `assay findings`.
#[derive(Subcommand)]
pub(crate) enum Step {
    /// List the findings of all reviews so far, with their states
    List(ledger::ListArgs),
    /// Show the history of a finding: reviewers, times and decisions
    Show(ledger::ShowArgs),
    /// Dismiss findings, so that later reviews do not report them
    Dismiss(ledger::DismissArgs),
    /// Reopen dismissed findings, so that later reviews report them again
    Reopen(ledger::ReopenArgs),
    /// Shows statistics of the ledger: kinds, files, times, precision and cost
    Stats(statistics::StatsArgs),
    /// List, show and test the templates: texts that all findings of one kind share
    #[command(subcommand)]
    Templates(template_commands::Templates),
    /// Accept a ledger that assay did not write here, after you have checked it
    Adopt(ledger::AdoptArgs),
    /// Parse the raw text of a reviewer from stdin
    Parse {
        /// The vocabulary of severities in the output
        #[arg(long, value_enum, default_value = "auto")]
        format: FormatArg,
        /// The folder of the repository; absolute paths inside it are made relative
        #[arg(long)]
        root: Option<PathBuf>,
    },
    /// Validate a persona report from stdin against its schema
    Validate {
        /// The schema to validate against
        #[arg(long, value_enum, default_value = "full")]
        tier: TierArg,
    },
    /// Merge, ground, gate and route reports, and compute the verdict
    Synthesize(SynthesizeArgs),
    /// Render a synthesis or a list of findings from stdin in another format
    Render(RenderArgs),
    /// Compare two findings, `{"a": …, "b": …}` on stdin, and report whether they are the same
    Same {
        /// The comparison to use
        #[arg(long, value_enum, default_value = "alike")]
        measure: MeasureArg,
    },
    /// Find recurring issues in `{"current": […], "history": […]}` on stdin
    Recurring,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum FormatArg {
    Auto,
    Qa,
    Persona,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum TierArg {
    Full,
    Compact,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum MeasureArg {
    Alike,
    Sequence,
}

/// Arguments of `assay findings synthesize`.
#[derive(clap::Args)]
pub(crate) struct SynthesizeArgs {
    /// The tree after the change, to check evidence against
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// The change as a unified diff, to distinguish new findings from old ones
    #[arg(long, value_name = "FILE")]
    diff: Option<PathBuf>,
    /// The mode of the review
    #[arg(long, value_enum, default_value = "interactive")]
    mode: ModeArg,
    /// Of the findings, block only on those of this severity or worse
    #[arg(long, value_name = "SEVERITY", value_parser = parse_severity)]
    fail_on: Option<Grade>,
    /// The synthesis of the previous round, to mark findings as new, open, resolved or back
    #[arg(long, value_name = "FILE")]
    previous: Option<PathBuf>,
    /// A file with dismissed findings: `[{"fingerprint", "by", "reason", "until"}]`
    #[arg(long, value_name = "FILE")]
    dismissals: Option<PathBuf>,
    /// A report of an analyser or a rule engine, whose findings are certain unless the report says
    /// otherwise
    #[arg(long, value_name = "REPORT")]
    analyser: Vec<PathBuf>,
    /// Reports of reviewers; `-` reads a JSON array of reports from stdin
    #[arg(required_unless_present = "analyser", value_name = "REPORT")]
    reports: Vec<PathBuf>,
}

/// Arguments of `assay findings render`.
#[derive(clap::Args)]
pub(crate) struct RenderArgs {
    /// The output format
    #[arg(long = "as", value_name = "FORM", value_parser = form)]
    form: OutputFormat,
    /// The web address of the repository, for links
    #[arg(long, value_name = "URL")]
    repository: Option<String>,
    /// The reviewed commit, for links
    #[arg(long, value_name = "SHA")]
    commit: Option<String>,
    /// The id of the review, from which the id of a fix task is derived
    #[arg(long, value_name = "ID")]
    review_id: Option<String>,
    /// The number of the round of review and fix
    #[arg(long, value_name = "N")]
    cycle: Option<u32>,
    /// The JIRA ticket of a fix task
    #[arg(long, value_name = "KEY")]
    jira_key: Option<String>,
    /// The pull request of a fix task
    #[arg(long, value_name = "N")]
    pr: Option<u64>,
}

fn form(name: &str) -> Result<OutputFormat, String> {
    OutputFormat::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = write::OUTPUT_FORMATS.iter().map(|(_, name)| *name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

pub(crate) fn run(step: Step) -> anyhow::Result<Exit> {
    match step {
        Step::List(args) => ledger::list(&args),
        Step::Show(args) => ledger::show(&args),
        Step::Dismiss(args) => ledger::dismiss(&args),
        Step::Reopen(args) => ledger::reopen(&args),
        Step::Stats(args) => statistics::run(&args),
        Step::Templates(command) => template_commands::run(&command),
        Step::Adopt(args) => ledger::adopt(&args),
        Step::Parse { format, root } => parse(format, root.as_deref()),
        Step::Validate { tier } => validate(tier),
        Step::Synthesize(args) => run_synthesize(&args),
        Step::Render(args) => render(&args),
        Step::Same { measure } => compare_pair(measure),
        Step::Recurring => {
            let question: RecurrenceQuery = from_stdin()?;
            print_json(&script_api::find_recurring(&question))?;
            Ok(Exit::Ready)
        }
    }
}

fn parse(format: FormatArg, root: Option<&Path>) -> anyhow::Result<Exit> {
    let format = match format {
        FormatArg::Auto => SeverityFormat::Auto,
        FormatArg::Qa => SeverityFormat::Qa,
        FormatArg::Persona => SeverityFormat::Persona,
    };
    let root = root.map(|root| root.canonicalize().unwrap_or_else(|_| root.to_owned()));
    let root = root.as_deref().and_then(Path::to_str);
    let (parsed, usable) = script_api::parse(&read_stdin()?, format, root);
    print_json(&parsed)?;
    Ok(if usable { Exit::Ready } else { Exit::Incomplete })
}

fn validate(tier: TierArg) -> anyhow::Result<Exit> {
    let tier = match tier {
        TierArg::Full => ReportTier::Full,
        TierArg::Compact => ReportTier::Compact,
    };
    let validated = script_api::validate(&check_size(read_stdin()?)?, tier);
    print_json(&validated)?;
    Ok(if validated.valid { Exit::Ready } else { Exit::NotReady })
}

fn compare_pair(measure: MeasureArg) -> anyhow::Result<Exit> {
    let pair: IssuePair = from_stdin()?;
    let measure = match measure {
        MeasureArg::Alike => SimilarityMeasure::TitleWords,
        MeasureArg::Sequence => SimilarityMeasure::Sequence,
    };
    print_json(&script_api::compare(&pair, measure))?;
    Ok(Exit::Ready)
}

fn check_size(bytes: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    if bytes.len() > MAX_TEXT {
        bail!(UnusableInput(format!("the input has more than {MAX_TEXT} bytes")));
    }
    Ok(bytes)
}

fn from_stdin<T: serde::de::DeserializeOwned>() -> anyhow::Result<T> {
    let bytes = check_size(read_stdin()?)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| UnusableInput(format!("invalid input: {error}")).into())
}

fn run_synthesize(args: &SynthesizeArgs) -> anyhow::Result<Exit> {
    let folder = args.tree.as_deref().map(open_tree).transpose()?;
    let tree = folder.as_ref().map(|folder| SymbolTree::new(folder));
    let diff = args.diff.as_deref().map(read_file).transpose()?.map(|text| diff::parse(&text));
    let changed = diff.as_deref().map(diff::changed_lines);
    let previous: Option<Synthesis> = args.previous.as_deref().map(json_file).transpose()?;
    let dismissals: Vec<Dismissal> =
        args.dismissals.as_deref().map(json_file).transpose()?.unwrap_or_default();
    let renames = diff.as_deref().map(diff::renames).unwrap_or_default();
    let exists = |file: &RepoPath| match &folder {
        Some(folder) => folder.exists(file).unwrap_or(true),
        None => false,
    };
    let dismissals: Vec<Dismissal> =
        dismissals.into_iter().map(|dismissal| dismissal.following(&renames, exists)).collect();
    let reports = read_reports(args)?;
    let synthesis = synthesize(
        &reports,
        &SynthesisInputs {
            tree: tree.as_ref().map(|tree| tree as &dyn Tree),
            changed: changed.as_ref(),
            mode: args.mode.into(),
            fail_on: args.fail_on.clone(),
            memory: previous.as_ref().map(known_findings),
            templates: Some(templates::builtin()),
            dismissals: &dismissals,
            today: process::today(),
            ..SynthesisInputs::default()
        },
    );
    print_json(&synthesis)?;
    let all_usable = reports.iter().all(|report| report.unusable.is_none());
    let is_complete = all_usable && synthesis.verdict.state != VerdictState::Incomplete;
    Ok(if is_complete { Exit::Ready } else { Exit::Incomplete })
}

fn open_tree(folder: &Path) -> anyhow::Result<DirTree> {
    if !folder.is_dir() {
        bail!("`{}` is not a folder", folder.display());
    }
    Ok(DirTree::new(folder.to_owned()))
}

fn json_file<T: serde::de::DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    serde_json::from_slice(&read_file(path)?)
        .with_context(|| format!("cannot parse `{}`", path.display()))
}

/// Returns all findings of an earlier synthesis, including dismissed and resolved ones.
fn known_findings(previous: &Synthesis) -> EarlierFindings<'_> {
    let lists =
        [&previous.findings, &previous.pre_existing, &previous.held_back, &previous.dismissed];
    EarlierFindings {
        findings: lists.into_iter().flatten().collect(),
        unseen: &previous.unseen,
        resolved: &previous.resolved,
    }
}

fn read_reports(args: &SynthesizeArgs) -> anyhow::Result<Vec<Report>> {
    let root = args.tree.as_deref().and_then(|tree| tree.canonicalize().ok());
    let root = root.as_deref().and_then(Path::to_str);
    let mut reports = Vec::new();
    for path in &args.reports {
        if path.as_os_str() == "-" {
            reports.extend(Report::list_from_text(&read::decode(&read_stdin()?).0, root));
            continue;
        }
        reports.push(read_report(path, root)?);
    }
    for path in &args.analyser {
        reports.push(read_report(path, root)?.of_kind(ReviewerKind::Command));
    }
    Ok(reports)
}

fn read_report(path: &Path, root: Option<&str>) -> anyhow::Result<Report> {
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ok(Report::from_bytes(&read_file(path)?, &name.unwrap_or_default(), root))
}

/// The input of `render` other than findings, from the object around them.
struct RenderContext {
    summary: Option<String>,
    context: Map<String, Value>,
    review_id: Option<String>,
    cycle: Option<u32>,
}

impl RenderContext {
    fn of(input: &Value) -> RenderContext {
        let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
        let context = input.get("context").and_then(Value::as_object).cloned().unwrap_or_default();
        RenderContext {
            summary: text("summary"),
            review_id: text("review_id"),
            cycle: input.get("cycle").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()),
            context,
        }
    }
}

fn render(args: &RenderArgs) -> anyhow::Result<Exit> {
    let bytes = check_size(read_stdin()?)?;
    let input: Value = serde_json::from_slice(&bytes)
        .map_err(|error| UnusableInput(format!("the input is not JSON: {error}")))?;
    let mut render_context = RenderContext::of(&input);
    if let Some(key) = &args.jira_key {
        render_context.context.insert("jira_key".to_owned(), key.as_str().into());
    }
    if let Some(number) = args.pr {
        render_context.context.insert("pr_number".to_owned(), number.into());
    }
    let synthesis: Option<Synthesis> = match input.get("verdict").is_some_and(Value::is_object) {
        true => Some(
            serde_json::from_value(input.clone())
                .map_err(|error| UnusableInput(format!("invalid synthesis: {error}")))?,
        ),
        false => None,
    };
    let listed = if synthesis.is_some() { None } else { listed_findings(&input)? };
    let document = FindingsDocument {
        findings: synthesis.as_ref().map(|s| s.findings.as_slice()).or(listed.as_deref()),
        synthesis: synthesis.as_ref(),
        summary: render_context.summary.as_deref(),
        repository: args.repository.as_deref(),
        commit: args.commit.as_deref(),
        review_id: args.review_id.as_deref().or(render_context.review_id.as_deref()),
        cycle: args.cycle.or(render_context.cycle),
        context: render_context.context,
        version: env!("CARGO_PKG_VERSION"),
        report: None,
        utf16_columns: None,
    };
    print(&write::write(args.form, &document))?;
    Ok(Exit::Ready)
}

/// Reads findings of any format; `None` if the input states that there is no structured list.
fn listed_findings(input: &Value) -> anyhow::Result<Option<Vec<Finding>>> {
    let list = match input {
        Value::Array(_) => input,
        Value::Object(object) => match object.get("findings") {
            Some(Value::Null) => return Ok(None),
            Some(list @ Value::Array(_)) => list,
            _ => bail!(UnusableInput("the input has no `findings`".to_owned())),
        },
        _ => bail!(UnusableInput(
            "the input is neither a synthesis nor a list of findings".to_owned()
        )),
    };
    if list.as_array().is_some_and(Vec::is_empty) {
        return Ok(Some(Vec::new()));
    }
    let wrapped = serde_json::json!({ "findings": list }).to_string();
    let Some(votes) = read::read(&wrapped, None).votes else {
        bail!(UnusableInput("none of the items is a finding".to_owned()));
    };
    let reviewer = Reviewer::new("review", ReviewerKind::Persona);
    let ground = Grounder::new(None, None);
    let grounded: Vec<_> = votes
        .iter()
        .enumerate()
        .map(|(number, vote)| ground.check(vote, &reviewer, (0, number)))
        .collect();
    Ok(Some(merge::one_finding_per_vote(&grounded)))
}
