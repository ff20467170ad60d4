//! Tests of parsing a plan in Markdown.

mod criteria;
mod decisions;
mod milestones;
mod text;

use std::fmt::Write;

use assay_gates::plan::{self, Plan};
use expect_test::Expect;

/// Parses a plan and compares its content, a line for each part, with that expected.
fn check(text: &str, expected: Expect) {
    let plan = plan::read("plan.md", text.as_bytes()).unwrap();
    expected.assert_eq(&plan_summary(&plan));
}

/// Formats the content of a plan.
pub(crate) fn plan_summary(plan: &Plan) -> String {
    let mut out = String::new();
    for m in &plan.milestones {
        writeln!(out, "{}: {} (line {})", m.id, m.title, m.line).unwrap();
        for c in &m.criteria {
            writeln!(out, "  criterion {}: {}", c.line, c.text).unwrap();
        }
        let lists = [
            ("files", &m.files),
            ("new", &m.new_files),
            ("old", &m.old_files),
            ("needs", &m.needs),
            ("tests", &m.tests),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            writeln!(out, "  {name}: {}", list.join(", ")).unwrap();
        }
        for diff in &m.diffs {
            writeln!(out, "  diff {}: {:?}", diff.line, diff.text).unwrap();
        }
    }
    for d in &plan.decisions {
        writeln!(out, "{} {}: {} | {}", d.id, d.line, d.decision, d.reason).unwrap();
    }
    for a in &plan.assumptions {
        writeln!(out, "assumption {}: {} | {:?}", a.line, a.text, a.evidence).unwrap();
    }
    for diff in &plan.loose_diffs {
        writeln!(out, "diff {}: {:?}", diff.line, diff.text).unwrap();
    }
    for link in &plan.links {
        writeln!(out, "link {}: {}", link.line, link.target).unwrap();
    }
    out
}
