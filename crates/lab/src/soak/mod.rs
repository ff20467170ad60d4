//! `cargo xtask soak`: counted suites at full size, which take too long for a test run.

mod agents;
mod gates;
mod kept_tests;
mod properties;
mod qa;
mod queue;
mod typing;
mod webhooks;

use anyhow::bail;

pub(crate) use self::queue::work;

/// Runs one suite or all. Returns true if they passed.
pub(crate) fn run(name: Option<&str>, seed: u64) -> anyhow::Result<bool> {
    let known: Vec<&str> = properties::names()
        .into_iter()
        .chain(["agents", "gates", "kept", "qa", "queue", "typing", "webhooks"])
        .collect();
    let suites: Vec<&str> =
        known.iter().copied().filter(|suite| name.is_none_or(|name| name == *suite)).collect();
    if suites.is_empty() {
        bail!("there is no such suite; expected one of {}", known.join(", "));
    }
    let mut outcomes = Vec::new();
    for suite in suites {
        let parts = match suite {
            "agents" => agents::run(seed)?,
            "gates" => gates::run(seed)?,
            "kept" => kept_tests::run(seed)?,
            "qa" => qa::run(seed)?,
            "queue" => queue::run(seed)?,
            "typing" => typing::run(seed)?,
            "webhooks" => webhooks::run(seed)?,
            properties => properties::run(properties, seed)?,
        };
        outcomes.extend(parts.into_iter().map(|(part, passed)| (suite, part, passed)));
    }
    println!("summary");
    for (name, part, passed) in &outcomes {
        println!("  {name:12}{part:44}{}", if *passed { "passed" } else { "FAILED" });
    }
    Ok(outcomes.iter().all(|(_, _, passed)| *passed))
}
