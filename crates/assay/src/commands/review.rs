//! `assay review`: the main job.

use std::path::{Path, PathBuf};

use assay_change::{Change, Scope, Selection};
use assay_findings::grade::Grade;
use assay_findings::synthesis::{Circumstances, Synthesis, synthesize};
use assay_findings::write::{self, Document, Form};
use clap::ValueEnum;

use super::findings::known_severity;
use super::{print, print_json, today};
use crate::exit::Exit;
use crate::terminal;

/// What to review.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Compare the branch and the working tree with where they left this branch or commit
    #[arg(long, value_name = "REF", conflicts_with_all = ["staged", "commit"])]
    base: Option<String>,
    /// Review what is staged
    #[arg(long, conflicts_with = "commit")]
    staged: bool,
    /// Review a commit, or a range of them such as `main..topic`
    #[arg(long, value_name = "RANGE")]
    commit: Option<String>,
    /// Take in new files that git does not track yet
    #[arg(long, conflicts_with_all = ["staged", "commit"])]
    untracked: bool,
    /// The form of the output
    #[arg(long, value_enum, default_value = "terminal")]
    format: Output,
    /// Block on findings of this severity or worse, and on no others
    #[arg(long, value_name = "SEVERITY", value_parser = known_severity)]
    fail_on: Option<Grade>,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Review these paths only
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    Terminal,
    Json,
    Sarif,
    Rdjson,
    Rdjsonl,
    Markdown,
    Github,
    Checklist,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let scope = match (&args.base, args.staged, &args.commit) {
        (Some(base), _, _) => Scope::Against(base.clone()),
        (None, true, _) => Scope::Staged,
        (None, false, Some(range)) => Scope::Commits(range.clone()),
        (None, false, None) => Scope::Automatic,
    };
    let selection = Selection { paths: args.paths.clone(), untracked: args.untracked };
    let (change, synthesis) = review(&args.folder, &scope, &selection, args.fail_on.clone())?;
    let form = match args.format {
        Output::Terminal => {
            terminal::print(&change, &synthesis)?;
            return Ok(synthesis.verdict.state.into());
        }
        Output::Json => {
            print_json(&synthesis)?;
            return Ok(synthesis.verdict.state.into());
        }
        Output::Sarif => Form::Sarif,
        Output::Rdjson => Form::Rdjson,
        Output::Rdjsonl => Form::Rdjsonl,
        Output::Markdown => Form::Markdown,
        Output::Github => Form::Github,
        Output::Checklist => Form::Checklist,
    };
    let document = Document {
        findings: Some(&synthesis.findings),
        synthesis: Some(&synthesis),
        version: env!("CARGO_PKG_VERSION"),
        ..Document::default()
    };
    print(&write::write(form, &document))?;
    Ok(synthesis.verdict.state.into())
}

/// Opens a change and takes it all the way to a synthesis.
pub(crate) fn review(
    folder: &Path,
    scope: &Scope,
    selection: &Selection,
    fail_on: Option<Grade>,
) -> anyhow::Result<(Change, Synthesis)> {
    let change = assay_change::open(folder, scope, selection)?;
    let (report, coverage) = assay_rules::review(&change);
    let reports = [report];
    let changed = change.changed_lines();
    let synthesis = synthesize(
        &reports,
        &Circumstances {
            tree: Some(change.tree()),
            changed: Some(&changed),
            fail_on,
            coverage: Some(coverage),
            today: today(),
            ..Circumstances::default()
        },
    );
    Ok((change, synthesis))
}
