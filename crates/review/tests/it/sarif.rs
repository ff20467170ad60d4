//! The features of SARIF.

use assay_review::command::format::AnalyserFormat;
use expect_test::{Expect, expect};

use crate::flawed::{MemoryTree, read};

fn check(run: &str, expected: Expect) {
    let tree = MemoryTree::new(&[
        ("src/a b.rs", "fn ä() { x() }\nlast\n"),
        ("lib/src/c.rs", "one\ntwo\n"),
        ("100%25.rs", "one\n"),
    ]);
    let log = format!(r#"{{"version": "2.1.0", "runs": [{run}]}}"#);
    expected.assert_eq(&read(AnalyserFormat::Sarif, &log, &tree));
}

const TOOL: &str = r#""tool": {"driver": {"name": "My Tool", "rules": [
    {"id": "scored", "properties": {"security-severity": "9.8", "precision": "low"}},
    {"id": "tagged", "properties": {"tags": ["Security"]}, "defaultConfiguration": {"level": "note"}},
    {"id": "texts", "messageStrings": {"m": {"text": "{0} beats {1}"}}, "help": {"text": "How."}},
    5
]}, "extensions": [{"name": "ext", "rules": [
    {"id": "extra", "defaultConfiguration": {"level": "error"}}]}]}"#;

fn results(results: &str) -> String {
    format!("{{{TOOL}, \"results\": [{results}]}}")
}

