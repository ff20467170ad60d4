//! The collected cases, each by its name. If the product differs from a case on purpose, the list
//! in the test states the result and the reason.

use std::collections::HashMap;

use assay_findings::finding::Finding;
use assay_findings::gate::ReviewMode;
use assay_findings::grade::{Grade, Scheme};
use assay_findings::grounding::{Grounder, Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_findings::persona_schema::{self, ReportTier};
use assay_findings::report::{Report, Reviewer, ReviewerKind};
use assay_findings::script_api::{
    self, IssuePair, RecurrenceQuery, SeverityFormat, SimilarityMeasure,
};
use assay_findings::synthesis::{Synthesis, SynthesisInputs, synthesize};
use assay_findings::verdict::VerdictState;
use assay_findings::write::{self, FindingsDocument, OutputFormat};
use assay_findings::{merge, read, sequence_similarity};
use serde_json::{Value, json};

const REVIEW_TEXTS: &str = include_str!("../fixtures/vectors/review-texts.json");
const PERSONAS: &str = include_str!("../fixtures/vectors/personas.json");
const RECURRING: &str = include_str!("../fixtures/vectors/recurring.json");

/// Returns the cases of a group, which must not be empty.
fn cases(text: &str, key: &str, group: &str) -> Vec<Value> {
    let mut cases: Vec<Value> = serde_json::from_str(text).unwrap();
    cases.retain(|case| case[key] == group);
    assert!(!cases.is_empty(), "no case of {group}");
    cases
}

fn id(case: &Value) -> &str {
    case["id"].as_str().unwrap()
}

/// Returns true if the actual value contains all of the expected one.
fn matches_expected(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => expected
            .iter()
            .all(|(key, value)| actual.get(key).is_some_and(|a| matches_expected(value, a))),
        (Value::Array(expected), Value::Array(actual)) => {
            expected.len() == actual.len()
                && expected.iter().zip(actual).all(|(e, a)| matches_expected(e, a))
        }
        _ => expected == actual,
    }
}

fn parsed(text: &str) -> Value {
    let (parsed, _) = script_api::parse(text.as_bytes(), SeverityFormat::Auto, None);
    serde_json::to_value(parsed).unwrap()
}

#[test]
fn findings_are_read_as_the_cases_say() {
    let instead = HashMap::from([
        // A line that begins with a severity is a finding, read by the fallback `lines`.
        (
            "parse-003",
            json!({"fallback": "lines", "findings": [
                {"severity": "CRITICAL", "file": "src/auth.rs", "line_number": 9}]}),
        ),
        // Items with neither a text nor a severity are no findings.
        ("parse-007", json!({"findings": null})),
        // A severity is returned in its vocabulary's spelling.
        ("parse-031", json!({"findings": [{"severity": "CRITICAL"}]})),
        // A range is read as its first and last line.
        ("parse-032", json!({"findings": [{"line_number": 42, "end_line": 45}]})),
    ]);
    for case in cases(REVIEW_TEXTS, "area", "parse") {
        let actual = parsed(case["input"]["text"].as_str().unwrap());
        let expected = instead.get(id(&case)).unwrap_or(&case["expect"]);
        assert!(matches_expected(expected, &actual), "{}: {expected:#}\n{actual:#}", id(&case));
    }
}

