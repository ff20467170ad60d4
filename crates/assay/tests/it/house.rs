//! The house: an import only ever goes down.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The floors, from the bottom up. Rooms on one floor do not know each other.
const FLOORS: [&[&str]; 7] = [
    &["assay-base"],
    &["assay-findings", "assay-http", "assay-sandbox", "assay-store"],
    &["assay-change", "assay-models"],
    &["assay-rules", "assay-checks", "assay-services"],
    &["assay-review", "assay-gates"],
    &["assay-validate", "assay-agents", "assay-serve", "assay-eval"],
    &["assay"],
];

/// Rooms that only tests and chores may enter.
const OUTSIDE: [&str; 2] = ["assay-testkit", "xtask"];

#[test]
fn imports_only_go_down() {
    let floors: HashMap<&str, usize> = FLOORS
        .iter()
        .enumerate()
        .flat_map(|(floor, rooms)| rooms.iter().map(move |room| (*room, floor)))
        .collect();
    let mut seen = 0;
    for (room, needs) in imports() {
        if OUTSIDE.contains(&room.as_str()) {
            continue;
        }
        let floor = *floors.get(room.as_str()).unwrap_or_else(|| panic!("{room} has no floor"));
        seen += 1;
        for need in needs {
            let below = floors.get(need.as_str()).unwrap_or_else(|| panic!("{room} needs {need}"));
            assert!(*below < floor, "{room} (floor {floor}) needs {need} (floor {below})");
        }
    }
    assert!(seen >= 5, "only {seen} rooms were seen");
}

/// Which of our crates each of our crates needs in the product, tests aside.
fn imports() -> Vec<(String, Vec<String>)> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(workspace)
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

#[test]
fn the_core_links_nothing_that_reaches_outside() {
    let imports: HashMap<_, _> = imports().into_iter().collect();
    let needs = &imports["assay-findings"];
    assert!(needs.iter().all(|need| need == "assay-base"), "{needs:?}");
    assert!(imports["assay-base"].is_empty(), "{:?}", imports["assay-base"]);
}
