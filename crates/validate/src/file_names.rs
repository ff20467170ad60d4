//! Names of the files and folders of specs and loops.

/// Folders in which the folders of specs lie.
pub const SPEC_HOMES: [&str; 2] = ["specs", ".auto-claude/specs"];

/// The spec, in its folder.
pub const SPEC: &str = "spec.md";

/// The journal of the loop, in the folder of its spec.
pub const JOURNAL: &str = "qa_journal.jsonl";

/// The request for fixes.
pub const FIX_REQUEST: &str = "QA_FIX_REQUEST.md";

/// The reason why a person has to take over.
pub const ESCALATION: &str = "QA_HUMAN_ESCALATION.md";

/// The report of the last round.
pub const REPORT: &str = "qa_report.md";

/// The plan of what a person has to try.
pub const MANUAL_PLAN: &str = "MANUAL_TEST_PLAN.md";
