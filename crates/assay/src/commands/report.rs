//! `assay report`: writes a stored review or a validation loop as an HTML page.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_engine::report_page;

use super::print_safely;
use crate::exit::Exit;
use crate::process::environment;

/// Arguments of `assay report`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The id of the run [default: the newest run]
    run: Option<String>,
    /// Write the validation loop of this spec instead of a review: the name of the spec's folder, or
    /// a prefix of the name
    #[arg(long = "loop", value_name = "SPEC", conflicts_with = "run")]
    spec: Option<String>,
    /// Write one HTML page that needs no other file into this file, which is replaced
    #[arg(long, value_name = "FILE", required = true)]
    html: PathBuf,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    check_file(&args.html)?;
    let (html, line) = match &args.spec {
        Some(spec) => {
            let page = report_page::render_loop(environment(), &args.folder, spec)?;
            (page.html, format!("loop {}: {}\n", page.spec, page.summary))
        }
        None => {
            let root = assay_change::root(&args.folder)?;
            let page = report_page::render(environment(), &root, args.run.as_deref())?;
            (page.html, format!("run {}: {}\n", page.run, page.summary))
        }
    };
    fs::write(&args.html, &html)
        .with_context(|| format!("cannot write `{}`", args.html.display()))?;
    print_safely(&line)?;
    Ok(Exit::Ready)
}

/// Fails if a path cannot be the file of a page.
fn check_file(path: &Path) -> anyhow::Result<()> {
    if path.as_os_str() == "-" || path.as_os_str().is_empty() {
        bail!("invalid `--html`: expected the name of a file, such as `--html review.html`");
    }
    if path.is_dir() {
        let path = path.display();
        bail!("invalid `--html`: `{path}` is a folder; name a file, such as `{path}/review.html`");
    }
    Ok(())
}
