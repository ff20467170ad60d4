//! Linear: every query of the client, validated against Linear's schema.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use assay_base::clock::Clock;
use assay_sandbox::{Key, KeySource, Keys};
use assay_services::http::{HttpTransport, SystemClock};
use assay_services::linear::{Linear, LinearId, OPERATIONS};
use assay_testenv::workspace::{command, target_folder};
use assay_testkit::linear::{FakeLinear, KEY, TEAM_KEY};
use serde_json::json;

use super::{Check, Outcome, description};
use crate::peers;
use crate::workspace::output;

/// The file name of Linear's schema.
const SCHEMA: &str = "linear.graphql";

/// Validates requests against the schema, and answers them from a mock of it.
const SCRIPT: &str = include_str!("linear.cjs");

pub(super) fn run(folder: Option<&Path>) -> Vec<Check> {
    let outcome = match description(folder, SCHEMA) {
        Err(outcome) => outcome,
        Ok(schema) => match peers::graphql() {
            Err(error) => Outcome::unavailable(&error),
            Ok(modules) => Outcome::of(judge(&schema, &modules)),
        },
    };
    vec![("Linear, every request by its schema".to_owned(), outcome)]
}

/// Makes every request of the product, and returns the bodies.
fn requests() -> anyhow::Result<Vec<serde_json::Value>> {
    let fake = FakeLinear::default();
    let wire = HttpTransport::new(fake.serve().url().parse()?, Duration::from_secs(30));
    let value = Some(Key::new(KEY));
    let keys = Keys::new(KeySource::Variable { name: "KEY".to_owned(), value });
    let clock = SystemClock::new(&Clock::system(), Duration::ZERO, |_| ());
    let linear = Linear::new(Arc::new(wire), Arc::new(keys), TEAM_KEY, Arc::new(clock));
    let issue =
        linear.get_or_create_issue(&LinearId::from_digest([1; 16]), "001-login", "A spec")?;
    linear.issue(&issue.identifier)?;
    linear.move_to(&issue, "In Review")?;
    linear.comment_once(&issue, &LinearId::from_digest([2; 16]), "Validation started.")?;
    let asked = fake.asked();
    let left_out = OPERATIONS.iter().find(|it| !asked.iter().any(|name| name == it.name));
    match left_out {
        Some(operation) => bail!("`{}` was not asked", operation.name),
        None => Ok(fake.sent()),
    }
}

fn judge(schema: &Path, modules: &Path) -> anyhow::Result<()> {
    let folder = target_folder("conformance")?;
    let (script, file) = (modules.join("linear.cjs"), folder.join("linear.json"));
    std::fs::write(&script, SCRIPT)?;
    let requests = requests()?;
    std::fs::write(&file, json!(requests).to_string())?;
    let mut node = command("node", &[]);
    node.args([script.as_path(), schema, &file]);
    let said = output(node)?;
    match said.trim() {
        "" => {
            println!("{} requests were taken", requests.len());
            Ok(())
        }
        said => bail!("{said}"),
    }
}
