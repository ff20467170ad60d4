//! The built-in rules in the formats of the peers.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_testenv::workspace::root;
use serde_json::{Value, json};

use crate::workspace::files_below;

/// The paths of tests, for rules that apply to tests only or not to tests.
const TESTS: [&str; 12] = [
    "**/test/**", "**/tests/**", "**/testing/**", "**/__tests__/**", "**/spec/**", "**/specs/**",
    "**/testdata/**", "**/fixtures/**", "**/*.test.*", "**/*.spec.*", "**/test_*", "**/*_test.*",
];

/// Reads the built-in structural rules. The peers follow no data.
pub(super) fn rules() -> anyhow::Result<Vec<Value>> {
    let mut rules = Vec::new();
    for path in files_below(&root().join("crates/rules/rules"), "yml")? {
        if !path.to_string_lossy().ends_with(".test.yml") {
            rules.extend(Some(read(&path)?).filter(|rule| rule["flow"].is_null()));
        }
    }
    Ok(rules)
}

fn read(path: &Path) -> anyhow::Result<Value> {
    serde_saphyr::from_str(&std::fs::read_to_string(path)?)
        .with_context(|| format!("could not read `{}`", path.display()))
}

/// Writes the rules for ast-grep, one for each language of a rule, and returns the configuration
/// that lists them.
pub(super) fn for_ast_grep(rules: &[Value], folder: &Path) -> anyhow::Result<PathBuf> {
    let written = folder.join("ast-grep");
    if written.exists() {
        std::fs::remove_dir_all(&written)?;
    }
    std::fs::create_dir_all(&written)?;
    for rule in rules {
        for language in languages(rule) {
            let id = format!("{}-{}", name(rule), language.to_lowercase());
            let mut own = rule.clone();
            own["id"] = json!(id);
            own["language"] = json!(language);
            place(&mut own);
            if let Some(rule) = own.as_object_mut() {
                rule.remove("metadata");
            }
            // JSON is YAML.
            std::fs::write(written.join(format!("{id}.yml")), own.to_string())?;
        }
    }
    let config = folder.join("sgconfig.yml");
    std::fs::write(&config, "ruleDirs: [ast-grep]\n")?;
    Ok(config)
}

/// Returns the name of a rule without characters that the peers do not accept.
pub(super) fn name(rule: &Value) -> String {
    text(&rule["id"]).replace('/', "-")
}

fn languages(rule: &Value) -> Vec<String> {
    let also = rule["metadata"]["also"].as_array().into_iter().flatten();
    std::iter::once(&rule["language"]).chain(also).map(|name| text(name).to_owned()).collect()
}

/// Adds the fields of ast-grep that limit a rule to tests, or exclude tests.
fn place(rule: &mut Value) {
    let list = match text(&rule["metadata"]["in"]) {
        "code" => "ignores",
        "tests" => "files",
        _ => return,
    };
    let mut globs = rule[list].as_array().cloned().unwrap_or_default();
    globs.extend(TESTS.map(Value::from));
    rule[list] = Value::Array(globs);
}

/// The rules that semgrep can express.
pub(super) struct SemgrepRules {
    pub(super) file: PathBuf,
    pub(super) by_pattern: usize,
    pub(super) by_example: usize,
    /// The number of rules with neither a pattern nor an example.
    pub(super) left: usize,
}

/// Writes for each rule one with a single simple pattern: its first pattern, or else its first
/// example verbatim. That is less than our rules look for, and so less work.
pub(super) fn for_semgrep(rules: &[Value], folder: &Path) -> anyhow::Result<SemgrepRules> {
    let (mut by_pattern, mut by_example, mut left) = (0, 0, 0);
    let mut translated = Vec::new();
    let mut seen = HashSet::new();
    for rule in rules {
        let pattern = first_pattern(&rule["rule"]).or_else(|| first_pattern(&rule["utils"]));
        let pattern =
            pattern.map(|pattern| pattern.replace("$$$", "$...").replace("$...)", "...)"));
        let usable = pattern.filter(|pattern| seen.insert(pattern.clone()));
        let pattern = match usable {
            Some(pattern) => {
                by_pattern += 1;
                pattern
            }
            None => match first_example(text(&rule["id"]))? {
                Some(example) => {
                    by_example += 1;
                    example
                }
                None => {
                    left += 1;
                    continue;
                }
            },
        };
        translated.push(json!({
            "id": name(rule),
            "languages": languages(rule).iter().map(|name| for_semgrep_named(name)).collect::<HashSet<_>>(),
            "severity": "WARNING",
            "message": rule["message"],
            "pattern": pattern,
        }));
    }
    let file = folder.join("semgrep-rules.json");
    std::fs::write(&file, json!({ "rules": translated }).to_string())?;
    Ok(SemgrepRules { file, by_pattern, by_example, left })
}

fn for_semgrep_named(language: &str) -> String {
    match language {
        "Tsx" => "typescript".to_owned(),
        other => other.to_lowercase(),
    }
}

/// Returns the first pattern that names something, and does not match any code of some form.
fn first_pattern(rule: &Value) -> Option<String> {
    match rule {
        Value::Object(parts) => parts.iter().find_map(|(key, part)| match (key.as_str(), part) {
            ("pattern", Value::String(code)) => Some(code.clone()).filter(|code| names(code)),
            ("pattern", _) => {
                part["context"].as_str().filter(|code| names(code)).map(str::to_owned)
            }
            ("not", _) => None,
            (_, part) => first_pattern(part),
        }),
        Value::Array(parts) => parts.iter().find_map(first_pattern),
        _ => None,
    }
}

/// Returns true if a pattern contains a word other than meta-variables.
fn names(pattern: &str) -> bool {
    let words = pattern.split(|c: char| !c.is_alphanumeric() && !"_$".contains(c));
    let mut known = words.filter(|word| !word.starts_with('$'));
    known.any(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 2)
}

/// Returns the first example of a rule that is one line long, or else the first example.
fn first_example(id: &str) -> anyhow::Result<Option<String>> {
    let path = root().join("crates/rules/rules").join(format!("{id}.test.yml"));
    let examples = read(&path)?;
    let invalid = examples["invalid"].as_array().into_iter().flatten();
    let invalid: Vec<&str> = invalid.filter_map(Value::as_str).map(str::trim_end).collect();
    let short = invalid.iter().find(|code| !code.contains('\n'));
    Ok(short.or(invalid.first()).map(|code| (*code).to_owned()))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}
