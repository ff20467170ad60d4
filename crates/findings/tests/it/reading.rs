//! The texts of reviewers, and the findings that are read from them.

use assay_findings::read::{self, ReadFallback};
use assay_findings::script_api::{self, SeverityFormat};
use expect_test::{Expect, expect};

/// Checks the findings of a text, one per line, then the kinds of repairs and the rejected pieces.
fn check(text: &str, expected: Expect) {
    let reading = read::read(text, None);
    let mut shown = String::new();
    match &reading.votes {
        None => shown += "no review\n",
        Some(votes) if votes.is_empty() => shown += "nothing found\n",
        Some(votes) => {
            for vote in votes {
                let file = vote.file.as_ref().map_or("-".to_owned(), ToString::to_string);
                let lines =
                    vote.lines.map_or("-".to_owned(), |lines| match lines.start() == lines.end() {
                        true => lines.start().to_string(),
                        false => format!("{}-{}", lines.start(), lines.end()),
                    });
                shown += &format!("{file}:{lines} {} {}", vote.grade.word(), vote.description);
                if let Some(fix) = &vote.suggested_fix {
                    shown += &format!(" => {fix}");
                }
                shown += "\n";
            }
        }
    }
    if reading.fallback == ReadFallback::Lines {
        shown += "(from lines)\n";
    }
    let mut kinds: Vec<String> = reading.repairs.iter().map(|r| format!("{:?}", r.kind)).collect();
    kinds.dedup();
    if !kinds.is_empty() {
        shown += &format!("repaired: {}\n", kinds.join(" "));
    }
    for rejected in &reading.rejected {
        shown += &format!("refused: {}: {}\n", rejected.reason, rejected.raw);
    }
    expected.assert_eq(&shown);
}

#[test]
fn json_is_found_in_fences_in_prose_and_in_nested_objects() {
    for text in [
        "```json\n{\"findings\": [{\"file\": \"a.rs\", \"line\": 3, \"severity\": \"LOW\", \"description\": \"d\"}]}\n```",
        "~~~\n{\"findings\": [{\"file\": \"a.rs\", \"line\": 3, \"severity\": \"LOW\", \"description\": \"d\"}]}\n~~~",
        "```python\n{\"issues\": [{\"file\": \"a.rs\", \"line\": 3, \"severity\": \"LOW\", \"description\": \"d\"}]}",
        "I found {\"issues_found\": [{\"file\": \"a.rs\", \"line\": 3, \"severity\": \"LOW\", \"description\": \"d\"}]} so far",
        "{\"review\": {\"result\": {\"findings\": [{\"file\": \"a.rs\", \"line\": 3, \"severity\": \"LOW\", \"description\": \"d\"}]}}}",
        "[{\"file\": \"a.rs\", \"line\": 3, \"severity\": \"LOW\", \"description\": \"d\"}]",
        "{\"file\": \"a.rs\", \"line\": 3, \"severity\": \"LOW\", \"description\": \"d\"}",
        "use [this](that) and { braces } first\n[{\"file\": \"a.rs\", \"line\": 3, \"severity\": \"LOW\", \"description\": \"d\"}]",
        "fn main() { let x = [1, 2]; }\n{\"file\": \"a.rs\", \"line\": 3, \"severity\": \"LOW\", \"description\": \"d\"}",
    ] {
        let votes = read::read(text, None).votes.unwrap_or_default();
        let parsed_votes: Vec<_> =
            votes.iter().map(|v| (v.line(), v.description.as_str())).collect();
        assert_eq!(parsed_votes, [(Some(3), "d")], "{text}");
    }
}

