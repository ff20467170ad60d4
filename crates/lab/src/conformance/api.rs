//! The HTTP API of `assay serve`, called by schemathesis by its OpenAPI description: no server
//! error, no undocumented answer, no valid request that is refused. Requests without access are
//! refused for every operation.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use assay_testenv::workspace::target_folder;
use assay_testkit::dashboard::{DashboardFixture, TOKEN};
use assay_testkit::webhook;
use serde_json::Value;

use super::{Check, Outcome};
use crate::{peers, workspace};

/// The number of generated requests of each operation and phase.
const MAX_EXAMPLES: &str = "100";

/// The operations with texts that no schema can describe: a reason is refused for its meaning, and a
/// last day after it has passed.
const WITH_REASONS: [&str; 3] = ["dismissFinding", "signOffLoop", "acceptGateItem"];

pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    let program = workspace::assay()?;
    let (with_data, without_data) =
        (DashboardFixture::with_data(&program), DashboardFixture::without_data(&program));
    let refused = Outcome::of(check_refusals(&with_data));
    let mut checks = vec![("requests without access are refused".to_owned(), refused)];
    let schemathesis = peers::schemathesis();
    for (name, fixture) in [("data", &with_data), ("empty", &without_data)] {
        let outcome = match &schemathesis {
            Ok(program) => Outcome::of(run_schemathesis(program, fixture)),
            Err(error) => Outcome::unavailable(error),
        };
        checks.push((format!("schemathesis: all checks, {name}"), outcome));
    }
    Ok(checks)
}

fn run_schemathesis(program: &Path, fixture: &DashboardFixture) -> anyhow::Result<()> {
    let folder = target_folder("conformance/api")?;
    let settings = folder.join("schemathesis.toml");
    fs::write(&settings, WITH_REASONS.map(operation_settings).concat())?;
    let output = Command::new(program)
        .arg("--config-file")
        .arg(&settings)
        .arg("run")
        .arg(fixture.url("/api/v1/openapi.json"))
        .args(["--header", &format!("Authorization: Bearer {TOKEN}")])
        .args(["--checks", "all", "--max-examples", MAX_EXAMPLES, "--seed", "1"])
        .args(["--continue-on-failure", "--no-color"])
        .current_dir(&folder)
        .output()
        .context("could not start `schemathesis`")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let count = said.lines().find(|line| line.contains(" generated"));
    println!("{}", count.unwrap_or_default().trim());
    let failures = said.split_once("= FAILURES =").map_or(said.as_str(), |(_, after)| after);
    ensure!(output.status.success(), "{failures}");
    Ok(())
}

/// Returns the settings of schemathesis for an operation that may answer 400 to a valid request.
fn operation_settings(operation: &str) -> String {
    format!(
        "[[operations]]\ninclude-operation-id = \"{operation}\"\n\
         checks.positive_data_acceptance.expected-statuses = [\"2xx\", \"400\", \"404\", \"409\"]\n"
    )
}

/// Sends each operation without the token, with a wrong one, from another origin, and for another
/// host.
fn check_refusals(fixture: &DashboardFixture) -> anyhow::Result<()> {
    let description = fixture.get("/api/v1/openapi.json");
    let paths = description["paths"].as_object().context("the description has no paths")?;
    let bearer = format!("Bearer {TOKEN}");
    let token = ("authorization", bearer.as_str());
    let cases: [(u16, &[(&str, &str)]); 5] = [
        (401, &[]),
        (401, &[("authorization", "Bearer a-token-for-tests-of-pageS")]),
        (401, &[("authorization", TOKEN)]),
        (403, &[token, ("origin", "https://example.com")]),
        (421, &[token, ("host", "example.com")]),
    ];
    let before = fixture.get("/api/v1/audit");
    for (path, methods) in paths {
        for method in methods.as_object().into_iter().flat_map(|methods| methods.keys()) {
            for (expected, headers) in cases {
                let (method, path) = (method.to_uppercase(), path.replace("{id}", "export"));
                let answer = webhook::send(fixture.address(), &method, &path, headers, b"{}")?;
                let status = answer.status;
                ensure!(status == expected, "{method} {path} with {headers:?}: {status}");
            }
        }
    }
    let after: Value = fixture.get("/api/v1/audit");
    ensure!(after == before, "a refused request reached an action: {after}");
    Ok(())
}
