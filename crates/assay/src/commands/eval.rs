//! `assay eval`: how good reviewers are, measured on changes whose defects are known.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use assay_eval::formats::parse_output;
use assay_eval::limits::{Breach, Limit, breaches, regressions};
use assay_eval::matching::{DEFAULT_SIMILARITY, MatchRule, WordRule};
use assay_eval::report::{EvalReport, ReviewerResults, ReviewerScore, compare, evaluate};
use assay_eval::set::{Case, parse_cases};
use assay_eval::summary::SummaryOptions;
use assay_eval::{page, table};
use clap::{Subcommand, ValueEnum};

use super::{note, print, print_json};
use crate::exit::Exit;

/// Measures reviewers on changes whose defects are known
#[derive(Subcommand)]
pub(crate) enum Eval {
    /// Scores the outputs of review tools against the labels of a set
    Score(ScoreArgs),
    /// Compares two reviewers that were scored on the same set, case by case
    Compare(CompareArgs),
}

/// The outputs to score, and the rule.
#[derive(clap::Args)]
pub(crate) struct ScoreArgs {
    /// The set: a folder with `cases.jsonl`
    set: PathBuf,
    /// Folders, one for each reviewer, with one output for each case: `CASE.json`, `.sarif`, `.txt` …
    #[arg(required = true, value_name = "FINDINGS")]
    outputs: Vec<PathBuf>,
    /// The most lines between a comment and a label; `any` if places do not matter
    #[arg(long, value_name = "LINES", default_value = "3", value_parser = distance)]
    within: Distance,
    /// The least similarity of words between a comment and a label, from 0 to 1; 0 if words do not
    /// matter
    #[arg(long, value_name = "SIMILARITY", default_value_t = DEFAULT_SIMILARITY)]
    words: f64,
    #[command(flatten)]
    figures: FigureArgs,
    /// The form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: EvalForm,
    /// Fail if a figure is lower, such as `f1=0.4`
    #[arg(long, value_name = "FIGURE=VALUE")]
    min: Vec<Limit>,
    /// Fail if a figure is higher, such as `noise=0.6`
    #[arg(long, value_name = "FIGURE=VALUE")]
    max: Vec<Limit>,
    /// Fail if F1, blocked clean changes or comments for each change are worse than in this earlier
    /// report (JSON)
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// The difference to the baseline that is no failure
    #[arg(long, default_value_t = 0.0)]
    tolerance: f64,
}

