//! The official conformance suite, except for scenarios that need special tools.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::fixture::{McpFixture, McpServer, ProgramRun};
use crate::conformance::{Check, Outcome};
use crate::peers;

/// The scenarios that apply to a server of tools, by revision. Prompts and resources are not
/// offered, and requests for their lists are refused (-32601).
const SCENARIOS: [(&str, &[&str]); 2] = [
    (
        "2025-11-25",
        &[
            "server-initialize", "server-session-lifecycle", "ping", "tools-list",
            "tools-call-error", "server-sse-multiple-streams", "dns-rebinding-protection",
        ],
    ),
    (
        "2026-07-28",
        &[
            "tools-list",
            "tools-call-error",
            "server-sse-multiple-streams",
            "dns-rebinding-protection",
            "server-stateless",
            "caching",
            "http-header-validation",
            "sep-2164-resource-not-found",
            "input-required-result-unsupported-methods",
            "input-required-result-ignore-extra-params",
        ],
    ),
];

/// The checks that are expected to fail, with the reasons.
const EXPECTED: &str = include_str!("expected-failures.yaml");

pub(super) fn run() -> Vec<Check> {
    let program = peers::mcp_conformance();
    let program = match program {
        Ok(program) => program,
        Err(error) => return vec![("official suite".to_owned(), Outcome::unavailable(&error))],
    };
    let fixture = McpFixture::new("official")
        .and_then(|fixture| Ok((McpServer::start_without_token(&fixture)?, fixture)));
    let (served, fixture) = match fixture {
        Ok(fixture) => fixture,
        Err(error) => return vec![("official suite".to_owned(), Outcome::of(Err(error)))],
    };
    let mut checks = Vec::new();
    for (revision, scenarios) in SCENARIOS {
        for scenario in scenarios {
            let checked = check(&fixture, &served, &program, revision, scenario);
            let but = match checked {
                Ok(failures @ 1..) => format!(" (but for {failures} that cannot)"),
                Ok(0) | Err(_) => String::new(),
            };
            let outcome = Outcome::of(checked.map(|_| ()));
            checks.push((format!("official suite {revision}: {scenario}{but}"), outcome));
        }
    }
    checks
}

/// Runs a scenario, and returns the number of checks that fail as expected.
fn check(
    fixture: &McpFixture,
    served: &McpServer,
    program: &Path,
    revision: &str,
    scenario: &str,
) -> anyhow::Result<usize> {
    let results = fixture.folder().with_file_name(format!("{revision}-{scenario}"));
    if results.exists() {
        fs::remove_dir_all(&results)?;
    }
    let mut command = fixture.command(program)?;
    command.args(["server", "--url", &served.url, "--spec-version", revision]);
    command.args(["--scenario", scenario, "--output-dir"]).arg(&results);
    let ran = ProgramRun::of(command)?;
    let Some(folder) = fs::read_dir(&results).ok().and_then(|mut found| found.next()) else {
        bail!("nothing was checked: {}{}", ran.stdout, ran.stderr);
    };
    let checks = fs::read(folder?.path().join("checks.json"))?;
    let checks: Vec<Value> = serde_json::from_slice(&checks)?;
    let failed = checks.iter().filter(|check| check["status"] == "FAILURE");
    let failed: Vec<&str> = failed.filter_map(|check| check["id"].as_str()).collect();
    let passed = checks.iter().filter(|check| check["status"] == "SUCCESS").count();
    println!("  {revision} {scenario}: {passed} of {} passed", checks.len());
    ensure!(passed > 0, "nothing passed");
    compare(scenario, &failed)?;
    Ok(failed.len())
}

/// Compares the failed checks with the expected ones.
fn compare(scenario: &str, failed: &[&str]) -> anyhow::Result<()> {
    let expected: Vec<Value> =
        serde_saphyr::from_str(EXPECTED).context("expected-failures.yaml")?;
    let expected = expected.iter().filter(|entry| entry["scenario"] == scenario);
    let expected: Vec<&str> = expected.filter_map(|entry| entry["check"].as_str()).collect();
    for check in failed {
        ensure!(expected.contains(check), "`{check}` failed");
    }
    for check in expected {
        ensure!(failed.contains(&check), "`{check}` was expected to fail, and passes");
    }
    Ok(())
}
