//! `assay eval score`: outputs of review tools against the labels of a set.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_engine::config::Settings;
use assay_engine::evaluation::judge::PairJudge;
use assay_engine::evaluation::reviewers::output_of;
use assay_engine::models::{Keeping, Line, ModelRequest};
use assay_engine::wording::count;
use assay_eval::formats::parse_output;
use assay_eval::judge::{JudgedPair, JudgedPairs, MAX_PAIRS};
use assay_eval::matching::{MatchRule, Verdicts, WordRule};
use assay_eval::report::{ReviewerResults, evaluate};
use assay_eval::set::Case;

use super::{ScoringArgs, name_of, note, read_set};
use crate::exit::Exit;
use crate::process::{self, environment};

/// The outputs to score, and the rule.
#[derive(clap::Args)]
pub(super) struct ScoreArgs {
    /// The set: a folder with `cases.jsonl`
    set: PathBuf,
    /// Folders, one for each reviewer, with one output for each case: `CASE.json`, `.sarif`, `.txt` …
    #[arg(required = true, value_name = "FINDINGS")]
    outputs: Vec<PathBuf>,
    /// Ask this model which comments name which labels, in the place of words; `--verdicts FILE` keeps
    /// its verdicts, and pairs that have a verdict there are not asked about
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
        note(&format!("the judge left {pairs} undecided; place and words decide on them"));
    }
    Ok(if undecided > 0 && exit == Exit::Ready { Exit::Incomplete } else { exit })
}

/// Asks a model about all pairs that have no recorded verdict. Returns the rule, and the number of
/// pairs that the model left undecided, which place and words decide.
fn judged_rule(
    args: &ScoreArgs,
    model: &str,
    cases: &[Case],
    reviewers: &[ReviewerResults],
) -> anyhow::Result<(MatchRule, usize)> {
    let mut verdicts = args.scoring.recorded_verdicts()?;
    let WordRule::Lexical { at_least } = args.scoring.words()? else {
        bail!("--words 0 leaves no bar for the pairs that the judge does not decide");
    };
    let pairs = JudgedPairs { within: args.scoring.within.0, at_least };
    let mut open: BTreeMap<(String, String, String), JudgedPair> = BTreeMap::new();
    for (case, reviewer) in cases.iter().flat_map(|case| reviewers.iter().map(move |it| (case, it)))
    {
        let Some(Ok(result)) = reviewer.results.get(&case.id) else { continue };
        for pair in pairs.of_case(case, &result.comments) {
            if verdicts.decision(&pair.case, &pair.comment, &pair.label).is_none() {
                let key = (pair.case.clone(), pair.comment.clone(), pair.label.clone());
                let known = open.entry(key).or_insert(pair.clone());
                known.is_alike |= pair.is_alike;
            }
        }
    }
    let open: Vec<JudgedPair> = open.into_values().collect();
    let mut undecided = 0;
    if !open.is_empty() {
        let judge = open_judge(args, model)?;
        // The pairs of a question are of one case, so that no comment is weighed against another change.
        for pairs in open.chunk_by(|one, other| one.case == other.case) {
            for pairs in pairs.chunks(MAX_PAIRS) {
                undecided += judge_pairs(args, &judge, pairs, &mut verdicts)?;
            }
        }
    }
    Ok((MatchRule { within: None, words: WordRule::Judged(verdicts) }, undecided))
}

fn open_judge(args: &ScoreArgs, model: &str) -> anyhow::Result<PairJudge> {
    let root = assay_change::root(&args.folder).unwrap_or_else(|_| args.folder.clone());
    let models = Settings::on_disk(environment(), &root)?.models;
    let today = process::today().map(String::from).unwrap_or_default();
    let request = ModelRequest::with_model(Some(model));
    let line = Line::new(&request, &models, &root, Keeping::Nothing, &today)?;
    PairJudge::open(&models, model, &line)
}

/// Asks about some pairs of one case, keeps the verdicts, and returns the number of pairs that stay
/// undecided.
fn judge_pairs(
    args: &ScoreArgs,
    judge: &PairJudge,
    pairs: &[JudgedPair],
    verdicts: &mut Verdicts,
) -> anyhow::Result<usize> {
    let decisions = judge.decide(pairs).unwrap_or_else(|error| {
        note(&assay_rules::redact(&format!("{error:#}")));
        vec![None; pairs.len()]
    });
    let mut decided = Vec::new();
    let mut undecided = 0;
    for (pair, decision) in pairs.iter().zip(decisions) {
        let verdict = match decision {
            Some(names) => pair.verdict(names, Some(&judge.name())),
            None => pair.verdict(pair.is_alike, None),
        };
        match decision {
            Some(_) => decided.push(verdict.clone()),
            None => undecided += 1,
        }
        verdicts.add(verdict).map_err(anyhow::Error::msg)?;
    }
    args.scoring.keep_verdicts(&decided)?;
    Ok(undecided)
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
    Ok(ReviewerResults { name: name_of(folder), results, ..ReviewerResults::default() })
}
