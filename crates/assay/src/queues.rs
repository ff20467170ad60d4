//! Where the queue is: files in the repository, or a database.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_agents::config::framework::policy;
use assay_store::files::FileQueue;
use assay_store::postgres::PgQueue;
use assay_store::queue::{Policy, Queue};

use crate::settings::{self, agents::AgentSettings};

/// The folder of the queue in a repository.
pub(crate) const FOLDER: &str = ".agent-communication";

/// Gives the folder that queue and agents belong to: the repository around a folder, or else the
/// folder itself.
pub(crate) fn root(folder: &Path) -> anyhow::Result<PathBuf> {
    if !folder.is_dir() {
        bail!("`{}` is no folder", folder.display());
    }
    Ok(assay_change::root(folder).unwrap_or_else(|_| folder.to_owned()))
}

/// Opens the queue that is configured.
pub(crate) fn open(root: &Path, settings: &AgentSettings) -> anyhow::Result<Box<dyn Queue>> {
    let configuration = &settings.configuration;
    let policy = policy(&configuration.task, &configuration.safeguards, &configuration.workflow);
    match &configuration.queue.url {
        Some(url) if is_database(url) => open_place(url, policy),
        Some(_) => bail!(
            "`queue.url` in {} is no address such as `postgres://user@host/database`",
            settings::PATH
        ),
        None => open_files(root, policy),
    }
}

/// Opens the queue at a place that somebody names: a database's address or a folder.
pub(crate) fn open_place(place: &str, policy: Policy) -> anyhow::Result<Box<dyn Queue>> {
    if is_database(place) {
        return Ok(Box::new(PgQueue::open(place, policy)?));
    }
    let folder = Path::new(place);
    if !folder.is_dir() {
        bail!("`{place}` is no folder; name the one that holds `queues/`, or a `postgres://…`");
    }
    Ok(Box::new(FileQueue::open(folder, policy)?))
}

/// Says whether a place is the address of a database.
pub(crate) fn is_database(place: &str) -> bool {
    place.starts_with("postgres://") || place.starts_with("postgresql://")
}

/// Opens the queue in a repository's folder. Tasks give orders, so those that came with the
/// repository are nobody's to carry out.
fn open_files(root: &Path, policy: Policy) -> anyhow::Result<Box<dyn Queue>> {
    let folder = root.join(FOLDER);
    if folder.exists() && assay_change::is_tracked(root, FOLDER) {
        bail!(
            "`{FOLDER}` came with the repository, and whoever wrote it may have made it up; \
             `git rm -r --cached {FOLDER}` if it is your own"
        );
    }
    let queue = FileQueue::open(&folder, policy);
    Ok(Box::new(queue.with_context(|| format!("the queue in `{FOLDER}` cannot be used"))?))
}
