//! The layers: an import between crates only ever goes down. `modules` checks imports inside of
//! crates.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The layers, from the bottom up. Crates on one layer do not import each other.
const LAYERS: [&[&str]; 9] = [
    &["assay-base"],
    &["assay-findings", "assay-http", "assay-sandbox", "assay-store"],
    &["assay-change", "assay-html", "assay-models"],
    &["assay-rules", "assay-checks", "assay-services"],
    &["assay-review", "assay-gates"],
    &["assay-validate", "assay-agents", "assay-eval"],
    &["assay-engine"],
    &["assay-serve"],
    &["assay"],
];

/// Crates that only tests and maintainers use.
const OUTSIDE: [&str; 4] = ["assay-lab", "assay-testenv", "assay-testkit", "xtask"];

#[test]
fn crates_only_import_crates_of_lower_layers() {
    let layers: HashMap<&str, usize> = LAYERS
        .iter()
        .enumerate()
        .flat_map(|(layer, crates)| crates.iter().map(move |name| (*name, layer)))
        .collect();
    let imports = imports();
    for (name, needs) in &imports {
        if OUTSIDE.contains(&name.as_str()) {
            continue;
        }
        let layer = *layers.get(name.as_str()).unwrap_or_else(|| panic!("{name} has no layer"));
        for need in needs {
            let below = layers.get(need.as_str()).unwrap_or_else(|| panic!("{name} needs {need}"));
            assert!(*below < layer, "{name} (layer {layer}) needs {need} (layer {below})");
        }
    }
    let there: BTreeSet<&str> = imports.iter().map(|(name, _)| name.as_str()).collect();
    let named: BTreeSet<&str> = layers.keys().copied().chain(OUTSIDE).collect();
    assert_eq!(there, named, "the crates of the workspace, and those that have a layer");
}

/// Returns each crate of the workspace with the crates that it imports, tests excluded.
fn imports() -> Vec<(String, Vec<String>)> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(workspace())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            let needs = package["dependencies"].as_array().unwrap().iter();
            let ours = needs.filter(|need| need["path"].is_string() && need["kind"].is_null());
            (text(&package["name"]), ours.map(|need| text(&need["name"])).collect())
        })
        .collect()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn findings_depends_only_on_base_and_base_on_no_crate_of_the_workspace() {
    let imports: HashMap<_, _> = imports().into_iter().collect();
    let needs = &imports["assay-findings"];
    assert!(needs.iter().all(|need| need == "assay-base"), "{needs:?}");
    assert!(imports["assay-base"].is_empty(), "{:?}", imports["assay-base"]);
}

#[test]
fn the_core_reads_no_clock() {
    let mut folders = vec![workspace().join("crates/findings/src")];
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let text = fs::read_to_string(&entry).unwrap();
            assert!(!text.contains("clock::"), "{} uses a clock", entry.display());
            read += 1;
        }
    }
    assert!(read > 50, "{read} files");
}
