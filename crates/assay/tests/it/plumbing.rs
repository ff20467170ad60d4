//! `assay findings …` and `assay schema`.

use std::fs;

use serde_json::{Value, json};

use crate::{AssayRun, assay, assay_in};

const TWO_FINDINGS: &str = r#"Review:
```json
{"findings": [
  {"file": "src/a.py", "line_number": 2, "severity": "HIGH", "category": "security",
   "description": "SQL built from input", "suggested_fix": "bind it"},
  {"file": "src/b.py", "severity": "LOW", "category": "testing", "description": "no test",}
], "summary": "two"}
```
REQUEST_CHANGES"#;

/// Validates an output against the schema that the binary prints for it.
fn check_schema(name: &str, ran: &AssayRun) {
    let schema = assay(&["schema", name], "").json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let answer = ran.json();
    let errors: Vec<String> =
        validator.iter_errors(&answer).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}\n{answer:#}");
}

fn persona(reviewer: &str, findings: Value) -> Value {
    json!({"reviewer": reviewer, "findings": findings, "residual_risks": [], "testing_gaps": []})
}

fn finding(title: &str, severity: &str, line: u32) -> Value {
    json!({"title": title, "severity": severity, "file": "src/a.py", "line": line,
        "why_it_matters": "it breaks", "autofix_class": "gated_auto",
        "owner": "downstream-resolver", "requires_verification": true, "suggested_fix": null,
        "confidence": 75, "evidence": ["`rows = db.run(sql)`"], "pre_existing": false})
}

#[test]
fn parse_output_conforms_to_its_schema() {
    let ran = assay(&["findings", "parse"], TWO_FINDINGS);
    assert_eq!(ran.code, 0);
    let answer = ran.json();
    assert_eq!(answer["findings"][0]["severity"], "HIGH");
    assert_eq!(answer["findings"][1]["line_number"], Value::Null);
    assert_eq!(answer["outcome"]["needs_fix"], true);
    assert_eq!(answer["summary"], "two");
    assert_eq!(answer["fallback"], "none");
    assert_eq!(answer["repairs"][0]["kind"], "extra-comma");
    check_schema("parse", &ran);
}

#[test]
fn parse_shows_severities_in_the_vocabulary_asked_for() {
    let severity = |format: &str| {
        let ran = assay(&["findings", "parse", "--format", format], TWO_FINDINGS);
        check_schema("parse", &ran);
        ran.json()["findings"][0]["severity"].clone()
    };
    assert_eq!((severity("qa"), severity("persona")), (json!("HIGH"), json!("P1")));
}

#[test]
fn parse_makes_paths_inside_the_root_relative() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let place = root.join("src/a.rs");
    let text = format!("HIGH: leak in {}:7", place.display());
    let ran = assay_in(&root, &["findings", "parse", "--root", "."], text.as_bytes());
    assert_eq!(ran.json()["findings"][0]["file"], "src/a.rs");
    let ran = assay(&["findings", "parse"], &text);
    assert_eq!(ran.json()["findings"][0]["file"], "");
    assert_eq!(ran.json()["rejected"][0]["raw"], place.display().to_string());
}

#[test]
fn unusable_texts_get_the_normal_answer_and_exit_code_three() {
    let huge = "x".repeat((16 << 20) + 1);
    for (text, reason) in [("", "empty"), (" \n", "empty"), (huge.as_str(), "at most")] {
        let ran = assay(&["findings", "parse"], text);
        assert_eq!(ran.code, 3, "{reason}");
        let answer = ran.json();
        assert_eq!(answer["findings"], Value::Null);
        let reported = answer["rejected"][0]["reason"].as_str().unwrap();
        assert!(reported.contains(reason), "{reported}");
        assert_eq!(answer["outcome"]["approved"], false);
        check_schema("parse", &ran);
    }
}

