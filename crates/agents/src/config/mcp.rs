//! The MCP servers that agents may use: `config/mcp-config.json`, in the format of agent programs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ConfigError;

/// The path of the file with the MCP servers, relative to the repository.
pub const PATH: &str = "config/mcp-config.json";

/// The MCP servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServers {
    /// The servers by name.
    #[serde(rename = "mcpServers", default)]
    pub servers: BTreeMap<String, McpServer>,
}

/// The configuration of an MCP server: a command or a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpServer {
    /// The transport: `stdio`, `http` or `sse`; `None` means `stdio` if there is a command.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The program of a server that is started; `None` for a server with a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The arguments of the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The environment variables of the program.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The URL of a running server; `None` for a server with a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The HTTP headers of requests to the URL.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

impl McpServers {
    /// Parses the file. Fails if a server has both a command and a URL, or neither.
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

    /// Returns the servers with additional environment variables for each program.
    pub fn with_variables(&self, variables: &[(String, String)]) -> McpServers {
        let mut servers = self.clone();
        for server in servers.servers.values_mut().filter(|server| server.command.is_some()) {
            server.env.extend(variables.iter().cloned());
        }
        servers
    }

    /// Returns the servers as JSON, in the format of agent programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("servers are JSON")
    }
}
