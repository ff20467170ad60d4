//! `assay qa --watch`: validates a spec as soon as its last subtask is completed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_engine::loop_session::SpecLocation;
use assay_engine::queues;
use assay_store::durable_fs;
use assay_validate::plan;
use assay_validate::spec;

use super::{Args, run_loop};
use crate::commands::warn;
use crate::diagnostics::Diagnostics;
use crate::exit::Exit;
use crate::process::environment;

/// The polling interval. A plan changes when a person or an agent finishes a subtask.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Watches until the process is stopped, or, with one spec, until its loop ends.
pub(super) fn run(args: &Args, diagnostics: &Diagnostics) -> anyhow::Result<Exit> {
    let root = queues::root(&args.folder)?;
    let mut seen: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    loop {
        for folder in watched_specs(&root, args)? {
            // An unreadable plan is reported below.
            let read = || durable_fs::read(&root.join(&folder).join(plan::NAME)).ok().flatten();
            let text = read().unwrap_or_default();
            if seen.get(&folder) == Some(&text) {
                continue;
            }
            seen.insert(folder.clone(), text);
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // A plan that is unreadable or not complete is checked again when it changes.
            let place = SpecLocation::of(environment(), &args.folder, &folder.to_string_lossy());
            let place = match place.and_then(|place| place.check_complete().map(|()| place)) {
                Ok(place) => place,
                Err(error) => {
                    warn(&format!("{error:#}"));
                    continue;
                }
            };
            match run_loop(args, &place, diagnostics) {
                outcome if args.spec.is_some() => return outcome,
                Ok(_) => {}
                // The other specs are still watched.
                Err(error) => warn(&format!("{name}: {error:#}")),
            }
            // The loop's own edits of the plan do not count as a change.
            let text = read().unwrap_or_default();
            seen.insert(folder, text);
        }
        // No thread unparks this one: it only waits for plans to change.
        std::thread::park_timeout(POLL_INTERVAL);
    }
}

fn watched_specs(root: &Path, args: &Args) -> anyhow::Result<Vec<PathBuf>> {
    Ok(match &args.spec {
        Some(prefix) => vec![spec::find(root, prefix)?],
        None => spec::all(root)?,
    })
}