#[test]
fn bytes_that_are_not_utf8_are_read_and_noted() {
    let folder = tempfile::tempdir().unwrap();
    let ran = assay_in(folder.path(), &["findings", "parse"], b"HIGH: caf\xe9 (a.rs:1)");
    assert_eq!(ran.code, 0);
    assert_eq!(ran.json()["repairs"][0], json!({"kind": "encoding", "at": 9}));
    assert_eq!(ran.json()["findings"][0]["file"], "a.rs");
}

#[test]
fn validate_reports_the_path_and_the_expected_value() {
    let good = persona("security", json!([finding("t", "P1", 2)])).to_string();
    let ran = assay(&["findings", "validate"], &good);
    assert_eq!((ran.code, ran.json()), (0, json!({"valid": true, "errors": []})));
    let bad = good.replace("\"line\":2", "\"line\":0");
    let ran = assay(&["findings", "validate"], &bad);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.json()["errors"],
        json!([{"path": "/findings/0/line", "message": "is 0, expected 1 or more"}])
    );
    check_schema("validate", &ran);
    for text in ["[]", "3", "null", "not JSON", ""] {
        let ran = assay(&["findings", "validate"], text);
        assert_eq!((ran.code, &ran.json()["valid"]), (1, &json!(false)), "{text}");
    }
}

#[test]
fn a_damaged_report_is_never_ready_and_never_approved() {
    for report in assay_testkit::model::DAMAGED_REPORTS {
        let parsed = assay(&["findings", "parse"], report.text);
        assert_eq!(parsed.json()["outcome"]["approved"], false, "{}", report.name);
        check_schema("parse", &parsed);
        let ran = assay(&["findings", "synthesize", "-"], report.text);
        let verdict = &ran.json()["verdict"];
        let state = verdict["state"].as_str().unwrap();
        assert!(matches!(state, "incomplete" | "not_ready"), "{}: {verdict}", report.name);
        assert_eq!(ran.code, if state == "incomplete" { 3 } else { 0 }, "{}", report.name);
        check_schema("synthesize", &ran);
    }
}

#[test]
fn a_truncated_report_is_incomplete_and_names_the_byte_offset() {
    let ran = assay(&["findings", "synthesize", "-"], r#"{"reviewer":"s","findings":["#);
    assert_eq!(ran.code, 3);
    let reason = &ran.json()["verdict"]["because"][0];
    assert_eq!(reason["rule"], "unreadable");
    assert_eq!(reason["text"], "`s`: the JSON is truncated at byte 28");
}

#[test]
fn a_compact_report_blocks_with_and_without_a_tree() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/a.py"), "import db\nrows = db.run(sql)\n").unwrap();
    let mut compact = persona("security", json!([finding("t", "P1", 2)]));
    compact["findings"][0]["confidence"] = json!(100);
    let fields = compact["findings"][0].as_object_mut().unwrap();
    fields.remove("evidence");
    fields.remove("why_it_matters");
    let text = compact.to_string();
    for tree in [&["--tree", "."][..], &[]] {
        let args = [&["findings", "synthesize"], tree, &["-"]].concat();
        let ran = assay_in(folder.path(), &args, text.as_bytes());
        assert_eq!(ran.json()["verdict"]["state"], "not_ready", "{tree:?}: {}", ran.stdout);
        assert_eq!(ran.json()["findings"][0]["confidence"], 100, "{tree:?}");
    }
}

#[test]
fn a_path_with_a_diff_prefix_is_found_in_the_tree() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/a.py"), "import db\nrows = db.run(sql)\n").unwrap();
    for prefix in ["a/", "b/", "./"] {
        let mut report = persona("security", json!([finding("t", "P1", 2)]));
        report["findings"][0]["file"] = json!(format!("{prefix}src/a.py"));
        let args = ["findings", "synthesize", "--tree", ".", "-"];
        let ran = assay_in(folder.path(), &args, report.to_string().as_bytes());
        assert_eq!(ran.json()["verdict"]["state"], "not_ready", "{prefix}: {}", ran.stdout);
        assert_eq!(ran.json()["findings"][0]["file"], "src/a.py", "{prefix}");
    }
}

