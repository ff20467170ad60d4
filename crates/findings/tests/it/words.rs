//! A reviewer's words count against its report, never for it.

use assay_findings::report::Report;
use assay_findings::script_api::{self, SeverityFormat};
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_findings::verdict::VerdictState;
use expect_test::{Expect, expect};

fn synthesis(text: &str) -> Synthesis {
    synthesize(&[Report::from_text(text, "reviewer", None)], &SynthesisInputs::default())
}

/// Checks the verdict of a text and its reasons.
fn check(text: &str, expected: Expect) {
    let synthesis = synthesis(text);
    let mut shown = format!("{}\n", synthesis.verdict.state.in_words());
    for reason in &synthesis.verdict.because {
        shown += &format!("  {}\n", reason.text);
    }
    expected.assert_eq(&shown);
}

fn state(text: &str) -> VerdictState {
    synthesis(text).verdict.state
}

#[test]
fn a_severity_line_beside_an_empty_list_is_a_finding() {
    check(
        "{\"findings\":[]}\nCRITICAL: SQL injection (src/handlers/auth.py:42)\nOverall: REQUEST_CHANGES",
        expect![[r#"
            not ready
              1 finding must be fixed: SQL injection (src/handlers/auth.py:42)
        "#]],
    );
    check(
        "{\"findings\":[]} CRITICAL: SQL injection (src/handlers/auth.py:42)",
        expect![[r#"
            not ready
              1 finding must be fixed: SQL injection (src/handlers/auth.py:42)
        "#]],
    );
}

#[test]
fn a_list_that_holds_a_placeholder_is_not_complete_and_hides_no_line() {
    for list in ["[...]", "[TODO]", "[\"see below\"]", "[…]", "[ /* below */ ]"] {
        let text = format!("{{\"findings\": {list}}}\nHIGH: N+1 query (src/api/users.py:87)");
        let found = synthesis(&text);
        assert_eq!(found.verdict.state, VerdictState::NotReady, "{text}");
        assert!(found.verdict.incomplete, "{text}");
        assert_eq!(found.findings[0].place().as_deref(), Some("src/api/users.py:87"), "{text}");
        let alone = format!("{{\"findings\": {list}}}");
        assert_eq!(state(&alone), VerdictState::Incomplete, "{alone}");
    }
}

#[test]
fn rejecting_words_contradict_an_empty_list_of_findings() {
    for words in [
        "There is a serious SQL injection in line 3 which must be fixed.",
        "Overall: REQUEST_CHANGES",
        "Verdict: changes requested",
        "This must be fixed before the release.",
        "The handler needs to be fixed.",
        "Do not merge this.",
        "This cannot be merged.",
        "This change is not safe to merge.",
        "I found two bugs.",
        "The check is broken.",
        "This introduces a race.",
        "3 tests failed.",
        "The migration has a critical flaw.",
        "See below for the problems.",
        "BLOCKER: it drops the table",
    ] {
        for text in [
            format!("{words}\n{{\"findings\": []}}"),
            format!("{{\"findings\": []}}\n{words}"),
            format!("{words} {{\"findings\": []}}"),
            format!("```json\n{{\"findings\": []}}\n```\n{words}"),
        ] {
            let state = state(&text);
            assert!(
                matches!(state, VerdictState::Incomplete | VerdictState::NotReady),
                "{state:?}: {text}"
            );
            let parsed = script_api::parse(text.as_bytes(), SeverityFormat::Auto, None).0;
            assert!(!parsed.outcome.approved, "{text}");
        }
    }
}

#[test]
fn the_summary_of_a_report_is_read_as_its_words() {
    check(
        r#"{"findings": [], "summary": "There is a serious SQL injection in line 3."}"#,
        expect![[r#"
            incomplete
              `reviewer`: the text of the report rejects the change, but its findings do not block: `There is a serious SQL injection in line 3`
        "#]],
    );
}

#[test]
fn a_reviewer_that_did_not_review_makes_the_verdict_incomplete() {
    for words in [
        "I cannot review this change.",
        "I'm sorry, but I can't help with that request.",
        "I was unable to read the diff.",
        "Unable to access the files.",
        "I did not review the change.",
        "The review was skipped.",
        "No diff was provided.",
        "The diff is truncated.",
        "We could not open the patch.",
    ] {
        let text = format!("{words} {{\"findings\": []}}");
        assert_eq!(state(&text), VerdictState::Incomplete, "{text}");
    }
    check(
        "I cannot review this change. {\"findings\": []}",
        expect![[r#"
            incomplete
              `reviewer`: the reviewer states that the change was not reviewed: `I cannot review this change`
        "#]],
    );
}

#[test]
fn harmless_words_beside_an_empty_list_change_nothing() {
    for words in [
        "",
        "I reviewed the change and found no issues.",
        "Here is my report:",
        "I did not find any serious problem.",
        "No bugs found.",
        "This change fixes a serious SQL injection.",
        "There are no issues.",
        "I could not find any defect in this change.",
        "No evidence of a serious security vulnerability was found.",
        "Nothing must be fixed.",
        "I see no reason not to merge.",
        "Error handling is good, and the tests cover the failure path.",
        "Overall: APPROVE",
        "All 12 tests passed, 0 failed.",
        "Test failures: 0",
        "Failing tests: none",
        "Tests failed: 0",
        "| failed | 0 |",
        "| Failing tests | none |",
        "Changes requested: none",
        "Requested changes: none",
        "CRITICAL: 0\nHIGH: none\nMAJOR: no issues found",
        "HIGH: 0 findings",
    ] {
        let text = format!("{words}\n{{\"findings\": []}}");
        let found = synthesis(&text);
        assert_eq!(found.verdict.state, VerdictState::Ready, "{text}\n{:?}", found.verdict);
        let outcome = script_api::parse(text.as_bytes(), SeverityFormat::Auto, None).0.outcome;
        assert!(!outcome.has_test_failures && !outcome.has_change_requests, "{text}");
    }
}

#[test]
fn lines_that_repeat_the_list_add_nothing() {
    let list = r#"{"findings": [{"file": "src/a.py", "line_number": 3, "severity": "HIGH", "description": "The lock is not held while the balance is read"}]}"#;
    for line in [
        "HIGH: lock (src/a.py:3)",
        "- **HIGH**: The lock is not held while the balance is read",
        "HIGH: 1 issue",
    ] {
        assert_eq!(synthesis(&format!("{line}\n{list}")).findings.len(), 1, "{line}");
    }
    let other = synthesis(&format!("HIGH: the file is never closed (src/b.py:9)\n{list}"));
    assert_eq!(other.findings.len(), 2);
}

#[test]
fn a_list_that_is_not_closed_is_not_complete() {
    for text in [
        r#"{"reviewer":"s","findings":["#,
        r#"{"reviewer":"s","findings":[{"title":"nit","severity":"P3","file":"a.py","line":1},"#,
        "Here it is:\n{\"findings\": [",
        "```json\n{\"findings\": [",
        "```json\n{\"findings\": [\n```",
        r#"{"findings": [}"#,
        r#"{"findings": []"#,
    ] {
        assert_eq!(state(text), VerdictState::Incomplete, "{text}");
    }
}

#[test]
fn a_finding_nested_in_a_member_of_another_finding_counts() {
    let text = r#"{"reviewer": "s", "residual_risks": [], "testing_gaps": [], "findings": [
        {"title": "nit", "severity": "P3", "file": "a.py", "line": 1, "evidence":["x = 1"},
        {"title": "SQL injection", "severity": "P0", "file": "b.py", "line": 2, "evidence": []}]}"#;
    let found = synthesis(text);
    assert_eq!((found.verdict.state, found.verdict.incomplete), (VerdictState::NotReady, true));
    assert_eq!(found.findings[0].title, "SQL injection");
    let parsed = script_api::parse(text.as_bytes(), SeverityFormat::Auto, None).0;
    assert!(!parsed.outcome.approved && parsed.findings.unwrap().len() == 2);
}

#[test]
fn an_unknown_severity_blocks_until_another_reviewer_grades_the_finding() {
    let report = |name: &str, severity: &str| {
        let text = format!(
            r#"{{"findings": [{{"file": "a.py", "line": 3, "severity": "{severity}", "title": "Lock not held in `load`", "description": "d"}}]}}"#
        );
        Report::from_text(&text, name, None)
    };
    let state = |reports: &[Report]| synthesize(reports, &SynthesisInputs::default()).verdict.state;
    for word in ["blockr", "SEV1", "catastrophic"] {
        assert_eq!(state(&[report("one", word)]), VerdictState::NotReady, "{word}");
        assert_eq!(
            state(&[report("one", word), report("two", "LOW")]),
            VerdictState::ReadyWithFixes,
            "{word}"
        );
    }
    for word in ["BLOCKER", "fatal", "severe"] {
        assert_eq!(state(&[report("one", word)]), VerdictState::NotReady, "{word}");
    }
}

#[test]
fn a_ready_verdict_names_findings_that_were_held_back() {
    let text = r#"{"reviewer": "s", "residual_risks": [], "testing_gaps": [], "findings": [
        {"title": "Slow query", "severity": "MEDIUM", "file": "a.py", "line": 1, "confidence": 50,
         "autofix_class": "manual", "owner": "human", "requires_verification": false,
         "pre_existing": false, "why_it_matters": "slow", "evidence": ["rows = load(1)"]}]}"#;
    check(
        text,
        expect![[r#"
            ready
              no open finding, and every reviewer answered
              1 finding held back as unsure: Slow query (a.py:1)
        "#]],
    );
}

/// Checks texts that reject the change, lost a part or hide a part, each without a blocking
/// finding.
#[test]
fn no_disguise_of_a_rejection_reads_as_a_pass() {
    for text in [
        // Quotes that are escaped or doubled do not make words part of the JSON.
        "{\"findings\"\": []}\n\nCRITICAL: SQL injection in db.py:10",
        "[CRITICAL] db.py:10: SQL injection\n\n{\"findings\"\": []}",
        "{\\\"findings\\\": []}\n\nREQUEST_CHANGES",
        "{\"\"findings\"\": []}\n\nI cannot review this change.",
        // Two texts of a list that lost the mark between them.
        "{\"findings\":[\"LOW: a.py:3 typo,\"CRITICAL: db.py:10 SQL injection\"]}",
        "{\"findings\":[\"LOW: a.py:3 typo\"\"CRITICAL: db.py:10 SQL injection\"]}",
        // A verdict that is misspelt, damaged, the second one, or under another name.
        "{\"findings\": [], \"\"approved\": false}",
        "{\"verdic\":\"REQUEST_CHANGES\",\"findings\":[]}",
        "{\"aproved\":false,\"findings\":[]}",
        "{\"findings\": [], \"verdict\": \"approve\", \"status\": \"REQUEST_CHANGES\"}",
        "{\"findings\": [], \"verdict\": \"not_ready\"}",
        "{\"findings\": [], \"event\": \"REQUEST_CHANGES\"}",
        "{\"findings\": [], \"overall_correctness\": \"patch is incorrect\"}",
        "{\"findings\": [], \"ready_to_merge\": false}",
        "{\"findings\": [], \"truncated\": true}",
        // Words in other members.
        "{\"findings\": [], \"summary\": \"REQUEST_CHANGES\"}",
        "{\"findings\": [], \"summary\": \"3 tests failed.\"}",
        "{\"findings\": [], \"summary\": \"P0: SQL injection in db.py:10\"}",
        "{\"findings\": [], \"reason\": \"I cannot review this change.\"}",
        "{\"findings\": [], \"not_covered\": [\"src/auth.py\"]}",
        // Other lists.
        "{\"findings\": [], \"blockers\": [\"SQL injection in login\"]}",
        "{\"findings\": [], \"critical\": [{\"description\": \"SQL injection\"}]}",
        // Placeholders with a severity.
        "{\"findings\": [\"low: ...\"]}",
        "{\"findings\": [{\"severity\":\"low\",\"title\":\"See above\"}]}",
        // A finding that does not count does not answer the rejection.
        "REQUEST_CHANGES\n\n{\"findings\":[{\"title\":\"Old bug\",\"severity\":\"P0\",\"file\":\"src/a.py\",\"line\":3,\"pre_existing\":true}]}",
        "3 tests failed.\n\n{\"findings\":[{\"title\":\"Bug\",\"severity\":\"P0\",\"file\":\"src/a.py\",\"line\":3,\"confidence\":25}]}",
        "REQUEST_CHANGES\n\n{\"findings\": []}\n\nVerdict: APPROVE",
        // Two severities in one finding.
        "{\"findings\":[{\"severity\":\"low\",\"priority\":\"P0\",\"title\":\"SQL injection\",\"file\":\"a.py\",\"line\":3}]}",
        // Words in Markdown markup.
        "`REQUEST_CHANGES`\n{\"findings\": []}",
        "<verdict>REQUEST_CHANGES</verdict>\n{\"findings\": []}",
        "> [!CAUTION]\n> Do not merge this.\n\n{\"findings\": []}",
        "<!-- reviewed --> REQUEST_CHANGES\n{\"findings\": []}",
        "{\"findings\": []}\n<!-- review\nREQUEST_CHANGES",
        // Words next to the rejection do not cancel it.
        "REQUEST_CHANGES because the function returns null.\n{\"findings\": []}",
        "There is no input validation and this must be fixed.\n{\"findings\": []}",
        "This must be fixed if we want to ship on Friday.\n{\"findings\": []}",
        "The handler has a SQL injection.\n{\"findings\": []}",
        "Could not complete the review.\n{\"findings\": []}",
    ] {
        let found = synthesis(text);
        let is_stopped =
            matches!(found.verdict.state, VerdictState::Incomplete | VerdictState::NotReady);
        assert!(is_stopped, "{text}\n{:?}", found.verdict);
        assert!(
            !script_api::parse(text.as_bytes(), SeverityFormat::Auto, None).0.outcome.approved,
            "{text}"
        );
    }
}

#[test]
fn a_cut_before_the_findings_leaves_no_approval() {
    for text in [
        "{\"verdict\": \"approve\", \"summary\": \"fine\", \"findings",
        "{\"verdict\": \"approve",
        "{\"approved\": true, \"issues",
        "Verdict: APPROVE\n\n```json\n{\"findings",
        "APPROVE\n\nCRITICAL",
    ] {
        assert!(
            !script_api::parse(text.as_bytes(), SeverityFormat::Auto, None).0.outcome.approved,
            "{text}"
        );
    }
}

#[test]
fn counts_of_zero_and_empty_sections_are_no_objections() {
    for words in [
        "Critical: 0, High: 0, Medium: 0, Low: 0",
        "CRITICAL: 0 | HIGH: 0 | MEDIUM: 0 | LOW: 0",
        "P0: 0 | P1: 0 | P2: 0",
        "| Critical | High | Medium | Low |\n|---|---|---|---|\n| 0 | 0 | 0 | 0 |",
        "### Critical Issues\n\nNone.",
        "**Critical Issues:** None",
        "Blocking issues: none",
        "#### Must fix\n\nNone.",
        "Must fix: none",
        "| Tests | Passed | Failed |\n|---|---|---|\n| 42 | 42 | 0 |",
        "Failing tests: N/A",
        "Failed tests: []",
        "This fixes the failing test.",
        "The test asserts that login fails with a wrong password.",
        "I was unable to find any issues.",
        "I can't see anything wrong with this change.",
        "2 critical issues were resolved.",
        "The file handle must be closed, which the with block does.",
        "The function does not merge duplicate keys, as documented.",
    ] {
        for text in
            [format!("{words}\n\n{{\"findings\": []}}"), format!("{{\"findings\": []}}\n\n{words}")]
        {
            let found = synthesis(&text);
            assert_eq!(found.verdict.state, VerdictState::Ready, "{text}\n{:?}", found.verdict);
        }
    }
    let shortcode = "{\"findings\": []}\n\n:white_check_mark: No issues";
    assert_eq!(state(shortcode), VerdictState::Ready);
}
