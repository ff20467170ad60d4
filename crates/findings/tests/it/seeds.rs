//! The worked examples of the documents that define the formats.

use assay_findings::report::Report;
use assay_findings::script_api::{
    self, IssuePair, RecurrenceQuery, SeverityFormat, SimilarityMeasure,
};
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_findings::vote::Confidence;
use assay_findings::write::{self, FindingsDocument, OutputFormat};
use serde_json::{Value, json};

const REVIEW: &str = r#"Review complete. Found 2 issues:

```json
{
  "findings": [
    {
      "file": "src/handlers/auth.py",
      "line_number": 42,
      "severity": "CRITICAL",
      "category": "security",
      "description": "SQL injection in login handler",
      "suggested_fix": "Use parameterized queries: cursor.execute('SELECT * FROM users WHERE email = ?', (email,))"
    },
    {
      "file": "src/api/users.py",
      "line_number": 87,
      "severity": "HIGH",
      "category": "performance",
      "description": "N+1 query in user list endpoint",
      "suggested_fix": "Use select_related() to fetch related profiles"
    }
  ],
  "summary": "Found 1 critical security issue and 1 high-priority performance issue"
}
```

Please address these issues before merging.

Overall: **REQUEST_CHANGES**
"#;

const FIX_TASK: &str = "QA review found 2 issue(s) that need fixing.

## Summary
Found 1 critical security issue and 1 high-priority performance issue

## Issues to Address

### 1. 🔴 CRITICAL: Security (src/handlers/auth.py:42)
**Issue**: SQL injection in login handler
**Suggested Fix**: Use parameterized queries: cursor.execute('SELECT * FROM users WHERE email = ?', (email,))

### 2. 🟠 HIGH: Performance (src/api/users.py:87)
**Issue**: N+1 query in user list endpoint
**Suggested Fix**: Use select_related() to fetch related profiles

## Instructions
1. Review each finding above
2. Fix the issues in the specified files/lines
3. Run tests to verify fixes
4. Commit and push your changes
5. The review will be automatically re-queued
";

const TASKLIST: &str = "1. [ ] **CRITICAL** (security): src/api/auth.ts:45
    Issue: SQL injection vulnerability in login handler
    Fix: Use parameterized queries with prepared statements

2. [ ] **HIGH** (performance): src/db/query.ts:89
    Issue: N+1 query detected in user data fetch
    Fix: Add eager loading or batch query
";

fn parse(text: &str) -> script_api::ParseResult {
    script_api::parse(text.as_bytes(), SeverityFormat::Auto, None).0
}

/// Reads a review and writes it in a format.
fn rewrite(text: &str, form: OutputFormat, context: Value) -> String {
    let report = Report::from_text(text, "qa", None);
    let synthesis = synthesize(&[report], &SynthesisInputs::default());
    let summary = parse(text).summary;
    let document = FindingsDocument {
        findings: Some(&synthesis.findings),
        summary: Some(&summary),
        context: context.as_object().unwrap().clone(),
        ..FindingsDocument::default()
    };
    write::write(form, &document)
}

#[test]
fn the_review_with_two_findings_is_read_whole() {
    let parsed = parse(REVIEW);
    let findings = parsed.findings.unwrap();
    assert_eq!(findings.len(), 2);
    assert_eq!((findings[0].line_number, findings[1].line_number), (Some(42), Some(87)));
    assert_eq!(
        findings[1].suggested_fix.as_deref(),
        Some("Use select_related() to fetch related profiles")
    );
    assert_eq!(
        parsed.summary,
        "Found 1 critical security issue and 1 high-priority performance issue"
    );
    assert!(parsed.repairs.is_empty() && parsed.rejected.is_empty());
    let outcome = parsed.outcome;
    assert!(outcome.has_critical_issues && outcome.has_change_requests && outcome.needs_fix);
    assert!(!outcome.approved && !outcome.has_test_failures);
}

#[test]
fn the_fix_task_of_the_review_is_the_recorded_one() {
    let task =
        rewrite(REVIEW, OutputFormat::FixTask, json!({"jira_key": "PROJ-123", "pr_number": 456}));
    let task: Value = serde_json::from_str(&task).unwrap();
    assert_eq!(task["description"], FIX_TASK);
    assert_eq!(task["title"], "Address code review feedback for PROJ-123");
    assert_eq!((&task["type"], &task["depends_on"]), (&json!("fix"), &json!([])));
    let structured = &task["context"]["structured_findings"];
    assert_eq!(structured["findings"][0]["severity"], "CRITICAL");
    assert_eq!(structured["total_count"], 2);
    assert_eq!((&structured["critical_count"], &structured["high_count"]), (&json!(1), &json!(1)));
}

#[test]
fn the_array_form_is_read_and_the_list_of_tasks_is_written() {
    let array = r#"```json
[
  {
    "file": "src/api/auth.ts",
    "line_number": 45,
    "severity": "CRITICAL",
    "description": "SQL injection vulnerability in login handler",
    "suggested_fix": "Use parameterized queries with prepared statements",
    "category": "security"
  },
  {
    "file": "src/db/query.ts",
    "line_number": 89,
    "severity": "HIGH",
    "description": "N+1 query detected in user data fetch",
    "suggested_fix": "Add eager loading or batch query",
    "category": "performance"
  }
]
```"#;
    let wrapped =
        format!("{{\"findings\": {}}}", array.trim_matches('`').trim_start_matches("json"));
    assert_eq!(parse(array).findings, parse(&wrapped).findings);
    assert_eq!(rewrite(&wrapped, OutputFormat::Tasklist, json!({})), TASKLIST);
}

