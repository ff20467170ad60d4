//! `assay schema`: prints the JSON Schemas of the commands for scripts and of the configuration.

use std::sync::LazyLock;

use assay_engine::config::schema as configuration;
use assay_engine::finding_statistics;
use assay_findings::script_api;
use assay_gates::answer as gates;
use serde_json::Value;

use super::{print, print_json};
use crate::exit::Exit;

/// The names of all schemas.
static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let scripts = script_api::SCHEMAS.into_iter().chain(gates::SCHEMAS);
    scripts.chain([finding_statistics::SCHEMA, configuration::NAME]).collect()
});

/// Arguments of `assay schema`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The name of the schema [default: list all names]
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(NAMES.iter()))]
    name: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    match args.name.as_deref().and_then(find) {
        Some(schema) => print_json(&schema)?,
        None => print(&(NAMES.join("\n") + "\n"))?,
    }
    Ok(Exit::Ready)
}

fn find(name: &str) -> Option<Value> {
    match name {
        configuration::NAME => Some(configuration::schema()),
        finding_statistics::SCHEMA => Some(finding_statistics::schema()),
        _ => script_api::schema(name).or_else(|| gates::schema(name)),
    }
}
