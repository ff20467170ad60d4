//! The output formats, compared with the schemas of their readers and with snapshots.

use std::collections::BTreeMap;

use assay_findings::grade::Grade;
use assay_findings::path::RepoPath;
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_findings::trace::{TraceRole, TraceStep};
use assay_findings::vote::{LineRange, Vote};
use assay_findings::write::{self, FindingsDocument, OutputFormat};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::memory_tree::MemoryTree;

/// Returns the synthesis of two reviewers on a small tree: findings with and without lines, files
/// and fixes.
fn synthesis() -> Synthesis {
    let tree = MemoryTree::new(&[
        ("src/a b.py", "import db\n\nrows = db.run(sql)\n"),
        ("src/ünï.rs", "fn main() {\n    dbg!(1);\n}\n"),
    ]);
    let security = json!({"reviewer": "security", "residual_risks": ["a *risk*"],
        "testing_gaps": [], "findings": [
        {"title": "SQL built from input", "severity": "P0", "file": "src/a b.py", "line": 3,
         "why_it_matters": "Anybody reads any row.", "autofix_class": "gated_auto",
         "owner": "downstream-resolver", "requires_verification": true,
         "suggested_fix": "bind:\n    db.run(sql, args)", "confidence": 100, "category": "security",
         "evidence": ["`rows = db.run(sql)`"], "pre_existing": false}]});
    let rules = json!({"reviewer": "rules", "residual_risks": [],
        "testing_gaps": [], "findings": [
        {"title": "Debug output", "severity": "LOW", "file": "src/ünï.rs", "line": 2,
         "description": "It ends up in the logs.", "rule": "debug/print", "category": "best_practices",
         "suggested_fix": "Delete the line.", "autofix_class": "safe_auto", "owner": "review-fixer",
         "replacement": {"start_line": 2, "end_line": 2, "text": ""}},
        {"title": "No changelog entry", "severity": "MINOR", "rule": "change/no-changelog",
         "description": "<img src=x> @everybody, `**bold**`"}]});
    let reports = [
        Report::from_text(&security.to_string(), "security", None),
        Report::from_text(&rules.to_string(), "rules", None).of_kind(ReviewerKind::Rules),
    ];
    synthesize(&reports, &SynthesisInputs { tree: Some(&tree), ..SynthesisInputs::default() })
}

fn write_form(form: OutputFormat) -> String {
    let synthesis = synthesis();
    let document = FindingsDocument {
        findings: Some(&synthesis.findings),
        synthesis: Some(&synthesis),
        version: "1.2.3",
        ..FindingsDocument::default()
    };
    write::write(form, &document)
}

fn check(form: OutputFormat, expected: Expect) {
    expected.assert_eq(&write_form(form));
}

