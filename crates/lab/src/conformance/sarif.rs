//! SARIF, validated by Microsoft's validator and by the schema of the standard.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, bail};
use assay_testenv::workspace::{command, root, target, target_folder};
use serde_json::{Value, json};

use super::{Check, Outcome};
use crate::peers;
use crate::workspace::output;

/// Warnings of the validator that assay accepts, each with the reason.
const ACCEPTED: &[(&str, &str)] = &[
    ("Warning_ProvideToolnformationUri", "assay has no address of its own to point at"),
    (
        "Warning_MissingRegion",
        "a finding without a line is about the file, and gets no made-up one",
    ),
];

/// The path of the standard's schema, which the tests use as well.
const SCHEMA: &str = "crates/findings/tests/fixtures/sarif-2.1.0.schema.json";

const SCHEMA_SCRIPT: &str = r#"
import json
import sys

import jsonschema

document, schema = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
validator = jsonschema.validators.validator_for(schema)(schema)
for error in validator.iter_errors(document):
    print("/" + "/".join(map(str, error.absolute_path)), error.message[:200])
"#;

/// Writes a SARIF file as a user does, and validates it.
pub(super) fn run() -> anyhow::Result<Vec<Check>> {
    let folder = target_folder("conformance")?;
    let document = write_document(&folder)?;
    Ok(vec![
        ("sarif-multitool".to_owned(), multitool(&folder, &document)),
        ("JSON schema".to_owned(), schema(&folder, &document)),
    ])
}

// ---- the document

/// The files of the reviewed tree.
const TREE: [(&str, &str); 3] = [
    ("src/api.rs", "fn id(query: &str) -> u32 {\n    query.parse().unwrap()\n}\n"),
    ("docs/Getting Started.md", "# Getting started\n\nRun `make install` as root.\n"),
    ("src/größe.rs", "pub fn größe(s: &str) -> usize {\n    s.len() // «naïve» → 6\n}\n"),
];

fn write_document(folder: &Path) -> anyhow::Result<PathBuf> {
    let tree = folder.join("tree");
    for (path, text) in TREE {
        let path = tree.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(&tree))?;
        std::fs::write(path, text)?;
    }
    let review = folder.join("correctness.json");
    std::fs::write(&review, report().to_string())?;
    let status = command("cargo", &["build", "--quiet", "--package", "assay"]).status()?;
    if !status.success() {
        bail!("assay does not build");
    }
    let synthesis = assay(&["findings", "synthesize", "--tree"], &[&tree, &review], "")?;
    let sarif = assay(&["findings", "render", "--as", "sarif"], &[], &synthesis)?;
    let document = folder.join("review.sarif");
    std::fs::write(&document, sarif)?;
    Ok(document)
}

