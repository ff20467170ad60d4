//! Properties that hold for every spec and plan, however hostile.

use std::path::Path;

use assay_validate::plan::{ImplementationPlan, Signoff, SignoffStatus, Stats};
use assay_validate::spec::Spec;
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::spec;

/// The pieces that hostile specs are built from.
const PIECES: [&str; 36] = [
    "## Acceptance Criteria\n",
    "**Acceptance Criteria:**\n",
    "## Verification\n",
    "**Unit Tests:**",
    "- **E2E Tests**:",
    "Integration tests:\n",
    "Network: allowed",
    "- ",
    "  - ",
    "      - ",
    "- [ ] ",
    "* [x]",
    "1. ",
    "2) ",
    "\n",
    "\r\n",
    "\n\n",
    "\t",
    "`",
    "```",
    "~~~",
    "**",
    "# ",
    "---\n",
    "===\n",
    "> ",
    "<!--",
    "-->",
    "Manual: a → b -> ",
    "Coverage: >= 80%",
    "Coverage: 99999999999999999999",
    "text",
    "ü",
    "\u{feff}",
    "\0",
    ":",
];

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
        Just(Value::from("completed")),
    ];
    let key = prop_oneof![
        3 => proptest::sample::select(&[
            "phases", "subtasks", "chunks", "status", "verification_strategy", "qa_acceptance",
            "acceptance_criteria", "unit_tests", "e2e_tests", "commands", "minimum_coverage", "flows",
            "risk_level", "qa_signoff", "qa_stats", "issues_found", "tests_passed", "location", "type",
        ][..]).prop_map(str::to_owned),
        1 => ".{0,3}",
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            object(key.clone(), inner),
        ]
    })
}

fn object(
    key: impl Strategy<Value = String>,
    value: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    let members = proptest::collection::vec((key, value), 0..6);
    members.prop_map(|members| Value::Object(members.into_iter().collect()))
}

fn others(text: &str) -> Vec<(String, Value)> {
    let own = ["qa_signoff", "qa_iteration_history", "qa_stats"];
    let whole: Map<String, Value> = serde_json::from_str(text).unwrap();
    whole.into_iter().filter(|(key, _)| !own.contains(&key.as_str())).collect()
}

proptest! {
    #[test]
    fn any_text_is_read_and_its_criteria_occur_at_or_after_their_lines(text in pieces()) {
        let Ok(spec) = spec::read(&text, "{}") else { return Ok(()) };
        let lines: Vec<&str> = text.split('\n').collect();
        for criterion in &spec.criteria {
            let at = criterion.line.unwrap() as usize - 1;
            let last = criterion.text.split(' ').next_back().unwrap();
            prop_assert!(lines[at..].iter().any(|line| line.contains(last)), "{last}");
            prop_assert!(!criterion.text.trim().is_empty());
        }
    }

    #[test]
    fn any_plan_is_read(value in json()) {
        let Ok(plan) = ImplementationPlan::parse(value.to_string()) else { return Ok(()) };
        prop_assert_eq!(plan.is_complete(), plan.missing().is_empty() && !plan.subtasks().is_empty());
        let _ = (plan.signoff(), plan.risk_level(), Spec::parse(Path::new("s"), "", &plan));
    }

    #[test]
    fn an_export_keeps_all_other_keys(value in json(), form in 0..3) {
        let text = match form {
            0 => value.to_string(),
            1 => serde_json::to_string_pretty(&value).unwrap(),
            _ => serde_json::to_string_pretty(&value).unwrap().replace('\n', "\r\n") + "\n",
        };
        let Ok(plan) = ImplementationPlan::parse(text.clone()) else { return Ok(()) };
        let signoff = Signoff {
            status: SignoffStatus::Approved,
            qa_session: 7,
            timestamp: "now".to_owned(),
            tests_passed: None,
            issues_found: Vec::new(),
            recurring_issues: Vec::new(),
            escalation_reason: None,
        };
        let out = plan.with_export(&signoff, &[], &Stats::default());
        prop_assert_eq!(others(&out), others(&text));
        let again = ImplementationPlan::parse(out).unwrap();
        prop_assert_eq!(again.signoff(), Some(signoff));
    }
}

#[test]
fn huge_and_hostile_specs_are_read() {
    let deep: String =
        (0..2_000).map(|depth| format!("{}- [ ] x{depth}\n", " ".repeat(depth * 2))).collect();
    let texts = [
        (2_000, format!("## Acceptance Criteria\n{deep}")),
        (2, format!("## Acceptance Criteria\n{}", "- [ ] a\n  - b\n".repeat(200_000))),
        (0, format!("## Verification\n**Unit Tests:**\n{}", "- `a` - b\n".repeat(200_000))),
        (0, format!("## Verification\n- {}", "`a` ".repeat(500_000))),
        (0, format!("## Verification\n- {}", "`".repeat(1_000_000))),
        (0, "```\n".repeat(500_001)),
        (0, "<!--\n".repeat(500_000)),
        (0, "> ".repeat(1_000_000)),
        (0, "- ".repeat(1_000_000)),
        (0, "**".repeat(1_000_000)),
        (0, "#".repeat(2_000_000)),
    ];
    for (criteria, text) in texts {
        assert_eq!(spec::read(&text, "{}").unwrap().criteria.len(), criteria);
    }
}
