//! `assay eval delegate`: an agent reads the cases of a set over MCP, and is scored.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_eval::formats::parse_output;
use assay_eval::matching::MatchRule;
use assay_eval::report::{EvalReport, ReviewerResults, evaluate};
use assay_eval::set::Case;
use assay_eval::summary::SummaryOptions;
use assay_eval::table;
use assay_serve::review;

use super::run::{check_out, chosen, write_file, write_report};
use super::{ScoringArgs, name_of, note, read_set};
use crate::commands::mcp::serve_stdio;
use crate::evaluating::delegated_set::DelegatedSet;
use crate::evaluating::reviewers::{CaseOutput, output_of};
use crate::exit::Exit;
use crate::settings::review_files_on_disk;

/// The row of the agent in the table, and the folder of its outputs.
const DELEGATED: &str = "delegated";

/// The set, and where the results go.
#[derive(clap::Args)]
pub(super) struct DelegateArgs {
    /// The set: a folder with `cases.jsonl`
    set: PathBuf,
    /// Write findings, scores and a page into this folder; cases that have findings there are not
    /// handed out again
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Hand out these cases only, by their ids
    #[arg(long = "case", value_name = "ID", num_args = 1.., value_delimiter = ',')]
    only: Vec<String>,
    /// Take configuration, rules and personas from this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    #[command(flatten)]
    scoring: ScoringArgs,
}

/// The score of what was handed in so far.
#[derive(Clone)]
struct Scorer {
    set: String,
    cases: Vec<Case>,
    out: PathBuf,
    rule: MatchRule,
    figures: SummaryOptions,
}

pub(super) fn run(args: &DelegateArgs) -> anyhow::Result<Exit> {
    let cases = chosen(read_set(&args.set)?, &args.only)?;
    let earlier = args.scoring.earlier()?;
    check_out(&args.out)?;
    let root = assay_change::root(&args.folder).unwrap_or_else(|_| args.folder.clone());
    let scorer = Scorer {
        set: name_of(&args.set),
        cases: cases.clone(),
        out: args.out.clone(),
        rule: args.scoring.rule()?,
        figures: args.scoring.figures.into(),
    };
    let finished = scorer.finished()?;
    // The folder is known as one of results from the beginning.
    scorer.score(&finished)?;
    let keeper = scorer.clone();
    let keep = Box::new(move |id: &str, output: CaseOutput| {
        if let Some((text, ending)) = &output.kept {
            write_file(&keeper.folder().join(format!("{id}.{ending}")), text)?;
        }
        keeper.score(&keeper.finished()?)?;
        Ok(None)
    });
    let settings = review_files_on_disk(&root)?;
    let set = Arc::new(DelegatedSet::new(args.set.clone(), cases, settings, finished, keep));
    let left = set.open_cases();
    note(&format!("{left} of {} changes are to be reviewed", scorer.cases.len()));
    serve_stdio(&review::server(set.clone(), env!("CARGO_PKG_VERSION")))?;
    let report = scorer.score(&scorer.finished()?)?;
    // Stdout belongs to the protocol.
    note(&table::render(&report));
    let exit = args.scoring.exit(&report, earlier.as_ref(), &[]);
    Ok(match (exit, set.open_cases()) {
        (Exit::Ready, 1..) => Exit::Incomplete,
        (exit, _) => exit,
    })
}

impl Scorer {
    fn folder(&self) -> PathBuf {
        self.out.join(DELEGATED)
    }

    /// Returns the ids of the cases that have an output.
    fn finished(&self) -> anyhow::Result<BTreeSet<String>> {
        let mut finished = BTreeSet::new();
        for case in &self.cases {
            if output_of(&self.folder(), &case.id)?.is_some() {
                finished.insert(case.id.clone());
            }
        }
        Ok(finished)
    }

    /// Scores the cases that are finished, and writes the report.
    fn score(&self, finished: &BTreeSet<String>) -> anyhow::Result<EvalReport> {
        let mut results = BTreeMap::new();
        for id in finished {
            let Some(path) = output_of(&self.folder(), id)? else { continue };
            results.insert(id.clone(), read_output(&path));
        }
        let cases: Vec<Case> =
            self.cases.iter().filter(|case| finished.contains(&case.id)).cloned().collect();
        let name = DELEGATED.to_owned();
        let reviewer = ReviewerResults { name, results, ..ReviewerResults::default() };
        let report = evaluate(&self.set, &cases, &[reviewer], self.rule.clone(), self.figures);
        write_report(&self.out, &report)?;
        Ok(report)
    }
}

fn read_output(path: &Path) -> Result<assay_eval::score::CaseResult, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("could not be read: {error}"))?;
    let (text, _) = assay_findings::read::decode(&bytes);
    parse_output(&text).map_err(|error| error.to_string())
}