#[test]
fn validate_knows_the_compact_tier() {
    let mut compact = persona("security", json!([finding("t", "P1", 2)]));
    let fields = compact["findings"][0].as_object_mut().unwrap();
    fields.remove("evidence");
    fields.remove("why_it_matters");
    let text = compact.to_string();
    assert_eq!(assay(&["findings", "validate"], &text).code, 1);
    assert_eq!(assay(&["findings", "validate", "--tier", "compact"], &text).code, 0);
}

#[test]
fn synthesize_grounds_merges_and_decides() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/a.py"), "import db\nrows = db.run(sql)\n").unwrap();
    let one = persona("security", json!([finding("SQL from input", "P1", 7)]));
    let two = persona("correctness", json!([finding("SQL from input", "P1", 2)]));
    fs::write(folder.path().join("one.json"), one.to_string()).unwrap();
    fs::write(folder.path().join("two.json"), two.to_string()).unwrap();
    let args = ["findings", "synthesize", "--tree", ".", "one.json", "two.json"];
    let ran = assay_in(folder.path(), &args, b"");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    check_schema("synthesize", &ran);
    let answer = ran.json();
    let finding = &answer["findings"][0];
    assert_eq!(finding["line"], 2);
    assert_eq!(finding["confidence"], 100);
    assert_eq!(finding["reviewers"], json!(["correctness", "security"]));
    assert_eq!(answer["merges"].as_array().unwrap().len(), 1);
    assert_eq!(answer["verdict"]["state"], "not_ready");
    assert_eq!(answer["queues"]["tasks"], json!([finding["id"]]));
}

#[test]
fn a_report_that_is_no_object_is_kept_as_unusable() {
    for text in ["[[]]", "[3]", "[null]", "[[{\"title\": \"x\"}]]"] {
        let ran = assay(&["findings", "synthesize", "-"], text);
        assert_eq!(ran.code, 3, "{text}");
        let answer = ran.json();
        assert_eq!(answer["verdict"]["state"], "incomplete", "{text}");
        assert_eq!(answer["counts"]["usable_reports"], 0, "{text}");
        check_schema("synthesize", &ran);
    }
    let ran = assay(&["findings", "synthesize", "-"], "[]");
    assert_eq!((ran.code, &ran.json()["verdict"]["state"]), (3, &json!("incomplete")));
}

#[test]
fn not_ready_takes_precedence_over_incomplete_and_both_are_reported() {
    let reports = json!([persona("security", json!([finding("t", "P0", 1)])), null]).to_string();
    let ran = assay(&["findings", "synthesize", "-"], &reports);
    assert_eq!(ran.code, 3);
    let verdict = &ran.json()["verdict"];
    assert_eq!((&verdict["state"], &verdict["incomplete"]), (&json!("not_ready"), &json!(true)));
}

#[test]
fn a_diff_separates_new_findings_from_pre_existing_ones() {
    let folder = tempfile::tempdir().unwrap();
    let diff = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1,2 @@\n import db\n+rows = db.run(sql)\n";
    fs::write(folder.path().join("change.diff"), diff).unwrap();
    let mut on_change = finding("on the change", "P2", 2);
    let mut elsewhere = finding("elsewhere", "P2", 40);
    for finding in [&mut on_change, &mut elsewhere] {
        finding["pre_existing"] = json!(true);
    }
    let reports = json!([persona("x", json!([on_change, elsewhere]))]).to_string();
    let args = ["findings", "synthesize", "--diff", "change.diff", "-"];
    let answer = assay_in(folder.path(), &args, reports.as_bytes()).json();
    assert_eq!(answer["findings"][0]["title"], "on the change");
    assert_eq!(answer["pre_existing"][0]["title"], "elsewhere");
}

