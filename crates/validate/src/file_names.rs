//! Names of the files and folders of specs and loops.

/// The folders that contain the folders of specs.
pub const SPEC_HOMES: [&str; 2] = ["specs", ".auto-claude/specs"];

/// The spec file, in the folder of the spec.
pub const SPEC: &str = "spec.md";

/// The journal of the loop, in the folder of its spec.
pub const JOURNAL: &str = "qa_journal.jsonl";

/// The fix request, which a person can replace with feedback.
pub const FIX_REQUEST: &str = "QA_FIX_REQUEST.md";

/// The escalation: the reason why a person has to take over.
pub const ESCALATION: &str = "QA_HUMAN_ESCALATION.md";

/// The report of the last round.
pub const REPORT: &str = "qa_report.md";

/// The manual test plan, which a person works through.
pub const MANUAL_PLAN: &str = "MANUAL_TEST_PLAN.md";
