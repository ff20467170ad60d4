//! An entry that cannot be parsed affects no other, and is always reported.

use assay_review::command::format::AnalyserFormat;
use expect_test::{Expect, expect};

use crate::flawed::{MemoryTree, read};

fn check(form: AnalyserFormat, output: &str, expected: Expect) {
    let tree = MemoryTree::new(&[
        ("a.py", "import os\nx = 1\n"),
        ("b.py", "password = 'hunter2-hunter2'\n"),
        ("crate/src/lib.rs", "m!();\n"),
    ]);
    expected.assert_eq(&read(form, output, &tree));
}

#[test]
fn an_invalid_ruff_violation_does_not_affect_the_others() {
    let output = r#"[
        {"code": "F401", "message": "`os` imported but unused", "filename": "/repo/a.py",
         "location": {"row": 1, "column": 8}},
        {"code": "F401", "message": "no place", "filename": "/repo/a.py"},
        {"code": "F401", "message": "outside", "filename": "/etc/a.py",
         "location": {"row": 1, "column": 8}},
        {"code": "E501", "message": "in a notebook", "filename": "n.ipynb", "cell": 3,
         "location": {"row": 2, "column": 8}}
    ]"#;
    check(
        AnalyserFormat::Ruff,
        output,
        expect![[r#"
        ruff/F401 a.py:1 LOW style | `os` imported but unused
            quotes `import os`
        ruff/E501 n.ipynb LOW style | in a notebook
            fault: the line is relative to cell 3
        rejected: missing field `location` | {"code":"F401","message":"no place","filename":"/repo/a.py"}
        rejected: the path is absolute and lies outside the repository: `/etc/a.py` | {"code":"F401","message":"outside","filename":"/etc/a.py","l
        lost: 2
    "#]],
    );
}

#[test]
fn an_invalid_eslint_message_does_not_affect_the_others() {
    let output = r#"[
        {"filePath": "/repo/a.js", "messages": [
            {"ruleId": "a", "severity": 3, "message": "x", "line": 1},
            {"ruleId": "b", "severity": 1, "line": 1},
            {"ruleId": "c", "severity": 1, "message": "kept", "line": 1},
            {"ruleId": "d", "severity": 1, "message": "the mark goes", "line": 1,
             "fix": {"range": [-1, 0], "text": ""}}
        ]},
        {"filePath": "/repo/b.js"}
    ]"#;
    check(
        AnalyserFormat::Eslint,
        output,
        expect![[r#"
        eslint/c a.js:1 MEDIUM style | kept
        eslint/d a.js:1 MEDIUM style | the mark goes
        rejected: severity 3 is neither 1 nor 2 | {"ruleId":"a","severity":3,"message":"x","line":1}
        rejected: missing field `message` | {"ruleId":"b","severity":1,"line":1}
        rejected: missing field `messages` | {"filePath":"/repo/b.js"}
        lost: 3
    "#]],
    );
}

#[test]
fn an_invalid_bandit_result_does_not_affect_the_others() {
    let output = r#"{"errors": [], "metrics": {}, "results": [
        {"filename": "a.py", "issue_text": "kept", "issue_severity": "HIGH", "line_number": 1,
         "test_id": "B1"},
        {"filename": "a.py", "issue_severity": "HIGH", "line_number": 1, "test_id": "B2"}
    ]}"#;
    check(
        AnalyserFormat::Bandit,
        output,
        expect![[r#"
        bandit/B1 a.py:1 HIGH security | kept
            quotes `import os`
        rejected: missing field `issue_text` | {"filename":"a.py","issue_severity":"HIGH","line_number":1,"
        lost: 1
    "#]],
    );
}

#[test]
fn an_invalid_golangci_lint_issue_does_not_affect_the_others() {
    let output = r#"{"Issues": [
        {"FromLinter": "errcheck", "Text": "kept", "Pos": {"Filename": "a.py", "Line": 1}},
        {"FromLinter": "errcheck", "Text": "no place"}
    ], "Report": {}}
    2 issues."#;
    check(
        AnalyserFormat::GolangciLint,
        output,
        expect![[r#"
        golangci-lint/errcheck a.py:1 MEDIUM correctness | kept
            quotes `import os`
        rejected: missing field `Pos` | {"FromLinter":"errcheck","Text":"no place"}
        note: there is other text around the JSON
        lost: 1
    "#]],
    );
}

#[test]
fn golangci_lint_output_without_issues_is_clean_and_with_an_error_unusable() {
    check(AnalyserFormat::GolangciLint, r#"{"Issues": null, "Report": {}}"#, expect![[""]]);
    let failed = r#"{"Issues": [], "Report": {"Error": "context loading failed: no go files"}}"#;
    check(
        AnalyserFormat::GolangciLint,
        failed,
        expect![[r#"
        unusable: failed: context loading failed: no go files
    "#]],
    );
}

#[test]
fn truncated_semgrep_output_keeps_its_complete_results() {
    let output = r#"{"version": "1", "results": [
        {"check_id": "r.kept", "path": "a.py", "start": {"line": 1, "col": 1},
         "end": {"line": 2, "col": 1}, "extra": {"message": "kept", "severity": "ERROR"}},
        {"check_id": "r.cut", "path": "a.py", "start": {"line": 1, "co"#;
    check(
        AnalyserFormat::Semgrep,
        output,
        expect![[r#"
        semgrep/r.kept a.py:1 HIGH correctness | kept
            quotes `import os`
        rejected: the JSON is invalid: EOF while parsing a string at line 4 column 70 | "a.py", "start": {"line": 1, "col": 1}, "end": {"line": 2, "
        rejected: missing field `col` | {"check_id":"r.cut","path":"a.py","start":{"line":1}}
        lost: 2
    "#]],
    );
}

#[test]
fn semgrep_output_with_unreadable_rules_is_unusable() {
    let output = r#"{"version": "1", "results": [], "errors": [{"code": 7, "level": "error",
        "type": "SemgrepError", "message": "path `.semgrep` does not exist"}]}"#;
    check(
        AnalyserFormat::Semgrep,
        output,
        expect![[r#"
        unusable: failed: path `.semgrep` does not exist
    "#]],
    );
}

#[test]
fn rdjsonl_lines_are_parsed_independently() {
    let output = "{\"message\": \"kept\", \"location\": {\"path\": \"./a.py\", \"range\": \
                  {\"start\": {\"line\": 1, \"column\": 1}, \"end\": {\"line\": 2, \"column\": 1}}}}\n\
                  {\"message\": \"no range\", \"location\": {\"path\": \"a.py\"}, \"severity\": 1}\n\
                  {\"location\": {\"path\": \"a.py\"}}\n\
                  \n\
                  {\"message\": \"cut o";
    check(
        AnalyserFormat::Rdjsonl,
        output,
        expect![[r#"
        - a.py:1 MEDIUM correctness | kept
            quotes `import os`
        - a.py HIGH correctness | no range
        rejected: missing field `message` | {"location":{"path":"a.py"}}
        rejected: the line is not JSON: EOF while parsing a string at line 1 column 18 | {"message": "cut o
        lost: 2
    "#]],
    );
}

#[test]
fn a_suggestion_for_whole_lines_keeps_their_line_breaks() {
    let whole = |text: &str| {
        format!(
            r#"{{"message": "m", "location": {{"path": "a.py"}}, "suggestions": [
                {{"range": {{"start": {{"line": 2}}, "end": {{"line": 2}}}}, "text": "{text}"}}]}}"#
        )
        .replace('\n', " ")
    };
    check(
        AnalyserFormat::Rdjsonl,
        &whole("y = 1"),
        expect![[r#"
        - a.py MEDIUM correctness | m
            gated_auto 2-2: "y = 1\n"
    "#]],
    );
    check(
        AnalyserFormat::Rdjsonl,
        &whole(""),
        expect![[r#"
        - a.py MEDIUM correctness | m
            gated_auto 2-2: ""
    "#]],
    );
}

#[test]
fn truncated_checkstyle_output_keeps_its_complete_errors() {
    let output = "<?xml version='1.0'?><!DOCTYPE checkstyle [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>\n\
                  <checkstyle><file name='a.py'>\
                  <error line='1' severity='error' message='a &lt; b &#38; c' source='T.X'/>\
                  <error line='1' severity='error' message='&x;' source='T.Y'/>\
                  <error line='x' severity='error' message='no number' source='T.Z'/>\
                  <error line='2' severity='ignore' message='not meant' source='T.I'/>\
                  </file><file name='/elsewhere/b.py'><error line='1' message='outside'/></file>\
                  <file name='c.py'><exception/></file><file name='a.py'><error line='2' mess";
    check(
        AnalyserFormat::Checkstyle,
        output,
        expect![[r#"
        checkstyle/T.X a.py:1 HIGH correctness | a < b & c
            quotes `import os`
        rejected: at 1..2: unrecognized entity `x` | <error line='1' severity='error' message='&x;' source='T.Y'/
        rejected: the line is not a number: invalid digit found in string | <error line='x' severity='error' message='no number' source=
        rejected: the path is absolute and lies outside the repository: `/elsewhere/b.py` | <error line='1' message='outside'/>
        rejected: the XML is invalid: syntax error: tag not closed: `>` not found before end of input | <error line='2' mess
        not covered: c.py: the analyser could not read it
        lost: 4
    "#]],
    );
}

#[test]
fn other_clippy_output_is_skipped_and_malformed_messages_are_rejected() {
    let output = r#"   Compiling a v0.1.0
{"reason":"compiler-artifact","package_id":"a"}
{"reason":"compiler-message","message":{"message":"from a macro","level":"warning","code":{"code":"clippy::x"},"spans":[{"file_name":"/elsewhere/m.rs","line_start":9,"line_end":9,"column_start":1,"column_end":2,"is_primary":true,"expansion":{"span":{"file_name":"src/lib.rs","line_start":1,"line_end":1,"column_start":1,"column_end":2,"is_primary":false}}}]},"manifest_path":"/repo/crate/Cargo.toml"}
{"reason":"compiler-message","message":{"message":"2 warnings emitted","level":"warning","code":null,"spans":[]}}
{"reason":"compiler-message","message":{"level":"warning"}}
{"reason":"compiler-message","message":{"mess
{"reason":"build-finished","success":true}"#;
    check(
        AnalyserFormat::Clippy,
        output,
        expect![[r#"
        clippy/x crate/src/lib.rs:1 MEDIUM best_practices | from a macro
            quotes `m!();`
        rejected: missing field `message` | {"reason":"compiler-message","message":{"level":"warning"}}
        rejected: the line is not JSON: EOF while parsing a string at line 1 column 45 | {"reason":"compiler-message","message":{"mess
        lost: 2
    "#]],
    );
    check(
        AnalyserFormat::Clippy,
        "{\"reason\":\"compiler-artifact\"}\n",
        expect![[r#"
        rejected: cargo did not report that the build finished | 
        lost: 1
    "#]],
    );
}

#[test]
fn a_message_about_a_secret_does_not_repeat_the_secret() {
    let output = r#"{"message": "Hardcoded password: 'hunter2-hunter2'", "location": {"path":
        "b.py", "range": {"start": {"line": 1}}}}"#
        .replace('\n', " ");
    check(
        AnalyserFormat::Rdjsonl,
        &output,
        expect![[r#"
        - b.py:1 MEDIUM correctness | Hardcoded password: '…'
    "#]],
    );
}

#[test]
fn empty_and_unknown_output_is_unusable_except_empty_lines() {
    let all = |output: &str| {
        let tree = MemoryTree::new(&[]);
        let lines = AnalyserFormat::ALL
            .map(|form| format!("{form}: {}\n", read(form, output, &tree).trim()));
        lines.concat()
    };
    expect![[r#"
        sarif: unusable: printed nothing, which is not SARIF
        rdjson: unusable: printed nothing, which is not rdjson
        rdjsonl: 
        checkstyle: unusable: printed nothing, which is not checkstyle XML
        lines: 
        clippy: unusable: printed nothing, which is not clippy JSON
        ruff: unusable: printed nothing, which is not ruff JSON
        eslint: unusable: printed nothing, which is not eslint JSON
        semgrep: unusable: printed nothing, which is not semgrep JSON
        bandit: unusable: printed nothing, which is not bandit JSON
        golangci-lint: unusable: printed nothing, which is not golangci-lint JSON
        pyright: unusable: printed nothing, which is not pyright JSON
    "#]]
    .assert_eq(&all(""));
    expect![[r#"
        sarif: unusable: printed output that is not SARIF: `[31mTraceback (most recent call last):`
        rdjson: unusable: printed output that is not rdjson: `[31mTraceback (most recent call last):`
        rdjsonl: unusable: printed output that is not rdjsonl: `[31mTraceback (most recent call last):`
        checkstyle: unusable: printed output that is not checkstyle XML: `[31mTraceback (most recent call last):`
        lines: unusable: printed output that is not lines `file:line:column: message`: `[31mTraceback (most recent call last):`
        clippy: unusable: printed output that is not clippy JSON: `[31mTraceback (most recent call last):`
        ruff: unusable: printed output that is not ruff JSON: `[31mTraceback (most recent call last):`
        eslint: unusable: printed output that is not eslint JSON: `[31mTraceback (most recent call last):`
        semgrep: unusable: printed output that is not semgrep JSON: `[31mTraceback (most recent call last):`
        bandit: unusable: printed output that is not bandit JSON: `[31mTraceback (most recent call last):`
        golangci-lint: unusable: printed output that is not golangci-lint JSON: `[31mTraceback (most recent call last):`
        pyright: unusable: printed output that is not pyright JSON: `[31mTraceback (most recent call last):`
    "#]].assert_eq(&all("\u{1b}[31mTraceback (most recent call last):\n  boom\n"));
    expect![[r#"
        sarif: unusable: printed output that is not SARIF: `{"message": "not found"}`
        rdjson: unusable: printed output that is not rdjson: `{"message": "not found"}`
        rdjsonl: - - MEDIUM correctness | not found
        checkstyle: unusable: printed output that is not checkstyle XML: `{"message": "not found"}`
        lines: unusable: printed output that is not lines `file:line:column: message`: `{"message": "not found"}`
        clippy: unusable: printed output that is not clippy JSON: `{"message": "not found"}`
        ruff: unusable: printed output that is not ruff JSON: `{"message": "not found"}`
        eslint: unusable: printed output that is not eslint JSON: `{"message": "not found"}`
        semgrep: unusable: printed output that is not semgrep JSON: `{"message": "not found"}`
        bandit: unusable: printed output that is not bandit JSON: `{"message": "not found"}`
        golangci-lint: unusable: printed output that is not golangci-lint JSON: `{"message": "not found"}`
        pyright: unusable: printed output that is not pyright JSON: `{"message": "not found"}`
    "#]].assert_eq(&all("{\"message\": \"not found\"}"));
}
