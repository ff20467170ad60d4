//! `assay eval score`: scores outputs of review tools against the labels of a set.

use std::path::PathBuf;

use anyhow::bail;
use assay_engine::config::Settings;
use assay_engine::evaluation::judge::PairJudge;
use assay_engine::evaluation::results_folder::{name_of, read_outputs};
use assay_engine::evaluation::set_folder::read_set;
use assay_engine::evaluation::verdict_file::JudgeRun;
use assay_engine::models::{CachePolicy, ModelOptions, ModelSession};
use assay_engine::wording::count;
use assay_eval::judge::JudgedPairs;
use assay_eval::matching::{MatchRule, WordRule};
use assay_eval::report::{ReviewerResults, evaluate};
use assay_eval::set::Case;

use super::{ScoringArgs, note};
use crate::exit::Exit;
use crate::messages::Stderr;
use crate::process::{self, environment};

/// Arguments of `assay eval score`.
#[derive(clap::Args)]
pub(super) struct ScoreArgs {
    /// The set: a folder with `cases.jsonl`
    set: PathBuf,
    /// Folders, one for each reviewer, with one output per case: `CASE.json`, `.sarif`, `.txt` …
    #[arg(required = true, value_name = "FINDINGS")]
    outputs: Vec<PathBuf>,
    /// Let this model decide which comments match which labels, instead of comparing words;
    /// `--verdicts FILE` stores its verdicts, and pairs with a stored verdict are not asked about
    #[arg(long, value_name = "MODEL")]
    judge: Option<String>,
    /// Take the configuration of models from this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    #[command(flatten)]
    scoring: ScoringArgs,
}

pub(super) fn run(args: &ScoreArgs) -> anyhow::Result<Exit> {
    let cases = read_set(&args.set)?;
    let earlier = args.scoring.earlier()?;
    let reviewers: Vec<ReviewerResults> =
        args.outputs.iter().map(|folder| read_outputs(folder, &cases)).collect::<Result<_, _>>()?;
    let figures = args.scoring.figures.into();
    let (rule, undecided) = match &args.judge {
        Some(model) => judged_rule(args, model, &cases, &reviewers)?,
        None => (args.scoring.rule()?, 0),
    };
    let report = evaluate(&name_of(&args.set), &cases, &reviewers, rule, figures);
    args.scoring.show(&report)?;
    let exit = args.scoring.exit(&report, earlier.as_ref(), &[]);
    if undecided > 0 {
        let pairs = count(undecided, "pair");
        note(&format!("the judge left {pairs} undecided; they are matched by place and words"));
    }
    Ok(if undecided > 0 && exit == Exit::Ready { Exit::Incomplete } else { exit })
}

/// Returns the match rule from the verdicts of a model, and the number of pairs that the model left
/// undecided.
fn judged_rule(
    args: &ScoreArgs,
    model: &str,
    cases: &[Case],
    reviewers: &[ReviewerResults],
) -> anyhow::Result<(MatchRule, usize)> {
    let WordRule::Lexical { at_least } = args.scoring.words()? else {
        bail!("--words 0 leaves no threshold for pairs that the judge does not decide");
    };
    let pairs = JudgedPairs { within: args.scoring.within.0, at_least };
    let judge_run = JudgeRun { pairs, file: args.scoring.verdicts.as_deref(), reporter: &Stderr };
    judge_run.match_rule(cases, reviewers, || open_judge(args, model))
}

fn open_judge(args: &ScoreArgs, model: &str) -> anyhow::Result<PairJudge> {
    let root = assay_change::root(&args.folder).unwrap_or_else(|_| args.folder.clone());
    let models = Settings::on_disk(environment(), &root)?.models;
    let today = process::today().map(String::from).unwrap_or_default();
    let request = ModelOptions::with_model(Some(model));
    let line = ModelSession::new(&request, &models, &root, CachePolicy::Off, &today)?;
    PairJudge::open(&models, model, &line)
}
