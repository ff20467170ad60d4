//! `cargo xtask soak`: property tests with many more cases than a test run has time for.

use anyhow::bail;

use crate::workspace::command;

/// A suite: the property tests of one package.
struct Suite {
    name: &'static str,
    package: &'static str,
    /// The part of their names that its tests share.
    filter: &'static str,
    /// How many cases each property gets.
    cases: u32,
}

const SUITES: [Suite; 1] =
    [Suite { name: "reading", package: "assay-findings", filter: "properties", cases: 20_000 }];

/// What fixes where a property starts from.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Runs one suite or all; says whether they passed.
pub(crate) fn run(name: Option<&str>) -> anyhow::Result<bool> {
    let mut outcomes = Vec::new();
    for suite in SUITES.iter().filter(|suite| name.is_none_or(|name| name == suite.name)) {
        outcomes.push((suite.name, soak(suite)?));
    }
    if outcomes.is_empty() {
        let names: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        bail!("there is no such suite; expected one of {}", names.join(", "));
    }
    println!("summary");
    for (name, passed) in &outcomes {
        println!("  {name:12}{}", if *passed { "passed" } else { "FAILED" });
    }
    Ok(outcomes.iter().all(|(_, passed)| *passed))
}

fn soak(suite: &Suite) -> anyhow::Result<bool> {
    let seed = std::env::var(SEED).unwrap_or_else(|_| "random".to_owned());
    println!("=== {}: {} cases for each property, {SEED}: {seed}", suite.name, suite.cases);
    let status = command("cargo", &["test", "--release", "--package", suite.package])
        .args(["--test", "it", "--", "--nocapture", suite.filter])
        .env("PROPTEST_CASES", suite.cases.to_string())
        .status()?;
    Ok(status.success())
}
