//! The results of reports: batches, broken input, one scale, one id.

use super::*;

const MAX_ANSWER: usize = 28_000;

fn states(answer: &Value) -> Vec<String> {
    let reports = answer["reports"].as_array().unwrap().iter();
    reports.map(|report| report["state"].as_str().unwrap().to_owned()).collect()
}

fn why(answer: &Value, at: usize) -> &str {
    answer["reports"][at]["why"].as_str().unwrap_or_default()
}

#[test]
fn an_error_in_one_report_of_a_batch_affects_only_that_report() {
    let case = Case::new("");
    let folder = case.repository.path();
    let (review, started) = start(folder);
    let good = answer(started["tasks"][0]["text"].as_str().unwrap()).text;
    let reports = json!([
        { "persona": "nobody", "report": "{}" },
        { "persona": "correctness", "part": 9, "report": "{}" },
        "no entry at all",
        { "persona": "correctness", "report": good },
        { "persona": "correctness", "report": good },
        { "part": "one", "report": good },
        { "persona": "intent", "report": "x".repeat(600_000) },
        { "persona": "intent", "report": "all is well, believe me" },
        { "persona": "testing", "part": 1, "report": [] },
    ]);
    let batch = json!({ "review": review, "reports": reports, "finish": true });
    let handed = done(folder, "report_findings", &batch);
    assert_eq!(
        states(&handed),
        [
            "not_taken", "not_taken", "not_taken", "taken", "not_taken", "not_taken", "not_taken",
            "hand_in_again", "taken",
        ],
        "{handed}"
    );
    assert_eq!(
        why(&handed, 0),
        "`nobody` has no open task; open tasks: correctness, intent, testing"
    );
    assert_eq!(why(&handed, 1), "`correctness` reads part 1 of the change, and there is no part 9");
    assert!(why(&handed, 2).starts_with("invalid report: expected"), "{handed}");
    assert!(why(&handed, 4).contains("the first report counts"), "{handed}");
    assert!(why(&handed, 5).starts_with("invalid report: expected"), "{handed}");
    assert!(why(&handed, 6).starts_with("the report has 600000 bytes"), "{handed}");
    assert_eq!(handed["reports"][3]["findings"], 2, "{handed}");
    assert!(handed["finish"].is_null(), "a report has to be corrected first: {handed}");
    assert_eq!(handed["waiting"], json!([{ "persona": "intent", "part": 1 }]));
    let next = handed["next"].as_str().unwrap();
    assert!(next.contains("The review was not ended."), "{next}");
    let again = json!({ "review": review, "persona": "intent", "report": [], "finish": true });
    let handed = done(folder, "report_findings", &again);
    assert_eq!(states(&handed), ["taken"]);
    assert!(handed["finish"]["state"].is_string(), "{handed}");
}

