//! The server `github`, called by the Python SDK and listed by the inspector, with a fake GitHub.

use std::path::Path;
use std::sync::Arc;

use anyhow::ensure;
use assay_testkit::github::{self as fake, Access, NewPull, sha};
use serde_json::{Value, json};

use super::fixture::{McpFixture, ProgramRun, assay};
use crate::conformance::{Check, Outcome};
use crate::peers;

const CLIENT: &str = include_str!("github.py");

/// The number of tools.
const TOOLS: usize = 11;

const REPO: &str = "octo/demo";
const TOKEN: &str = "t-conformance";

const DIFF: &str = "diff --git a/src/a.rs b/src/a.rs\nnew file mode 100644\n--- /dev/null\n\
                    +++ b/src/a.rs\n@@ -0,0 +1,2 @@\n+one\n+two\n";

/// The connection modes of the client, and the resulting protocol revision.
const MODES: [(&str, &str); 2] = [("legacy", "2025-11-25"), ("auto", "2026-07-28")];

pub(super) fn run() -> Vec<Check> {
    let mut checks = Vec::new();
    match peers::mcp_python() {
        Err(error) => checks.push(("github: python".to_owned(), Outcome::unavailable(&error))),
        Ok(python) => {
            for (mode, revision) in MODES {
                for what in ["tools", "permission", "down"] {
                    let outcome = Outcome::of(call(&python, what, mode, revision));
                    checks.push((format!("github: python, {what}, {revision}"), outcome));
                }
            }
        }
    }
    match peers::mcp_inspector() {
        Err(error) => checks.push(("github: inspector".to_owned(), Outcome::unavailable(&error))),
        Ok(inspector) => {
            for era in ["legacy", "modern"] {
                let outcome = Outcome::of(list(&inspector, era));
                checks.push((format!("github: inspector, strict, {era}"), outcome));
                let outcome = Outcome::of(inspect(&inspector, era));
                checks.push((format!("github: inspector, calls, {era}"), outcome));
            }
        }
    }
    checks
}

/// A repository that is configured for a fake GitHub with a pull request.
struct GithubFixture {
    fixture: McpFixture,
    github: Arc<fake::GitHub>,
    served: fake::Server,
}

impl GithubFixture {
    fn new() -> anyhow::Result<GithubFixture> {
        let github = Arc::new(fake::GitHub::new(Arc::new(fake::GitHubClock::real())));
        github.add_repository(REPO);
        github.add_token("assay-bot", TOKEN, Access::User);
        github.open_pull(REPO, NewPull::new("ann", "feature", &sha("head"), DIFF));
        let served = Arc::clone(&github).serve();
        let fixture = McpFixture::new("github")?;
        let text = format!(
            "github: {{ url: \"{}\", token_env: DEMO_TOKEN, repositories: [{REPO}] }}\n",
            served.url()
        );
        std::fs::create_dir_all(fixture.folder().join("config"))?;
        std::fs::write(fixture.folder().join("config/agent-framework.yaml"), text)?;
        Ok(GithubFixture { fixture, github, served })
    }
}

fn call(python: &Path, what: &str, mode: &str, revision: &str) -> anyhow::Result<()> {
    let GithubFixture { fixture, github, served } = GithubFixture::new()?;
    let served = Some(served).filter(|_| what != "down");
    let arguments = json!({
        "what": what, "mode": mode, "revision": revision, "command": assay(),
        "env": { "DEMO_TOKEN": TOKEN, "HOME": fixture.home() },
    });
    let mut command = fixture.command(python)?;
    command.args(["-c", CLIENT, &arguments.to_string()]);
    ProgramRun::of(command)?.good()?;
    drop(served);
    let written = github.log().iter().filter(|logged| logged.took_effect).count();
    let expected = if what == "tools" { 6 } else { 0 };
    ensure!(written == expected, "{written} things were written");
    Ok(())
}

fn list(inspector: &Path, era: &str) -> anyhow::Result<()> {
    let GithubFixture { fixture, .. } = GithubFixture::new()?;
    let mut command = fixture.command(inspector)?;
    command.arg("--cli").arg(assay()).args(["mcp", "github"]);
    command.args(["--method", "tools/list", "--strict", "--format", "json", "-q"]);
    command.args(["--protocol-era", era]);
    let ran = ProgramRun::of(command)?;
    ensure!(!ran.stderr.contains("Warning:"), "it warns: {}", ran.stderr);
    let listed: Value = serde_json::from_str(&ran.good()?)?;
    let tools = listed["result"]["tools"].as_array().map_or(0, Vec::len);
    ensure!(tools == TOOLS, "{tools} tools are listed");
    Ok(())
}

/// Calls a tool that reads, with valid and with invalid arguments.
fn inspect(inspector: &Path, era: &str) -> anyhow::Result<()> {
    let GithubFixture { fixture, github, served: _served } = GithubFixture::new()?;
    for (arguments, is_error) in
        [(json!({ "pr_number": 1 }), false), (json!({ "pr_number": 0 }), true)]
    {
        let mut command = fixture.command(inspector)?;
        command.arg("--cli").arg(assay()).args(["mcp", "github"]);
        command.args(["-e", &format!("DEMO_TOKEN={TOKEN}"), "--protocol-era", era]);
        command.args(["--method", "tools/call", "--tool-name", "github_get_pr"]);
        command.args(["--tool-args-json", &arguments.to_string(), "--format", "json", "-q"]);
        let ran = ProgramRun::of(command)?;
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let told: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        let told = if told["result"].is_object() { &told["result"] } else { &told };
        ensure!(told["isError"] == is_error, "{arguments}: {said}");
    }
    let asked = github.log().len();
    ensure!(asked == 1, "GitHub was asked {asked} times");
    Ok(())
}
