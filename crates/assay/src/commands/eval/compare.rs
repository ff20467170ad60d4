//! `assay eval compare`: compares two reviewers on the same cases.

use anyhow::bail;
use assay_engine::evaluation::results_folder::read_reviewer;
use assay_eval::report::compare;
use assay_eval::table;
use clap::ValueEnum;

use super::{FigureArgs, print, print_json};
use crate::exit::Exit;

/// Arguments of `assay eval compare`.
#[derive(clap::Args)]
pub(super) struct CompareArgs {
    /// A report of `assay eval` or `assay eval score --format json`; with several reviewers,
    /// `FILE:REVIEWER`
    first: String,
    /// Another report, or another reviewer of the same report
    second: String,
    #[command(flatten)]
    figures: FigureArgs,
    /// The output format
    #[arg(long, value_enum, default_value = "table")]
    format: ComparisonForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ComparisonForm {
    /// A table for the terminal
    Table,
    /// JSON for scripts
    Json,
}

pub(super) fn run(args: &CompareArgs) -> anyhow::Result<Exit> {
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
