//! `cargo xtask measure`: how well something is done, beside other programs.

mod breaks;
mod cases;
mod draft;
mod recovery;
mod scripts;

use std::path::Path;

use anyhow::bail;

/// Runs a measurement. Measuring never fails for what is measured.
pub(crate) fn run(name: &str, data: Option<&Path>, seed: u64) -> anyhow::Result<bool> {
    match (name, data) {
        ("recovery", None) => recovery::run(seed)?,
        ("recovery", Some(_)) => bail!("`recovery` makes its own data and takes no `--data`"),
        _ => bail!("there is no measurement `{name}`; expected recovery"),
    }
    Ok(true)
}