#[test]
fn outcomes_are_as_the_cases_say() {
    for case in cases(REVIEW_TEXTS, "area", "verdict") {
        if id(&case) == "verdict-009" {
            // The source approves a text whose findings are behind its approval. A cut behind any
            // of them leaves no trace, so assay approves only if the approval comes last.
            let text = case["input"]["text"].as_str().unwrap();
            let (first, rest) = text.split_once('\n').unwrap();
            assert_eq!(parsed(text)["outcome"]["ambiguous"], true);
            assert_eq!(parsed(&format!("{rest}\n{first}"))["outcome"]["approved"], true);
            continue;
        }
        let actual = parsed(case["input"]["text"].as_str().unwrap());
        let outcome = &actual["outcome"];
        let verdict = match (&outcome["approved"], &outcome["ambiguous"]) {
            (Value::Bool(true), _) => "approve",
            (_, Value::Bool(true)) => "ambiguous",
            _ => "request_changes",
        };
        for (key, expected) in case["expect"].as_object().unwrap() {
            let got = match key.as_str() {
                "verdict" => json!(verdict),
                "approved" => outcome["approved"].clone(),
                "needs_fix" => outcome["needs_fix"].clone(),
                "changes" => outcome["has_change_requests"].clone(),
                "critical" => outcome["has_critical_issues"].clone(),
                "major" => outcome["has_major_issues"].clone(),
                "test_failures" => outcome["has_test_failures"].clone(),
                "override" => actual["audit"]["overruled"].clone(),
                "default_deny" => json!(actual["audit"]["decided_by"] == "default-deny"),
                "findings" => json!(actual["findings"].as_array().map(Vec::len)),
                "summary" => actual["summary"].clone(),
                other => panic!("{}: nothing to hold `{other}` against", id(&case)),
            };
            assert_eq!(&got, expected, "{}: {key}\n{actual:#}", id(&case));
        }
    }
}

#[test]
fn inputs_of_the_verdict_routing_are_classified_as_the_cases_say() {
    for case in cases(REVIEW_TEXTS, "area", "verdict_routing") {
        let actual = parsed(case["input"]["text"].as_str().unwrap());
        let outcome = &actual["outcome"];
        // The routing belongs to the workflow; this test checks its input.
        match id(&case) {
            "map-002" => assert_eq!(outcome["ambiguous"], true, "map-002"),
            "map-006" => assert_eq!(outcome["needs_fix"], true, "map-006"),
            "map-007" => assert_eq!(outcome["approved"], true, "map-007"),
            other => panic!("unknown case {other}"),
        }
    }
}

fn listed(findings: &Value) -> Vec<Finding> {
    let text = json!({ "findings": findings }).to_string();
    let votes = read::read(&text, None).votes.unwrap();
    let reviewer = Reviewer::new("qa", ReviewerKind::Persona);
    let ground = Grounder::new(None, None);
    let grounded: Vec<_> =
        votes.iter().enumerate().map(|(at, vote)| ground.check(vote, &reviewer, (0, at))).collect();
    merge::one_finding_per_vote(&grounded)
}

#[test]
fn checklists_are_written_as_the_cases_say() {
    for case in cases(REVIEW_TEXTS, "area", "checklist") {
        let findings = listed(&case["input"]["findings"]);
        let document =
            FindingsDocument { findings: Some(&findings), ..FindingsDocument::default() };
        let written = write::write(OutputFormat::Checklist, &document);
        assert_eq!(case["expect"]["markdown"], written, "{}", id(&case));
    }
}

#[test]
fn fix_tasks_are_made_as_the_cases_say() {
    for case in cases(REVIEW_TEXTS, "area", "fix_task") {
        let input = &case["input"];
        let document = FindingsDocument {
            findings: Some(&[]),
            context: input["context"].as_object().unwrap().clone(),
            // The case without a cycle is from the second one.
            cycle: Some(input["cycle"].as_u64().unwrap_or(2) as u32),
            ..FindingsDocument::default()
        };
        let task: Value =
            serde_json::from_str(&write::write(OutputFormat::FixTask, &document)).unwrap();
        let expected = &case["expect"];
        for key in expected["absent"].as_array().into_iter().flatten() {
            assert!(task["context"].get(key.as_str().unwrap()).is_none(), "{}: {key}", id(&case));
        }
        if let Some(present) = expected.get("present") {
            assert!(matches_expected(present, &task["context"]), "{}: {task:#}", id(&case));
        }
        if let Some(expected) = expected.get("id") {
            assert_eq!(&task["id"], expected, "{}", id(&case));
        }
    }
}