/// How figures are computed.
#[derive(clap::Args, Clone, Copy)]
struct FigureArgs {
    /// How many times as much recall counts as precision
    #[arg(long, default_value_t = 1.0)]
    beta: f64,
    /// Draws of the bootstrap for intervals
    #[arg(long, default_value_t = assay_eval::statistics::DEFAULT_DRAWS)]
    draws: usize,
    /// The seed of the bootstrap
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl From<FigureArgs> for SummaryOptions {
    fn from(args: FigureArgs) -> SummaryOptions {
        SummaryOptions { beta: args.beta, draws: args.draws, seed: args.seed }
    }
}

/// The reports to compare.
#[derive(clap::Args)]
pub(crate) struct CompareArgs {
    /// A report of `assay eval score --format json`; with several reviewers, `FILE:REVIEWER`
    first: String,
    /// Another report, or another reviewer of the same
    second: String,
    #[command(flatten)]
    figures: FigureArgs,
    /// The form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: ComparisonForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EvalForm {
    /// For a person, in a terminal
    Table,
    /// For `assay eval compare`, `--baseline` and scripts
    Json,
    /// One page with plots
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ComparisonForm {
    /// For a person, in a terminal
    Table,
    /// For scripts
    Json,
}

/// The most lines between a comment and a label; `None` if places do not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Distance(Option<u32>);

fn distance(text: &str) -> Result<Distance, String> {
    match text {
        "any" => Ok(Distance(None)),
        _ => match text.parse() {
            Ok(lines) => Ok(Distance(Some(lines))),
            Err(_) => Err("expected a number of lines, or `any`".to_owned()),
        },
    }
}

pub(crate) fn run(eval: &Eval) -> anyhow::Result<Exit> {
    match eval {
        Eval::Score(args) => score(args),
        Eval::Compare(args) => compare_reports(args),
    }
}

fn score(args: &ScoreArgs) -> anyhow::Result<Exit> {
    let cases = read_set(&args.set)?;
    let words = match args.words {
        similarity if !(0.0..=1.0).contains(&similarity) => {
            bail!("--words {similarity}: expected a number from 0 to 1")
        }
        0.0 if args.within.0.is_none() => {
            bail!("--within any --words 0: a comment needs a place or words to name a label")
        }
        0.0 => WordRule::Ignored,
        at_least => WordRule::Lexical { at_least },
    };
    let reviewers: Vec<ReviewerResults> =
        args.outputs.iter().map(|folder| read_outputs(folder, &cases)).collect::<Result<_, _>>()?;
    let rule = MatchRule { within: args.within.0, words };
    let report = evaluate(&name_of(&args.set), &cases, &reviewers, rule, args.figures.into());
    match args.format {
        EvalForm::Table => print(&table::render(&report))?,
        EvalForm::Json => print_json(&report)?,
        EvalForm::Html => print(&page::render(&report))?,
    }
    exit_of(args, &report)
}

fn exit_of(args: &ScoreArgs, report: &EvalReport) -> anyhow::Result<Exit> {
    let mut failed: Vec<Breach> = report
        .reviewers
        .iter()
        .flat_map(|reviewer| breaches(reviewer, &args.min, &args.max))
        .collect();
    if let Some(path) = &args.baseline {
        failed.extend(regressions(report, &read_report(path)?, args.tolerance));
    }
    for breach in &failed {
        note(&breach.to_string());
    }
    let missing: usize = report.reviewers.iter().map(|reviewer| reviewer.missing.len()).sum();
    if missing > 0 {
        note(&format!(
            "{missing} outputs are missing or cannot be read; their labels count as missed"
        ));
    }
    Ok(match (failed.is_empty(), missing) {
        (false, _) => Exit::NotReady,
        (true, 0) => Exit::Ready,
        (true, _) => Exit::Incomplete,
    })
}

fn compare_reports(args: &CompareArgs) -> anyhow::Result<Exit> {
    let (first, second) = (read_reviewer(&args.first)?, read_reviewer(&args.second)?);
    let comparison = compare(&first, &second, args.figures.into());
    if comparison.cases == 0 {
        bail!("the two reports have no case in common");
    }
    match args.format {
        ComparisonForm::Table => print(&table::render_comparison(&comparison))?,
        ComparisonForm::Json => print_json(&comparison)?,
    }
    Ok(Exit::Ready)
}

fn read_set(folder: &Path) -> anyhow::Result<Vec<Case>> {
    let path = folder.join("cases.jsonl");
    let text = fs::read_to_string(&path).with_context(|| {
        format!("could not read the cases of the set from `{}`", path.display())
    })?;
    parse_cases(&text).with_context(|| format!("`{}` is no set of cases", path.display()))
}

fn name_of(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned()
}

/// Reads one reviewer's outputs: for each case the one file whose name is the case's id with any
/// ending.
fn read_outputs(folder: &Path, cases: &[Case]) -> anyhow::Result<ReviewerResults> {
    if !folder.is_dir() {
        bail!("`{}` is no folder with one output for each case", folder.display());
    }
    let mut results = BTreeMap::new();
    for case in cases {
        let Some(path) = output_of(folder, &case.id)? else { continue };
        let text =
            fs::read(&path).with_context(|| format!("could not read `{}`", path.display()))?;
        let (text, _) = assay_findings::read::decode(&text);
        results.insert(case.id.clone(), parse_output(&text).map_err(|error| error.to_string()));
    }
    if results.is_empty() {
        let id = &cases[0].id;
        bail!(
            "`{}` holds no output of any case; expected files such as `{id}.json`",
            folder.display()
        );
    }
    Ok(ReviewerResults { name: name_of(folder), results })
}

fn output_of(folder: &Path, id: &str) -> anyhow::Result<Option<PathBuf>> {
    let (below, stem) = id.rsplit_once('/').unwrap_or(("", id));
    let Ok(entries) = fs::read_dir(folder.join(below)) else { return Ok(None) };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file() && path.file_stem().is_some_and(|name| name == stem))
        .collect();
    found.sort();
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        [one, other, ..] => Err(anyhow!(
            "two outputs for the case `{id}`: `{}` and `{}`",
            one.display(),
            other.display()
        )),
    }
}

fn read_report(path: &Path) -> anyhow::Result<EvalReport> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("could not read the report `{}`", path.display()))?;
    let report: EvalReport = serde_json::from_str(&text).with_context(|| {
        format!("`{}` is no report of `assay eval score --format json`", path.display())
    })?;
    match report.version {
        assay_eval::report::VERSION => Ok(report),
        other => bail!(
            "`{}` has version {other} of the report's form, which is not known",
            path.display()
        ),
    }
}

/// Reads a reviewer's score from `FILE` or `FILE:REVIEWER`.
fn read_reviewer(text: &str) -> anyhow::Result<ReviewerScore> {
    let (path, wanted) = match text.rsplit_once(':') {
        Some((path, name)) if !Path::new(text).exists() => (path, Some(name)),
        Some(_) | None => (text, None),
    };
    let report = read_report(Path::new(path))?;
    let names: Vec<String> = report.reviewers.iter().map(|it| it.name.clone()).collect();
    let mut reviewers = report.reviewers.into_iter();
    let found = match wanted {
        Some(wanted) => reviewers.find(|reviewer| reviewer.name == wanted),
        None if names.len() == 1 => reviewers.next(),
        None => None,
    };
    found.ok_or_else(|| {
        anyhow!(
            "name one reviewer of `{path}` as `{path}:REVIEWER`; there are {}",
            names.join(", ")
        )
    })
}
