//! Budgets: they are never exceeded, and reviewers that were not asked because of them are named.

use assay_testkit::model::Pause;

use super::*;

/// Returns the names of the reviewers without a report, and the reason of the first.
fn silent(synthesis: &Value) -> (Vec<&str>, &str) {
    let reports = synthesis["reports"].as_array().unwrap().iter();
    let silent: Vec<&Value> = reports.filter(|report| report["unusable"].is_string()).collect();
    let names = silent.iter().map(|report| report["reviewer"].as_str().unwrap()).collect();
    (names, silent.first().map_or("", |report| report["unusable"].as_str().unwrap()))
}

/// Reviews with a budget that is too small for all reviewers, and checks the result.
fn check_short(case: &Case, args: &[&str], because: &str) -> Value {
    let before = case.asked();
    let ran = case.review(&[&["--format", "json"], args].concat());
    let synthesis = ran.json();
    let (silent, why) = silent(&synthesis);
    assert!(!silent.is_empty(), "{args:?}: everybody answered\n{}", ran.stdout);
    assert!(why.contains(because), "{args:?}: {why}");
    assert_ne!(synthesis["verdict"]["state"], "ready", "{args:?}");
    let required = silent.contains(&"correctness");
    assert_eq!(ran.code, if required { 3 } else { 0 }, "{args:?}: {silent:?}");
    assert_eq!(synthesis["spent"]["calls"], case.asked() - before, "{args:?}");
    synthesis
}

#[test]
fn concurrent_calls_never_exceed_the_budget() {
    let case = Case::new("  at_a_time: 16\n  cache: false\n");
    for number in 0..12 {
        let name = format!("house-{number}");
        case.repository.write(format!(".assay/personas/{name}.md"), persona(&name, ""));
    }
    case.commit_before(".assay/personas/house-12.md", &persona("house-12", ""));
    // Close to the maximum usage of an answer, which is reserved for it.
    let usage = Usage { input: 9_000, output: 8_000, ..Usage::default() };
    case.trouble(&["` reviewer"], ModelFaultKind::Takes(usage));
    let cap = 0.2;
    let expected = "the budget of 0.20 dollars for a run does not cover another call";
    let money = check_short(&case, &["--max-usd", &cap.to_string()], expected);
    let spent = money["spent"]["usd"].as_f64().unwrap();
    assert!(spent > cap / 2.0 && spent <= cap, "{spent} of {cap}");
    let expected = "the budget of 80000 tokens for a run does not cover another call";
    let tokens = check_short(&case, &["--max-tokens", "80000"], expected);
    let spent = tokens["spent"]["tokens"].as_u64().unwrap();
    assert!(spent > 40_000 && spent <= 80_000, "{spent}");
}

#[test]
fn no_more_calls_are_made_than_allowed() {
    let case = Case::new("  cache: false\n  budget:\n    run: { calls: 2 }\n");
    let synthesis = check_short(
        &case,
        &[],
        "the budget of 2 calls for a run does not cover another call; raise the budget",
    );
    assert_eq!((&synthesis["spent"]["calls"], case.asked()), (&json!(2), 2));
}

#[test]
fn a_day_has_a_budget_over_all_its_reviews() {
    let case = Case::new("  cache: false\n  budget:\n    day: { calls: 5 }\n");
    let first = case.review(&["--format", "json"]).json();
    assert_eq!((silent(&first).0, case.asked()), (vec![], 4));
    let second =
        check_short(&case, &[], "the budget of 5 calls for a day does not cover another call");
    assert_eq!(second["spent"]["calls"], 1);
    let third = check_short(&case, &[], "wait until tomorrow");
    assert_eq!((&third["spent"]["calls"], case.asked()), (&json!(0), 5));
    assert_eq!(silent(&third).0, ["correctness", "intent", "testing"]);
}

#[test]
fn with_an_empty_budget_no_model_is_called() {
    let case = Case::new("");
    for args in [["--max-usd", "0"], ["--max-tokens", "0"]] {
        let synthesis = check_short(
            &case,
            &args,
            "for a run does not cover another call; raise the budget, or review a smaller change",
        );
        assert_eq!(synthesis["verdict"]["state"], "incomplete");
    }
    assert_eq!(case.asked(), 0);
}

#[test]
fn a_cap_on_money_needs_prices() {
    let plain = "    plain: { api: anthropic, model: fake-2, url: \"{url}\", key_env: FAKE_KEY }\n";
    let case = Case::new(plain);
    let args = ["review", "--models=plain"];
    let ran = case.run(&[&args[..], &["--max-usd", "1"]].concat());
    assert_eq!((ran.code, case.asked()), (3, 0));
    let expected = "the model's price is unknown, so a budget in dollars cannot be enforced; set its \
                `usd_per_million`";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    let ran = case.run(&args);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("tokens, price unknown\n"), "{}", ran.stdout);
}

#[test]
fn a_review_ends_at_its_time_limit() {
    let case = Case::new("");
    case.trouble(&[], ModelFaultKind::Fault(Fault::Hang(Pause::BeforeHead)));
    let ran = case.review(&["--max-seconds", "1"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    let expected = ["no complete answer within 1 s", "the run's time limit is reached"];
    assert!(expected.iter().any(|expected| ran.stdout.contains(expected)), "{}", ran.stdout);
    let ran = case.review(&["--max-usd", "some"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("`some` is not an amount in dollars"), "{}", ran.stderr);
}

#[test]
fn an_autofix_review_reports_the_calls_of_all_its_rounds() {
    let case = Case::new("");
    case.repository.write("debug.py", "def f(a):\n    breakpoint()\n    return a\n");
    case.repository.commit("leaves a breakpoint");
    let ran = case.review(&["--mode", "autofix", "--format", "json"]);
    let asked = case.server.requests().len() as u64;
    assert_eq!(ran.json()["spent"]["calls"], asked, "{}", ran.stderr);
}

#[test]
fn required_reviewers_are_called_first_if_the_budget_is_too_small() {
    for _ in 0..4 {
        let case = Case::new("  at_a_time: 16\n  cache: false\n  budget: { run: { calls: 1 } }\n");
        let ran = case.review(&["--format", "json"]);
        let synthesis = ran.json();
        let (silent, _) = silent(&synthesis);
        assert_eq!(silent, ["intent", "testing"], "{}", ran.stdout);
    }
}

#[test]
fn the_cost_of_an_aborted_call_is_reported_as_an_upper_bound() {
    let case = Case::new("  attempts: 1\n  seconds: 1\n");
    let whole = case.review(&["--format", "json"]).json();
    assert!(whole["spent"].get("at_most").is_none(), "{}", whole["spent"]);
    let case = Case::new("  attempts: 1\n  seconds: 1\n");
    case.trouble(
        &["`correctness` reviewer"],
        ModelFaultKind::Fault(Fault::Hang(Pause::BeforeHead)),
    );
    let ran = case.review(&[]);
    assert!(ran.stdout.contains(" calls, at most "), "{}", ran.stdout);
}
