//! `assay config`: shows and checks the configuration.

use std::path::{Path, PathBuf};

use assay_engine::config::effective_values::{EffectiveConfiguration, EffectiveValue, ValueOrigin};
use assay_engine::config::schema;
use serde_json::{Value, json};

use super::{print, print_json, print_safely};
use crate::exit::Exit;
use crate::process::environment;

/// The subcommands of `assay config`.
#[derive(clap::Subcommand)]
pub(crate) enum Config {
    /// Print the values that apply in the work tree
    Show(ShowArgs),
    /// Check the configuration of the work tree and of the user, or a file
    Check(CheckArgs),
    /// Print the JSON Schema of the configuration, as `assay schema configuration`
    Schema,
}

/// Arguments of `assay config show`.
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// Print the file and the line that each value comes from
    #[arg(long)]
    origin: bool,
    /// Print JSON, always with the origins
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: PlaceArgs,
}

/// Arguments of `assay config check`.
#[derive(clap::Args)]
pub(crate) struct CheckArgs {
    /// The file to check [default: the configuration of the work tree and of the user]
    file: Option<PathBuf>,
    #[command(flatten)]
    place: PlaceArgs,
}

/// The folder in which the command runs.
#[derive(clap::Args)]
struct PlaceArgs {
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

impl PlaceArgs {
    fn read(&self, file: Option<&Path>) -> anyhow::Result<EffectiveConfiguration> {
        let root = match assay_change::root(&self.folder) {
            Err(_) if file.is_some() => self.folder.clone(),
            root => root?,
        };
        EffectiveConfiguration::on_disk(environment(), &root, file)
    }
}

pub(crate) fn run(config: &Config) -> anyhow::Result<Exit> {
    match config {
        Config::Show(args) => show(args)?,
        Config::Check(args) => check(args)?,
        Config::Schema => print_json(&schema::schema())?,
    }
    Ok(Exit::Ready)
}

fn show(args: &ShowArgs) -> anyhow::Result<()> {
    let effective = args.place.read(None)?;
    if args.json {
        return print_json(&json!({ "files": effective.files, "values": effective.values }));
    }
    let lines = effective.values.iter().map(|value| line(value, args.origin));
    print_safely(&lines.collect::<String>())
}

/// Returns the line for a value, with its origin if that is asked for.
fn line(value: &EffectiveValue, with_origin: bool) -> String {
    let text = match &value.value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match (&value.origin, with_origin) {
        (_, false) => format!("{}: {text}\n", value.key),
        (ValueOrigin::Default, true) => format!("{}: {text}  # default\n", value.key),
        (ValueOrigin::File { file, line }, true) => {
            format!("{}: {text}  # {file}:{line}\n", value.key)
        }
    }
}

fn check(args: &CheckArgs) -> anyhow::Result<()> {
    let effective = args.place.read(args.file.as_deref())?;
    if effective.files.is_empty() {
        return print("no configuration; every key has its default\n");
    }
    let lines = effective.files.iter().map(|file| format!("{file} is valid\n"));
    print(&lines.collect::<String>())
}
