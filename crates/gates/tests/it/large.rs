//! Tests of plans and changes of many files: the time of each check grows with their number, and
//! not with its square.

use std::collections::BTreeMap;
use std::path::Path;

use assay_change::unified::PatchedTree;
use assay_gates::plan::Plan;
use assay_gates::plan::patch::files;
use assay_gates::subject::Subject;

use crate::check_runner::{check_results, milestone};
use crate::files::Files;

#[test]
fn many_files_are_checked_against_the_lists_of_a_plan() {
    const COUNT: usize = 10_000;
    let names: Vec<String> = (0..COUNT).map(|nth| format!("src/f{nth}.py")).collect();
    let diff = |name: &String| format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x = 1\n");
    let diffs: String = names.iter().map(diff).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let listed = milestone("M1", &names, &[&diffs]);
    let plan = Plan { milestones: vec![listed], is_markdown: true, ..Plan::default() };
    let tree = Files::default();
    let patches = plan.patches();
    let patched = PatchedTree::of(&tree, files(&patches));
    let change = patched.change("the plan", Path::new("."), BTreeMap::new());
    let subject = Subject::new(Some((&plan, "plan.md")), Some(&change), change.tree());
    for (key, count) in [
        ("plan-code/own-files", COUNT),
        ("plan-code/all-files", 1),
        ("impl-code/planned-files", 1),
        ("impl-code/inside-plan", 1),
        ("impl-docs/decisions", COUNT),
    ] {
        let check_results = check_results(&subject, key);
        let holding = check_results.lines().filter(|line| line.ends_with("| holds")).count();
        assert_eq!((holding, check_results.lines().count()), (count, count), "{key}");
    }
}