/// Runs the `assay` binary that was just built, with a text on stdin.
fn assay(args: &[&str], paths: &[&Path], input: &str) -> anyhow::Result<String> {
    let binary = target().join("debug/assay");
    let mut child = command(&binary.to_string_lossy(), args)
        .args(paths)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("could not start assay")?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("`assay {}` ended with {}", args.join(" "), output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns a report with findings of several kinds: with and without a line, with a blank or an
/// umlaut in the path, with and without a fix.
fn report() -> Value {
    let finding = |title: &str, file: &str, line: Option<u32>, more: Value| {
        let mut finding = json!({
            "title": title,
            "severity": "P1",
            "file": file,
            "why_it_matters": format!("{title}, which breaks «production» & <everything> in it 🚨."),
            "autofix_class": "gated_auto",
            "owner": "downstream-resolver",
            "requires_verification": true,
            "suggested_fix": null,
            "confidence": 100,
            "evidence": [],
            "pre_existing": false,
        });
        if let (Some(object), Some(more)) = (finding.as_object_mut(), more.as_object()) {
            object.extend(line.map(|line| ("line".to_owned(), json!(line))));
            object.extend(more.clone());
        }
        finding
    };
    json!({
        "reviewer": "correctness",
        "findings": [
            finding("A request without an id panics", "src/api.rs", Some(2), json!({
                "evidence": ["query.parse().unwrap()"],
                "suggested_fix": "query.parse().map_err(|_| Error::BadId)?",
                "category": "correctness",
            })),
            finding("Everybody may call `id`", "src/api.rs", Some(1), json!({
                "severity": "P0", "category": "security", "evidence": ["fn id(query: &str)"],
            })),
            finding("Installs as root", "docs/Getting Started.md", Some(3), json!({
                "severity": "P2", "category": "security", "evidence": ["Run `make install` as root."],
            })),
            finding("Counts bytes, not characters", "src/größe.rs", Some(2), json!({
                "severity": "P3", "evidence": ["s.len() // «naïve» → 6"],
            })),
            finding("No test covers the whole file", "src/api.rs", None, json!({
                "severity": "P0", "category": "testing",
            })),
        ],
        "residual_risks": ["Load was not measured."],
        "testing_gaps": [],
    })
}

// ---- Microsoft's validator

fn multitool(folder: &Path, document: &Path) -> Outcome {
    let program = match install_multitool() {
        Ok(program) => program,
        Err(error) => return Outcome::unavailable(&error),
    };
    match validate(&program, folder, document) {
        Ok(remarks) => judge(&remarks),
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}

/// Installs the validator and returns its native program, which needs no other runtime.
fn install_multitool() -> anyhow::Result<PathBuf> {
    let package = "@microsoft/sarif-multitool";
    let folder = peers::npm("sarif-multitool", package, peers::SARIF_MULTITOOL)?;
    let program = folder.join("node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool");
    if !program.is_file() {
        bail!("the package has no program for this system");
    }
    make_executable(&program)?;
    Ok(program)
}

/// Sets the executable bit as the package's install script does, since npm may be configured not to
/// run it.
#[cfg(unix)]
fn make_executable(program: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(program, permissions).context("could not make it executable")
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> anyhow::Result<()> {
    Ok(())
}

/// A message of the validator.
struct Remark {
    level: String,
    /// The rule of the validator, and the id of its message.
    rule: String,
    kind: String,
    message: String,
}

/// Runs the validator, whose exit code is meaningless, and reads its output file.
fn validate(program: &Path, folder: &Path, document: &Path) -> anyhow::Result<Vec<Remark>> {
    let written = folder.join("validation.sarif");
    if written.exists() {
        std::fs::remove_file(&written)?;
    }
    let mut validator = command(&program.to_string_lossy(), &["validate"]);
    validator.arg(document).args(["--rule-kind", "Sarif;Ghas", "--log", "ForceOverwrite"]);
    validator.args(["--level", "Error;Warning", "--output"]).arg(&written);
    // Otherwise it looks for a library that English does not need.
    validator.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
    println!("{}", output(validator)?.trim_end());
    let log: Value =
        serde_json::from_slice(&std::fs::read(&written).context("the validator wrote no result")?)?;
    let runs = log["runs"].as_array().context("the validator's result has no runs")?;
    let results = runs.iter().filter_map(|run| run["results"].as_array()).flatten();
    Ok(results.map(remark).collect())
}

fn remark(result: &Value) -> Remark {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let arguments = result["message"]["arguments"].as_array();
    let shown: Vec<&str> = arguments.into_iter().flatten().filter_map(Value::as_str).collect();
    Remark {
        level: text(&result["level"]).unwrap_or_else(|| "warning".to_owned()),
        rule: text(&result["ruleId"]).unwrap_or_default(),
        kind: text(&result["message"]["id"]).unwrap_or_default(),
        message: text(&result["message"]["text"]).unwrap_or_else(|| shown.join(" | ")),
    }
}

fn judge(remarks: &[Remark]) -> Outcome {
    let mut refused = 0;
    for Remark { level, rule, kind, message } in remarks {
        let reason = ACCEPTED.iter().find(|(accepted, _)| level != "error" && accepted == kind);
        match reason {
            Some((_, reason)) => println!("{level} {rule} {kind}, accepted: {reason}"),
            None => {
                refused += 1;
                println!("{level} {rule} {kind}: {message}");
            }
        }
    }
    match refused {
        0 => Outcome::Passed,
        _ => Outcome::Failed(format!("{refused} remarks")),
    }
}

// ---- the schema

fn schema(folder: &Path, document: &Path) -> Outcome {
    let schema = root().join(SCHEMA);
    if !schema.is_file() {
        return Outcome::Unavailable(format!("there is no `{SCHEMA}`"));
    }
    let python = match peers::pip("jsonschema", peers::JSONSCHEMA) {
        Ok(python) => python,
        Err(error) => return Outcome::unavailable(&error),
    };
    let script = folder.join("schema.py");
    let printed = std::fs::write(&script, SCHEMA_SCRIPT).map_err(Into::into).and_then(|()| {
        let mut command = command(&python.to_string_lossy(), &[]);
        command.args([&script, document, &schema]);
        output(command)
    });
    match printed {
        Ok(printed) if printed.trim().is_empty() => Outcome::Passed,
        Ok(printed) => {
            println!("{}", printed.trim_end());
            Outcome::Failed(format!("{} remarks", printed.lines().count()))
        }
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}
