//! The server `jira`, called by the Python SDK, with a fake JIRA.

use std::net::TcpListener;
use std::path::Path;

use anyhow::ensure;
use assay_testkit::jira::{FakeJira, TOKEN, USER};
use serde_json::json;

use super::fixture::{McpFixture, ProgramRun, assay};
use crate::conformance::{Check, Outcome};
use crate::peers;

const CLIENT: &str = include_str!("jira.py");

/// The connection modes of the client, and the resulting protocol revision.
const MODES: [(&str, &str); 2] = [("legacy", "2025-11-25"), ("auto", "2026-07-28")];

pub(super) fn run() -> Vec<Check> {
    let python = match peers::mcp_python() {
        Ok(python) => python,
        Err(error) => return vec![("jira: python".to_owned(), Outcome::unavailable(&error))],
    };
    let mut checks = Vec::new();
    for (mode, revision) in MODES {
        for what in ["tools", "permission", "down"] {
            let outcome = Outcome::of(call(&python, what, mode, revision));
            checks.push((format!("jira: python, {what}, {revision}"), outcome));
        }
    }
    checks
}

fn call(python: &Path, what: &str, mode: &str, revision: &str) -> anyhow::Result<()> {
    let jira = FakeJira::cloud();
    let url = match what {
        "down" => format!("http://{}", TcpListener::bind("127.0.0.1:0")?.local_addr()?),
        _ => jira.serve().url(),
    };
    let fixture = McpFixture::new("jira")?;
    let text = format!(
        "jira: {{ url: \"{url}\", user: \"{USER}\", token_env: DEMO_TOKEN, project: PROJ }}\n"
    );
    std::fs::create_dir_all(fixture.folder().join("config"))?;
    std::fs::write(fixture.folder().join("config/agent-framework.yaml"), text)?;
    let arguments = json!({
        "what": what, "mode": mode, "revision": revision, "command": assay(),
        "env": { "DEMO_TOKEN": TOKEN, "HOME": fixture.home() },
    });
    let mut command = fixture.command(python)?;
    command.args(["-c", CLIENT, &arguments.to_string()]);
    ProgramRun::of(command)?.good()?;
    let written = jira.writes().len();
    ensure!((what == "tools") == (written > 0), "{written} things were written");
    Ok(())
}
