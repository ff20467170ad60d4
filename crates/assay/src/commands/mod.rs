//! The commands, one file each, and what they share.

pub(crate) mod demo;
pub(crate) mod findings;
pub(crate) mod review;
pub(crate) mod schema;

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::Context;
use assay_findings::identity::Day;

/// Prints to stdout as it is: what a program reads.
fn print(text: &str) -> anyhow::Result<()> {
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Prints a value as JSON.
fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&assay_findings::write::pretty(value))
}

/// Reads stdin, up to a little more than any command takes.
fn read_stdin() -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = assay_findings::read::MAX_TEXT as u64 + 1;
    io::stdin().lock().take(most).read_to_end(&mut bytes).context("could not read stdin")?;
    Ok(bytes)
}

fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("could not read `{}`", path.display()))
}

/// Gives today's date, as dismissals are written.
fn today() -> Option<Day> {
    Day::try_from(jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()).ok()
}
