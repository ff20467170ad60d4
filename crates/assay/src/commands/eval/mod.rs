//! `assay eval`: measures reviewers on changes whose defects are known.

mod compare;
mod delegate;
mod mine;
mod rekey;
mod run;
mod score;

use std::path::PathBuf;

use anyhow::bail;
use assay_engine::evaluation::measurement::{Assessment, ReportLimits};
use assay_engine::evaluation::results_folder::read_report;
use assay_engine::evaluation::verdict_file::read_verdicts;
use assay_eval::limits::Limit;
use assay_eval::matching::{DEFAULT_SIMILARITY, MatchRule, WordRule};
use assay_eval::report::EvalReport;
use assay_eval::summary::SummaryOptions;
use assay_eval::{page, table};
use clap::{Subcommand, ValueEnum};

use super::{note, print, print_json};
use crate::exit::Exit;

/// Measure reviewers on changes whose defects are known
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Eval {
    #[command(subcommand)]
    command: Option<EvalCommand>,
    #[command(flatten)]
    run: run::RunArgs,
}

#[derive(Subcommand)]
enum EvalCommand {
    /// Score the outputs of review tools against the labels of a set
    Score(score::ScoreArgs),
    /// Compare two reviewers that were scored on the same set, case by case
    Compare(compare::CompareArgs),
    /// Build a set of faulty changes from the history of a repository
    Mine(mine::MineArgs),
    /// Serve the changes of a set to an agent over MCP (stdin and stdout), and score its reviews
    Delegate(delegate::DelegateArgs),
    /// Transfer the answers of a recording to the questions of this version
    Rekey(rekey::RekeyArgs),
}

pub(crate) fn run(eval: &Eval) -> anyhow::Result<Exit> {
    match &eval.command {
        None => run::run(&eval.run),
        Some(EvalCommand::Score(args)) => score::run(args),
        Some(EvalCommand::Compare(args)) => compare::run(args),
        Some(EvalCommand::Mine(args)) => mine::run(args),
        Some(EvalCommand::Delegate(args)) => delegate::run(args),
        Some(EvalCommand::Rekey(args)) => rekey::run(args),
    }
}

/// Options for matching comments with labels, for figures, and for limits.
#[derive(clap::Args)]
struct ScoringArgs {
    /// The maximum number of lines between a comment and a label; `any` ignores places
    #[arg(long, value_name = "LINES", default_value = "3", value_parser = distance)]
    within: Distance,
    /// The minimum similarity of words between a comment and a label, from 0 to 1; 0 ignores words
    #[arg(long, value_name = "SIMILARITY", default_value_t = DEFAULT_SIMILARITY)]
    words: f64,
    /// Match by the recorded verdicts of a judge instead of words: lines of JSON with `case`,
    /// `comment` and `label`
    #[arg(long, value_name = "FILE", conflicts_with = "words")]
    verdicts: Option<PathBuf>,
    #[command(flatten)]
    figures: FigureArgs,
    /// The output format
    #[arg(long, value_enum, default_value = "table")]
    format: EvalForm,
    /// Fail if a figure is lower than this, such as `f1=0.4`
    #[arg(long, value_name = "FIGURE=VALUE")]
    min: Vec<Limit>,
    /// Fail if a figure is higher than this, such as `noise=0.6`
    #[arg(long, value_name = "FIGURE=VALUE")]
    max: Vec<Limit>,
    /// Fail if F1, blocked clean changes or comments for each change are worse than in this earlier
    /// report (JSON)
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// The largest difference to the baseline that is not a failure
    #[arg(long, default_value_t = 0.0)]
    tolerance: f64,
}

/// Options for the computation of figures.
#[derive(clap::Args, Clone, Copy)]
struct FigureArgs {
    /// The weight of recall relative to precision, for the F measure
    #[arg(long, default_value_t = 1.0)]
    beta: f64,
    /// The number of bootstrap draws for intervals
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EvalForm {
    /// A table for the terminal
    Table,
    /// JSON for `assay eval compare`, `--baseline` and scripts
    Json,
    /// An HTML page with plots
    Html,
}

/// The maximum number of lines between a comment and a label; `None` if places are ignored.
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

impl ScoringArgs {
    fn rule(&self) -> anyhow::Result<MatchRule> {
        if let Some(path) = &self.verdicts {
            // The judge has seen the places.
            let words = WordRule::Judged(read_verdicts(path)?);
            return Ok(MatchRule { within: None, words });
        }
        Ok(MatchRule { within: self.within.0, words: self.words()? })
    }

    /// Returns the comparison of words, for comments that no judge decides.
    fn words(&self) -> anyhow::Result<WordRule> {
        Ok(match self.words {
            similarity if !(0.0..=1.0).contains(&similarity) => {
                bail!("--words {similarity}: expected a number from 0 to 1")
            }
            0.0 if self.within.0.is_none() => {
                bail!(
                    "--within any --words 0: a comment can match a label only by place or by words"
                )
            }
            0.0 => WordRule::Ignored,
            at_least => WordRule::Lexical { at_least },
        })
    }

    /// Reads the earlier report that a new one is compared with; `None` if none is given.
    fn earlier(&self) -> anyhow::Result<Option<EvalReport>> {
        self.baseline.as_deref().map(read_report).transpose()
    }

    fn show(&self, report: &EvalReport) -> anyhow::Result<()> {
        match self.format {
            EvalForm::Table => print(&table::render(report)),
            EvalForm::Json => print_json(report),
            EvalForm::Html => print(&page::render(report)),
        }
    }

    /// Prints the limits that a report does not meet, and returns the exit code: 1 if a limit is
    /// not met, 3 if an output is missing. No limit applies to the reviewers in `free`.
    fn exit(&self, report: &EvalReport, earlier: Option<&EvalReport>, free: &[String]) -> Exit {
        let tolerance = self.tolerance;
        let limits = ReportLimits { min: &self.min, max: &self.max, earlier, tolerance };
        let Assessment { breaches, missing } = Assessment::of(report, limits, free);
        for breach in &breaches {
            note(&breach.to_string());
        }
        if missing > 0 {
            note(&format!(
                "{missing} outputs are missing or cannot be read; their labels count as missed"
            ));
        }
        match (breaches.is_empty(), missing) {
            (false, _) => Exit::NotReady,
            (true, 0) => Exit::Ready,
            (true, _) => Exit::Incomplete,
        }
    }
}
