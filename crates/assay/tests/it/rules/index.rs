//! `docs/rules-index.md`, which is generated from the list of rules.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_findings::write::escape;
use expect_test::expect_file;
use serde_json::Value;

const BEGINNING: &str = "# All rules

Every built-in rule: severity, category, languages, the consequence of the defect, and the advice for a fix. Read [The
rules](rules.md) for how rules are applied and switched off. `assay rules explain RULE` shows a rule with an example.

This page is generated from the rules.
";

/// Returns the page: a heading for each group of rules and for each rule.
fn generate(rules: &[Value]) -> String {
    let mut groups: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for rule in rules {
        let group = text(rule, "id").split('/').next().unwrap();
        groups.entry(group).or_default().push(rule);
    }
    let mut page = BEGINNING.to_owned();
    for (group, rules) in groups {
        let _ = write!(page, "\n## {group}\n");
        rules.into_iter().for_each(|rule| page.push_str(&section(rule)));
    }
    page
}

fn section(rule: &Value) -> String {
    let languages: Vec<&str> =
        rule["languages"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let languages = if languages.is_empty() { "every file".into() } else { languages.join(", ") };
    let fix = match rule["fix"].as_str() {
        Some("safe") => " `assay fix` applies a rewrite.",
        Some(_) => " The rule offers a rewrite.",
        None => "",
    };
    let lead = match rule["tier"].as_str() {
        Some("lead") => " A match without known data is a [lead](rules.md#tiers).",
        _ => "",
    };
    let [title, message, advice] =
        ["title", "message", "advice"].map(|key| escape::escape_markdown(text(rule, key)));
    format!(
        "\n### {}\n\n{}, {}, {languages}. **{}.** {message} Fix: {advice}{fix}{lead}\n",
        text(rule, "id"),
        text(rule, "severity"),
        text(rule, "category"),
        title.trim_end_matches('.'),
    )
}

fn text<'r>(rule: &'r Value, key: &str) -> &'r str {
    rule[key].as_str().unwrap_or_else(|| panic!("{key} of {rule:#}"))
}

#[test]
fn the_index_of_the_manual_has_every_rule() {
    let folder = tempfile::tempdir().unwrap();
    let document = crate::assay_in(folder.path(), &["rules", "list", "--json"], b"").json();
    let page = generate(document["rules"].as_array().unwrap());
    expect_file!["../../../../../docs/rules-index.md"].assert_eq(&page);
}