#[test]
fn several_pieces_of_json_are_all_read_and_repeats_count_once() {
    check(
        "{\"file\": \"a.rs\", \"severity\": \"LOW\", \"description\": \"one\"}\n{\"file\": \"b.rs\", \"severity\": \"LOW\", \"description\": \"two\"}\n```json\n{\"findings\": [{\"file\": \"a.rs\", \"severity\": \"LOW\", \"description\": \"one\"}, {\"file\": \"c.rs\", \"severity\": \"LOW\", \"description\": \"three\"}]}\n```",
        expect![[r#"
            a.rs:- LOW one
            b.rs:- LOW two
            c.rs:- LOW three
            repaired: Duplicate
        "#]],
    );
}

#[test]
fn an_empty_list_is_a_review_and_a_missing_list_is_not() {
    check("{\"findings\": []}", expect!["nothing found\n"]);
    check("```json\n[]\n```", expect!["nothing found\n"]);
    check("All fine, I think.", expect!["no review\n"]);
    check("{\"findings\": null}", expect!["no review\n"]);
    check("[{\"name\": \"test_a\", \"status\": \"ok\"}]", expect!["no review\n"]);
}

#[test]
fn every_way_to_name_a_field_is_understood() {
    check(
        r#"[{"location": "src/a.rs:12-15", "type": "HIGH", "issue": "one", "fix_required": "f"},
            {"file": "src/a.rs:12", "level": "major", "title": "two", "fix": "g"},
            {"path": "src/a.rs", "start_line": 4, "end_line": "9", "severity": "Medium", "message": "three", "type": "unit_test"},
            {"location": {"file": "a.rs", "line": 7}, "severity": "p2", "why_it_matters": "four"},
            {"filename": "a.rs#L3-L5", "priority": "must", "details": "five", "recommendation": "h"},
            {"file": "a.rs", "lines": [3, 8], "severity": "minor", "description": "six"}]"#,
        expect![[r#"
            src/a.rs:12-15 HIGH one => f
            src/a.rs:12 MAJOR two => g
            src/a.rs:4-9 MEDIUM three
            a.rs:7 P2 four
            a.rs:3-5 MUST five => h
            a.rs:3-8 MINOR six
        "#]],
    );
}

#[test]
fn broken_json_is_repaired() {
    check(
        "{findings: [ // the list\n {'file': 'a.rs', line: 3, severity: HIGH, description: 'it's \"bad\"', suggested_fix: None,}\n {“file”: “b.rs”, \"line\" 4, \"severity\": \"LOW\", \"description\": \"one \" + \"two\"}\n]",
        expect![[r#"
            a.rs:3 HIGH it's "bad"
            b.rs:4 LOW one two
            repaired: UnquotedKey Comment Quote UnquotedKey UnquotedValue UnquotedKey Quote UnquotedKey Literal ExtraComma MissingComma Quote MissingColon Concatenated Truncated
        "#]],
    );
}

#[test]
fn unescaped_code_in_strings_is_preserved() {
    check(
        r#"{"findings": [{"file": "a.js", "severity": "LOW", "description": "call f({"a": 1}, "x") twice", "suggested_fix": "match /\d+\s/ and say "no", then stop"}]}"#,
        expect![[r#"
            a.js:- LOW call f({"a": 1}, "x") twice => match /\d+\s/ and say "no", then stop
            repaired: Quote Escape
        "#]],
    );
}

#[test]
fn members_that_are_complete_before_a_truncation_are_kept() {
    check(
        "{\"findings\": [{\"file\": \"a.rs\", \"severity\": \"LOW\", \"description\": \"one\"}, {\"file\": \"b.rs\", \"severity\": \"HIGH\", \"description\": \"two\", \"suggested_fix\": \"and th",
        expect![[r#"
            a.rs:- LOW one
            b.rs:- HIGH two
            repaired: Truncated
        "#]],
    );
}

#[test]
fn json_that_was_escaped_twice_is_read() {
    check(
        r#"{\"findings\": [{\"file\": \"a.rs\", \"severity\": \"LOW\", \"description\": \"say \\\"no\\\"\"}]}"#,
        expect![[r#"
            a.rs:- LOW say "no"
            repaired: EscapedJson
        "#]],
    );
}

#[test]
fn json_whose_quotes_were_doubled_is_read() {
    check(
        "{\n  \"\"findings\"\": [{\"\"file\"\": \"\"a.rs\"\", \"\"severity\"\": \"\"LOW\"\", \"\"description\"\": \"\"d\"\"}]\n}",
        expect![[r#"
            a.rs:- LOW d
            repaired: EscapedJson
        "#]],
    );
}

#[test]
fn only_string_prefixes_of_a_language_are_dropped_before_a_quote() {
    check(
        r#"[{"file": u"a.rs", "line": 72"severity": "LOW", "description": It's bad, isn't it", "fix": null}]"#,
        expect![[r#"
            a.rs:72 LOW It's bad, isn't it
            repaired: Literal MissingComma MissingQuote
        "#]],
    );
}

#[test]
fn multibyte_quotation_marks_are_never_split() {
    check("[`´\0", expect!["no review\n"]);
    check("{“a´: `b´, ‘c”: \"d’", expect!["no review\n"]);
}

#[test]
fn findings_grouped_by_severity_keep_their_severity() {
    check(
        r#"{"findings": {"critical": [{"file": "a.rs", "description": "one"}], "low": [{"file": "b.rs", "description": "two"}]}}"#,
        expect![[r#"
            a.rs:- CRITICAL one
            b.rs:- LOW two
        "#]],
    );
}

#[test]
fn unusable_paths_and_items_are_refused_with_their_text() {
    check(
        r#"{"findings": [{"file": "/etc/passwd", "severity": "HIGH", "description": "kept without its place"}, {"file": "../up", "severity": "LOW", "description": "this too"}, 7, {"file": "a.rs"}, "HIGH: as a line (a.rs:3)"]}"#,
        expect![[r#"
            -:- HIGH kept without its place
            -:- LOW this too
            a.rs:3 HIGH as a line
            refused: the path is absolute and lies outside the repository: /etc/passwd
            refused: the path leaves the repository: ../up
            refused: an item that is not an object: 7
            refused: no description, title or severity: {"file":"a.rs"}
        "#]],
    );
}

#[test]
fn lines_that_begin_with_a_severity_are_findings() {
    check(
        "Some words first.\n- **HIGH**: leak in `src/a.rs:3`\n2. 🔴 CRITICAL src/b.rs:9 - no check at all\n* [Low] nit (src/c.rs, line 4)\nP1: race in src/d/e.rs:12-14\nHigh cohesion is good.\n> MAJOR: quoted\n```\nMAJOR: in code\n```\nMAJOR: outside https://example.org/x.html:80 only",
        expect![[r#"
            src/a.rs:3 HIGH leak in `src/a.rs:3`
            src/b.rs:9 CRITICAL no check at all
            src/c.rs:4 LOW nit (src/c.rs, line 4)
            src/d/e.rs:12-14 P1 race in src/d/e.rs:12-14
            -:- MAJOR outside https://example.org/x.html:80 only
            (from lines)
        "#]],
    );
}

#[test]
fn a_finding_line_may_name_its_place_first_and_repeats_count_once() {
    check(
        "- HIGH (src/a.rs:12): bug\n- HIGH (src/a.rs:12): bug",
        expect![[r#"
            src/a.rs:12 HIGH bug
            (from lines)
            repaired: Duplicate
        "#]],
    );
}

#[test]
fn keys_in_capitals_are_keys() {
    check(
        r#"{"FINDINGS": [{"File": "a.rs", "Severity": "LOW", "Description": "d"}]}"#,
        expect!["a.rs:- LOW d\n"],
    );
}

#[test]
fn a_review_in_one_fence_is_unwrapped() {
    check(
        "```markdown\nHIGH: leak (a.rs:3)\n```",
        expect![[r#"
        a.rs:3 HIGH leak
        (from lines)
    "#]],
    );
}

/// Returns the outcome of a text as a word.
fn outcome(text: &str) -> &'static str {
    let (parsed, _) = script_api::parse(text.as_bytes(), SeverityFormat::Auto, None);
    match (parsed.outcome.approved, parsed.outcome.needs_fix) {
        (true, false) => "approved",
        (false, true) => "needs fix",
        (false, false) => "ambiguous",
        (true, true) => panic!("approved and not"),
    }
}

#[test]
fn an_approval_is_the_reviewers_own_conclusion() {
    for text in [
        "APPROVE",
        "Approved.",
        "LGTM!",
        "**Verdict**: Approved",
        "Overall: `APPROVE`",
        "I approve.",
        "## Verdict\n\nApproved",
        "### Conclusion\n\n✅ Approved",
        "Verdict - APPROVE",
        "No issues: APPROVE",
        "No concerns - LGTM",
        "I have no objections and approve.",
        "Couldn't find any bug so LGTM",
        "[x] APPROVE\n[ ] REQUEST_CHANGES",
        "Blockers: none\nAPPROVE",
        "CRITICAL: 0\n- Critical: None\n| CRITICAL | 0 |\nAPPROVE",
        "## Critical Issues\n\nNone.\n\n## Verdict\nAPPROVE",
        "No CRITICAL, HIGH or MAJOR issues: clean.\nAPPROVE",
        "All 12 tests passed, 0 tests failed.\nLGTM",
        "Tests passed: 10, failed: 0. APPROVE",
        "Adds a test for the failure path. APPROVE",
        "The fix makes the previously failing test pass. APPROVE",
        "All requested changes have been addressed. APPROVE",
        "{\"findings\": [], \"verdict\": \"APPROVE\"}",
        "No changes requested.\nAPPROVED",
        "> REQUEST_CHANGES said the other one\n\nAPPROVE",
        "Earlier: changes requested by ada, said bob.\nVerdict: APPROVE",
    ] {
        assert_eq!(outcome(text), "approved", "{text}");
    }
}

#[test]
fn a_rejection_in_any_words_needs_a_fix() {
    for text in [
        "I cannot approve this.",
        "Not yet approved.",
        "This can't be approved",
        "This change is not\napproved.",
        "Cannot, in good conscience, approve this.",
        "APPROVE is not possible here.",
        "Approved: no",
        "LGTM: no",
        "APPROVE: ❌",
        "Hardly LGTM.",
        "NOT_APPROVED",
        "Changes requested: see above",
        "Please request changes",
        "Verdict: REJECTED",
        "Verdict: REQUEST-CHANGES",
        "Verdict: not ready - request changes",
        "Does not compile - REQUEST_CHANGES",
        "Overall: not approved",
        "REQUEST_CHANGES\n\nLGTM otherwise",
        "CI status: passed\n\nREQUEST_CHANGES",
        "Previous status: approved\n\nREQUEST_CHANGES",
        "## Verdict\n\nRequest changes\n\n## Notes\n\nLGTM on the tests.",
        "Final verdict:\nREQUEST_CHANGES\n\nThe tests are LGTM.",
        "APPROVE\n\nOn second thought: REQUEST_CHANGES",
        "LGTM but 3 tests failed",
        "Tests passed: 10, failed: 2\nAPPROVE",
        "Not all tests pass\nAPPROVE",
        "After the change 3 tests failed\nAPPROVE",
        "test_login FAILED. APPROVE",
        "{\"findings\": [{\"severity\": \"MAJOR\", \"description\": \"x\"}], \"verdict\": \"APPROVE\"}",
        "APPROVE. CRITICAL: the key is public",
        "Found two critical issues.\nAPPROVE",
        "No auth check - CRITICAL: anybody gets in\nAPPROVE",
        "Without validation this is a CRITICAL: SQL injection\nAPPROVE",
        "Severity: HIGH\nAPPROVE",
        "Blocker: a.py:3 crashes\nAPPROVE",
        "1. SQL injection (HIGH)\nAPPROVE",
        "## Critical Issues\n\n1. anybody gets in\n\n## Verdict\nAPPROVE",
        "| CRITICAL | 2 |\n\nVerdict: APPROVE",
        "the tests are failing\nAPPROVE",
    ] {
        assert_eq!(outcome(text), "needs fix", "{text}");
    }
}

#[test]
fn a_text_without_a_clear_conclusion_is_ambiguous() {
    for text in [
        "Looks good to me.",
        "I would approve this once the lock is fixed.",
        "Verdict: approve after fixing the lock",
        "LGTM, but please fix the crash before merging.",
        "LGTM? No.",
        "```\nAPPROVE\n```",
        "> APPROVE",
        "    APPROVE",
        "~~APPROVE~~",
        "<!-- APPROVE -->",
        "diff --git a/x b/x\n@@ -1 +1 @@\n APPROVE\n+LGTM\n",
        "End with APPROVE or REQUEST_CHANGES.",
        "The diff adds \"APPROVE\" to a list.",
        "'APPROVE' is what it prints.",
        "The commit message says LGTM.",
        "This code returns APPROVED.",
        "Expected result: approved",
        "It was approved by bob.",
        "+APPROVE",
        "{\"findings\": []}",
        "{\"findings\": [{\"file\": \"a.rs\"}]}\nAPPROVE",
        "We should approve faster in general.",
        "`APPROVE` is a word.",
    ] {
        assert_eq!(outcome(text), "ambiguous", "{text}");
    }
}
