//! A reviewer's words count against its report, never for it.

use assay_findings::answer::{self, Format};
use assay_findings::report::Report;
use assay_findings::synthesis::{Circumstances, Synthesis, synthesize};
use assay_findings::verdict::State;
use expect_test::{Expect, expect};

fn synthesis(text: &str) -> Synthesis {
    synthesize(&[Report::from_text(text, "reviewer", None)], &Circumstances::default())
}

/// Shows the verdict of a text, its reasons, and its findings.
fn check(text: &str, expected: Expect) {
    let synthesis = synthesis(text);
    let mut shown = format!("{}\n", synthesis.verdict.state.in_words());
    for reason in &synthesis.verdict.because {
        shown += &format!("  {}\n", reason.text);
    }
    expected.assert_eq(&shown);
}

fn state(text: &str) -> State {
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
        assert_eq!(found.verdict.state, State::NotReady, "{text}");
        assert!(found.verdict.incomplete, "{text}");
        assert_eq!(found.findings[0].place().as_deref(), Some("src/api/users.py:87"), "{text}");
        let alone = format!("{{\"findings\": {list}}}");
        assert_eq!(state(&alone), State::Incomplete, "{alone}");
    }
}

#[test]
fn words_that_reject_contradict_a_list_that_does_not() {
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
            assert!(matches!(state, State::Incomplete | State::NotReady), "{state:?}: {text}");
            let parsed = answer::parse(text.as_bytes(), Format::Auto, None).0;
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
              `reviewer`: its words reject the change, and its list does not: `There is a serious SQL injection in line 3`
        "#]],
    );
}

#[test]
fn a_reviewer_that_did_not_review_gives_no_clean_bill() {
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
        assert_eq!(state(&text), State::Incomplete, "{text}");
    }
    check(
        "I cannot review this change. {\"findings\": []}",
        expect![[r#"
            incomplete
              `reviewer`: the reviewer says that the change was not reviewed: `I cannot review this change`
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
        assert_eq!(found.verdict.state, State::Ready, "{text}\n{:?}", found.verdict);
        let outcome = answer::parse(text.as_bytes(), Format::Auto, None).0.outcome;
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
        assert_eq!(state(text), State::Incomplete, "{text}");
    }
}

#[test]
fn a_finding_inside_of_another_ones_member_counts() {
    let text = r#"{"reviewer": "s", "residual_risks": [], "testing_gaps": [], "findings": [
        {"title": "nit", "severity": "P3", "file": "a.py", "line": 1, "evidence":["x = 1"},
        {"title": "SQL injection", "severity": "P0", "file": "b.py", "line": 2, "evidence": []}]}"#;
    let found = synthesis(text);
    assert_eq!((found.verdict.state, found.verdict.incomplete), (State::NotReady, true));
    assert_eq!(found.findings[0].title, "SQL injection");
    let parsed = answer::parse(text.as_bytes(), Format::Auto, None).0;
    assert!(!parsed.outcome.approved && parsed.findings.unwrap().len() == 2);
}

#[test]
fn a_severity_that_no_vocabulary_knows_blocks_until_a_reviewer_grades_it() {
    let report = |name: &str, severity: &str| {
        let text = format!(
            r#"{{"findings": [{{"file": "a.py", "line": 3, "severity": "{severity}", "title": "Lock not held in `load`", "description": "d"}}]}}"#
        );
        Report::from_text(&text, name, None)
    };
    let state = |reports: &[Report]| synthesize(reports, &Circumstances::default()).verdict.state;
    for word in ["blockr", "SEV1", "catastrophic"] {
        assert_eq!(state(&[report("one", word)]), State::NotReady, "{word}");
        assert_eq!(
            state(&[report("one", word), report("two", "LOW")]),
            State::ReadyWithFixes,
            "{word}"
        );
    }
    for word in ["BLOCKER", "fatal", "severe"] {
        assert_eq!(state(&[report("one", word)]), State::NotReady, "{word}");
    }
}

#[test]
fn ready_names_findings_that_were_held_back() {
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
