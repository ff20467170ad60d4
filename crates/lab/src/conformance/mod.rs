//! `cargo xtask conformance`: validates the output of assay with third-party validators, and reads
//! the output of third-party programs.

mod agents;
mod api;
mod browser;
mod commands;
mod dashboard;
mod editor;
mod gitlab;
mod hooks;
mod mcp;
mod musl;
mod packages;
mod plugins;
mod sarif;
mod services;
mod traces;
mod webhooks;
mod workflows;

use std::path::Path;

use anyhow::bail;

/// The result of a check.
enum Outcome {
    Passed,
    Failed(String),
    /// The validator is not available, so the check has no result.
    Unavailable(String),
}

impl Outcome {
    /// Converts an error of an installation into a result.
    fn unavailable(error: &anyhow::Error) -> Outcome {
        Outcome::Unavailable(format!("{error:#}"))
    }

    /// Converts the result of a check.
    fn of(result: anyhow::Result<()>) -> Outcome {
        match result {
            Ok(()) => Outcome::Passed,
            Err(error) => Outcome::Failed(format!("{error:#}")),
        }
    }

    fn line(&self) -> String {
        match self {
            Outcome::Passed => "passed".to_owned(),
            Outcome::Failed(why) => format!("failed: {why}"),
            Outcome::Unavailable(why) => format!("could not be had: {why}"),
        }
    }
}

/// A check with its name.
type Check = (String, Outcome);

/// A suite with its name; it gets the folder of API descriptions, if one is given.
type Suite = (&'static str, fn(Option<&Path>) -> anyhow::Result<Vec<Check>>);

const SUITES: [Suite; 17] = [
    ("sarif", |_| sarif::run()),
    ("commands", |_| commands::run()),
    ("hooks", |_| hooks::run()),
    ("agents", |_| agents::run()),
    ("mcp", |_| mcp::run()),
    ("services", services::run),
    ("gitlab", |_| gitlab::run()),
    ("webhooks", |_| webhooks::run()),
    ("browser", |_| browser::run()),
    ("dashboard", |_| dashboard::run()),
    ("api", |_| api::run()),
    ("editor", |_| editor::run()),
    ("packages", |_| packages::run()),
    ("musl", |_| musl::run()),
    ("traces", |_| traces::run()),
    ("plugins", |_| plugins::run()),
    ("workflows", |_| workflows::run()),
];

/// Runs one suite or all, with a folder of API descriptions for the suites that need it. Returns
/// true if nothing failed.
pub(crate) fn run(name: Option<&str>, descriptions: Option<&Path>) -> anyhow::Result<bool> {
    let mut checks = Vec::new();
    for (suite, run) in SUITES.iter().filter(|(suite, _)| name.is_none_or(|name| name == *suite)) {
        println!("=== {suite}");
        checks.extend(run(descriptions)?.into_iter().map(|check| (suite, check)));
    }
    if checks.is_empty() {
        let names: Vec<&str> = SUITES.iter().map(|(name, _)| *name).collect();
        bail!("there is no such suite; expected one of {}", names.join(", "));
    }
    println!("summary");
    for (suite, (check, outcome)) in &checks {
        println!("  {suite}: {check}: {}", outcome.line());
    }
    Ok(!checks.iter().any(|(_, (_, outcome))| matches!(outcome, Outcome::Failed(_))))
}