#[test]
fn the_full_schema_is_applied_exactly() {
    // The cases expect blank texts and paths that leave the tree to be refused. The schema is
    // applied exactly, so they are valid, and a warning names them.
    let warned = ["A21", "A26", "A27", "A29"];
    for case in cases(PERSONAS, "group", "schema.full") {
        let document = &case["given"]["document"];
        let errors = persona_schema::validate(document, ReportTier::Full);
        assert_eq!(json!(errors.is_empty()), case["expect"]["valid"], "{}: {errors:?}", id(&case));
        if let Some(at) = case["expect"]["error_at"].as_str() {
            let paths: Vec<&str> = errors.iter().map(|e| e.path.as_str()).collect();
            assert!(paths.contains(&format!("/{at}").as_str()), "{}: {paths:?}", id(&case));
        }
        let advised = !persona_schema::advise(document).is_empty();
        assert_eq!(advised, warned.contains(&id(&case)), "{}", id(&case));
    }
}

#[test]
fn an_invalid_report_is_salvaged_vote_by_vote() {
    for case in cases(PERSONAS, "group", "validate.compact") {
        let report = Report::from_text(&case["given"]["return"].to_string(), "x", None);
        let kept = report.votes.len();
        let faulty = report.votes.iter().filter(|vote| !vote.faults.is_empty()).count();
        let got = (kept, faulty, report.unusable.is_some());
        let expected = match id(&case) {
            // Bad form loses no finding: `high` is a severity as well.
            "B02" => (2, 0, false),
            // A missing list is an empty list and a note.
            "B03" => (1, 0, false),
            // An invalid line leaves the finding on its file.
            "B05" => (1, 1, false),
            "B06" => (0, 0, true),
            other => panic!("unknown case {other}"),
        };
        assert_eq!(got, expected, "{}: {report:?}", id(&case));
    }
}

/// A tree with one line in every file.
struct OneLine;

impl Tree for OneLine {
    fn read(&self, _: &RepoPath) -> Result<Option<String>, TreeError> {
        Ok(Some("let o = find(id)?;".to_owned()))
    }

    fn exists(&self, _: &RepoPath) -> Result<bool, TreeError> {
        Ok(true)
    }

    fn symbol_at(&self, _: &RepoPath, _: u32) -> Result<Option<Symbol>, TreeError> {
        Ok(None)
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        Ok(Vec::new())
    }
}

fn synthesis_of(case: &Value) -> Synthesis {
    // Without a tree, no vote can be checked, so none is capped for lacking a quote; this case is
    // about the cap.
    let tree = (id(case) == "D02").then_some(&OneLine as &dyn Tree);
    let mode = match case["given"]["mode"].as_str() {
        Some("headless") => ReviewMode::Headless,
        _ => ReviewMode::Interactive,
    };
    let reports = Report::list_from_text(&case["given"]["returns"].to_string(), None);
    synthesize(&reports, &SynthesisInputs { tree, mode, ..SynthesisInputs::default() })
}

/// Converts a synthesis to the form of the cases.
fn as_vector_json(synthesis: &Synthesis) -> Value {
    let titles = |ids: &[String]| -> Vec<&str> {
        synthesis
            .findings
            .iter()
            .filter(|f| ids.contains(&f.id))
            .map(|f| f.title.as_str())
            .collect()
    };
    let held: serde_json::Map<String, Value> =
        synthesis.counts.held_back.iter().map(|(k, v)| (k.to_string(), json!(v))).collect();
    json!({
        "primary": synthesis.findings,
        "findings": synthesis.findings,
        "suppressed_by_anchor": held,
        "suppressed_by_confidence": held,
        "demoted": synthesis.counts.demoted,
        "soft": {
            "testing_gaps": synthesis.testing_gaps,
            "residual_risks": synthesis.residual_risks,
        },
        "queues": {
            "fixer": titles(&synthesis.queues.fixer),
            "residual": titles(&synthesis.queues.tasks),
            "report_only": titles(&synthesis.queues.report),
        },
    })
}

fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |value, part| match part.parse::<usize>() {
        Ok(number) => &value[number],
        Err(_) => &value[part],
    })
}

