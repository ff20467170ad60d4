//! The inspector: strict about schemas, in both revisions, over both transports, and with
//! concurrent calls.

use std::path::Path;
use std::process::Command;

use anyhow::ensure;
use serde_json::{Value, json};

use super::fixture::{McpFixture, McpServer, ProgramRun, assay};
use crate::conformance::{Check, Outcome};
use crate::peers;

/// The number of tools.
const TOOLS: usize = 8;

pub(super) fn run() -> Vec<Check> {
    let program = match peers::mcp_inspector() {
        Ok(program) => program,
        Err(error) => return vec![("inspector".to_owned(), Outcome::unavailable(&error))],
    };
    let mut checks = Vec::new();
    for over_http in [false, true] {
        let over = if over_http { "HTTP" } else { "stdio" };
        for era in ["legacy", "modern"] {
            let outcome = Outcome::of(strict(&program, over_http, era));
            checks.push((format!("inspector: strict, {era}, over {over}"), outcome));
        }
        let outcome = Outcome::of(load(&program, over_http));
        checks.push((format!("inspector: load over {over}"), outcome));
    }
    checks
}

/// Returns the command of the inspector for a server.
fn inspector(
    program: &Path,
    fixture: &McpFixture,
    served: Option<&McpServer>,
) -> anyhow::Result<Command> {
    let mut command = fixture.command(program)?;
    command.arg("--cli");
    match served {
        None => command.arg(assay()).args(["mcp", "task-queue"]),
        Some(served) => command
            .args([&served.url, "--transport", "http", "--header"])
            .arg(format!("Authorization: {}", served.authorization())),
    };
    Ok(command)
}

fn strict(program: &Path, over_http: bool, era: &str) -> anyhow::Result<()> {
    let fixture = McpFixture::new("inspector")?;
    let served = over_http.then(|| McpServer::start(&fixture)).transpose()?;
    let mut command = inspector(program, &fixture, served.as_ref())?;
    command.args(["--method", "tools/list", "--strict", "--format", "json", "-q"]);
    command.args(["--protocol-era", era]);
    let ran = ProgramRun::of(command)?;
    ensure!(!ran.stderr.contains("Warning:"), "it warns: {}", ran.stderr);
    let listed: Value = serde_json::from_str(&ran.good()?)?;
    let tools = listed["result"]["tools"].as_array().map_or(0, Vec::len);
    ensure!(tools == TOOLS, "{tools} tools are listed");
    Ok(())
}

/// Calls a tool that reads and one that writes, ten at a time: no call fails, and no write is lost.
fn load(program: &Path, over_http: bool) -> anyhow::Result<()> {
    let fixture = McpFixture::new("inspector")?;
    let served = over_http.then(|| McpServer::start(&fixture)).transpose()?;
    let task = json!({
        "agent_id": "qa", "task_type": "review", "title": "One of many", "description": "d",
    });
    for (tool, arguments, calls) in
        [("get_queue_status", json!({}), 500), ("queue_task_for_agent", task, 90)]
    {
        let mut command = inspector(program, &fixture, served.as_ref())?;
        command.args(["--method", "tools/call", "--tool-name", tool, "-q"]);
        command.args(["--tool-args-json", &arguments.to_string()]);
        command.args(["--load", "--load-requests", &calls.to_string()]);
        let told: Value = serde_json::from_str(&ProgramRun::of(command)?.good()?)?;
        println!("  {tool}: {} calls, {} a second", told["ok"], told["throughput"]);
        let is_good = told["ok"] == calls && told["errors"] == 0;
        ensure!(is_good && told["toolErrors"] == 0, "{tool}: {told}");
    }
    let tasks = fixture.tasks()?.len();
    ensure!(tasks == 90, "there are {tasks} tasks");
    Ok(())
}