fn check_schema(schema: &str, document: &Value) {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::draft4::new(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}\n{document:#}");
}

#[test]
fn sarif_is_valid_by_its_schema() {
    let log: Value = serde_json::from_str(&write_form(OutputFormat::Sarif)).unwrap();
    check_schema(include_str!("../fixtures/sarif-2.1.0.schema.json"), &log);
    let run = &log["runs"][0];
    let first = &run["results"][0];
    assert_eq!(first["level"], "error");
    let location = &first["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "src/a%20b.py");
    assert_eq!(location["region"]["startLine"], 3);
    assert!(first["partialFingerprints"]["primaryLocationLineHash"].is_string());
    let rule = &run["tool"]["driver"]["rules"][first["ruleIndex"].as_u64().unwrap() as usize];
    assert_eq!(rule["id"], first["ruleId"]);
    assert_eq!(rule["properties"]["security-severity"], "9.5");
    let fix = &run["results"][1]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(
        fix["deletedRegion"],
        json!({"startLine": 2, "startColumn": 1, "endLine": 3, "endColumn": 1})
    );
}

/// Returns the synthesis of one vote with a trace, whose code would be markup.
fn traced_synthesis() -> Synthesis {
    let step = |role, line, code: &str| TraceStep {
        role,
        file: RepoPath::exact("src/a b.py").unwrap(),
        line,
        code: code.to_owned(),
    };
    let mut vote = Vote::new("SQL from a request", Grade::from_word("HIGH"));
    vote.file = RepoPath::exact("src/a b.py").ok();
    vote.lines = LineRange::at(3);
    vote.rule = Some("python/sql-from-request".to_owned());
    vote.trace = vec![
        step(TraceRole::Source, 1, "request.args['`<b>`']"),
        step(TraceRole::Sink, 3, "db.run(sql)"),
    ];
    let mut report = Report::new(Reviewer::new("rules", ReviewerKind::Rules));
    report.votes.push(vote);
    synthesize(&[report], &SynthesisInputs::default())
}

#[test]
fn the_trace_of_a_finding_is_a_code_flow_in_sarif() {
    let synthesis = traced_synthesis();
    let document = FindingsDocument {
        findings: Some(&synthesis.findings),
        version: "1.2.3",
        ..FindingsDocument::default()
    };
    let log: Value = serde_json::from_str(&write::write(OutputFormat::Sarif, &document)).unwrap();
    check_schema(include_str!("../fixtures/sarif-2.1.0.schema.json"), &log);
    let flow = &log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!(flow[0]["location"]["message"]["text"], "source: request.args['`<b>`']");
    assert_eq!(flow[0]["location"]["physicalLocation"]["region"]["startLine"], 1);
    assert_eq!(flow[1]["location"]["message"]["text"], "sink: db.run(sql)");
}

#[test]
fn the_trace_of_a_finding_is_part_of_its_json() {
    let finding = serde_json::to_value(&traced_synthesis().findings[0]).unwrap();
    let sink = json!({"role": "sink", "file": "src/a b.py", "line": 3, "code": "db.run(sql)"});
    assert_eq!(finding["trace"][1], sink);
    assert!(serde_json::to_value(&synthesis().findings[0]).unwrap()["trace"].is_null());
}

#[test]
fn an_empty_review_is_valid_sarif() {
    let document =
        FindingsDocument { findings: Some(&[]), version: "1.2.3", ..FindingsDocument::default() };
    let log: Value = serde_json::from_str(&write::write(OutputFormat::Sarif, &document)).unwrap();
    check_schema(include_str!("../fixtures/sarif-2.1.0.schema.json"), &log);
}

#[test]
fn rdjson_is_valid_by_its_schema_and_rules() {
    let result: Value = serde_json::from_str(&write_form(OutputFormat::Rdjson)).unwrap();
    check_schema(include_str!("../fixtures/rdjson/DiagnosticResult.json"), &result);
    let lines = write_form(OutputFormat::Rdjsonl);
    for (line, whole) in lines.lines().zip(result["diagnostics"].as_array().unwrap()) {
        let diagnostic: Value = serde_json::from_str(line).unwrap();
        check_schema(include_str!("../fixtures/rdjson/Diagnostic.json"), &diagnostic);
        assert_eq!(&diagnostic, whole);
    }
    // Whole lines have no columns and an inclusive end; a deleted line is removed with its end.
    let fixed = &result["diagnostics"][1];
    assert_eq!(fixed["location"]["range"], json!({"start": {"line": 2}, "end": {"line": 2}}));
    let suggestion = json!([{"range": {"start": {"line": 2, "column": 1}, "end": {"line": 3, "column": 1}}, "text": ""}]);
    assert_eq!(fixed["suggestions"], suggestion);
}

#[test]
fn a_concise_line_has_place_severity_title_and_rule() {
    check(
        OutputFormat::Concise,
        expect![[r#"
            (change): MINOR: No changelog entry [change/no-changelog]
            src/a b.py:3:1: P0: SQL built from input [security]
            src/ünï.rs:2:1: LOW: Debug output [debug/print]
            not ready
        "#]],
    );
}

#[test]
fn columns_are_bytes_in_rdjson_and_utf_16_in_sarif() {
    let mut synthesis = synthesis();
    let finding = &mut synthesis.findings[1];
    finding.column = Some(7);
    let columns = BTreeMap::from([(finding.id.clone(), 5)]);
    let document = FindingsDocument {
        findings: Some(&synthesis.findings),
        utf16_columns: Some(&columns),
        version: "1.2.3",
        ..FindingsDocument::default()
    };
    let json = |form| serde_json::from_str::<Value>(&write::write(form, &document)).unwrap();
    let sarif = json(OutputFormat::Sarif);
    check_schema(include_str!("../fixtures/sarif-2.1.0.schema.json"), &sarif);
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let region = |result: &Value| result["locations"][0]["physicalLocation"]["region"].clone();
    assert!(results.iter().any(|result| region(result)["startColumn"] == 5), "{results:#?}");
    let rdjson = json(OutputFormat::Rdjson);
    check_schema(include_str!("../fixtures/rdjson/DiagnosticResult.json"), &rdjson);
    let diagnostics = rdjson["diagnostics"].as_array().unwrap();
    let start = |one: &Value| one["location"]["range"]["start"].clone();
    assert!(diagnostics.iter().any(|one| start(one)["column"] == 7), "{diagnostics:#?}");
}

#[test]
fn the_help_of_a_rule_has_its_advice_as_text_and_as_markdown() {
    let log: Value = serde_json::from_str(&write_form(OutputFormat::Sarif)).unwrap();
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let rule = rules.iter().find(|rule| rule["id"] == "debug/print").unwrap();
    assert_eq!(rule["help"]["text"], "It ends up in the logs.\nFix: Delete the line.");
    let markdown = rule["help"]["markdown"].as_str().unwrap();
    assert!(markdown.contains("**Fix**: Delete the line."), "{markdown}");
    let other = rules.iter().find(|rule| rule["id"] == "change/no-changelog").unwrap();
    assert!(!other["help"]["markdown"].as_str().unwrap().contains("<img"), "{other:#}");
}

#[test]
fn a_markdown_report_escapes_the_markup_of_findings() {
    check(
        OutputFormat::Markdown,
        expect![[r#"
            ## Not ready

            - 1 finding must be fixed: SQL built from input (src/a b.py:3)
            - 2 findings can be acted on: Debug output (src/ünï.rs:2); No changelog entry

            ### 🔴 CRITICAL: SQL built from input

            `src/a b.py:3` · security · confidence 100 · worth 0.833 · found by security \[needs-verification\]

            Anybody reads any row.

            **Fix**

            ```
            bind:
                db.run(sql, args)
            ```

            ### ⚪ LOW: Debug output

            `src/ünï.rs:2` · best\_practices · `debug/print` · confidence 100 · found by rules

            It ends up in the logs.

            **Fix**: Delete the line.

            ### ⚪ MINOR: No changelog entry

            general · `change/no-changelog` · confidence 100 · found by rules

            &lt;img src=x> &#64;everybody, `**bold**`

            <details><summary>Residual risks (1)</summary>

            - a \*risk\*

            </details>
        "#]],
    );
}

#[test]
fn each_github_annotation_is_one_line() {
    check(
        OutputFormat::Github,
        expect![[r#"
        ::error file=src/a b.py,line=3,endLine=3,title=CRITICAL%3A SQL built from input::Anybody reads any row.%0AFix: bind:%0A    db.run(sql, args) [needs-verification]
        ::notice file=src/ünï.rs,line=2,endLine=2,title=LOW%3A Debug output::It ends up in the logs.%0AFix: Delete the line.
        ::notice title=MINOR%3A No changelog entry::<img src=x> @everybody, `**bold**`
    "#]],
    );
}

#[test]
fn a_checklist_indents_the_lines_of_a_fix() {
    check(
        OutputFormat::Checklist,
        expect![[r#"
        ### 1. 🔴 CRITICAL: Security (src/a b.py:3) [needs-verification]
        **Issue**: SQL built from input. Anybody reads any row.
        **Suggested Fix**: bind:
                db.run(sql, args)

        ### 2. ⚪ LOW: Best Practices (src/ünï.rs:2)
        **Issue**: Debug output. It ends up in the logs.
        **Suggested Fix**: Delete the line.

        ### 3. ⚪ MINOR: General
        **Issue**: No changelog entry. \<img src=x> @everybody, `**bold**`
    "#]],
    );
}

#[test]
fn places_become_links_if_the_repository_is_known() {
    let synthesis = synthesis();
    let document = FindingsDocument {
        findings: Some(&synthesis.findings[..1]),
        repository: Some("https://github.com/owner/repo/"),
        commit: Some("abc123"),
        ..FindingsDocument::default()
    };
    let written = write::write(OutputFormat::Checklist, &document);
    let heading = written.lines().next().unwrap();
    assert_eq!(
        heading,
        "### 1. 🔴 CRITICAL: Security ([src/a b.py:3](https://github.com/owner/repo/blob/abc123/src/a%20b.py#L3)) [needs-verification]"
    );
}