fn check_merges(group: &str, instead: &HashMap<&str, Value>) {
    for case in cases(PERSONAS, "group", group) {
        let actual = as_vector_json(&synthesis_of(&case));
        let checks = instead.get(id(&case)).unwrap_or(&case["expect"]["checks"]);
        for (path, expected) in checks.as_object().unwrap() {
            let got = at(&actual, path);
            let same = match path.ends_with(".reviewers") {
                // Reviewers are in the order of their names, whatever the order of arrival.
                true => sorted(got) == sorted(expected),
                false => got == expected,
            };
            assert!(same, "{}: {path} is {got}, expected {expected}", id(&case));
        }
    }
}

fn sorted(names: &Value) -> Vec<String> {
    let mut names: Vec<String> = serde_json::from_value(names.clone()).unwrap();
    names.sort();
    names
}

#[test]
fn compact_returns_are_merged_and_gated_as_the_cases_say() {
    let instead = HashMap::from([
        // The confidence is that of the votes at the grade of the finding; no vote was certain of a
        // P0.
        ("C15", json!({"primary.0.severity": "P0", "primary.0.confidence": 50})),
        // A fix that needs approval is still work.
        (
            "C19",
            json!({"queues.fixer": [], "queues.report_only": [],
                "queues.residual": ["Ownership is not checked before the lookup"]}),
        ),
    ]);
    check_merges("merge.v1", &instead);
}

#[test]
fn quoted_returns_are_grounded_merged_and_gated_as_the_cases_say() {
    let instead = HashMap::from([
        // A P0 below 50 is held back.
        ("D04", json!({"findings": [], "suppressed_by_anchor": {"0": 1}})),
        // Lines are sorted as numbers.
        ("D06", json!({"findings.0.line": 9, "findings.1.line": 10, "findings.2.line": 100})),
        // A range is read as its first and last line.
        ("D10", json!({"findings.0.line": 12, "findings.0.end_line": 14})),
        // The confidence is that of the votes at the grade of the finding.
        ("D21", json!({"findings.0.severity": "P0", "findings.0.confidence": 50})),
    ]);
    check_merges("merge.v2", &instead);
}

#[test]
fn an_unmet_requirement_is_a_finding_and_blocks() {
    let text = r#"{"reviewer": "intent", "findings": [], "residual_risks": [],
        "testing_gaps": [], "unmet_requirements": ["R2"]}"#;
    let report = Report::from_text(text, "intent", None);
    let synthesis = synthesize(&[report], &SynthesisInputs::default());
    let expected = &cases(PERSONAS, "id", "F11")[0]["expect"]["finding"];
    let finding = serde_json::to_value(&synthesis.findings[0]).unwrap();
    assert!(matches_expected(expected, &finding), "F11: {finding:#}");
    assert_eq!(synthesis.verdict.state, VerdictState::NotReady, "F11");
}

fn scheme(name: &Value) -> Scheme {
    serde_json::from_value(name.clone()).unwrap()
}

#[test]
fn severities_convert_as_the_cases_say() {
    for case in cases(PERSONAS, "group", "severity.map") {
        let (given, expected) = (&case["given"], &case["expect"]);
        match id(&case) {
            "L01" => expected["rows"].as_array().unwrap().iter().for_each(check_row),
            "L05" => {
                let grade = Grade::in_scheme(Scheme::Qr, "MUST").unwrap();
                assert_eq!(grade.word_in_scheme(Scheme::P), expected["level"], "L05");
            }
            "L08" => check_order(),
            "L09" => {
                let grade = Grade::from_word(given["level"].as_str().unwrap());
                assert_eq!(grade.word(), expected["native"], "L09");
                assert!(grade.is_unmapped(), "L09");
                let stored = serde_json::to_value(&grade).unwrap();
                assert_eq!(stored["impact"], Value::Null, "L09");
                assert_eq!(stored["obligation"], "should", "L09");
            }
            "L10" => {
                let mut edited = serde_json::to_value(Grade::from_word("MINOR")).unwrap();
                edited["impact"] = json!(1);
                let grade: Grade = serde_json::from_value(edited).unwrap();
                assert_eq!(grade.native(), None, "L10");
                assert_eq!(grade.word_in_scheme(Scheme::Qa7), expected["export_qa7"], "L10");
            }
            "L12" => {
                let words = given["words"].as_array().unwrap();
                for (word, p) in words.iter().zip(expected["p"].as_array().unwrap()) {
                    let grade = Grade::from_word(word.as_str().unwrap());
                    assert_eq!(grade.word_in_scheme(Scheme::P), p, "L12: {word}");
                }
            }
            other => panic!("unknown case {other}"),
        }
    }
}