#[test]
fn a_rule_is_found_by_index_id_and_extension_and_gives_the_grade() {
    let run = results(
        r#"{"ruleId": "scored", "level": "note", "message": {"text": "by score"}},
        {"ruleIndex": 1, "message": {"text": "by index"}},
        {"ruleId": "texts/sub", "message": {"id": "m", "arguments": ["a", "b"]}},
        {"rule": {"id": "extra", "index": 0, "toolComponent": {"index": 0}}, "message": {"text": "extension"}},
        {"ruleId": "unknown", "message": {"text": "no rule, so a warning"}},
        {"ruleId": "bad", "ruleIndex": 3, "message": {"text": "a broken rule"}},
        {"ruleId": "none", "message": {}}"#,
    );
    check(
        &run,
        expect![[r#"
        my-tool/scored - CRITICAL security | by score
            confidence 25
        my-tool/tagged - LOW security | by index
        my-tool/texts/sub - MEDIUM correctness | a beats b
        my-tool/extra - HIGH correctness | extension
        my-tool/unknown - MEDIUM correctness | no rule, so a warning
        my-tool/bad - MEDIUM correctness | a broken rule
        rejected: the result has no message | {"ruleId":"none","message":{}}
        lost: 1
    "#]],
    );
}

#[test]
fn suppressed_absent_and_passed_results_are_not_findings() {
    let run = results(
        r#"{"message": {"text": "suppressed"}, "suppressions": [{"kind": "inSource"}]},
        {"message": {"text": "accepted"}, "suppressions": [{"kind": "external", "status": "accepted"}]},
        {"message": {"text": "rejected, so it counts"}, "suppressions": [{"kind": "external", "status": "rejected"}]},
        {"message": {"text": "asked for and accepted, so it counts"}, "suppressions": [{"kind": "inSource", "status": "underReview"}, {"kind": "external"}]},
        {"message": {"text": "no suppression at all"}, "suppressions": []},
        {"message": {"text": "passed"}, "kind": "pass"},
        {"message": {"text": "gone"}, "baselineState": "absent"},
        {"message": {"text": "old"}, "baselineState": "unchanged"},
        {"message": {"text": "new"}, "baselineState": "new"}"#,
    );
    check(
        &run,
        expect![[r#"
            - - MEDIUM correctness | rejected, so it counts
            - - MEDIUM correctness | asked for and accepted, so it counts
            - - MEDIUM correctness | no suppression at all
            - - MEDIUM correctness | old
                fires on base
            - - MEDIUM correctness | new
            note: 4 results are suppressed, absent or not failures
        "#]],
    );
}

#[test]
fn a_location_is_resolved_by_base_uri_index_and_percent_escape() {
    let place = |location: &str, region: &str| {
        format!(
            r#"{{"message": {{"text": "m {}"}}, "locations": [{{"physicalLocation":
            {{"artifactLocation": {location}, "region": {region}}}}}]}}"#,
            location.replace(['"', '{', '}'], "")
        )
    };
    let all = [
        place(r#"{"uri": "src/a%20b.rs"}"#, r#"{"startLine": 1, "endLine": 2, "endColumn": 1}"#),
        place(r#"{"uri": "file:///repo/src/a%20b.rs"}"#, r#"{"startLine": 1, "endLine": 2}"#),
        place(r#"{"uri": "a%20b.rs", "uriBaseId": "SRC"}"#, r#"{"startLine": 2}"#),
        place(r#"{"uri": "src/a b.rs", "uriBaseId": "%SRCROOT%"}"#, r#"{"startLine": 2}"#),
        place(r#"{"index": 0}"#, r#"{"charOffset": 3}"#),
        place(r#"{"uri": "100%25.rs"}"#, r#"{"startLine": 1}"#),
        place(r#"{"uri": "file:///etc/passwd"}"#, r#"{"startLine": 1}"#),
        place(r#"{"uri": "../up.rs"}"#, r#"{"startLine": 1}"#),
        place(r#"{"uri": "https://example.org/x.rs"}"#, r#"{"startLine": 1}"#),
        place(r#"{"index": 7}"#, r#"{"startLine": 1}"#),
    ];
    let run = format!(
        r#"{{{TOOL}, "originalUriBaseIds": {{"%SRCROOT%": {{}},
        "ROOT": {{"uri": "file:///repo/"}}, "SRC": {{"uri": "src/", "uriBaseId": "ROOT"}}}},
        "artifacts": [{{"location": {{"uri": "lib/src/c.rs"}}}}], "results": [{}]}}"#,
        all.join(",")
    );
    check(
        &run,
        expect![[r#"
        - src/a b.rs:1 MEDIUM correctness | m uri: src/a%20b.rs
            quotes `fn ä() { x() }`
        - src/a b.rs:1-2 MEDIUM correctness | m uri: file:///repo/src/a%20b.rs
            quotes `fn ä() { x() }`
        - src/a b.rs:2 MEDIUM correctness | m uri: a%20b.rs, uriBaseId: SRC
            quotes `last`
        - src/a b.rs:2 MEDIUM correctness | m uri: src/a b.rs, uriBaseId: %SRCROOT%
            quotes `last`
        - lib/src/c.rs MEDIUM correctness | m index: 0
        - 100%25.rs:1 MEDIUM correctness | m uri: 100%25.rs
            quotes `one`
        rejected: the path is absolute and lies outside the repository: `/etc/passwd` | {"message":{"text":"m uri: file:///etc/passwd"},"locations":
        rejected: the path leaves the repository: `../up.rs` | {"message":{"text":"m uri: ../up.rs"},"locations":[{"physica
        rejected: `https://example.org/x.rs` is no file | {"message":{"text":"m uri: https://example.org/x.rs"},"locat
        rejected: the location has no file | {"message":{"text":"m index: 7"},"locations":[{"physicalLoca
        lost: 4
    "#]],
    );
}

#[test]
fn a_fix_is_used_only_if_it_is_the_only_one_and_its_columns_are_certain() {
    let result = |column: u32, more: &str| {
        format!(
            r#"{{"message": {{"text": "at {column}"}}, "locations": [{{"physicalLocation":
            {{"artifactLocation": {{"uri": "src/a b.rs"}}, "region": {{"startLine": 1}}}}}}],
            "fixes": [{{"description": {{"text": "Do it"}}, "artifactChanges": [{{"artifactLocation":
            {{"uri": "src/a%20b.rs"}}, "replacements": [{{"deletedRegion": {{"startLine": 1,
            "startColumn": {column}, "endColumn": {}}}, "insertedContent": {{"text": "y"}}}}]}}]}}{more}]}}"#,
            column + 1
        )
    };
    let all = [result(1, ""), result(10, ""), result(2, ", {\"artifactChanges\": []}")].join(",");
    check(
        &results(&all),
        expect![[r#"
        - src/a b.rs:1 MEDIUM correctness | at 1
            quotes `fn ä() { x() }`
            fix: Do it
            gated_auto 1-1: "yn ä() { x() }\n"
        - src/a b.rs:1 MEDIUM correctness | at 10
            quotes `fn ä() { x() }`
            fix: Do it
        - src/a b.rs:1 MEDIUM correctness | at 2
            quotes `fn ä() { x() }`
            fix: Do it
    "#]],
    );
    let known = format!("{{{TOOL}, \"columnKind\": \"utf16CodeUnits\", \"results\": [{all}]}}");
    check(
        &known,
        expect![[r#"
        - src/a b.rs:1 MEDIUM correctness | at 1
            quotes `fn ä() { x() }`
            fix: Do it
            gated_auto 1-1: "yn ä() { x() }\n"
        - src/a b.rs:1 MEDIUM correctness | at 10
            quotes `fn ä() { x() }`
            fix: Do it
            gated_auto 1-1: "fn ä() { y() }\n"
        - src/a b.rs:1 MEDIUM correctness | at 2
            quotes `fn ä() { x() }`
            fix: Do it
    "#]],
    );
}

#[test]
fn a_failed_run_is_not_a_clean_report() {
    let failed = format!(
        r#"{{{TOOL}, "results": [], "invocations": [{{"executionSuccessful": false,
        "exitCodeDescription": "out of memory"}}]}}"#
    );
    check(
        &failed,
        expect![[r#"
        unusable: failed: out of memory
    "#]],
    );
    let noted = format!(
        r#"{{{TOOL}, "results": [{{"message": {{"text": "kept"}}}}], "invocations": [
        {{"executionSuccessful": false, "toolExecutionNotifications": [{{"level": "error",
        "message": {{"text": "cannot parse"}}, "locations": [{{"physicalLocation":
        {{"artifactLocation": {{"uri": "lib/src/c.rs"}}}}}}]}}]}}]}}"#
    );
    check(
        &noted,
        expect![[r#"
            - - MEDIUM correctness | kept
            not covered: lib/src/c.rs: cannot parse
            unusable: failed: cannot parse
        "#]],
    );
    check(
        &format!("{{{TOOL}}}"),
        expect![[r#"
        unusable: failed: the run has no `results` list
    "#]],
    );
    check(
        "",
        expect![[r#"
        unusable: failed: the log contains no run
    "#]],
    );
    check(
        "{\"results\": []}",
        expect![[r#"
        rejected: missing field `tool` | {"results":[]}
        lost: 1
        unusable: failed: the log contains no run
    "#]],
    );
}
