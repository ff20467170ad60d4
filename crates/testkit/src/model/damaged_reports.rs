//! Answers of a model that must never count as a clean change: [`DAMAGED_REPORTS`].

/// An answer that must not count as a clean report.
#[derive(Debug, Clone, Copy)]
pub struct DamagedReport {
    /// The name of the damage.
    pub name: &'static str,
    /// The answer.
    pub text: &'static str,
}

const fn report(name: &'static str, text: &'static str) -> DamagedReport {
    DamagedReport { name, text }
}

/// Reports that lost something, hide something, or contradict themselves.
pub const DAMAGED_REPORTS: [DamagedReport; 11] = [
    report(
        "half list",
        r#"{"reviewer": "correctness", "residual_risks": [], "testing_gaps": [], "findings": ["#,
    ),
    report("half list in a fence", "```json\n{\"reviewer\": \"correctness\", \"findings\": ["),
    report(
        "list cut between items",
        r#"{"reviewer": "correctness", "findings": [{"title": "Unclear name", "severity": "P3", "file": "shop.py", "line": 1, "why_it_matters": "hard to read", "autofix_class": "advisory", "owner": "human", "requires_verification": false, "confidence": 25, "evidence": [], "pre_existing": false},"#,
    ),
    report(
        "nested finding",
        r#"{"reviewer": "correctness", "findings": [{"title": "Unclear name", "severity": "P3", "file": "shop.py", "line": 1, "confidence": 25, "evidence": ["def total(prices):"}, {"title": "SQL injection", "severity": "P0", "file": "shop.py", "line": 2, "confidence": 100, "evidence": ["return sum(prices)"]}], "residual_risks": [], "testing_gaps": []}"#,
    ),
    report(
        "contradiction by a severity line",
        "{\"reviewer\": \"correctness\", \"findings\": [], \"residual_risks\": [], \"testing_gaps\": []}\nCRITICAL: SQL injection (shop.py:2)\nOverall: REQUEST_CHANGES",
    ),
    report(
        "rejection for a file that is not there",
        "{\"reviewer\": \"correctness\", \"findings\": [], \"residual_risks\": [], \"testing_gaps\": []}\nCRITICAL: SQL injection (missing.py:2)\nOverall: REQUEST_CHANGES",
    ),
    report(
        "contradiction in words",
        "There is a serious SQL injection in line 3 which must be fixed. {\"reviewer\": \"correctness\", \"findings\": [], \"residual_risks\": [], \"testing_gaps\": []}",
    ),
    report(
        "refusal beside an empty list",
        "I cannot review this change. {\"reviewer\": \"correctness\", \"findings\": [], \"residual_risks\": [], \"testing_gaps\": []}",
    ),
    report(
        "placeholder",
        "{\"reviewer\": \"correctness\", \"findings\": [...], \"residual_risks\": [], \"testing_gaps\": []}",
    ),
    report(
        "list of one word",
        "{\"reviewer\": \"correctness\", \"findings\": [\"see below\"], \"residual_risks\": [], \"testing_gaps\": []}",
    ),
    report(
        "unknown severity",
        r#"{"reviewer": "correctness", "findings": [{"title": "Drops the table", "severity": "BLOCKR", "file": "shop.py", "line": 2, "confidence": 100, "evidence": ["return sum(prices)"]}], "residual_risks": [], "testing_gaps": []}"#,
    ),
];
