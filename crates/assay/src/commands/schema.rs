//! `assay schema`: the JSON Schemas of the plumbing.

use assay_findings::answer;

use super::{print, print_json};
use crate::exit::Exit;

/// What to print.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The schema's name; without one, all names are listed
    #[arg(value_parser = answer::SCHEMAS)]
    name: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match args.name.as_deref().and_then(answer::schema) {
        Some(schema) => print_json(&schema)?,
        None => print(&(answer::SCHEMAS.join("\n") + "\n"))?,
    }
    Ok(Exit::Ready)
}
