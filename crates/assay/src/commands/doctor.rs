//! `assay doctor`: shows installed and missing programs and settings, and how to get them.

use std::io::Write;
use std::path::PathBuf;

use anstyle::{AnsiColor, Color, Style};
use assay_engine::diagnosis::{Diagnosis, Health, diagnose};
use assay_findings::write::escape;

use crate::exit::Exit;
use crate::output::StyledStdout;
use crate::process::environment;

/// Arguments of `assay doctor`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let lines = diagnose(environment(), &args.folder);
    show(&lines)?;
    let healthy = lines.iter().all(|line| line.health != Health::Bad);
    Ok(if healthy { Exit::Ready } else { Exit::Usage })
}

fn show(lines: &[Diagnosis]) -> anyhow::Result<()> {
    let colour = |colour| Style::new().bold().fg_color(Some(Color::Ansi(colour)));
    let mut out = StyledStdout::new();
    for line in lines {
        let (style, sign) = match line.health {
            Health::Good => (colour(AnsiColor::Green), "ok  "),
            Health::Missing => (Style::new().dimmed(), "-   "),
            Health::Bad => (colour(AnsiColor::Red), "bad "),
        };
        writeln!(out, "{style}{sign}{style:#} {}", escape::one_line(&line.what))?;
    }
    Ok(())
}
