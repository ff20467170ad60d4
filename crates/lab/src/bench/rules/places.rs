//! The places that assay and ast-grep find by the same rules, and the differences.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use super::translate;
use crate::bench::{Row, Target};

/// A rule, a file and a line.
type FindingPlace = (String, String, u64);

/// Compares the outputs of both, for the rules that both have.
pub(super) fn rows(assay: &Path, ast_grep: &Path, rules: &[Value]) -> anyhow::Result<Vec<Row>> {
    let ids: BTreeSet<String> = rules.iter().map(translate::name).collect();
    let keep = |places: BTreeSet<FindingPlace>| -> BTreeSet<FindingPlace> {
        places.into_iter().filter(|(rule, _, _)| ids.contains(rule)).collect()
    };
    let (ours, theirs) = (keep(of_assay(assay)?), keep(of_ast_grep(ast_grep)?));
    for (rule, file, line) in ours.symmetric_difference(&theirs) {
        println!("found by one of assay and ast-grep alone: {rule} at {file}:{line}");
    }
    let both = ours.intersection(&theirs).count() as f64;
    let alone = ours.symmetric_difference(&theirs).count() as f64;
    Ok(vec![
        Row::count("  places that both find", both, ""),
        Row::number("  places that one of them alone finds", alone, "", Target::AtMost(0.0)),
    ])
}

fn of_assay(printed: &Path) -> anyhow::Result<BTreeSet<FindingPlace>> {
    let printed: Value = serde_json::from_slice(&std::fs::read(printed)?)?;
    let findings = printed["findings"].as_array().context("assay printed no findings")?;
    let place = |finding: &Value| {
        let rule = finding["rule"].as_str()?.replace('/', "-");
        Some((rule, finding["file"].as_str()?.to_owned(), finding["line"].as_u64()?))
    };
    Ok(findings.iter().filter_map(place).collect())
}

fn of_ast_grep(printed: &Path) -> anyhow::Result<BTreeSet<FindingPlace>> {
    let printed = std::fs::read_to_string(printed)?;
    let matches: Vec<Value> =
        printed.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let place = |found: &Value| {
        // The language follows the name of the rule.
        let (rule, _) = found["ruleId"].as_str()?.rsplit_once('-')?;
        let file = found["file"].as_str()?.trim_start_matches("./");
        Some((rule.to_owned(), file.to_owned(), found["range"]["start"]["line"].as_u64()? + 1))
    };
    Ok(matches.iter().filter_map(place).collect())
}
