//! `assay eval SET`: reviews every case of a set, and scores the reviews.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_engine::config::models::StoredCaps;
use assay_engine::evaluation::case_output::CaseOutput;
use assay_engine::evaluation::reviewers::{
    EvalReviewer, EvalRun, recorded_names, review_set, with_baselines,
};
use assay_engine::wording::count;
use assay_eval::page;
use assay_eval::report::{EvalReport, ReviewerResults, evaluate};
use assay_eval::set::Case;
use assay_findings::write::pretty;

use super::{ScoringArgs, name_of, note, read_set};
use crate::exit::Exit;
use crate::process::environment;
use crate::signals;

/// The file of the report in the folder of results.
const SCORE: &str = "score.json";

/// The page in the folder of results.
const PAGE: &str = "report.html";

/// The set, and who reviews its cases.
#[derive(clap::Args)]
pub(super) struct RunArgs {
    /// The set: a folder with `cases.jsonl`
    #[arg(required = true)]
    set: Option<PathBuf>,
    /// Who reviews: `rules`, `models`, `models=MODEL`, `question` (one plain question),
    /// `question=MODEL`, `recorded` (recordings of the set), `recorded=NAME`
    /// [default: rules, and recorded where the set has recordings]
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    reviewers: Vec<EvalReviewer>,
    /// Replay the recording in this folder as well
    #[arg(long, value_name = "DIR")]
    replay: Vec<PathBuf>,
    /// Review these cases only, by their ids
    #[arg(long = "case", value_name = "ID", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
    /// Write findings, scores and a page into this folder, which is new, empty, or of an earlier run
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Record the reviews with models into the folder of results, so that they can be replayed
    #[arg(long, requires = "out")]
    record: bool,
    /// Review each case so many times, and tell how much the runs differ
    #[arg(long, value_name = "N", default_value = "1")]
    repeat: NonZeroUsize,
    /// Spend no more dollars than this on each reviewer
    #[arg(long, value_name = "USD")]
    max_usd: Option<f64>,
    /// Use no more tokens than this for each reviewer
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Wait no longer than this for each reviewer
    #[arg(long, value_name = "N")]
    max_seconds: Option<u64>,
    /// Take configuration, rules and personas from this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    #[command(flatten)]
    scoring: ScoringArgs,
}

pub(super) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    signals::stop_commands_too();
    let set = args.set.as_deref().context("name the set: a folder with `cases.jsonl`")?;
    let cases = chosen(read_set(set)?, &args.only)?;
    let rule = args.scoring.rule()?;
    let earlier = args.scoring.earlier()?;
    let mut asked = match args.reviewers.is_empty() {
        true => usual(set)?,
        false => args.reviewers.clone(),
    };
    for folder in &args.replay {
        if !folder.is_dir() {
            bail!("`{}` is no folder with a recording", folder.display());
        }
        asked.push(EvalReviewer::Replayed(folder.clone()));
    }
    let reviewers = with_baselines(&asked, set)?;
    if let Some(out) = &args.out {
        check_out(out)?;
    }
    let root = assay_change::root(&args.folder).unwrap_or_else(|_| args.folder.clone());
    let mut results = Vec::new();
    for reviewer in &reviewers {
        results.push(measure(args, set, &root, &cases, reviewer)?);
    }
    let report = evaluate(&name_of(set), &cases, &results, rule, args.scoring.figures.into());
    if let Some(out) = &args.out {
        write_report(out, &report)?;
    }
    args.scoring.show(&report)?;
    // A question that was added as a baseline is there to be beaten.
    let added = reviewers.iter().filter(|reviewer| !asked.contains(reviewer));
    let added: Vec<String> = match asked.contains(&EvalReviewer::Recorded(None)) {
        true => vec!["recorded=question".to_owned()],
        false => added.map(ToString::to_string).collect(),
    };
    Ok(args.scoring.exit(&report, earlier.as_ref(), &added))
}

fn usual(set: &Path) -> anyhow::Result<Vec<EvalReviewer>> {
    let recorded = (!recorded_names(set)?.is_empty()).then_some(EvalReviewer::Recorded(None));
    Ok([EvalReviewer::Rules].into_iter().chain(recorded).collect())
}

