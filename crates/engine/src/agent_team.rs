//! The workers of a repository: the agents to start and the number of their workers, the names of
//! workers, and the workers that a name refers to.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use assay_agents::config::roster::{AgentConfig, Replicas, Roster};
use assay_base::hash::short_hash;
use assay_change::state;
use assay_store::queue::Queue;
use assay_store::task::AgentId;

use crate::config::agents::AgentSettings;
use crate::environment::Environment;
use crate::task_handlers;

/// The agent that `--replicas` applies to if no agent is named.
const DEFAULT_AGENT: &str = "qa";

/// The agents to start, each with the ids of its workers.
pub type Team<'a> = Vec<(&'a AgentConfig, Vec<AgentId>)>;

/// Returns the agents to start: the named agents, or all enabled agents if none is named.
/// `replicas` is the number of workers of each named agent, or of `qa` if none is named; `suffix`
/// ends the name of each worker.
pub fn team<'a>(
    roster: &'a Roster,
    ids: &[AgentId],
    replicas: Option<Replicas>,
    suffix: &str,
) -> anyhow::Result<Team<'a>> {
    let mut team: Team<'a> = Vec::new();
    for id in ids {
        let Some(agent) = roster.find(id.as_str()) else {
            bail!("unknown agent `{id}`; configured agents: {}", agent_names(roster));
        };
        if team.iter().all(|(other, _)| other.id != agent.id) {
            team.push((agent, workers(agent, replicas.unwrap_or(agent.replicas), suffix)));
        }
    }
    if ids.is_empty() {
        for agent in roster.agents().iter().filter(|agent| agent.enabled) {
            let asked = replicas.filter(|_| agent.id.as_str() == DEFAULT_AGENT);
            team.push((agent, workers(agent, asked.unwrap_or(agent.replicas), suffix)));
        }
    }
    if team.is_empty() {
        bail!("no agent is enabled in `config/agents.yaml`; name an agent to start it anyway");
    }
    Ok(team)
}

/// Returns the names of the workers of an agent.
fn workers(agent: &AgentConfig, replicas: Replicas, suffix: &str) -> Vec<AgentId> {
    let names = match replicas.get() {
        1 => vec![format!("{}{suffix}", agent.id)],
        replicas => (1..=replicas).map(|number| format!("{}-{number}{suffix}", agent.id)).collect(),
    };
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

/// Returns the suffix of the names of this repository's workers, which distinguishes them from the
/// workers of other machines that share the queue. Empty if no other machine can share the queue.
pub fn worker_suffix(root: &Path, settings: &AgentSettings) -> anyhow::Result<String> {
    if settings.configuration.queue.url.is_none() {
        return Ok(String::new());
    }
    let allowed = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let host: String = task_handlers::host()?.chars().filter(allowed).take(40).collect();
    let folder = short_hash(root.as_os_str().as_encoded_bytes(), 4);
    Ok(format!(".{host}-{folder}"))
}

/// Returns the workers that a name refers to: the registered workers of an agent, or the worker of
/// that name. Fails if the roster has no such agent.
pub fn named_workers(
    queue: &dyn Queue,
    roster: &Roster,
    id: &AgentId,
) -> anyhow::Result<Vec<AgentId>> {
    let agent = roster.find(id.as_str());
    let of_agent = |worker: &AgentId| {
        agent.is_some() && roster.find_by_worker(worker.as_str()).map(|it| &it.id) == Some(id)
    };
    let seen = queue.agents()?.into_iter().filter(|seen| seen.alive);
    let mut workers: Vec<AgentId> = seen.map(|seen| seen.heartbeat.agent).collect();
    workers.retain(|worker| worker == id || of_agent(worker));
    if workers.is_empty() {
        check_known(roster, id)?;
        workers.push(id.clone());
    }
    Ok(workers)
}

/// Fails if a name is neither an agent of the roster nor a worker of such an agent.
pub fn check_known(roster: &Roster, id: &AgentId) -> anyhow::Result<()> {
    let is_known =
        roster.find(id.as_str()).is_some() || roster.find_by_worker(id.as_str()).is_some();
    ensure!(is_known, "unknown agent `{id}`; configured agents: {}", agent_names(roster));
    Ok(())
}

/// Returns the names of all agents, separated by commas, for a message.
pub fn agent_names(roster: &Roster) -> String {
    let names: Vec<&str> = roster.agents().iter().map(|agent| agent.id.as_str()).collect();
    names.join(", ")
}

/// Returns the folder with the lock files of the supervisor and of workers. Fails if the lock files
/// are tracked by the repository.
pub fn locks_folder(environment: &Environment, root: &Path) -> anyhow::Result<PathBuf> {
    let own = environment.state_of(root);
    own.open("supervisor.json")?;
    own.open("workers")?;
    Ok(root.join(state::FOLDER))
}

#[cfg(test)]
mod tests {
    use assay_agents::config::framework::TaskSettings;
    use assay_base::clock::Clock;
    use assay_store::files::FileQueue;
    use assay_store::queue::Policy;

    use super::*;

    fn roster() -> Roster {
        let text = "- { id: qa, replicas: 2 }\n- { id: architect, enabled: false }\n";
        Roster::parse(Some(text), &TaskSettings::default()).unwrap()
    }

    fn id(name: &str) -> AgentId {
        name.parse().unwrap()
    }

    /// Returns the names of the workers of a team, or the error.
    fn started(ids: &[&str], replicas: Option<&str>, suffix: &str) -> String {
        let (roster, ids) = (roster(), ids.iter().map(|name| id(name)).collect::<Vec<_>>());
        let replicas = replicas.map(|number| number.parse().unwrap());
        match team(&roster, &ids, replicas, suffix) {
            Ok(team) => {
                let names = team.iter().flat_map(|(_, workers)| workers);
                names.map(ToString::to_string).collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_enabled_agents_are_started_unless_agents_are_named() {
        assert_eq!(started(&[], None, ""), "qa-1 qa-2 engineer");
        assert_eq!(started(&[], Some("1"), ".host"), "qa.host engineer.host");
        assert_eq!(started(&["architect", "architect"], Some("2"), ""), "architect-1 architect-2");
        assert_eq!(
            started(&["nobody"], None, ""),
            "unknown agent `nobody`; configured agents: qa, architect, engineer"
        );
    }

    #[test]
    fn a_name_without_a_registered_worker_is_accepted_if_the_roster_has_the_agent() {
        let queue = FileQueue::empty(Policy::default(), &Clock::system()).unwrap();
        let named = |name: &str| named_workers(&queue, &roster(), &id(name));
        assert_eq!(named("qa").unwrap(), [id("qa")]);
        assert_eq!(named("qa-2").unwrap(), [id("qa-2")]);
        assert!(named("nobody").unwrap_err().to_string().starts_with("unknown agent `nobody`"));
    }
}
