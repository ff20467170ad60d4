//! Properties that hold for every plan, however hostile.

use assay_gates::phase::Phase;
use assay_gates::plan::{self, Plan};
use proptest::prelude::*;

use crate::check_runner::failures;

/// The pieces that hostile plans are built from.
const PIECES: [&str; 44] = [
    "# ",
    "## M1: a",
    "### Milestone 2 — b",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    "- ",
    "  - ",
    "- [ ] ",
    "1. ",
    "**",
    "*",
    "`",
    "```",
    "```diff\n",
    "~~~",
    "> ",
    "| a | b |\n|---|---|\n| c | d |\n",
    "|",
    "Acceptance criteria",
    ":",
    "**Files**: `src/a.rs`",
    "Depends on: M1",
    "Decision: x",
    "DL-001: ",
    "because ",
    "Reason:",
    "## Decisions\n",
    "## Assumptions\n",
    "(verified: x)",
    "Assumption: ",
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n+a\n",
    "[a](b)",
    "[r]: u\n",
    "<fill in>",
    "---\n",
    "ü",
    "\u{feff}",
    "\0",
    "  ",
    "<!--",
    "-->",
    "— ",
];

fn lines_of(plan: &Plan) -> Vec<u32> {
    let milestones = plan.milestones.iter();
    let in_milestones = milestones.flat_map(|m| {
        let criteria = m.criteria.iter().map(|c| c.line);
        criteria.chain(m.diffs.iter().map(|d| d.line)).chain([m.line])
    });
    in_milestones
        .chain(plan.decisions.iter().map(|d| d.line))
        .chain(plan.assumptions.iter().map(|a| a.line))
        .chain(plan.links.iter().map(|l| l.line))
        .chain(plan.headings.iter().map(|h| h.line))
        .chain(plan.fences.iter().flat_map(|f| [f.first, f.last]))
        .collect()
}

fn assert_sound(text: &str) {
    let Ok(plan) = plan::read("p.md", text.as_bytes()) else { return };
    let count = u32::try_from(text.split('\n').count()).unwrap();
    for line in lines_of(&plan) {
        assert!((1..=count).contains(&line), "line {line} of {count} in {text:?}");
    }
    for diff in plan.diffs() {
        let files = diff.read().files;
        let pieces = files.iter().flat_map(|file| file.pieces());
        for line in pieces.flat_map(|piece| piece.lines) {
            assert!((1..=count).contains(&line.at), "{line:?} in {text:?}");
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read_with_lines_inside_of_it(text in ".{0,400}") {
        assert_sound(&text);
    }

    #[test]
    fn any_sequence_of_markdown_pieces_is_read_with_lines_inside_of_it(
        picks in prop::collection::vec(0..PIECES.len(), 0..60),
    ) {
        let text: String = picks.into_iter().map(|pick| PIECES[pick]).collect();
        assert_sound(&text);
        failures(Phase::PlanStructure, "p.md", &text, "src/a.rs");
        failures(Phase::PlanDocs, "p.md", &text, "src/a.rs");
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = plan::read("p.md", &bytes);
        let _ = plan::read("p.json", &bytes);
    }
}

#[test]
fn huge_plans_are_read_and_too_deeply_nested_ones_are_refused() {
    let many = [
        "# a\n".repeat(1 << 15),
        "## M1: a\n".repeat(1 << 14),
        format!("```\n{}", "x\n".repeat(1 << 15)),
        "- [ ] a\n".repeat(1 << 14),
        format!("## M1: a\nAcceptance criteria:\n{}", "- a\n".repeat(1 << 14)),
        format!("## M1: a\nFiles:\n{}", "- `src/a.rs`\n".repeat(1 << 15)),
        format!("## Decisions\n{}", "- DL-1: a because b\n".repeat(1 << 14)),
        format!("{}x\n{}", "> ".repeat(90), "y\n".repeat(1 << 14)),
        "verified by (".repeat(1 << 14),
        format!("Depends on: {}", "M1 ".repeat(1 << 15)),
        format!("## Assumptions\n- {}", "not verified yet ".repeat(1 << 14)),
        "[a](b)\n".repeat(1 << 14),
        format!("## M1: a\nTODO {}", "x TODO y ".repeat(1 << 15)),
        format!("## M1: a\n{}", "1 ".repeat(1 << 14) + &"TODO a ".repeat(1 << 14)),
        (0..1 << 14).map(|n| format!("## M{n}: a\nDepends on: M{}\n", n + 1)).collect(),
        format!(
            "```diff\n+++ b/a.rs\n{}",
            "--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n+pub fn a() {}\n".repeat(1 << 14)
        ),
        format!(
            "```diff\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n{}",
            "+#[a]\n+pub fn a()\n".repeat(1 << 14)
        ),
        "DL-1 DL-2 ".repeat(1 << 14),
    ];
    for text in many {
        assert_sound(&text);
        failures(Phase::PlanStructure, "p.md", &text, "src/a.rs");
        failures(Phase::PlanDocs, "p.md", &text, "src/a.rs");
    }
    for mark in ["> ", "- ", "1. ", "> - "] {
        let deep = mark.repeat(5 << 20);
        assert!(plan::read("p.md", deep.as_bytes()).is_err());
    }
}