#[test]
fn a_list_of_tasks_is_read_back() {
    let findings = parse(TASKLIST).findings.unwrap();
    let listed: Vec<_> =
        findings.iter().map(|f| (f.file.as_str(), f.line_number, f.description.as_str())).collect();
    assert_eq!(
        listed,
        [
            ("src/api/auth.ts", Some(45), "SQL injection vulnerability in login handler"),
            ("src/db/query.ts", Some(89), "N+1 query detected in user data fetch"),
        ]
    );
    assert_eq!(findings[1].suggested_fix.as_deref(), Some("Add eager loading or batch query"));
}

/// Returns a report with one persona finding whose fields are changed.
fn persona(changes: Value) -> Report {
    let mut finding = json!({"title": "t", "severity": "P1", "file": "a.rs", "line": 1,
        "why_it_matters": "w", "autofix_class": "manual", "owner": "downstream-resolver",
        "requires_verification": false, "confidence": 100, "evidence": ["x"], "pre_existing": false});
    for (key, value) in changes.as_object().unwrap() {
        finding[key] = value.clone();
    }
    let report = json!({"reviewer": "correctness", "findings": [finding], "residual_risks": [],
        "testing_gaps": []});
    Report::from_text(&report.to_string(), "x", None)
}

#[test]
fn a_confidence_between_the_five_anchors_is_rounded_down() {
    for (given, anchor) in
        [(json!(0.73), 50), (json!("85%"), 75), (json!(99), 75), (json!(1.0), 100), (json!(10), 0)]
    {
        let report = persona(json!({"confidence": given}));
        assert_eq!(report.votes[0].confidence, Confidence::try_from(anchor).ok(), "{given}");
        assert_eq!(report.votes[0].faults.len(), 1, "{given}: {:?}", report.votes[0].faults);
    }
}

#[test]
fn findings_below_confidence_75_are_held_back_except_a_p0_from_50_on() {
    for (severity, confidence, reported) in [
        ("P0", 100, true),
        ("P0", 75, true),
        ("P0", 50, true),
        ("P0", 25, false),
        ("P0", 0, false),
        ("P1", 100, true),
        ("P1", 75, true),
        ("P1", 50, false),
        ("P3", 75, true),
        ("P3", 50, false),
    ] {
        let report = persona(json!({"severity": severity, "confidence": confidence}));
        let synthesis = synthesize(&[report], &SynthesisInputs::default());
        assert_eq!(synthesis.findings.len() == 1, reported, "{severity} at {confidence}");
        assert_eq!(synthesis.held_back.len() == 1, !reported, "{severity} at {confidence}");
    }
}

#[test]
fn class_and_owner_decide_the_queue_of_a_finding() {
    for (class, owner, queue) in [
        ("safe_auto", "review-fixer", "fixer"),
        ("gated_auto", "downstream-resolver", "tasks"),
        ("manual", "downstream-resolver", "tasks"),
        ("gated_auto", "review-fixer", "tasks"),
        ("manual", "review-fixer", "tasks"),
        ("safe_auto", "downstream-resolver", "tasks"),
        ("safe_auto", "human", "report"),
        ("manual", "human", "report"),
        ("advisory", "review-fixer", "report"),
        ("gated_auto", "release", "report"),
    ] {
        let report = persona(json!({"autofix_class": class, "owner": owner}));
        let synthesis = synthesize(&[report], &SynthesisInputs::default());
        let queues = serde_json::to_value(&synthesis.queues).unwrap();
        assert_eq!(queues[queue], json!([synthesis.findings[0].id]), "{class} {owner}");
    }
}

#[test]
fn severities_decide_the_verdict() {
    for (severity, class, state) in [
        ("P0", "manual", "not_ready"),
        ("P1", "manual", "not_ready"),
        ("P2", "manual", "ready_with_fixes"),
        ("P3", "safe_auto", "ready_with_fixes"),
        ("P3", "advisory", "ready"),
        ("P1", "advisory", "not_ready"),
    ] {
        let report = persona(json!({"severity": severity, "autofix_class": class}));
        let synthesis = synthesize(&[report], &SynthesisInputs::default());
        assert_eq!(json!(synthesis.verdict.state), state, "{severity} {class}");
    }
}

#[test]
fn the_compact_tier_leaves_out_reasons_and_evidence_only() {
    let synthesis = synthesize(&[persona(json!({}))], &SynthesisInputs::default());
    let document =
        FindingsDocument { findings: Some(&synthesis.findings), ..FindingsDocument::default() };
    let keys = |form: OutputFormat| -> Vec<String> {
        let report: Value = serde_json::from_str(&write::write(form, &document)).unwrap();
        report["findings"][0].as_object().unwrap().keys().cloned().collect()
    };
    let compact = keys(OutputFormat::PersonaCompact);
    let mut left_out = keys(OutputFormat::Persona);
    left_out.retain(|key| !compact.contains(key));
    assert_eq!(left_out, ["why_it_matters", "evidence"]);
}

#[test]
fn the_three_recurring_titles_are_one_issue() {
    let issues = [
        json!({"title": "Missing error handling", "file": "api.py", "line": 42}),
        json!({"title": "Error: Missing error handling", "file": "api.py", "line": 42}),
        json!({"title": "No error handling for network failures", "file": "api.py", "line": 42}),
    ];
    for a in &issues {
        for b in &issues {
            let pair: IssuePair = serde_json::from_value(json!({"a": a, "b": b})).unwrap();
            assert!(script_api::compare(&pair, SimilarityMeasure::TitleWords).same, "{a} {b}");
        }
    }
    let question: RecurrenceQuery = serde_json::from_value(json!({"current": [issues[2]],
        "history": [{"issues": [issues[0]]}, {"issues": [issues[1]]}]}))
    .unwrap();
    assert!(script_api::find_recurring(&question).recurring);
}
