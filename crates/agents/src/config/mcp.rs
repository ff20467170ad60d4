//! MCP servers that agents may use: `config/mcp-config.json`, in the form that agents read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ConfigError;

/// Where they are configured.
pub const PATH: &str = "config/mcp-config.json";

/// The servers, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServers {
    /// How each is reached.
    #[serde(rename = "mcpServers", default)]
    pub servers: BTreeMap<String, McpServer>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServer {
    /// `stdio`, `http` or `sse`; `stdio` where there is a command.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The program that is the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Its variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The server's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What is sent along to it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

impl McpServers {
    /// Reads the file.
    pub fn parse(text: &str) -> Result<McpServers, ConfigError> {
        let read: McpServers = serde_json::from_str(text)
            .map_err(|error| ConfigError::new(PATH, error.to_string()))?;
        for (name, server) in &read.servers {
            let wrong = match (&server.command, &server.url) {
                (Some(_), Some(_)) => "has both `command` and `url`",
                (None, None) => "has neither `command` nor `url`",
                (Some(_), None) | (None, Some(_)) => continue,
            };
            return Err(ConfigError::new(PATH, format!("`mcpServers.{name}` {wrong}")));
        }
        Ok(read)
    }

    /// The same servers, where each program among them is told these variables as well.
    pub fn knowing(&self, variables: &[(String, String)]) -> McpServers {
        let mut servers = self.clone();
        for server in servers.servers.values_mut().filter(|server| server.command.is_some()) {
            server.env.extend(variables.iter().cloned());
        }
        servers
    }

    /// Writes the servers as agents read them.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("servers are JSON")
    }
}
