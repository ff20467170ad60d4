//! `assay eval SET`: reviews every case of a set, and scores the reviews.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_engine::config::models::SpendingCaps;
use assay_engine::evaluation::measurement::{ResultStorage, Reviewers, measure};
use assay_engine::evaluation::results_folder::{check_results_folder, name_of, write_report};
use assay_engine::evaluation::reviewers::{EvalReviewer, EvalRun};
use assay_engine::evaluation::set_folder::{read_set, select_cases};
use assay_engine::evaluation::stored_scores::store_scores;
use assay_eval::report::{EvalReport, ReviewerResults, evaluate};

use super::super::warn;
use super::ScoringArgs;
use crate::exit::Exit;
use crate::messages::Stderr;
use crate::process::environment;
use crate::signals;

/// Arguments of `assay eval SET`.
#[derive(clap::Args)]
pub(super) struct RunArgs {
    /// The set: a folder with `cases.jsonl`
    #[arg(required = true)]
    set: Option<PathBuf>,
    /// The reviewers: `rules`, `models`, `models=MODEL`, `question` (one plain question),
    /// `question=MODEL`, `recorded` (recordings of the set), `recorded=NAME`
    /// [default: rules, and recorded if the set has recordings]
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    reviewers: Vec<EvalReviewer>,
    /// Replay the recording in this folder as well
    #[arg(long, value_name = "DIR")]
    replay: Vec<PathBuf>,
    /// Review only the cases with these ids
    #[arg(long = "case", value_name = "ID", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
    /// Write findings, scores and an HTML page into this folder, which is new, empty, or of an
    /// earlier run
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Record the reviews with models into the folder of results, so that they can be replayed
    #[arg(long, requires = "out")]
    record: bool,
    /// Review each case this many times, and report the variation
    #[arg(long, value_name = "N", default_value = "1")]
    repeat: NonZeroUsize,
    /// Spend at most this many US dollars on each reviewer
    #[arg(long, value_name = "USD")]
    max_usd: Option<f64>,
    /// Use at most this many tokens for each reviewer
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Stop each reviewer after this many seconds
    #[arg(long, value_name = "N")]
    max_seconds: Option<u64>,
    /// Take configuration, rules and personas from this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    #[command(flatten)]
    scoring: ScoringArgs,
}

pub(super) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    signals::stop_commands_on_signal();
    let set = args.set.as_deref().context("missing set: name a folder with `cases.jsonl`")?;
    let cases = select_cases(read_set(set)?, &args.only)?;
    let rule = args.scoring.rule()?;
    let earlier = args.scoring.earlier()?;
    let reviewers = Reviewers::of(set, &args.reviewers, &args.replay)?;
    if let Some(out) = &args.out {
        check_results_folder(out)?;
    }
    let root = assay_change::root(&args.folder).unwrap_or_else(|_| args.folder.clone());
    let run = EvalRun {
        environment: environment(),
        set,
        cases: &cases,
        root: &root,
        caps: args.caps(),
        record: None,
    };
    let keep = ResultStorage { out: args.out.as_deref(), record: args.record };
    let results: Vec<ReviewerResults> = reviewers
        .all
        .iter()
        .map(|reviewer| measure(&run, reviewer, args.repeat.get(), keep, &Stderr))
        .collect::<Result<_, _>>()?;
    let report = evaluate(&name_of(set), &cases, &results, rule, args.scoring.figures.into());
    if let Some(out) = &args.out {
        write_report(out, &report)?;
    }
    if args.only.is_empty() {
        store(&args.folder, &report);
    }
    args.scoring.show(&report)?;
    Ok(args.scoring.exit(&report, earlier.as_ref(), &reviewers.added))
}

/// Stores the scores for the dashboard of the repository. Without a repository nothing is stored.
fn store(folder: &Path, report: &EvalReport) {
    let Ok(root) = assay_change::root(folder) else { return };
    if let Err(error) = store_scores(environment(), &root, report) {
        warn(&format!("the scores are not stored for the dashboard: {error:#}"));
    }
}

impl RunArgs {
    fn caps(&self) -> SpendingCaps {
        SpendingCaps {
            usd: self.max_usd,
            tokens: self.max_tokens,
            seconds: self.max_seconds,
            calls: None,
        }
    }
}
