//! `assay qa --watch`: validates a spec as soon as its last subtask is completed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_engine::loop_session::Place;
use assay_engine::queues;
use assay_store::disk;
use assay_validate::plan;
use assay_validate::spec;

use super::{Args, go_on};
use crate::commands::warn;
use crate::diagnostics::Diagnostics;
use crate::exit::Exit;
use crate::process::environment;

/// How often is looked. A plan changes when a person or an agent is done with something.
const PAUSE: Duration = Duration::from_secs(1);

/// Watches until it is stopped, or, with one spec, until its loop came to an ending.
pub(super) fn run(args: &Args, diagnostics: &Diagnostics) -> anyhow::Result<Exit> {
    let root = queues::root(&args.folder)?;
    let mut seen: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    loop {
        for folder in watched(&root, args)? {
            // What cannot be read is told below.
            let read = || disk::read(&root.join(&folder).join(plan::NAME)).ok().flatten();
            let text = read().unwrap_or_default();
            if seen.get(&folder) == Some(&text) {
                continue;
            }
            seen.insert(folder.clone(), text);
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // One that cannot be read, or is not complete, is looked at again when it changes.
            let place = Place::of(environment(), &args.folder, &folder.to_string_lossy());
            let place = match place.and_then(|place| place.check_complete().map(|()| place)) {
                Ok(place) => place,
                Err(error) => {
                    warn(&format!("{error:#}"));
                    continue;
                }
            };
            match go_on(args, &place, diagnostics) {
                outcome if args.spec.is_some() => return outcome,
                Ok(_) => {}
                // The others are watched all the same.
                Err(error) => warn(&format!("{name}: {error:#}")),
            }
            // What the loop wrote into the plan itself is no news.
            let text = read().unwrap_or_default();
            seen.insert(folder, text);
        }
        // Nobody wakes it: there is nothing to wait for but plans that change.
        std::thread::park_timeout(PAUSE);
    }
}

fn watched(root: &Path, args: &Args) -> anyhow::Result<Vec<PathBuf>> {
    Ok(match &args.spec {
        Some(prefix) => vec![spec::find(root, prefix)?],
        None => spec::all(root)?,
    })
}