#[test]
fn findings_are_new_still_open_resolved_or_regressed_since_the_previous_round() {
    let folder = tempfile::tempdir().unwrap();
    let round = |name: &str, titles: &[&str], more: &[&str]| {
        let findings: Vec<Value> = titles.iter().map(|title| finding(title, "P2", 5)).collect();
        let reports = json!([persona("x", json!(findings))]).to_string();
        let args = [&["findings", "synthesize"], more, &["-"]].concat();
        let ran = assay_in(folder.path(), &args, reports.as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        fs::write(folder.path().join(name), &ran.stdout).unwrap();
        let answer = ran.json();
        let mut reported: Vec<String> = answer["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| format!("{} {}", f["title"].as_str().unwrap(), f["status"]))
            .collect();
        let resolved = answer["resolved"].as_array().unwrap();
        reported.extend(resolved.iter().map(|f| format!("{} gone", f["title"].as_str().unwrap())));
        reported.sort();
        reported
    };
    round("1.json", &["alpha", "beta"], &[]);
    let second = round("2.json", &["beta", "gamma"], &["--previous", "1.json"]);
    assert_eq!(second, ["alpha gone", "beta \"still_open\"", "gamma \"new\""]);
    let third = round("3.json", &["alpha", "beta"], &["--previous", "2.json"]);
    assert_eq!(third, ["alpha \"regressed\"", "beta \"still_open\"", "gamma gone"]);
}

#[test]
fn a_dismissed_finding_does_not_block_until_its_dismissal_expires() {
    let folder = tempfile::tempdir().unwrap();
    let reports = json!([persona("x", json!([finding("t", "P1", 5)]))]).to_string();
    let synthesize = |more: &[&str]| {
        let args = [&["findings", "synthesize"], more, &["-"]].concat();
        assay_in(folder.path(), &args, reports.as_bytes()).json()
    };
    let before = synthesize(&[]);
    assert_eq!(before["verdict"]["state"], "not_ready");
    let mut dismissal = json!([{"fingerprint": before["findings"][0]["fingerprint"],
        "by": "ada", "reason": "known", "until": "2999-12-31"}]);
    let file = folder.path().join("dismissed.json");
    fs::write(&file, dismissal.to_string()).unwrap();
    let after = synthesize(&["--dismissals", "dismissed.json"]);
    assert_eq!(after["verdict"]["state"], "ready");
    assert_eq!(after["dismissed"][0]["title"], "t");
    dismissal[0]["until"] = json!("2020-01-01");
    fs::write(&file, dismissal.to_string()).unwrap();
    assert_eq!(synthesize(&["--dismissals", "dismissed.json"])["verdict"]["state"], "not_ready");
}

#[test]
fn render_takes_a_synthesis_a_parsed_review_or_a_list() {
    let reports = json!([persona("x", json!([finding("t", "P1", 5)]))]).to_string();
    let synthesis = assay(&["findings", "synthesize", "-"], &reports).stdout;
    let parsed = assay(&["findings", "parse"], TWO_FINDINGS).stdout;
    let list = json!([{"file": "a.rs", "severity": "LOW", "description": "d"}]).to_string();
    for input in [&synthesis, &parsed, &list] {
        for form in [
            "checklist", "tasklist", "fix-task", "markdown", "sarif", "rdjson", "rdjsonl",
            "github", "qa", "persona", "persona-compact",
        ] {
            let ran = assay(&["findings", "render", "--as", form], input);
            assert_eq!(ran.code, 0, "{form}: {}", ran.stdout);
            assert!(!ran.stdout.is_empty(), "{form}");
        }
        check_schema("qa", &assay(&["findings", "render", "--as", "qa"], input));
        check_schema("fix-task", &assay(&["findings", "render", "--as", "fix-task"], input));
        let ran = assay(&["findings", "render", "--as", "persona"], input);
        check_schema("persona", &ran);
        assert_eq!(assay(&["findings", "validate"], &ran.stdout).code, 0);
        let compact = assay(&["findings", "render", "--as", "persona-compact"], input).stdout;
        assert_eq!(assay(&["findings", "validate", "--tier", "compact"], &compact).code, 0);
    }
}

#[test]
fn a_review_without_structured_findings_makes_a_task_of_its_text() {
    let parsed = assay(&["findings", "parse"], "I cannot approve this yet, the lock is wrong.");
    let args = ["findings", "render", "--as", "fix-task", "--pr", "7", "--review-id", "r/1"];
    let task = assay(&args, &parsed.stdout).json();
    assert_eq!(task["title"], "Address code review feedback for PR #7");
    assert_eq!(task["id"], "review-fix-r%2F1-c1");
    assert_eq!(task["context"].get("structured_findings"), None);
    let summary = task["context"]["findings_summary"].as_str().unwrap();
    assert!(summary.contains("the lock is wrong"), "{summary}");
}

#[test]
fn unusable_input_to_render_and_same_is_reported_in_json() {
    for (args, input) in [
        (["render", "--as", "qa"], "nonsense"),
        (["render", "--as", "qa"], "{\"a\": 1}"),
        (["render", "--as", "qa"], "3"),
        (["same", "--measure", "alike"], "{}"),
    ] {
        let ran = assay(&[&["findings"], &args[..]].concat(), input);
        assert_eq!(ran.code, 3, "{args:?} {input}");
        assert!(ran.json()["error"].is_string());
    }
    assert_eq!(assay(&["findings", "render", "--as", "papyrus"], "[]").code, 2);
    assert_eq!(assay(&["findings", "synthesize", "no-such-file"], "").code, 2);
}

#[test]
fn same_and_recurring_output_conform_to_their_schemas() {
    let pair = json!({"a": {"title": "Missing error handling", "file": "api.py", "line": 42},
        "b": {"title": "No error handling for network failures", "file": "api.py", "line": 42}});
    let alike = assay(&["findings", "same"], &pair.to_string());
    assert_eq!(alike.json()["same"], true);
    check_schema("same", &alike);
    let sequence = assay(&["findings", "same", "--measure", "sequence"], &pair.to_string());
    assert_eq!(
        (sequence.json()["same"].clone(), sequence.json()["score"].clone()),
        (json!(false), json!(0.65))
    );
    let question = json!({"current": [pair["a"]], "history": [
        {"issues": [pair["b"]]}, {"issues": [pair["a"], pair["b"]]}]});
    let ran = assay(&["findings", "recurring"], &question.to_string());
    assert_eq!(ran.json(), json!({"recurring": true, "issues": [{"issue": 0, "count": 3}]}));
    check_schema("recurring", &ran);
}

#[test]
fn every_schema_is_listed_and_valid() {
    let names = assay(&["schema"], "").stdout;
    assert!(names.lines().count() >= 5);
    for name in names.lines() {
        let schema = assay(&["schema", name], "").json();
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    assert_eq!(assay(&["schema", "nothing"], "").code, 2);
}

#[test]
fn an_unusable_report_does_not_resolve_earlier_findings() {
    let folder = tempfile::tempdir().unwrap();
    let synthesize = |input: &str, name: &str, more: &[&str]| {
        let args = [&["findings", "synthesize"], more, &["-"]].concat();
        let ran = assay_in(folder.path(), &args, input.as_bytes());
        fs::write(folder.path().join(name), &ran.stdout).unwrap();
        ran.json()
    };
    let found = json!([persona("x", json!([finding("alpha", "P2", 5)]))]).to_string();
    synthesize(&found, "1.json", &[]);
    let broken = synthesize("[null]", "2.json", &["--previous", "1.json"]);
    assert_eq!(broken["resolved"], json!([]));
    assert_eq!(broken["unseen"][0]["title"], "alpha");
    let again = synthesize(&found, "3.json", &["--previous", "2.json"]);
    assert_eq!(again["findings"][0]["status"], "still_open");
}

#[test]
fn a_dismissal_covers_its_file_and_the_name_before_a_rename() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/a.py"), "rows = db.run(sql)\n").unwrap();
    let diff = "diff --git a/src/old_name.py b/src/a.py\nsimilarity index 60%\n\
                rename from src/old_name.py\nrename to src/a.py\n--- a/src/old_name.py\n\
                +++ b/src/a.py\n@@ -1 +1 @@\n-rows = db.run(x)\n+rows = db.run(sql)\n";
    fs::write(folder.path().join("change.diff"), diff).unwrap();
    let reports = json!([persona("x", json!([finding("t", "P1", 1)]))]).to_string();
    let verdict = |file: &str| {
        let args = ["findings", "synthesize", "--tree", ".", "--diff", "change.diff", "-"];
        let plain = assay_in(folder.path(), &args, reports.as_bytes()).json();
        let dismissal = json!([{"fingerprint": plain["findings"][0]["fingerprint"], "file": file,
            "by": "ada", "reason": "known"}]);
        fs::write(folder.path().join("dismissed.json"), dismissal.to_string()).unwrap();
        let args = [&args[..6], &["--dismissals", "dismissed.json", "-"]].concat();
        assay_in(folder.path(), &args, reports.as_bytes()).json()["verdict"]["state"].clone()
    };
    assert_eq!(verdict("src/a.py"), "ready");
    assert_eq!(verdict("src/old_name.py"), "ready");
    assert_eq!(verdict("src/gone.py"), "not_ready", "that it is gone makes it no other file");
    fs::write(folder.path().join("src/b.py"), "rows = db.run(sql)\n").unwrap();
    assert_eq!(verdict("src/b.py"), "not_ready");
}

#[test]
fn unreadable_parts_of_a_report_count_against_a_pass() {
    let partly = json!([{"reviewer": "x", "findings": [{"file": "a.py", "oops": 1}],
        "residual_risks": [], "testing_gaps": []}]);
    let some = json!([{"reviewer": "x", "findings": [finding("t", "P3", 5), {"file": "a.py"}],
        "residual_risks": [], "testing_gaps": []}]);
    for reports in [partly, some] {
        let answer = assay(&["findings", "synthesize", "-"], &reports.to_string()).json();
        assert_eq!(answer["verdict"]["state"], "incomplete", "{answer:#}");
    }
    let refusing = json!([{"reviewer": "x", "findings": [], "verdict": "REQUEST_CHANGES"}]);
    let answer = assay(&["findings", "synthesize", "-"], &refusing.to_string()).json();
    assert_eq!(answer["verdict"]["state"], "incomplete", "{answer:#}");
    let bare = json!([{"reviewer": "x", "findings": ["SQL injection in login"]}]);
    let answer = assay(&["findings", "synthesize", "-"], &bare.to_string()).json();
    assert_eq!(answer["verdict"]["state"], "not_ready", "{answer:#}");
    let named = r#"{"findings": [], "comments": [{"severity": "HIGH", "description": "leak"}]}"#;
    let texts = r#"{"findings": ["SQL injection in login at a.py:3"]}"#;
    for text in [named, texts] {
        let answer = assay(&["findings", "parse"], text).json();
        assert_eq!(answer["findings"].as_array().map(Vec::len), Some(1), "{text}");
    }
    for severity in ["**HIGH**", "P1 - High", "🔴 Critical", "High severity"] {
        let text = json!([{"severity": severity, "description": "d"}]).to_string();
        let answer = assay(&["findings", "parse"], &(text + "\nAPPROVE")).json();
        assert_eq!(answer["outcome"]["needs_fix"], true, "{severity}");
    }
}
