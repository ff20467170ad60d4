//! Plans with criteria in places that a parser may overlook: each is read, or named.

use assay_testkit::Repository;

use super::gate;
use crate::AssayRun;

/// Reconciles a plan with a tree that has `add` and no `mul`.
fn reconciled(name: &str, plan: &str) -> AssayRun {
    let repository = Repository::new();
    repository.write("calc.py", "def add(a, b):\n    return a + b\n");
    repository.write(name, plan);
    repository.commit("a plan");
    gate(&repository, &["reconcile", "--plan", name])
}

const BEFORE: &str = "# Plan\n\n## Milestone M1: Sums\n\nFiles: `calc.py`\n\n\
                      ### Acceptance Criteria\n\n- `calc.py` has a function `add`\n\n";

/// Ways to write the criterion that is not met.
const HIDDEN: &[&str] = &[
    "```\n- `calc.py` has a function `mul`\n```\n",
    "```\n`calc.py` has a function `mul`\n```\n",
    "~~~text\n`calc.py` has a function `mul`\n~~~\n",
    "```bash\n- [ ] `calc.py` has a function `mul`\n```\n",
    "    `calc.py` has a function `mul`\n",
    "> - `calc.py` has a function `mul`\n",
    "> `calc.py` has a function `mul`\n",
    "> > 1. `calc.py` has a function `mul`\n",
    "- `calc.py` exists\n\n  > - `calc.py` has a function `mul`\n",
    "<ul><li>`calc.py` has a function `mul`</li></ul>\n",
    "<ol>\n  <li><code>calc.py</code> has a function\n  <code>mul</code></li>\n</ol>\n",
    "<table><tr><td>`calc.py` has a function `mul`</td></tr></table>\n",
    "<details>\n<summary>More</summary>\n<p>`calc.py` has a function `mul`</p>\n</details>\n",
    "The function `mul` exists in `calc.py`.\n",
    "`calc.py` has a function `mul`:\n\n- `calc.py` exists\n",
    "#### Security\n\n- `calc.py` has a function `mul`\n",
    "#### Notes\n\n- `calc.py` has a function `mul`\n",
    "**Notes:**\n\n- `calc.py` has a function `mul`\n",
    "### Criteria (security)\n\n- `calc.py` has a function `mul`\n",
    "### Must have\n\n- `calc.py` has a function `mul`\n",
    "### Definition of done\n\n- `calc.py` has a function `mul`\n",
    "### Acceptance criteria that were added by the whole of the team in the last week\n\n\
     - `calc.py` has a function `mul`\n",
    "## Acceptance Criteria\n\n- `calc.py` has a function `mul`\n",
    "## Acceptance Criteria\n\nThe function `mul` exists in `calc.py`.\n",
    "## Global success criteria\n\n| Criterion |\n|---|\n| `calc.py` has a function `mul` |\n",
    "<h3>Acceptance Criteria</h3>\n<ul><li>`calc.py` has a function `mul`</li></ul>\n",
    "<h2>Milestone M2: More</h2>\n",
];

#[test]
fn no_criterion_is_skipped_silently() {
    let mut passed = Vec::new();
    for hidden in HIDDEN {
        let ran = reconciled("plan.md", &format!("{BEFORE}{hidden}"));
        let is_told = ran.stdout.contains("mul") || ran.stdout.contains("- NOT_READ: ");
        if ran.code == 0 || !is_told {
            passed.push(format!("{hidden}\n{}: {}{}", ran.code, ran.stdout, ran.stderr));
        }
    }
    let front = format!("---\nacceptance_criteria: [mul]\n---\n{BEFORE}");
    let ran = reconciled("plan.md", &front);
    assert!(ran.stdout.contains("- NOT_READ: `the front matter`"), "{}", ran.stdout);
    assert!(passed.is_empty(), "{} of {}:\n{}", passed.len(), HIDDEN.len(), passed.join("\n"));
}

/// Texts around criteria that contain no criterion.
const BESIDE: &[&str] = &[
    "",
    "- `calc.py` exists, such as:\n\n  ```python\n  add(1, 2)\n  ```\n",
    "```python\nassert add(1, 2) == 3\n```\n",
    "<!-- `calc.py` has a function `mul` -->\n",
    "### Notes\n\n- `mul` comes later\n",
    "## Background\n\n> \u{201c}We need `mul`\u{201d}, said a user.\n",
    "## Risks\n\n- `mul` may be asked for\n",
    "### Files\n\n- `calc.py`\n",
];

