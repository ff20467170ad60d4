//! What stays up: MCP servers.
