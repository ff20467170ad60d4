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
const TIMEOUT: Duration = Duration::from_secs(8);

/// The maximum number of facts and of entities in a search.
const MAX_FACTS: u32 = 20;
const MAX_NODES: u32 = 5;

/// Memories of earlier runs, and the failure that made them incomplete.
#[derive(Default)]
pub(crate) struct RecallResult {
    /// The memories; `None` if there are none.
    pub memory: Option<Memory>,
    /// The text of the failure; `None` if the memories are complete.
    pub warning: Option<String>,
}

/// Reads the memories about the files of a change. If the server fails, they are read from the
/// ledger.
pub(crate) fn recall(
    source: &MemorySource,
    state: &State,
    change: &Change,
    today: &str,
) -> RecallResult {
    let MemorySource::Graphiti(url) = source else {
        return recall_locally(source, state, change, today);
    };
    match from_server(url, change) {
        Ok(recalled) => recalled,
        Err(error) => RecallResult {
            warning: Some(format!(
                "cannot read memories from Graphiti, using the ledger instead: {error}"
            )),
            ..from_ledger(state, change, today)
        },
    }
}

/// Reads the memories without a call to a server; with a Graphiti server, there are none.
pub(crate) fn recall_locally(
    source: &MemorySource,
    state: &State,
    change: &Change,
    today: &str,
) -> RecallResult {
    match source {
        MemorySource::Off | MemorySource::Graphiti(_) => RecallResult::default(),
        MemorySource::Ledger => from_ledger(state, change, today),
    }
}

fn from_ledger(state: &State, change: &Change, today: &str) -> RecallResult {
    match ledger::memory(state, change, today) {
        Ok(memory) => RecallResult { memory, warning: None },
        Err(error) => {
            let error = anyhow::Error::from(error);
            let warning = format!("cannot read memories from the ledger: {error:#}");
            RecallResult { memory: None, warning: Some(warning) }
        }
    }
}

fn from_server(url: &ServerUrl, change: &Change) -> Result<RecallResult, GraphitiError> {
    let Some(question) = memory::query(change) else { return Ok(RecallResult::default()) };
    let group = group(&change.root);
    let mut session = Graphiti::new(url.clone(), TIMEOUT).connect()?;
    let found = search(&mut session, &question, &group);
    session.close();
    found
}

fn search(
    session: &mut Session,
    question: &str,
    group: &GroupId,
) -> Result<RecallResult, GraphitiError> {
    let query = SearchQuery { text: question, group, limit: MAX_FACTS };
    let facts = session.search_facts(&query)?;
    // Not every server can search for entities, and facts say more.
    let (nodes, warning) = match session.search_nodes(&SearchQuery { limit: MAX_NODES, ..query }) {
        Ok(nodes) => (nodes, None),
        Err(error) => (
            Vec::new(),
            Some(format!("cannot search entities in Graphiti, using facts only: {error}")),
        ),
    };
    let lines = facts.iter().map(fact_text).chain(nodes.iter().map(node_text));
    Ok(RecallResult { memory: Memory::of(lines), warning })
}

fn fact_text(fact: &Fact) -> String {
    let since = fact.valid_at.as_deref().map(|since| format!(" (since {since})"));
    format!("{}{}", fact.text, since.unwrap_or_default())
}

fn node_text(node: &Node) -> String {
    match &node.summary {
        Some(summary) => format!("{}: {summary}", node.name),
        None => node.name.clone(),
    }
}

/// Writes the memories of a loop to the server, if one is configured. Returns the failure as text.
pub(crate) fn store_memories(
    source: &MemorySource,
    root: &Path,
    learned: &LoopSummary,
) -> Option<String> {
    let MemorySource::Graphiti(url) = source else { return None };
    let group = group(root);
    let stored = Graphiti::new(url.clone(), TIMEOUT).connect().and_then(|mut session| {
        let LoopSummary { name, text } = learned;
        let added =
            session.add_episode(&Episode { name, body: text, group: &group, source: "assay qa" });
        session.close();
        added
    });
    stored.err().map(|error| format!("cannot write memories to Graphiti: {error}"))
}

/// Returns the group of a repository on the server.
fn group(root: &Path) -> GroupId {
    GroupId::from_name(&assay_change::repository_name(root).unwrap_or_default())
}
