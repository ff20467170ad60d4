//! `cargo xtask measure`: measures the quality of results, compared with other programs.

mod breaks;
mod cases;
mod diffs;
mod draft;
mod grounding;
mod labelled;
mod owasp;
mod recovery;
mod scoring;
mod scripts;
mod secrets;
mod synthesis;

use std::path::Path;

use anyhow::{Context, bail};

/// Runs a measurement. Returns true if its limits are met; most measurements have none.
pub(crate) fn run(name: &str, data: Option<&Path>, seed: u64) -> anyhow::Result<bool> {
    let needed = || data.with_context(|| format!("`{name}` needs its data: `--data DIR`"));
    match (name, data) {
        ("recovery", None) => recovery::run(seed).map(|()| true),
        ("recovery", Some(_)) => bail!("`recovery` makes its own data and takes no `--data`"),
        ("diffs", _) => diffs::run(needed()?),
        ("cases", _) => labelled::run(needed()?),
        ("secrets", _) => secrets::run(needed()?),
        ("synthesis", _) => synthesis::run(needed()?, seed),
        ("scoring", _) => scoring::run(needed()?, seed),
        ("grounding", _) => grounding::run(needed()?),
        ("owasp", _) => owasp::run(needed()?),
        _ => bail!(
            "there is no measurement `{name}`; expected recovery, diffs, cases, secrets, synthesis, \
             scoring, grounding or owasp"
        ),
    }
}
