//! The tools of a Graphiti server: searching for facts and entities, and adding an episode.

use std::fmt;

use assay_base::text::first_chars;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Session;
use super::error::GraphitiError;

/// The maximum length of a group id, in characters.
const MAX_GROUP_CHARS: usize = 100;

/// The maximum length of a text in a result, in characters.
const MAX_TEXT_CHARS: usize = 8_000;

/// The id of a part of the graph: letters, digits, dashes and underscores, as servers require.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct GroupId(String);

impl GroupId {
    /// Converts a name to a group id; other characters become underscores.
    pub fn from_name(name: &str) -> GroupId {
        let fit = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let group: String = name.trim().chars().take(MAX_GROUP_CHARS).map(fit).collect();
        GroupId(if group.is_empty() { "_".to_owned() } else { group })
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A search request.
#[derive(Debug, Clone, Copy)]
pub struct SearchQuery<'a> {
    /// The query in natural language.
    pub text: &'a str,
    /// The part of the graph to search.
    pub group: &'a GroupId,
    /// The maximum number of results.
    pub limit: u32,
}

/// A relation between two entities.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Fact {
    /// The relation in words.
    #[serde(rename = "fact")]
    pub text: String,
    /// The start of its validity; `None` if it is not known.
    #[serde(default)]
    pub valid_at: Option<String>,
    /// The end of its validity; `None` while it is valid.
    #[serde(default)]
    invalid_at: Option<String>,
    /// The time at which another fact replaced it; `None` if none did.
    #[serde(default)]
    expired_at: Option<String>,
}

/// An entity.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Node {
    /// The name of the entity.
    pub name: String,
    /// A summary of the entity; `None` if there is none.
    #[serde(default)]
    pub summary: Option<String>,
}

/// An event, described in text.
#[derive(Debug, Clone, Copy)]
pub struct Episode<'a> {
    /// The title of the episode.
    pub name: &'a str,
    /// The full text.
    pub body: &'a str,
    /// The part of the graph to add it to.
    pub group: &'a GroupId,
    /// The description of its source.
    pub source: &'a str,
}

#[derive(Deserialize)]
struct Facts {
    facts: Vec<Fact>,
}

#[derive(Deserialize)]
struct Nodes {
    nodes: Vec<Node>,
}

impl Session {
    /// Searches for facts, the most relevant first. Facts that are no longer valid are left out.
    pub fn search_facts(&mut self, query: &SearchQuery<'_>) -> Result<Vec<Fact>, GraphitiError> {
        let tool = "search_memory_facts";
        let Facts { facts } = self.search(tool, query, "max_facts")?;
        let holds = |fact: &Fact| fact.invalid_at.is_none() && fact.expired_at.is_none();
        let facts = facts.into_iter().filter(holds).take(query.limit as usize);
        Ok(facts.map(|fact| Fact { text: truncate(&fact.text), ..fact }).collect())
    }

    /// Searches for entities, the most relevant first.
    pub fn search_nodes(&mut self, query: &SearchQuery<'_>) -> Result<Vec<Node>, GraphitiError> {
        let Nodes { nodes } = self.search("search_nodes", query, "max_nodes")?;
        let nodes = nodes.into_iter().take(query.limit as usize);
        let truncate_node = |node: Node| Node {
            name: truncate(&node.name),
            summary: node.summary.as_deref().map(truncate),
        };
        Ok(nodes.map(truncate_node).collect())
    }

    /// Adds an episode. The server processes it later, and the call does not wait for that.
    pub fn add_episode(&mut self, episode: &Episode<'_>) -> Result<(), GraphitiError> {
        let Episode { name, body, group, source } = episode;
        let arguments = json!({
            "name": name,
            "episode_body": body,
            "group_id": group,
            "source": "text",
            "source_description": source,
        });
        self.0.call("add_memory", &arguments).map(|_| ())
    }

    fn search<T: for<'de> Deserialize<'de>>(
        &mut self,
        tool: &str,
        query: &SearchQuery<'_>,
        most: &str,
    ) -> Result<T, GraphitiError> {
        let mut arguments = json!({ "query": query.text, "group_ids": [query.group] });
        arguments[most] = Value::from(query.limit);
        let found = self.0.call(tool, &arguments)?;
        serde_json::from_value(found).map_err(|error| GraphitiError::Unreadable {
            what: tool.to_owned(),
            why: first_chars(&error.to_string(), MAX_GROUP_CHARS).to_owned(),
        })
    }
}

fn truncate(text: &str) -> String {
    first_chars(text, MAX_TEXT_CHARS).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_letters_digits_dashes_and_underscores() {
        let group = |name: &str| GroupId::from_name(name).to_string();
        assert_eq!(group("my-repo_1"), "my-repo_1");
        assert_eq!(group(" a.b/c d\u{e9} "), "a_b_c_d_");
        assert_eq!(group(""), "_");
        assert_eq!(group(&"x".repeat(1_000)).len(), 100);
    }
}
