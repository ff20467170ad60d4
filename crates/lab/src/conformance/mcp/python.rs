//! The Python SDK: a client that calls every tool and validates each result against its schema.

use std::path::Path;

use anyhow::ensure;
use serde_json::json;

use super::fixture::{McpFixture, McpServer, ProgramRun, assay};
use crate::conformance::{Check, Outcome};
use crate::peers;

const CLIENT: &str = include_str!("client.py");

/// The connection modes of the client, and the resulting protocol revision.
const MODES: [(&str, &str); 2] = [("legacy", "2025-11-25"), ("auto", "2026-07-28")];

pub(super) fn run() -> Vec<Check> {
    let python = match peers::mcp_python() {
        Ok(python) => python,
        Err(error) => return vec![("python".to_owned(), Outcome::unavailable(&error))],
    };
    let mut checks = Vec::new();
    for over_http in [false, true] {
        for (mode, revision) in MODES {
            let over = if over_http { "HTTP" } else { "stdio" };
            let outcome = Outcome::of(check(&python, over_http, mode, revision));
            checks.push((format!("python: every tool, {revision}, over {over}"), outcome));
        }
    }
    checks
}

fn check(python: &Path, over_http: bool, mode: &str, revision: &str) -> anyhow::Result<()> {
    let fixture = McpFixture::new("python")?;
    let served = over_http.then(|| McpServer::start(&fixture)).transpose()?;
    let arguments = json!({
        "mode": mode, "revision": revision, "command": assay(),
        "url": served.as_ref().map(|served| &served.url),
        "authorization": served.as_ref().map(McpServer::authorization),
    });
    let mut command = fixture.command(python)?;
    command.args(["-c", CLIENT, &arguments.to_string()]);
    ProgramRun::of(command)?.good()?;
    let tasks = fixture.tasks()?.len();
    ensure!(tasks == 2, "there are {tasks} tasks");
    Ok(())
}
