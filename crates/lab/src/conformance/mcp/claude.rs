//! `claude` between our server and a fake model: the model calls a tool, and the task is queued.

use std::process::Command;

use anyhow::{Context, ensure};
use assay_testkit::model::{Answer, FakeModel, PromptRequest};
use serde_json::{Value, json};

use super::fixture::{McpFixture, McpServer, ProgramRun, assay};
use crate::conformance::{Check, Outcome, agents};

/// The name of the tool in `claude`.
const TOOL: &str = "mcp__task-queue__queue_task_for_agent";

pub(super) fn run() -> Vec<Check> {
    let path = match agents::claude() {
        Ok(path) => path,
        Err(error) => return vec![("claude".to_owned(), Outcome::unavailable(&error))],
    };
    let mut checks = Vec::new();
    for (over, over_http) in [("stdio", false), ("HTTP", true)] {
        let outcome = Outcome::of(check(&path, over_http));
        checks.push((format!("claude: queues a task over {over}"), outcome));
    }
    checks
}

/// Calls the tool, and reports success once it has the result.
fn answer(asked: &PromptRequest) -> Answer {
    let has_tool = asked.body["tools"].to_string().contains(TOOL);
    match asked.user.contains("review-qa-") {
        true => Answer::text("The task is queued."),
        false if has_tool => Answer::call(
            TOOL,
            &json!({
                "agent_id": "qa", "task_type": "review", "title": "Review PR #456",
                "description": "Check security.", "context": { "pr_number": 456 },
            }),
        ),
        false => Answer::text("There is no such tool."),
    }
}

fn check(path: &str, over_http: bool) -> anyhow::Result<()> {
    let model = FakeModel::start(answer);
    let fixture = McpFixture::new("claude")?;
    let served = over_http.then(|| McpServer::start(&fixture)).transpose()?;
    let server = match &served {
        None => json!({ "command": assay(), "args": ["mcp", "task-queue"] }),
        Some(served) => json!({
            "type": "http", "url": served.url,
            "headers": { "Authorization": served.authorization() },
        }),
    };
    let servers = json!({ "mcpServers": { "task-queue": server } });
    let result = ClaudeOptions { path, model: &model, servers, tools: TOOL }
        .ask(&fixture, "Queue a review of pull request 456.")?;
    ensure!(result == "The task is queued.", "it said: {result}");
    let tasks = fixture.tasks()?;
    let [task] = tasks.as_slice() else { anyhow::bail!("there are {} tasks", tasks.len()) };
    ensure!(task["title"] == "Review PR #456" && task["context"]["pr_number"] == 456, "{task}");
    Ok(())
}

/// The options of a run of `claude`.
pub(super) struct ClaudeOptions<'a> {
    /// The folder of the program.
    pub(super) path: &'a str,
    pub(super) model: &'a FakeModel,
    pub(super) servers: Value,
    /// The tools that it may call without permission.
    pub(super) tools: &'a str,
}

impl ClaudeOptions<'_> {
    /// Runs `claude` with a prompt, and returns its final answer.
    pub(super) fn ask(&self, fixture: &McpFixture, what: &str) -> anyhow::Result<String> {
        let said = ProgramRun::of(self.command(fixture, what)?)?.good()?;
        let lines: Vec<Value> =
            said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let find = |kind: &str| lines.iter().find(|line| line["type"] == kind);
        let begun = find("system").context("it said nothing of its servers")?;
        ensure!(begun["mcp_servers"][0]["status"] == "connected", "{}", begun["mcp_servers"]);
        let result = find("result").context("it came to no result")?;
        ensure!(result["is_error"] == false, "it failed: {result}");
        Ok(result["result"].as_str().unwrap_or_default().to_owned())
    }

    fn command(&self, fixture: &McpFixture, what: &str) -> anyhow::Result<Command> {
        let own = std::env::var("PATH").unwrap_or_default();
        let mut command = fixture.command("claude".as_ref())?;
        command
            .args(["-p", what, "--output-format", "stream-json"])
            .args(["--verbose", "--mcp-config", &self.servers.to_string(), "--strict-mcp-config"])
            .args(["--allowedTools", self.tools])
            .env("PATH", format!("{}:{own}", self.path))
            .env("ANTHROPIC_BASE_URL", self.model.url())
            .env("ANTHROPIC_API_KEY", "fake")
            .envs([("ENABLE_TOOL_SEARCH", "false"), ("DISABLE_AUTOUPDATER", "1")])
            .envs([
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("CLAUDE_CODE_MAX_RETRIES", "1"),
            ])
            .env("API_TIMEOUT_MS", "20000");
        Ok(command)
    }
}
