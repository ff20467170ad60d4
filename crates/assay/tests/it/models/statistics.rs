//! Statistics of reviews with models: costs by reviewer and model, and budgets.

use super::*;

#[test]
fn costs_are_counted_by_reviewer_and_by_model() {
    let case = Case::new("  budget:\n    day: { usd: 2 }\n");
    let ran = case.run(&["review", "--models", "--format", "json"]);
    let spent = ran.json()["spent"].clone();
    assert!(spent["usd"].as_f64().is_some_and(|usd| usd > 0.0), "{spent}");
    case.repository.remove("shop.py");
    case.repository.commit("away with it");
    assert_eq!(case.run(&["review", "--commit", "HEAD"]).code, 0);
    let stats = case.run(&["findings", "stats", "--format", "json"]).json();
    let overview = &stats["overview"];
    let models = overview["models"].as_array().unwrap();
    let names: Vec<&str> = models.iter().map(|model| model["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 1, "{models:?}");
    assert!(names[0].ends_with("fake-1"), "{names:?}");
    assert_eq!(models[0]["cost"]["usd"], stats["total"]["cost"]["usd"]);
    assert_eq!((&models[0]["cost"]["runs"], &stats["runs"]["total"]), (&json!(1), &json!(2)));
    assert_eq!(stats["total"]["cost"]["usd"], spent["usd"]);
    let reviewers = overview["reviewers"].as_array().unwrap();
    let usd = |group: &Value| group["cost"]["usd"].as_f64().unwrap_or_default();
    let sum: f64 = reviewers.iter().map(usd).sum();
    assert!(sum > 0.0 && sum <= usd(&stats["total"]) + 1e-9, "{sum}: {reviewers:?}");
    let correctness = reviewers.iter().find(|group| group["name"] == "correctness").unwrap();
    let accepted = correctness["accepted"].as_f64().unwrap();
    assert!(accepted > 0.0 && correctness["accepted"] == correctness["findings"], "{correctness}");
    let each = correctness["cost"]["usd_per_accepted"].as_f64().unwrap();
    assert!((each * accepted - usd(correctness)).abs() < 1e-5, "{correctness}");
    let budget = &overview["budgets"][0];
    assert_eq!((&budget["scope"], &budget["unit"]), (&json!("day"), &json!("usd")));
    assert_eq!(budget["highest"], stats["total"]["cost"]["usd"]);
    let text = case.run(&["findings", "stats"]).stdout;
    assert!(text.contains("\nmodels.budget.day.usd: highest use $"), "{text}");
}