fn check_row(row: &Value) {
    let level = row["level"].as_str().unwrap();
    let grade = Grade::in_scheme(scheme(&row["scheme"]), level).unwrap();
    for (to, name) in
        [(Scheme::Qa7, "qa7"), (Scheme::P, "p"), (Scheme::Hml, "hml"), (Scheme::Qr, "qr")]
    {
        assert_eq!(grade.word_in_scheme(to), row[name], "L01: {level} as {name}");
    }
    assert_eq!(grade.sarif_level().as_str(), row["sarif"], "L01: {level} in SARIF");
    let stored = serde_json::to_value(&grade).unwrap();
    let impact = stored["impact"].as_u64().map(|level| format!("I{level}"));
    assert_eq!(json!(impact), row["impact"], "L01: impact of {level}");
    assert_eq!(stored["obligation"], row["obligation"], "L01: obligation of {level}");
}

fn check_order() {
    let words = ["CRITICAL", "HIGH", "MAJOR", "MEDIUM", "LOW", "MINOR", "SUGGESTION"];
    for to in [Scheme::P, Scheme::Hml] {
        let converted: Vec<Grade> = words
            .iter()
            .map(|word| Grade::in_scheme(to, Grade::from_word(word).word_in_scheme(to)).unwrap())
            .collect();
        assert!(converted.windows(2).all(|pair| pair[0].is_at_least(&pair[1])), "L08: {to:?}");
    }
}

#[test]
fn keys_ratios_and_similarities_are_those_of_the_cases() {
    for case in cases(RECURRING, "area", "normalize_key") {
        let issue = &case["input"]["issue"];
        let line = issue["line"].as_u64().map(|line| line as u32);
        let key = sequence_similarity::key(issue["title"].as_str(), issue["file"].as_str(), line);
        assert_eq!(key, case["expected"]["key"], "{}", id(&case));
    }
    for case in cases(RECURRING, "area", "sequence_ratio") {
        let text = |side: &str| case["input"][side].as_str().unwrap().to_owned();
        let ratio = sequence_similarity::ratio(&text("a"), &text("b"));
        assert_eq!(round(ratio), case["expected"]["ratio"], "{}", id(&case));
    }
    for case in cases(RECURRING, "area", "similarity") {
        let pair: IssuePair = serde_json::from_value(case["input"].clone()).unwrap();
        let sequence = script_api::compare(&pair, SimilarityMeasure::Sequence);
        assert_eq!(round(sequence.score), case["expected"]["similarity"], "{}", id(&case));
        assert_eq!(sequence.same, case["expected"]["same"], "{}", id(&case));
        if let Some(wanted) = case.get("assay") {
            let alike = script_api::compare(&pair, SimilarityMeasure::TitleWords);
            assert_eq!(alike.same, wanted["same"], "{}: {alike:?}", id(&case));
        }
    }
}

fn round(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

#[test]
fn recurring_issues_are_those_of_the_cases() {
    for case in cases(RECURRING, "area", "recurring") {
        let question: RecurrenceQuery = serde_json::from_value(case["input"].clone()).unwrap();
        let found = script_api::find_recurring(&question);
        let wanted = case.get("assay").unwrap_or(&case["expected"]);
        assert_eq!(found.recurring, wanted["recurring"], "{}: {found:?}", id(&case));
        if case.get("assay").is_none() {
            let counts: Vec<usize> = found.issues.iter().map(|issue| issue.count).collect();
            assert_eq!(json!(counts), case["expected"]["counts"], "{}", id(&case));
        }
    }
}
