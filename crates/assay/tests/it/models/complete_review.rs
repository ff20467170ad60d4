//! A whole review by personas, in each dialect: the calls, and the expected cost.

use super::*;
use crate::assay_in;

const DIALECTS: [(&str, &str); 3] =
    [ANTHROPIC, ("openai-chat", "/v1"), ("openai-responses", "/v1")];

#[test]
fn a_review_by_personas_is_the_same_in_every_dialect() {
    let mut all = Vec::new();
    for dialect in DIALECTS {
        let case = Case::speaking(dialect, "");
        let ran = case.review(&[]);
        let what = format!("{dialect:?}\n{}{}", ran.stdout, ran.stderr);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{what}");
        assert!(ran.stdout.contains("\nready with fixes\n"), "{what}");
        assert!(ran.stdout.contains("\n1 hunk: 1 by rules and 3 personas\n"), "{what}");
        assert!(ran.stdout.contains("(correctness, 75% sure; confirmed)"), "{what}");
        let synthesis = synthesis(&case.runs()[0]);
        assert_eq!(titles(&synthesis), found_without(&[]), "{what}");
        // Three personas, and one second look at all six findings.
        assert_eq!((&synthesis["spent"]["calls"], case.asked()), (&json!(4), 4), "{what}");
        let (tokens, usd) = (&synthesis["spent"]["tokens"], &synthesis["spent"]["usd"]);
        assert!(tokens.as_u64().unwrap() > 5_000 && usd.as_f64().unwrap() > 0.005, "{what}");
        let spent = format!("\n4 calls, {tokens} tokens, ${:.4}\n", usd.as_f64().unwrap());
        assert!(ran.stdout.contains(&spent), "{what}");
        // The expenses of each model are listed under its provider's name.
        let lines = ran.stdout.replace(&spent, "\n");
        let is_of_model = |line: &&str| line.contains("fake-1: 4 calls, ");
        assert_eq!(lines.lines().filter(is_of_model).count(), 1, "{what}");
        let others: Vec<&str> = lines.lines().filter(|line| !is_of_model(line)).collect();
        all.push(others.join("\n"));
    }
    assert_eq!((&all[0], &all[0]), (&all[1], &all[2]));
}

