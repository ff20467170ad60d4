//! `assay eval score`: outputs of review tools against the labels of a set.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_eval::formats::parse_output;
use assay_eval::report::{ReviewerResults, evaluate};
use assay_eval::set::Case;

use super::{ScoringArgs, name_of, read_set};
use crate::evaluating::reviewers::output_of;
use crate::exit::Exit;

/// The outputs to score, and the rule.
#[derive(clap::Args)]
pub(super) struct ScoreArgs {
    /// The set: a folder with `cases.jsonl`
    set: PathBuf,
    /// Folders, one for each reviewer, with one output for each case: `CASE.json`, `.sarif`, `.txt` …
    #[arg(required = true, value_name = "FINDINGS")]
    outputs: Vec<PathBuf>,
    #[command(flatten)]
    scoring: ScoringArgs,
}

pub(super) fn run(args: &ScoreArgs) -> anyhow::Result<Exit> {
    let cases = read_set(&args.set)?;
    let rule = args.scoring.rule()?;
    let earlier = args.scoring.earlier()?;
    let reviewers: Vec<ReviewerResults> =
        args.outputs.iter().map(|folder| read_outputs(folder, &cases)).collect::<Result<_, _>>()?;
    let figures = args.scoring.figures.into();
    let report = evaluate(&name_of(&args.set), &cases, &reviewers, rule, figures);
    args.scoring.show(&report)?;
    Ok(args.scoring.exit(&report, earlier.as_ref(), &[]))
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
