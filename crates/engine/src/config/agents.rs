//! What is configured for agents: who works, on what terms, and with which MCP servers.

use std::path::Path;

use assay_agents::config::mcp::{self, McpServers};
use assay_agents::config::roster::{self, Roster};

use crate::environment::Environment;

use super::{Configuration, expanded, read_optional};

/// What is configured for agents.
#[derive(Debug)]
pub struct AgentSettings {
    /// The configuration.
    pub configuration: Configuration,
    /// The agents.
    pub roster: Roster,
    /// The MCP servers of agents.
    pub mcp: McpServers,
}

impl AgentSettings {
    /// Reads what a repository says.
    pub fn on_disk(environment: &Environment, root: &Path) -> anyhow::Result<AgentSettings> {
        let configuration = Configuration::on_disk_or_default(environment, root)?;
        let file = |path| {
            let text = read_optional(root, path)?;
            text.map(|text| expanded(environment, path, &text)).transpose()
        };
        let roster = Roster::parse(file(roster::PATH)?.as_deref(), &configuration.task)?;
        let mcp = file(mcp::PATH)?.map(|text| McpServers::parse(&text)).transpose()?;
        Ok(AgentSettings { configuration, roster, mcp: mcp.unwrap_or_default() })
    }
}
