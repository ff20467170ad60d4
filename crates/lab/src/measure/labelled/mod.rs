//! Small labelled cases, flawed and clean: the findings of the built-in rules on each.
//!
//! The data is a file `cases.jsonl` with an object for each case: `id`, `impl` (its file, relative
//! to the folder), `clean`, `category` and `anchor_lines` (the first and last line of the flaw, or
//! null). Each case becomes a change that adds its file to an empty repository.

mod table;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use assay_testenv::workspace::target_folder;
use serde_json::{Value, json};

use crate::repository::Repository;
use crate::workspace::{assay, write_json};

/// The maximum distance of a finding from the flaw, in lines.
const MAX_DISTANCE: u64 = 3;

/// A case with its label.
struct Case {
    id: String,
    file: String,
    language: String,
    category: String,
    label: Label,
}

/// The label of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Clean,
    /// A flaw at these lines.
    Lines(u64, u64),
    /// A flaw without lines.
    Somewhere,
}

/// The review of a case.
struct CaseReview {
    findings: Vec<Finding>,
    /// True if rules for its language read the whole file.
    by_rules: bool,
}

/// A finding of a review.
struct Finding {
    rule: String,
    severity: String,
    /// True if the severity is HIGH or above.
    is_high: bool,
    lines: (u64, u64),
}

impl Finding {
    fn is_near(&self, (start, end): (u64, u64)) -> bool {
        self.lines.0 <= end + MAX_DISTANCE && start <= self.lines.1 + MAX_DISTANCE
    }
}

impl Case {
    fn is_found(&self, reviewed: &CaseReview) -> bool {
        match self.label {
            Label::Clean => false,
            Label::Lines(start, end) => reviewed.findings.iter().any(|f| f.is_near((start, end))),
            Label::Somewhere => !reviewed.findings.is_empty(),
        }
    }
}

/// Reviews every case and prints the tables. Returns true if no clean case has a finding of HIGH or
/// above.
pub(super) fn run(data: &Path) -> anyhow::Result<bool> {
    let binary = assay()?;
    let mut results = Vec::new();
    for case in cases(data)? {
        let reviewed = review(&binary, data, &case).with_context(|| case.id.clone())?;
        results.push((case, reviewed));
    }
    let clean = table::print_clean(&results);
    let flawed = table::print_flawed(&results);
    let unread = print_unread(&results);
    let high = high_on_clean(&results);
    let summary = json!({ "clean": clean, "flawed": flawed, "read as text only": unread });
    write_json("measure", "cases.json", &summary)?;
    Ok(high == 0)
}

// ---- the cases

fn cases(data: &Path) -> anyhow::Result<Vec<Case>> {
    let path = data.join("cases.jsonl");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("could not read `{}`", path.display()))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| case(&serde_json::from_str(line)?)).collect()
}

fn case(value: &Value) -> anyhow::Result<Case> {
    let text = |key: &str| {
        value[key].as_str().map(str::to_owned).with_context(|| format!("a case has no `{key}`"))
    };
    let file = text("impl")?;
    let anchor = &value["anchor_lines"];
    let label = match (value["clean"].as_bool(), anchor[0].as_u64(), anchor[1].as_u64()) {
        (Some(true), _, _) => Label::Clean,
        (Some(false), Some(start), Some(end)) => Label::Lines(start, end),
        (Some(false), _, _) => Label::Somewhere,
        (None, _, _) => bail!("a case is neither clean nor flawed"),
    };
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    let language = language(extension).to_owned();
    Ok(Case { id: text("id")?, language, category: text("category")?, label, file })
}

fn language(extension: &str) -> &str {
    match extension {
        "py" => "Python",
        "php" => "PHP",
        "rb" => "Ruby",
        "java" => "Java",
        "kt" => "Kotlin",
        "js" => "JavaScript",
        "ts" => "TypeScript",
        "go" => "Go",
        "rs" => "Rust",
        other => other,
    }
}

// ---- the review

fn review(binary: &Path, data: &Path, case: &Case) -> anyhow::Result<CaseReview> {
    let repository = Repository::new(target_folder("measure")?.join("case"))?;
    let name = case.file.rsplit('/').next().unwrap_or(&case.file);
    repository.write(name, &std::fs::read(data.join(&case.file))?)?;
    repository.commit("the case")?;
    let output = Command::new(binary)
        .args(["review", "--commit", "HEAD", "--format", "json", "--mode", "report-only"])
        .current_dir(repository.folder())
        .stdin(Stdio::null())
        .output()?;
    let printed: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        format!("no synthesis: {}", String::from_utf8_lossy(&output.stderr).trim())
    })?;
    let coverage = &printed["coverage"];
    let none = |key: &str| coverage[key].as_object().is_some_and(serde_json::Map::is_empty);
    let by_rules = coverage["text_only"] == 0 && none("left_out") && none("failed");
    let findings = printed["findings"].as_array().context("no list of findings")?;
    Ok(CaseReview { findings: findings.iter().map(finding).collect(), by_rules })
}

fn finding(value: &Value) -> Finding {
    let text = |key: &str| value[key].as_str().unwrap_or("none").to_owned();
    let line = value["line"].as_u64().unwrap_or(0);
    Finding {
        rule: text("rule"),
        severity: text("severity"),
        is_high: value["grade"]["impact"].as_u64().is_none_or(|impact| impact <= 1),
        lines: (line, value["end_line"].as_u64().unwrap_or(line)),
    }
}

fn high_on_clean(results: &[(Case, CaseReview)]) -> usize {
    let clean = results.iter().filter(|(case, _)| case.label == Label::Clean);
    clean.flat_map(|(_, reviewed)| &reviewed.findings).filter(|finding| finding.is_high).count()
}

/// Prints the languages that no structural rule read.
fn print_unread(results: &[(Case, CaseReview)]) -> Value {
    let mut languages: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (case, reviewed) in results {
        let (cases, unread) = languages.entry(&case.language).or_default();
        *cases += 1;
        *unread += usize::from(!reviewed.by_rules);
    }
    languages.retain(|_, (_, unread)| *unread > 0);
    for (language, (cases, unread)) in &languages {
        let why = if unread == cases { "no structural rule" } else { "does not parse as a whole" };
        println!("read as text only: {unread} of {cases} cases in {language} ({why})");
    }
    json!(languages)
}
