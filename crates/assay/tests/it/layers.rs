//! The layers: an import only ever goes down, between crates and between the modules of a crate.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The layers, from the bottom up. Crates on one layer do not import each other.
const LAYERS: [&[&str]; 9] = [
    &["assay-base"],
    &["assay-findings", "assay-http", "assay-sandbox", "assay-store"],
    &["assay-change", "assay-models"],
    &["assay-rules", "assay-checks", "assay-services"],
    &["assay-review", "assay-gates"],
    &["assay-validate", "assay-agents", "assay-eval"],
    &["assay-engine"],
    &["assay-serve"],
    &["assay"],
];

/// Crates that only tests and maintainers use.
const OUTSIDE: [&str; 4] = ["assay-lab", "assay-testenv", "assay-testkit", "xtask"];

/// The crates whose modules form no cycle.
const WITHOUT_CYCLES: [&str; 2] = ["assay", "engine"];

#[test]
fn imports_only_go_down() {
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

/// Returns the crates of the workspace that each of them needs in the product, tests aside.
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
fn the_core_links_nothing_that_reaches_outside() {
    let imports: HashMap<_, _> = imports().into_iter().collect();
    let needs = &imports["assay-findings"];
    assert!(needs.iter().all(|need| need == "assay-base"), "{needs:?}");
    assert!(imports["assay-base"].is_empty(), "{:?}", imports["assay-base"]);
}

#[test]
fn modules_form_no_cycle() {
    for name in WITHOUT_CYCLES {
        let mut graph = module_imports(&workspace().join("crates").join(name).join("src"));
        assert!(graph.len() > 5, "{name}: only {} modules were seen", graph.len());
        // A module that imports none of those that are left is in no cycle.
        loop {
            let left: BTreeSet<String> = graph.keys().cloned().collect();
            graph.retain(|_, needs| {
                needs.retain(|need| left.contains(need));
                !needs.is_empty()
            });
            if graph.len() == left.len() {
                break;
            }
        }
        assert!(graph.is_empty(), "the modules of {name} import each other: {graph:#?}");
    }
}

/// Returns the top-level modules of a crate, each with those that it names.
fn module_imports(src: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources(src) {
        let first = path.strip_prefix(src).unwrap().iter().next().unwrap().to_str().unwrap();
        let module = first.trim_end_matches(".rs").to_owned();
        // The root declares all modules.
        if module == "main" || module == "lib" {
            continue;
        }
        let needs = text.split("crate::").skip(1).flat_map(named);
        let needs = needs.filter(|need| *need != module);
        graph.entry(module.clone()).or_default().extend(needs);
    }
    graph
}

/// Returns the names at the start of a path, or of each path between braces.
fn named(path: &str) -> Vec<String> {
    let paths = match path.strip_prefix('{') {
        Some(list) => list.split(';').next().unwrap_or_default().split(',').collect(),
        None => vec![path],
    };
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let name = |path: &str| path.trim().chars().take_while(|it| is_part(*it)).collect::<String>();
    paths.into_iter().map(name).filter(|name| !name.is_empty()).collect()
}

/// Returns the source files below a folder with their texts, up to the tests in them.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
            found.push((path, text));
        }
    }
    found
}
