//! `assay schema`: prints the JSON Schemas of the commands for scripts.

use std::sync::LazyLock;

use assay_findings::script_api;
use assay_gates::answer as gates;

use super::{print, print_json};
use crate::exit::Exit;

/// The names of all schemas.
static NAMES: LazyLock<Vec<&str>> =
    LazyLock::new(|| script_api::SCHEMAS.into_iter().chain(gates::SCHEMAS).collect());

/// Arguments of `assay schema`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The name of the schema [default: list all names]
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(NAMES.iter()))]
    name: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let known = |name: &str| script_api::schema(name).or_else(|| gates::schema(name));
    match args.name.as_deref().and_then(known) {
        Some(schema) => print_json(&schema)?,
        None => print(&(NAMES.join("\n") + "\n"))?,
    }
    Ok(Exit::Ready)
}