/// Returns the cases that were asked for; all where none was.
pub(super) fn chosen(cases: Vec<Case>, only: &[String]) -> anyhow::Result<Vec<Case>> {
    if let Some(unknown) = only.iter().find(|id| cases.iter().all(|case| case.id != **id)) {
        bail!("the set has no case `{unknown}`");
    }
    let is_chosen = |case: &Case| only.is_empty() || only.contains(&case.id);
    Ok(cases.into_iter().filter(is_chosen).collect())
}

/// Has one reviewer review all cases, as often as asked for, and keeps the outputs.
fn measure(
    args: &RunArgs,
    set: &Path,
    root: &Path,
    cases: &[Case],
    reviewer: &EvalReviewer,
) -> anyhow::Result<ReviewerResults> {
    let name = reviewer.to_string();
    let caps = StoredCaps {
        usd: args.max_usd,
        tokens: args.max_tokens,
        seconds: args.max_seconds,
        calls: None,
    };
    let (mut runs, mut origin) = (Vec::new(), Vec::new());
    for number in 1..=args.repeat.get() {
        let counted = count(cases.len(), "case");
        match args.repeat.get() {
            1 => note(&format!("{name}: {counted}")),
            all => note(&format!("{name}: {counted}, run {number} of {all}")),
        }
        let folder = args.out.as_ref().map(|out| folder_of(out, &name, number));
        let recordings = args.out.as_ref().filter(|_| args.record && number == 1);
        let record = recordings.map(|out| out.join("recordings").join(file_name(&name)));
        let run = EvalRun { environment: environment(), set, cases, root, caps, record };
        let outputs = review_set(&run, reviewer)?;
        if let Some(folder) = &folder {
            write_outputs(folder, &outputs)?;
        }
        origin = origin_of(&outputs);
        let results: BTreeMap<_, _> =
            outputs.into_iter().map(|(id, output)| (id, output.result)).collect();
        runs.push(results);
    }
    let mut runs = runs.into_iter();
    let results = runs.next().unwrap_or_default();
    Ok(ReviewerResults { name, results, repeats: runs.collect(), origin })
}

/// Returns the origin of outputs that were replayed, in words.
fn origin_of(outputs: &BTreeMap<String, CaseOutput>) -> Vec<String> {
    let all: usize = outputs.values().map(|output| output.replayed.all).sum();
    let earlier: usize = outputs.values().map(|output| output.replayed.of_earlier_wording).sum();
    let replayed = format!("{} replayed from a recording", count(all, "answer"));
    let reworded = format!("{earlier} of them given to an earlier wording of the question");
    let both = [(all, replayed), (earlier, reworded)];
    both.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect()
}

/// Returns the folder for the outputs of a run of a reviewer.
fn folder_of(out: &Path, name: &str, number: usize) -> PathBuf {
    let folder = out.join(file_name(name));
    match number {
        1 => folder,
        _ => folder.with_file_name(format!("{}.run-{number}", file_name(name))),
    }
}

/// Returns a reviewer's name as the name of a folder.
fn file_name(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '=');
    name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

/// Checks that results can be written into a folder: it is new, empty, or of an earlier run.
pub(super) fn check_out(out: &Path) -> anyhow::Result<()> {
    let is_empty = match fs::read_dir(out) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => {
            return Err(error).with_context(|| format!("could not use `{}`", out.display()));
        }
    };
    match is_empty || out.join(SCORE).is_file() {
        true => Ok(()),
        false => bail!("`{}` holds other files; name a new or an empty folder", out.display()),
    }
}

fn write_outputs(folder: &Path, outputs: &BTreeMap<String, CaseOutput>) -> anyhow::Result<()> {
    // Outputs of an earlier run would pass for those of this one.
    if folder.is_dir() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("could not replace `{}`", folder.display()))?;
    }
    for (id, output) in outputs {
        let Some((text, ending)) = &output.kept else { continue };
        write_file(&folder.join(format!("{id}.{ending}")), text)?;
    }
    Ok(())
}

/// Writes the report as JSON and as a page.
pub(super) fn write_report(out: &Path, report: &EvalReport) -> anyhow::Result<()> {
    write_file(&out.join(PAGE), &page::render(report))?;
    write_file(&out.join(SCORE), &pretty(report))
}

pub(super) fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let written = match path.parent() {
        Some(parent) => fs::create_dir_all(parent).and_then(|()| fs::write(path, text)),
        None => fs::write(path, text),
    };
    written.with_context(|| format!("could not write `{}`", path.display()))
}
