//! GraphQL queries, validated against GitHub's schema by the reference implementation.

use anyhow::{Context, ensure};
use assay_services::github::OPERATIONS;
use assay_testenv::workspace::command;
use serde_json::json;

use crate::conformance::{Check, Outcome};
use crate::peers;
use crate::workspace::output;

/// Prints the errors of each query, a line for each error. Duplicate fields in GitHub's own schema
/// are ignored.
const SCRIPT: &str = r#"
const fs = require("fs");
const { buildSchema, parse, validate } = require("graphql");
const text = fs.readFileSync(process.argv[1], "utf8");
const schema = buildSchema(text, { assumeValidSDL: true });
for (const text of JSON.parse(process.argv[2])) {
  for (const error of validate(schema, parse(text))) console.log(error.message);
}
"#;

pub(super) fn run() -> Vec<Check> {
    let folder = match peers::github_graphql() {
        Ok(folder) => folder,
        Err(error) => return vec![("GraphQL".to_owned(), Outcome::unavailable(&error))],
    };
    let faults = |texts: &[String]| -> anyhow::Result<String> {
        let schema = folder.join("node_modules/@octokit/graphql-schema/schema.graphql");
        let mut node = command("node", &["-e", SCRIPT]);
        node.current_dir(&folder).arg(schema).arg(json!(texts).to_string());
        output(node)
    };
    let mut checks: Vec<Check> = OPERATIONS
        .iter()
        .map(|operation| {
            let check = || {
                let faults = faults(&[operation.text.to_owned()])?;
                ensure!(faults.is_empty(), "{}", faults.trim());
                Ok(())
            };
            (format!("GraphQL: {}", operation.name), Outcome::of(check()))
        })
        .collect();
    let misspelt = || {
        let text = OPERATIONS[0].text.replacen("isResolved", "isResolvd", 1);
        let faults = faults(&[text])?;
        let first = faults.lines().next().context("it was taken")?;
        ensure!(first.contains("isResolvd"), "{first}");
        Ok(())
    };
    checks.push(("refused: GraphQL with a misspelt field".to_owned(), Outcome::of(misspelt())));
    checks
}
