//! Property tests with many more cases than a test run has.

use assay_testenv::workspace::command;

/// A suite: property tests that belong together.
struct Suite {
    name: &'static str,
    parts: &'static [Part],
}

/// The property tests of one package.
struct Part {
    package: &'static str,
    /// The target of the tests, as an option of cargo.
    target: &'static str,
    /// The common part of the names of the tests.
    filter: &'static str,
    /// The number of cases of each property.
    cases: u32,
}

const IT: &str = "--test=it";
const LIB: &str = "--lib";

const SUITES: [Suite; 6] = [
    Suite {
        name: "reading",
        parts: &[Part {
            package: "assay-findings",
            target: IT,
            filter: "properties",
            cases: 20_000,
        }],
    },
    Suite {
        name: "damage",
        parts: &[Part {
            package: "assay-findings",
            target: IT,
            filter: "damage",
            cases: 1_000_000,
        }],
    },
    Suite {
        name: "posting",
        parts: &[Part {
            package: "assay-services",
            target: IT,
            filter: "schedules",
            cases: 10_000,
        }],
    },
    Suite {
        name: "changes",
        parts: &[
            // Each case creates a repository and runs git a dozen times.
            Part { package: "assay-change", target: IT, filter: "numstat", cases: 600 },
            Part { package: "assay-review", target: IT, filter: "properties", cases: 20_000 },
        ],
    },
    Suite {
        name: "editor",
        parts: &[
            // Each case creates a repository, and reviews it after each of about 12 edits.
            Part { package: "assay-engine", target: LIB, filter: "any_edits", cases: 200 },
            Part { package: "assay-change", target: IT, filter: "any_unsaved", cases: 600 },
            Part { package: "assay-serve", target: LIB, filter: "lsp", cases: 20_000 },
        ],
    },
    Suite {
        name: "hostile",
        parts: &[
            Part { package: "assay-checks", target: IT, filter: "hostile", cases: 20_000 },
            Part { package: "assay-rules", target: IT, filter: "injection", cases: 10_000 },
            Part { package: "assay-rules", target: LIB, filter: "credentials", cases: 10_000 },
            Part { package: "assay-review", target: LIB, filter: "lookup", cases: 5_000 },
            Part { package: "assay-models", target: LIB, filter: "budget", cases: 5_000 },
            Part { package: "assay-models", target: LIB, filter: "sse", cases: 20_000 },
        ],
    },
];

/// The variable with the seed of a property.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Returns the names of the suites.
pub(super) fn names() -> Vec<&'static str> {
    SUITES.iter().map(|suite| suite.name).collect()
}

/// Runs a suite. Returns the result of each part.
pub(super) fn run(name: &str, damage_seed: u64) -> anyhow::Result<Vec<(String, bool)>> {
    let mut outcomes = Vec::new();
    for suite in SUITES.iter().filter(|suite| name == suite.name) {
        for part in suite.parts {
            outcomes.push((part.package.to_owned(), soak(suite.name, part, damage_seed)?));
        }
    }
    Ok(outcomes)
}

fn soak(suite: &str, part: &Part, damage_seed: u64) -> anyhow::Result<bool> {
    let seed = std::env::var(SEED).unwrap_or_else(|_| "random".to_owned());
    let Part { package, target, filter, cases } = part;
    println!(
        "=== {suite}, {package}: {cases} cases for each property, {SEED}: {seed}, seed of damage: \
         {damage_seed}"
    );
    let status = command("cargo", &["test", "--release", "--package", package])
        .args([target, "--", "--nocapture", filter])
        .env("PROPTEST_CASES", cases.to_string())
        .env("ASSAY_DAMAGE_MUTATIONS", cases.to_string())
        .env("ASSAY_DAMAGE_SEED", damage_seed.to_string())
        .status()?;
    Ok(status.success())
}
