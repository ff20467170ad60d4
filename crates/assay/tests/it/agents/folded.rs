//! A posted review folds minor findings and drops none, on a fake GitHub.

use assay_testkit::model::{Answer, FakeModel, Options, PromptRequest};

use super::github::{AgentFixture, MODEL_KEY, REPO};
use super::*;

/// The titles of findings, each with its severity and its line. All but the first are minor.
const FINDINGS: [(&str, &str, u32); 4] = [
    ("Prices may be text", "P1", 2),
    ("Empty carts have no currency", "P2", 2),
    ("Rounding differs from invoices", "P2", 3),
    ("Negative prices lower the total", "P2", 3),
];

const CODE: &str = "def total(prices):\n    amount = sum(prices, 0)\n    return round(amount, 2)\n";

fn model() -> FakeModel {
    let options = Options { key: Some(MODEL_KEY.to_owned()), ..Options::default() };
    FakeModel::start_with(options, |asked: &PromptRequest| answer(&asked.text())).unwrap()
}

fn answer(text: &str) -> Answer {
    if text.contains("You are the `validator`") {
        let looks = text.lines().filter_map(|line| {
            let (number, title) = line.strip_prefix("### FINDING ")?.split_once(": ")?;
            let can_wait = title != FINDINGS[0].0;
            let consequence = if can_wait { "later" } else { "block" };
            Some(json!({
                "finding": number.parse::<u32>().ok()?, "answer": "confirm", "why": "it is so",
                "consequence": consequence,
            }))
        });
        return Answer::json(&json!({ "looks": looks.collect::<Vec<Value>>() }));
    }
    let findings = FINDINGS.map(|(title, severity, line)| {
        let quote = CODE.lines().nth(line as usize - 1).unwrap().trim();
        json!({
            "title": title, "severity": severity, "file": "shop.py", "line": line,
            "why_it_matters": format!("{title}, and the sum is wrong."),
            "autofix_class": "manual", "owner": "downstream-resolver",
            "requires_verification": true, "confidence": 75, "evidence": [quote],
            "pre_existing": false,
        })
    });
    Answer::json(&json!({ "findings": findings, "residual_risks": [], "testing_gaps": [] }))
}

#[test]
fn a_posted_review_folds_findings_that_can_wait_and_drops_none() {
    let model = model();
    let top = format!(
        "{QUICK}models:\n  use:\n    fake: {{ api: anthropic, model: fake-1, url: \"{}\", \
         key_env: FAKE_KEY }}\n",
        model.url()
    );
    let fixture = AgentFixture::with(&top, "");
    fixture.open_pull("prices", CODE);
    let pull = format!("{REPO}#1");
    let ran = fixture.assay(&["review", "--pr", &pull, "--post", "--models"]);
    let summary = fixture.github.comments(REPO, 1)[0].body.clone();
    let (shown, folded) = summary.split_once("<details>").expect(&summary);
    for (title, ..) in &FINDINGS[1..] {
        assert!(folded.contains(title), "`{title}` is dropped: {summary}\n{}", ran.stderr);
        assert!(!shown.contains(title), "`{title}` is not folded: {summary}");
    }
    assert!(shown.contains("3 findings can wait, according to a second look"), "{summary}");
    // The finding that blocks is a comment on its line, and the only comment.
    let visible = fixture.github.visible(REPO, 1);
    assert!(visible.contains(FINDINGS[0].0) && !summary.contains(FINDINGS[0].0), "{visible}");
    for (title, ..) in &FINDINGS[1..] {
        assert_eq!(visible.matches(title).count(), summary.matches(title).count(), "{visible}");
    }
}