#[test]
fn a_call_without_exactly_one_form_of_report_is_refused() {
    let case = Case::new("");
    let folder = case.repository.path();
    let (review, _) = start(folder);
    let entry = json!({ "persona": "correctness", "report": "{}" });
    for (arguments, expected) in [
        (json!({}), "give either `persona` and `report`, or `reports`"),
        (json!({ "persona": "correctness" }), "give either `persona` and `report`, or `reports`"),
        (json!({ "persona": "correctness", "report": "{}", "reports": [entry] }), "give either"),
        (json!({ "part": 2, "reports": [entry] }), "give either"),
        (json!({ "reports": [] }), "`reports`"),
        (json!({ "reports": vec![entry.clone(); 51] }), "`reports`"),
    ] {
        let mut arguments = arguments;
        arguments["review"] = json!(review);
        let refused = call(folder, "report_findings", &arguments).unwrap_err();
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn a_batch_after_the_end_is_refused_and_finish_review_is_suggested() {
    let case = Case::new("");
    let folder = case.repository.path();
    let (review, _) = start(folder);
    finish(folder, &review);
    let reports = json!([{ "persona": "correctness", "report": "{}" }]);
    let batch = json!({ "review": review, "reports": reports });
    let refused = call(folder, "report_findings", &batch).unwrap_err();
    assert!(refused.contains("`finish_review` repeats its outcome"), "{refused}");
}

/// More findings than fit into one result.
const MANY: usize = 100;

/// Returns a report of many findings, each with a long title.
fn long_report() -> Value {
    let finding = |at: usize| {
        json!({
            "title": format!("defect {at}: {}", "words ".repeat(30)), "severity": "P2",
            "file": "shop.py", "line": 6, "why_it_matters": "it breaks",
            "evidence": ["return sum(prices) / len(prices)"], "confidence": 75,
        })
    };
    json!((0..MANY).map(finding).collect::<Vec<Value>>())
}

#[test]
fn reports_of_many_findings_are_counted_completely_and_listed_up_to_the_size_limit() {
    for finish in [false, true] {
        let case = Case::new("");
        let folder = case.repository.path();
        let (review, _) = start(folder);
        let mut reports = vec![json!({ "persona": "correctness", "report": long_report() })];
        if !finish {
            let long = "no such persona ".repeat(20);
            reports.resize(50, json!({ "persona": long, "report": [] }));
        }
        let batch = json!({ "review": review, "reports": reports, "finish": finish });
        let result = result_of(folder, "report_findings", &batch);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.chars().count() <= MAX_ANSWER, "{}", text.len());
        let handed = &result["structuredContent"];
        assert_eq!(handed["finish"].is_object(), finish, "{handed}");
        let report = &handed["reports"][0];
        let listed = report["read"].as_array().unwrap().len();
        assert_eq!(report["findings"], MANY, "{report}");
        assert!(listed > 10, "{report}");
        assert_eq!(listed as u64 + report["more_read"].as_u64().unwrap(), MANY as u64, "{report}");
        let ended = result_of(folder, "finish_review", &json!({ "review": review, "all": true }));
        let text = ended["content"][0]["text"].as_str().unwrap();
        assert!(text.chars().count() <= MAX_ANSWER, "{}", text.len());
    }
}

#[test]
fn each_finding_is_answered_with_its_place_its_quote_and_its_missing_fields() {
    let case = Case::new("");
    let folder = case.repository.path();
    let (review, _) = start(folder);
    let findings = json!([
        { "title": "an empty list divides by zero", "severity": "HIGH", "file": "shop.py", "line": 1,
          "why_it_matters": "it raises", "evidence": ["`return sum(prices) / len(prices)`"],
          "confidence": 75, "autofix_class": "manual", "owner": "human",
          "requires_verification": true, "pre_existing": false },
        { "title": "labels are in euros", "severity": "P2", "file": "shop.py", "line": 14,
          "why_it_matters": "not all are", "evidence": ["`return price.in_euros()`"], "confidence": 100 },
    ]);
    let report = json!({ "review": review, "persona": "correctness", "report": findings });
    let handed = done(folder, "report_findings", &report);
    assert_eq!(
        handed["reports"][0]["read"],
        json!([
            { "title": "an empty list divides by zero", "severity": "P1", "confidence": 75,
              "place": "shop.py:6", "placed": "moved from shop.py:1, by its quote", "quote": "found" },
            { "title": "labels are in euros", "severity": "P2", "confidence": 50,
              "place": "shop.py:14", "placed": "as named", "quote": "not_found",
              "missing": ["autofix_class", "owner", "requires_verification", "pre_existing"],
              "notes": ["confidence 100 counts as 50"] },
        ])
    );
}

/// Collects all values of the fields with a name, at any depth.
fn values_of(value: &Value, name: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if key == name {
                    found.push(value.as_str().unwrap_or_default().to_owned());
                }
                values_of(value, name, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| values_of(value, name, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn all_tools_use_one_severity_scale_and_one_finding_id() {
    let case = Case::new("");
    let folder = case.repository.path();
    let query = "def find(db, request):\n    return db.execute(f\"SELECT * FROM t WHERE a = {request.GET['a']}\")\n";
    let text = fs::read_to_string(folder.join("shop.py")).unwrap();
    case.repository.write("shop.py", format!("{text}\n\n{query}"));
    let (review, started) = start(folder);
    let mut answers = vec![started.clone()];
    let entry = |task: &Value| {
        let report = answer(&text_of(folder, &review, task)).text;
        json!({ "persona": task["persona"], "part": task["part"], "report": report })
    };
    let reports: Vec<Value> = started["tasks"].as_array().unwrap().iter().map(entry).collect();
    let batch = json!({ "review": review, "reports": reports, "finish": true });
    answers.push(done(folder, "report_findings", &batch));
    let look = &answers[1]["finish"]["second_looks"]["tasks"][0];
    let asked = text_of(folder, &review, look);
    assert!(asked.contains("Severity: P0"), "findings of rules have it too: {asked}");
    let looks = json!({ "review": review, "reports": [entry(look)], "finish": true });
    answers.push(done(folder, "report_findings", &looks));
    let all = json!({ "review": review, "all": true });
    answers.push(done(folder, "finish_review", &all));
    answers.push(done(folder, "next_fix", &json!({ "review": review })));
    let fix = answers[4]["fix"]["finding"].clone();
    answers.push(done(folder, "verify_fix", &json!({ "review": review, "finding": fix })));
    let mut severities = Vec::new();
    for answer in &answers {
        values_of(answer, "severity", &mut severities);
        let text = answer.to_string();
        for other in ["CRITICAL", "MAJOR", "\"run\""] {
            assert!(!text.contains(other), "{other}: {text}");
        }
    }
    assert!(severities.len() > 6);
    let is_known = |word: &String| ["P0", "P1", "P2", "P3"].contains(&word.as_str());
    assert!(severities.iter().all(is_known), "{severities:?}");

    assert_eq!(answers[3]["outcome"]["review"], review.as_str());
    assert!(folder.join(".assay/runs").join(&review).is_dir());
    for command in [vec!["replay", &review], vec!["diff", &review, &review]] {
        let ran = assay_with(folder, &command, b"", &[]);
        assert!(ran.code <= 1, "{command:?}: {} {}", ran.stdout, ran.stderr);
    }
}

#[test]
fn the_outcome_counts_folded_findings_and_lists_them_on_request() {
    let case = Case::new("");
    let folder = case.repository.path();
    let (review, started) = start(folder);
    answer_all(folder, &review, &started["tasks"]);
    let ended = done(folder, "finish_review", &json!({ "review": review }));
    let look = &ended["second_looks"]["tasks"][0];
    let findings = look["text"].as_str().unwrap().matches("### FINDING ").count();
    let looks: Vec<Value> = (1..=findings)
        .map(|number| {
            json!({
                "finding": number, "answer": "confirm", "why": "it can wait",
                "consequence": if number == 1 { "block" } else { "later" },
            })
        })
        .collect();
    let handed = done(
        folder,
        "report_findings",
        &json!({ "review": review, "persona": look["persona"], "report": { "looks": looks }, "finish": true }),
    );
    let looks = handed["reports"][0]["looks"].as_array().unwrap();
    assert_eq!(
        (handed["reports"][0]["findings"].as_u64().unwrap() as usize, looks.len()),
        (findings, findings)
    );
    assert_eq!((&looks[1]["consequence"], &looks[1]["quote"]), (&json!("later"), &json!("none")));
    let outcome = &handed["finish"]["outcome"];
    let folded = &outcome["folded"];
    assert!(outcome["all"].is_null());
    assert!(folded["put_off"].as_u64().unwrap() >= findings as u64 - 1, "{outcome}");
    assert_eq!(folded["testing_gaps"], 1, "{outcome}");
    let all = done(folder, "finish_review", &json!({ "review": review, "all": true }));
    let all = &all["outcome"]["all"];
    for list in
        ["put_off", "not_shown", "held_back", "to_be_checked", "residual_risks", "testing_gaps"]
    {
        let listed = all[list].as_array().unwrap().len() as u64;
        assert_eq!(Some(listed), folded[list].as_u64(), "{list}: {all}");
    }
    assert!(all["put_off"][0].as_str().unwrap().contains("later: it can wait"), "{all}");
}
