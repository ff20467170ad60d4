//! Memories of earlier runs: read from the ledger or a Graphiti server, and written to the server.
//! A failure produces a warning and has no other effect.

use std::path::Path;
use std::time::Duration;

use assay_change::Change;
use assay_change::state::State;
use assay_review::ledger;
use assay_review::memory::{self, Memory};
use assay_services::graphiti::{
    Episode, Fact, Graphiti, GraphitiError, GroupId, Node, SearchQuery, Session,
};
use assay_services::http::ServerUrl;
use assay_validate::loop_summary::LoopSummary;

use crate::config::qa::MemorySource;

/// The time limit of all calls to a server together.
const TIME: Duration = Duration::from_secs(8);

/// The maximum number of facts and of entities in a search.
const FACTS: u32 = 20;
const NODES: u32 = 5;

/// Memories of earlier runs, and the failure that made them incomplete.
#[derive(Default)]
pub(crate) struct Recalled {
    /// The memories; `None` if there are none.
    pub memory: Option<Memory>,
    /// The text of the failure; `None` if the memories are complete.
    pub trouble: Option<String>,
}

/// Reads the memories about the files of a change. If the server fails, they are read from the
/// ledger.
pub(crate) fn recalled(
    source: &MemorySource,
    state: &State,
    change: &Change,
    today: &str,
) -> Recalled {
    let MemorySource::Graphiti(url) = source else {
        return recalled_here(source, state, change, today);
    };
    match from_server(url, change) {
        Ok(recalled) => recalled,
        Err(error) => Recalled {
            trouble: Some(format!(
                "what earlier runs learned is taken from the ledger instead: {error}"
            )),
            ..from_ledger(state, change, today)
        },
    }
}

/// Reads the memories without a call to a server; with a Graphiti server, there are none.
pub(crate) fn recalled_here(
    source: &MemorySource,
    state: &State,
    change: &Change,
    today: &str,
) -> Recalled {
    match source {
        MemorySource::Off | MemorySource::Graphiti(_) => Recalled::default(),
        MemorySource::Ledger => from_ledger(state, change, today),
    }
}

fn from_ledger(state: &State, change: &Change, today: &str) -> Recalled {
    match ledger::memory(state, change, today) {
        Ok(memory) => Recalled { memory, trouble: None },
        Err(error) => {
            let error = anyhow::Error::from(error);
            let trouble = format!("what earlier runs learned is not known: {error:#}");
            Recalled { memory: None, trouble: Some(trouble) }
        }
    }
}

fn from_server(url: &ServerUrl, change: &Change) -> Result<Recalled, GraphitiError> {
    let Some(question) = memory::query(change) else { return Ok(Recalled::default()) };
    let group = group(&change.root);
    let mut session = Graphiti::new(url.clone(), TIME).connect()?;
    let found = search(&mut session, &question, &group);
    session.close();
    found
}

fn search(
    session: &mut Session,
    question: &str,
    group: &GroupId,
) -> Result<Recalled, GraphitiError> {
    let query = SearchQuery { text: question, group, limit: FACTS };
    let facts = session.search_facts(&query)?;
    // Not every server can search for entities, and facts say more.
    let (nodes, trouble) = match session.search_nodes(&SearchQuery { limit: NODES, ..query }) {
        Ok(nodes) => (nodes, None),
        Err(error) => {
            (Vec::new(), Some(format!("of what was learned facts alone are known: {error}")))
        }
    };
    let lines = facts.iter().map(of_fact).chain(nodes.iter().map(of_node));
    Ok(Recalled { memory: Memory::of(lines), trouble })
}

fn of_fact(fact: &Fact) -> String {
    let since = fact.valid_at.as_deref().map(|since| format!(" (since {since})"));
    format!("{}{}", fact.text, since.unwrap_or_default())
}

fn of_node(node: &Node) -> String {
    match &node.summary {
        Some(summary) => format!("{}: {summary}", node.name),
        None => node.name.clone(),
    }
}

/// Writes the memories of a loop to the server, if one is configured. Returns the failure as text.
pub(crate) fn tell(source: &MemorySource, root: &Path, learned: &LoopSummary) -> Option<String> {
    let MemorySource::Graphiti(url) = source else { return None };
    let group = group(root);
    let told = Graphiti::new(url.clone(), TIME).connect().and_then(|mut session| {
        let LoopSummary { name, text } = learned;
        let added =
            session.add_episode(&Episode { name, body: text, group: &group, source: "assay qa" });
        session.close();
        added
    });
    told.err().map(|error| format!("what was learned is told to nobody: {error}"))
}

/// Returns the group of a repository on the server.
fn group(root: &Path) -> GroupId {
    GroupId::from_name(&assay_change::repository_name(root).unwrap_or_default())
}
