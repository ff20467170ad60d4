//! Every rule file has examples next to it, and the rule passes them.

use std::fs;
use std::path::{Path, PathBuf};

use assay_rules::examples;

/// The minimum number of examples of either kind.
const MIN_EXAMPLES: usize = 2;

#[test]
fn every_rule_finds_its_invalid_examples_and_leaves_the_valid_ones_alone() {
    let mut failures = Vec::new();
    let files = rule_files();
    for (name, path) in &files {
        if let Err(why) = hold(name, path) {
            failures.push(why);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(!files.is_empty());
}

fn hold(name: &str, path: &Path) -> Result<(), String> {
    let rule = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let beside = path.with_extension("test.yml");
    let beside = fs::read_to_string(beside).map_err(|_| format!("{name} has no examples"))?;
    let held = examples::check_examples(name, &rule, &beside).map_err(|error| error.to_string())?;
    if held.valid < MIN_EXAMPLES || held.invalid < MIN_EXAMPLES {
        return Err(format!("{name} has too few examples: {held:?}"));
    }
    if !rule.contains(&format!("id: {name}\n")) {
        return Err(format!("{name} has another id than its file"));
    }
    for key in ["grade:", "category:", "advice:", "note:"] {
        if !rule.contains(key) {
            return Err(format!("{name} has no `{key}`"));
        }
    }
    Ok(())
}

/// Returns the name and the file of every rule.
fn rule_files() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let mut files = Vec::new();
    for folder in fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()) {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_str().unwrap();
            if let Some(stem) = name.strip_suffix(".yml").filter(|stem| !stem.ends_with(".test")) {
                let folder = folder.file_name().unwrap().to_str().unwrap();
                files.push((format!("{folder}/{stem}"), path.clone()));
            }
        }
    }
    files.sort();
    files
}
