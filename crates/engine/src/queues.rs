//! The location of the queue: files in the repository, or a database.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_agents::config::framework::policy;
use assay_base::clock::Clock;
use assay_store::files::FileQueue;
use assay_store::postgres::PgQueue;
use assay_store::queue::{Policy, Queue, QueueError};
use assay_store::task::QueueName;

use crate::config::{self, agents::AgentSettings};
use crate::environment::Environment;

/// The folder of the queue in a repository.
pub const FOLDER: &str = ".agent-communication";

/// Returns the root of the queue and the agents: the repository around a folder, or else the folder
/// itself.
pub fn root(folder: &Path) -> anyhow::Result<PathBuf> {
    if !folder.is_dir() {
        bail!("`{}` is not a folder", folder.display());
    }
    Ok(assay_change::root(folder).unwrap_or_else(|_| folder.to_owned()))
}

/// Opens the configured queue.
pub fn open(root: &Path, settings: &AgentSettings) -> anyhow::Result<Box<dyn Queue>> {
    let configuration = &settings.configuration;
    let policy = policy(&configuration.task, &configuration.safeguards, &configuration.workflow);
    match database_url(settings)? {
        Some(url) => open_at(settings.configuration.environment(), url, policy),
        None => {
            let queue = open_files(root, policy, configuration.environment().clock())?;
            // A user may want to add a task file before the first worker runs.
            for agent in settings.roster.agents() {
                queue.make(&agent.queue)?;
            }
            Ok(Box::new(queue))
        }
    }
}

/// Opens the configured queue for reading. A missing file queue is not created.
pub fn open_to_read(root: &Path, settings: &AgentSettings) -> anyhow::Result<Box<dyn Queue>> {
    if database_url(settings)?.is_some() || FileQueue::exists_in(&root.join(FOLDER)) {
        return open(root, settings);
    }
    let queue = FileQueue::empty(Policy::default(), settings.configuration.environment().clock())?;
    for agent in settings.roster.agents() {
        queue.make(&agent.queue)?;
    }
    Ok(Box::new(queue))
}

/// Returns the address of the queue's database; `None` if the queue is in files.
pub(crate) fn database_url(settings: &AgentSettings) -> anyhow::Result<Option<&str>> {
    match settings.configuration.queue.url.as_deref() {
        Some(url) if !is_database_url(url) => bail!(
            "invalid `queue.url` in {}: expected an address such as \
             `postgres://user@host/database`",
            config::PATH
        ),
        url => Ok(url),
    }
}

/// Returns the queue of an agent. Fails if the roster has no such agent.
pub fn agent_queue(settings: &AgentSettings, agent: &str) -> anyhow::Result<QueueName> {
    match settings.roster.find(agent) {
        Some(agent) => Ok(agent.queue.clone()),
        None => {
            let agents = settings.roster.agents().iter();
            let names: Vec<&str> = agents.map(|agent| agent.id.as_str()).collect();
            bail!("unknown agent `{agent}`; configured agents: {}", names.join(", "))
        }
    }
}

/// Returns the queue for reviews of pull requests: that of a named agent, or else the configured
/// one.
pub fn reviewer_queue(settings: &AgentSettings, agent: Option<&str>) -> anyhow::Result<QueueName> {
    match agent {
        Some(agent) => agent_queue(settings, agent),
        None => Ok(settings.configuration.workflow.reviewer.clone()),
    }
}

/// The entries of the queue's folder that are no tasks.
#[derive(Default)]
pub struct StrayEntries {
    /// The names of the entries that were set aside.
    pub set_aside: Vec<String>,
    /// The entries that another process may still be writing, each with the reason.
    pub doubtful: Vec<(String, String)>,
}

/// Finds the entries of the queue's folder that are no tasks.
pub fn find_stray_entries(root: &Path, settings: &AgentSettings) -> anyhow::Result<StrayEntries> {
    let folder = root.join(FOLDER);
    if database_url(settings)?.is_some() || !FileQueue::exists_in(&folder) {
        return Ok(StrayEntries::default());
    }
    let doubtful =
        FileQueue::open(&folder, Policy::default(), settings.configuration.environment().clock())?
            .incomplete_files()?;
    Ok(StrayEntries { set_aside: FileQueue::malformed_files(&folder)?, doubtful })
}

/// Opens the queue at a place that the user names: a folder, the address of a database, or a
/// variable with either, as `${NAME}`.
pub fn open_at(
    environment: &Environment,
    place: &str,
    policy: Policy,
) -> anyhow::Result<Box<dyn Queue>> {
    let place = place_value(environment, place)?;
    if is_database_url(&place) {
        return Ok(Box::new(PgQueue::open(&place, policy, environment.clock())?));
    }
    if place.contains("://") {
        bail!(
            "invalid address of a queue: expected an address such as \
             `postgres://user@host/database`"
        );
    }
    let folder = Path::new(&place);
    if !folder.is_dir() {
        bail!(
            "`{place}` is not a folder; name the folder that contains `queues/`, or a \
             `postgres://…` address"
        );
    }
    Ok(Box::new(FileQueue::open(folder, policy, environment.clock())?))
}

/// Returns a place that the user names; a variable, as `${NAME}`, is replaced by its value. An
/// address may hold a password, which must not be among the arguments of a process.
pub(crate) fn place_value(environment: &Environment, place: &str) -> anyhow::Result<String> {
    let name = place.strip_prefix("${").and_then(|name| name.strip_suffix('}'));
    let named = name.map(|name| {
        let value = environment.variable(name);
        value.with_context(|| format!("the variable `{name}` is not set"))
    });
    Ok(named.transpose()?.unwrap_or_else(|| place.to_owned()))
}

/// Returns true if the queue cannot be reached now, and a retry may help.
pub fn is_unreachable(error: &anyhow::Error) -> bool {
    error.chain().filter_map(|cause| cause.downcast_ref()).any(QueueError::is_transient)
}

/// Returns true if a place is the address of a database.
pub(crate) fn is_database_url(place: &str) -> bool {
    place.starts_with("postgres://") || place.starts_with("postgresql://")
}

/// Opens the queue in a repository's folder. Fails if the tasks came with the repository: tasks are
/// instructions, and those are not trusted.
fn open_files(root: &Path, policy: Policy, clock: &Clock) -> anyhow::Result<FileQueue> {
    let folder = root.join(FOLDER);
    if assay_change::is_foreign(&folder) {
        bail!(
            "`{FOLDER}` is a link, a file or another repository, so its tasks are not trusted; \
             remove `{FOLDER}`"
        );
    }
    if folder.exists() && assay_change::is_tracked(root, FOLDER) {
        bail!(
            "`{FOLDER}` is tracked in git, so its tasks are not trusted; run `git rm -r \
             --cached {FOLDER}` if the tasks are your own"
        );
    }
    let queue = FileQueue::open(&folder, policy, clock);
    queue.with_context(|| format!("cannot open the queue in `{FOLDER}`"))
}