#[test]
fn findings_without_a_match_in_the_change_are_dropped() {
    let case = Case::new("");
    let made_up = [
        finding("a quote that is nowhere", "P1", ("shop.py", 6), "return mean(prices, weights)"),
        finding("a file that is nowhere", "P1", ("shops.py", 6), "return sum(prices)"),
        finding("an honest finding", "P2", ("shop.py", 14), "return str(price) + \" EUR\""),
    ];
    let report = with_findings("correctness", made_up.to_vec()).to_string();
    case.trouble(&["`correctness` reviewer"], ModelFaultKind::Says(report));
    let ran = case.review(&["--persona", "correctness", "--format", "json"]);
    assert_eq!(titles(&ran.json()), ["an honest finding"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}

#[test]
fn a_run_keeps_both_tiers_of_every_report() {
    let case = Case::new("");
    case.review(&[]);
    let run = case.runs().pop().unwrap();
    for name in ["rules", "correctness", "intent", "testing"] {
        let read = |ending: &str| fs::read(run.join(format!("reviewer-{name}{ending}"))).unwrap();
        let detail = read(".json");
        let checked = assay_in(&run, &["findings", "validate"], &detail);
        assert_eq!(checked.code, 0, "{name}: {}{}", checked.stdout, checked.stderr);
        let [detail, compact] = [detail, read(".compact.json")]
            .map(|text| serde_json::from_slice::<Value>(&text).unwrap());
        let places = |report: &Value| -> Vec<Value> {
            let findings = report["findings"].as_array().unwrap().iter();
            findings
                .map(|it| json!([it["title"], it["severity"], it["file"], it["line"]]))
                .collect()
        };
        assert_eq!(detail["reviewer"], name);
        assert_eq!(places(&detail), places(&compact), "{name}");
        assert_eq!(places(&detail).len(), if name == "rules" { 0 } else { 2 }, "{name}");
        for report in [&detail, &compact] {
            let gaps = report["testing_gaps"].as_array().unwrap();
            assert_eq!(gaps.is_empty(), name == "rules", "{name}");
        }
        let has = |report: &Value, field: &str| report["findings"][0].get(field).is_some();
        assert!(!has(&compact, "evidence"), "{name}");
    }
}

#[test]
fn a_refuted_finding_is_held_back_if_the_code_supports_the_refutation() {
    let case = Case::new("");
    let look = |finding: &str| match finding.contains("doubts line 10") {
        true => json!({
            "answer": "refute", "why": "it is sorted", "quote": "return sorted(prices)[0]",
        }),
        false => json!({ "answer": "confirm", "why": "it is so" }),
    };
    let refuted = move |asked: &str| looks(asked, look).to_string();
    case.trouble(&["You are the `validator`"], ModelFaultKind::Answers(Arc::new(refuted)));
    let synthesis = case.review(&["--format", "json"]).json();
    assert!(!titles(&synthesis).contains(&"correctness doubts line 10".to_owned()));
    assert_eq!(synthesis["held_back"][0]["title"], "correctness doubts line 10");
}

#[test]
fn a_dry_run_reports_the_cost_without_any_model_call() {
    let case = Case::new("");
    let ran = case.review(&["--dry-run"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let estimates =
        ran.stdout.lines().filter(|line| line.contains("1 call to fake/fake-1, about "));
    assert_eq!(estimates.count(), 3, "{}", ran.stdout);
    let total = ran.stdout.lines().last().unwrap();
    assert!(total.starts_with("total: 3 calls, about "), "{}", ran.stdout);
    assert!(total.contains(" at most; nothing was sent."), "{}", ran.stdout);
    let ran = case.review(&["--roster"]);
    for line in [
        "  reads  rules: always on",
        "  reads  correctness: reads every change",
        "  reads  intent: the commits state its purpose, is in python",
        "  reads  testing: is in python, adds ",
        "  skips  migration: not concerned by this change: ",
    ] {
        assert!(ran.stdout.contains(line), "{line}\n{}", ran.stdout);
    }
    assert_eq!(case.asked(), 0);
    assert!(!case.repository.path().join(".assay/runs").exists());
}

#[test]
fn an_unknown_persona_is_reported_with_the_known_ones() {
    let case = Case::new("");
    for name in ["nosuch", "validator"] {
        let ran = case.run(&["review", "--persona", name]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        let expected =
            format!("unknown persona `{name}`; known personas: adversarial, agent-surface, ");
        assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    }
    assert_eq!(case.asked(), 0);
}

#[test]
fn only_the_personas_selected_by_name_read() {
    let case = Case::new("");
    let ran = case.run(&["review", "--persona", "migration,testing", "--format", "json"]);
    let synthesis = ran.json();
    let reviewers = synthesis["reports"].as_array().unwrap().iter();
    let reviewers: Vec<&str> = reviewers.map(|it| it["reviewer"].as_str().unwrap()).collect();
    assert_eq!(reviewers, ["migration", "rules", "testing"]);
}

#[test]
fn an_unconfigured_model_is_reported() {
    let case = Case::new("");
    let ran = case.run(&["review", "--models=other"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("unknown model `other`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("has: fake"), "{}", ran.stderr);
    let repository = changed("{}\n", &[("shop.py".to_owned(), AFTER.to_owned())]);
    let no_keys = [("ANTHROPIC_API_KEY", ""), ("OPENAI_API_KEY", "")];
    let ran = assay_with(repository.path(), &["review", "--models"], b"", &no_keys);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("no model is configured: set ANTHROPIC_API_KEY"), "{}", ran.stderr);
}

#[test]
fn a_rewrite_in_the_answer_of_a_model_is_not_applied_without_a_person() {
    let case = Case::new("");
    let rewriting = |asked: &str| match asked.contains("You are the `validator`") {
        true => looks(asked, |_| json!({ "answer": "confirm", "why": "it is so" })).to_string(),
        false => {
            let quote = "    return sorted(prices)[0]";
            let mut claim =
                finding("cheapest fails on an empty list", "P1", ("shop.py", 10), quote);
            claim["autofix_class"] = json!("safe_auto");
            claim["owner"] = json!("review-fixer");
            claim["requires_verification"] = json!(false);
            claim["replacement"] = json!({
                "start_line": 1, "end_line": 1, "text": "import os  # from a model\n",
            });
            with_findings("correctness", vec![claim]).to_string()
        }
    };
    case.trouble(&[], ModelFaultKind::Answers(Arc::new(rewriting)));
    for args in [&["--mode", "autofix"][..], &[]] {
        let ran = case.review(args);
        assert!(ran.stdout.contains("cheapest fails on an empty list"), "{}", ran.stdout);
        assert!(!ran.stdout.contains("`assay fix` applies"), "{}", ran.stdout);
    }
    let ran = case.run(&["fix"]);
    let shop = fs::read_to_string(case.repository.path().join("shop.py")).unwrap();
    assert_eq!(shop, AFTER, "{}", ran.stdout);
    assert!(ran.stdout.contains("1 more fix needs approval by a person"), "{}", ran.stdout);
}
