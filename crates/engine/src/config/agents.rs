//! The settings of agents: `AgentSettings` has the configuration, the roster of agents and their
//! MCP servers.

use std::path::Path;

use assay_agents::config::mcp::{self, McpServers};
use assay_agents::config::roster::{self, Roster};

use crate::environment::Environment;

use super::{Configuration, expand_variables, read_optional};

/// The settings of agents.
#[derive(Debug)]
pub struct AgentSettings {
    /// The configuration of the repository.
    pub configuration: Configuration,
    /// The roster of agents.
    pub roster: Roster,
    /// The MCP servers that agents may use.
    pub mcp: McpServers,
}

impl AgentSettings {
    /// Reads the settings from the work tree of a repository.
    pub fn on_disk(environment: &Environment, root: &Path) -> anyhow::Result<AgentSettings> {
        let configuration = Configuration::on_disk_or_default(environment, root)?;
        let file = |path| {
            let text = read_optional(root, path)?;
            text.map(|text| expand_variables(environment, path, &text)).transpose()
        };
        let roster = Roster::parse(file(roster::PATH)?.as_deref(), &configuration.task)?;
        let mcp = file(mcp::PATH)?.map(|text| McpServers::parse(&text)).transpose()?;
        Ok(AgentSettings { configuration, roster, mcp: mcp.unwrap_or_default() })
    }
}
