//! `assay diff`: shows the differences between two runs, and their causes.

use std::io::Write;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Color, Style};
use assay_findings::write::escape;
use assay_review::compare::{ComparedRun, Comparison, DifferenceKind, compare};
use assay_review::runs;
use clap::ValueEnum;

use super::print_json;
use crate::exit::Exit;
use crate::output::StyledStdout;
use crate::process::state_of;

/// Arguments of `assay diff`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The id of the first run
    first: String,
    /// The id of the second run
    second: String,
    /// The output format
    #[arg(long, value_enum, default_value = "terminal")]
    format: Output,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Terminal,
    Json,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let root = assay_change::root(&args.folder)?;
    let comparison = compare(&read(&root, &args.first)?, &read(&root, &args.second)?);
    match args.format {
        Output::Json => print_json(&comparison)?,
        Output::Terminal => show(&comparison)?,
    }
    Ok(Exit::Ready)
}

fn read(root: &Path, id: &str) -> anyhow::Result<ComparedRun> {
    let run = runs::find(&state_of(root), Some(id))?;
    Ok(ComparedRun { synthesis: runs::synthesis(&run)?, provenance: runs::provenance(&run)? })
}

const DIM: Style = Style::new().dimmed();

fn show(comparison: &Comparison) -> anyhow::Result<()> {
    let mut out = StyledStdout::new();
    let colour = |colour| Style::new().bold().fg_color(Some(Color::Ansi(colour)));
    if comparison.findings.is_empty() {
        writeln!(out, "the findings are the same")?;
    }
    for difference in &comparison.findings {
        let (style, word) = match &difference.how {
            DifferenceKind::Gone => (colour(AnsiColor::Green), "removed"),
            DifferenceKind::Came => (colour(AnsiColor::Red), "added  "),
            DifferenceKind::Changed(_, _) => (colour(AnsiColor::Yellow), "changed"),
        };
        let place = difference.place.as_deref().unwrap_or("the change as a whole");
        let title = escape::one_line(&difference.title);
        writeln!(out, "{style}{word}{style:#}  {title} ({})", escape::one_line(place))?;
        if let DifferenceKind::Changed(was, is) = &difference.how {
            writeln!(out, "         was {was}, now {is}")?;
        }
        for cause in &difference.because {
            writeln!(out, "         {DIM}{}{DIM:#}", escape::one_line(cause))?;
        }
    }
    if let Some((was, is)) = &comparison.verdicts {
        writeln!(out, "verdict: was {was}, now {is}")?;
    }
    if comparison.findings.is_empty() {
        for cause in &comparison.causes {
            writeln!(out, "{DIM}{} (no effect on the findings){DIM:#}", escape::one_line(cause))?;
        }
    }
    Ok(())
}
