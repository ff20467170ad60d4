//! `assay demo`, and its output in the README.

use std::fs;
use std::path::Path;

use crate::assay;

#[test]
fn the_readme_shows_what_the_demo_prints() {
    let ran = assay(&["demo"], "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let line = ran.stdout.lines().find(|line| line.starts_with("The repository is ")).unwrap();
    let folder = line["The repository is ".len()..].split(". Next").next().unwrap();
    let shown = ran.stdout.replace(folder, "/tmp/assay-demo");
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    assert!(readme.contains(&shown), "the README does not show this:\n{shown}");
    fs::remove_dir_all(folder).unwrap();
}