#[test]
fn text_that_asks_for_nothing_is_no_criterion() {
    for beside in BESIDE {
        let plan = format!("{BEFORE}{beside}");
        // The example in an item belongs to a sentence that code cannot decide.
        let plan = plan.replace("exists, such as:", "exists");
        let ran = reconciled("plan.md", &plan);
        assert_eq!(ran.code, 0, "{beside}\n{}{}", ran.stdout, ran.stderr);
    }
    let led =
        BEFORE.replace("- `calc.py` has", "All of the following have to hold.\n\n- `calc.py` has");
    let ran = reconciled("plan.md", &led);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_criterion_of_the_whole_plan_is_an_item_of_its_own() {
    let repository = Repository::new();
    repository.write("calc.py", "def add(a, b):\n    return a + b\n");
    let whole = "## Acceptance Criteria\n\n- `calc.py` has a function `mul`\n";
    repository.write("plan.md", format!("{BEFORE}{whole}"));
    repository.commit("a plan");
    let step = |args: &[&str]| gate(&repository, &[args, &["--phase", "reconcile"]].concat());
    let ran = step(&["run", "--plan", "plan.md"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("criteria of the plan as a whole"), "{}", ran.stdout);
    let text = "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n";
    repository.write("calc.py", text);
    let ran = step(&["verify"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

const MET: &str = "\"acceptance_criteria\": [\"`calc.py` has a function `add`\"]";
const UNMET: &str = "[\"`calc.py` has a function `mul`\"]";

/// Wraps fields of a milestone in a plan.
fn json(fields: &str) -> String {
    format!("{{\"milestones\": [{{\"id\": \"M1\", \"title\": \"A\", {MET}, {fields}}}]}}")
}

#[test]
fn no_key_of_a_plan_in_json_is_dropped_silently() {
    let nested = "[{\"id\": \"M2\", \"title\": \"B\", \"acceptance_criteria\": [\"`calc.py` has a function `mul`\"]}]";
    let mut plans = Vec::new();
    for key in [
        "criteria", "done_when", "definition_of_done", "definitionOfDone", "success_criteria",
        "mustHave",
    ] {
        plans.push(json(&format!("\"{key}\": {UNMET}")));
    }
    for key in [
        "sub_milestones", "subMilestones", "children", "subtasks", "steps", "phases", "gates",
        "work",
    ] {
        plans.push(json(&format!("\"{key}\": {nested}")));
    }
    for entry in [
        "{\"when\": \"x\", \"then\": \"`calc.py` has a function `mul`\"}",
        "{\"text\": \"`calc.py` exists\", \"also\": \"`calc.py` has a function `mul`\"}",
        "[\"`calc.py` has a function `mul`\"]",
        "true",
        "7",
    ] {
        plans.push(json(&format!("\"criteria\": [{entry}]")));
    }
    plans.push(json("\"quality\": {\"deep\": {\"criteria\": \"`calc.py` has a function `mul`\"}}"));
    plans
        .push(json("\"notes\": [{\"acceptance_criteria\": [\"`calc.py` has a function `mul`\"]}]"));
    let whole = json("\"files\": [\"calc.py\"]");
    for more in [
        format!("\"acceptance_criteria\": {UNMET}"),
        format!("\"wishes\": {UNMET}"),
        format!("\"phases\": {nested}"),
    ] {
        plans.push(whole.replacen('{', &format!("{{{more}, "), 1));
    }
    let mut passed = Vec::new();
    for plan in &plans {
        let ran = reconciled("plan.json", plan);
        if ran.code == 0
            || !(ran.stdout.contains("NOT_MET")
                || ran.stdout.contains("CANNOT_TELL")
                || ran.stdout.contains("NOT_READ"))
        {
            passed.push(format!("{plan}\n{}: {}{}", ran.code, ran.stdout, ran.stderr));
        }
    }
    assert!(passed.is_empty(), "{} of {}:\n{}", passed.len(), plans.len(), passed.join("\n"));
}

#[test]
fn a_duplicate_key_is_an_error_with_its_name() {
    let plan = json("\"files\": []");
    let twice = plan.replacen("{\"milestones\"", "{\"milestones\": [], \"milestones\"", 1);
    for (plan, expected) in [
        (twice, "duplicate key `milestones`"),
        (json(&format!("\"acceptance_criteria\": {UNMET}")), "duplicate key `acceptance_criteria`"),
        (
            json(&format!("\"acceptanceCriteria\": {UNMET}")),
            "the keys `acceptance_criteria` and `acceptanceCriteria` in one object",
        ),
    ] {
        let ran = reconciled("plan.json", &plan);
        assert_eq!(ran.code, 2, "{plan}: {}", ran.stdout);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

#[test]
fn a_plan_in_json_with_notes_steps_and_phases_around_milestones_passes() {
    for plan in [
        json(
            "\"notes\": [\"later\"], \"steps\": [\"write it\", \"test it\"], \"risks\": [{\"risk\": \"x\"}]",
        ),
        json(
            "\"definition_of_done\": [{\"criterion\": \"`calc.py` exists\", \"status\": \"open\"}]",
        ),
        format!(
            "{{\"phases\": [{{\"name\": \"First\", \"milestones\": [{{\"id\": \"M1\", {MET}}}]}}]}}"
        ),
    ] {
        let ran = reconciled("plan.json", &plan);
        assert_eq!(ran.code, 0, "{plan}: {}{}", ran.stdout, ran.stderr);
    }
}
