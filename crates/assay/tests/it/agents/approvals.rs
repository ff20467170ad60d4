//! Approvals of pull requests, on a fake GitHub: only if approvals are configured, a model read the
//! change, and no finding is left to fix.

use std::sync::{Arc, Mutex};

use assay_testkit::model::{Answer, FakeModel, Fault, Options, PromptRequest};

use super::github::{AgentFixture, MODEL_KEY, REPO};
use super::*;

pub(super) const GOOD: &str = "def total(prices):\n    return sum(prices, 0)\n";
const BAD: &str = "def total(prices):\n    breakpoint()\n    return sum(prices, 0)\n";
const APPROVE: &str = "  when_ready: approve\n";

/// The answer of a model about the change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ModelAnswer {
    /// No model is asked.
    NotAsked,
    Nothing,
    May,
    Should,
    Fails,
}

/// Returns a model that answers every persona.
pub(super) fn model(says: ModelAnswer) -> FakeModel {
    let options = Options { key: Some(MODEL_KEY.to_owned()), ..Options::default() };
    let says = Arc::new(Mutex::new(says));
    FakeModel::start_with(options, move |asked: &PromptRequest| {
        answer(*says.lock().unwrap(), &asked.text())
    })
    .unwrap()
}

fn answer(says: ModelAnswer, text: &str) -> Answer {
    if text.contains("You are the `validator`") {
        return Answer::json(&json!({ "answer": "confirm", "why": "it is so" }));
    }
    let (_, rest) = text.split_once("You are the `").unwrap();
    let (reviewer, _) = rest.split_once("` reviewer").unwrap();
    let severity = match says {
        ModelAnswer::NotAsked => panic!("no model is asked: {text}"),
        ModelAnswer::Fails => {
            return Answer { fault: Some(Fault::NoCredit), ..Answer::text("no") };
        }
        ModelAnswer::Nothing => None,
        ModelAnswer::May => Some("P2"),
        ModelAnswer::Should => Some("MEDIUM"),
    };
    let findings: Vec<Value> = severity
        .iter()
        .map(|severity| {
            json!({
                "title": "Prices may be text", "severity": severity, "file": "shop.py", "line": 2,
                "why_it_matters": "They cannot be added up.", "autofix_class": "manual",
                "owner": "downstream-resolver", "requires_verification": true, "confidence": 75,
                "evidence": ["return sum(prices, 0)"], "pre_existing": false,
            })
        })
        .collect();
    Answer::json(&json!({
        "reviewer": reviewer, "findings": findings, "residual_risks": [], "testing_gaps": [],
    }))
}

pub(super) fn with_model(model: &FakeModel) -> String {
    format!(
        "{QUICK}models:\n  use:\n    fake:\n      api: anthropic\n      model: fake-1\n      url: {}\n      \
         key_env: FAKE_KEY\n      usd_per_million: {{ input: 1, output: 5 }}\n",
        model.url()
    )
}

/// Returns the state of the posted review, and the sentence about the approval in the review and
/// its summary.
fn posted(fixture: &AgentFixture) -> (String, String) {
    let reviews = fixture.github.reviews(REPO, 1);
    let [review] = &reviews[..] else { panic!("{reviews:?}") };
    let summary = fixture.github.comments(REPO, 1)[0].body.clone();
    let says = |text: &str| {
        let words = "this is a comment, not an approval: ";
        let line = text.lines().find(|line| line.to_lowercase().contains(words));
        line.map(|line| line.split_once(": ").unwrap().1.trim_end_matches('.').to_owned())
    };
    let (in_review, in_summary) = (says(&review.body), says(&summary));
    assert_eq!(in_review, in_summary, "{}\n{summary}", review.body);
    (review.state.to_owned(), in_review.unwrap_or_default())
}

/// Reviews a pull request, posts the review, and checks its state and reason.
fn check(for_github: &str, says: ModelAnswer, text: &str, state: &str, why: &str) {
    let model = model(says);
    let top = with_model(&model);
    let fixture = AgentFixture::with(&top, for_github);
    fixture.open_pull("prices", text);
    let pull = format!("{REPO}#1");
    let mut args = vec!["review", "--pr", &pull, "--post"];
    args.extend((says != ModelAnswer::NotAsked).then_some("--models"));
    let ran = fixture.assay(&args);
    let expected = (state.to_owned(), why.to_owned());
    assert_eq!(posted(&fixture), expected, "{for_github:?} {says:?}: {}", ran.stderr);
}

#[test]
fn a_review_approves_only_if_configured_read_by_a_model_and_without_open_findings() {
    let not_set = "`github.when_ready` is not set to `approve`";
    let (rules_only, open) =
        ("no model has read the change", "1 open finding at `should` or above");
    check(APPROVE, ModelAnswer::Nothing, GOOD, "APPROVED", "");
    check(APPROVE, ModelAnswer::May, GOOD, "APPROVED", "");
    check(APPROVE, ModelAnswer::Should, GOOD, "COMMENTED", open);
    check(APPROVE, ModelAnswer::NotAsked, GOOD, "COMMENTED", rules_only);
    check(APPROVE, ModelAnswer::Nothing, BAD, "CHANGES_REQUESTED", "");
    check("", ModelAnswer::Nothing, GOOD, "COMMENTED", not_set);
    check("", ModelAnswer::NotAsked, GOOD, "COMMENTED", &format!("{not_set}; {rules_only}"));
    check(
        "  when_ready: comment\n",
        ModelAnswer::Should,
        GOOD,
        "COMMENTED",
        &format!("{not_set}; {open}"),
    );
}

#[test]
fn a_required_reader_that_fails_approves_nothing() {
    let model = model(ModelAnswer::Fails);
    let fixture = AgentFixture::with(&with_model(&model), APPROVE);
    fixture.open_pull("prices", GOOD);
    let ran = fixture.assay(&["review", "--pr", &format!("{REPO}#1"), "--post", "--models"]);
    let (state, why) = posted(&fixture);
    assert_eq!((ran.code, state.as_str()), (3, "COMMENTED"), "{}", ran.stderr);
    assert!(why.contains("the review is incomplete"), "{why}");
}

#[test]
fn a_pull_request_cannot_enable_its_own_approval() {
    let model = model(ModelAnswer::Nothing);
    let fixture = AgentFixture::with(&with_model(&model), "");
    let configuration = fixture.repository.path().join("config/agent-framework.yaml");
    let configuration = fs::read_to_string(configuration).unwrap();
    let evil = configuration.replace("  repositories:", "  when_ready: approve\n  repositories:");
    assert_ne!(evil, configuration);
    let files = [("shop.py", GOOD), ("config/agent-framework.yaml", evil.as_str())];
    fixture.open_pull_with("prices", &files, |pull| pull);
    // As in a job that runs on the merge result of the pull request.
    fixture.repository.write("config/agent-framework.yaml", evil);
    let ran = fixture.assay(&["review", "--pr", &format!("{REPO}#1"), "--post", "--models"]);
    let (state, why) = posted(&fixture);
    assert_ne!(state, "APPROVED", "{}", ran.stderr);
    assert!(state != "COMMENTED" || why.contains("is not set to `approve`"), "{why}");
}

#[test]
fn an_agent_approves_only_if_approval_is_configured() {
    for (for_github, says, state) in
        [(APPROVE, ModelAnswer::Nothing, "APPROVED"), ("", ModelAnswer::Nothing, "COMMENTED")]
    {
        let model = model(says);
        let fixture = AgentFixture::with(&with_model(&model), for_github);
        fixture.open_pull("prices", GOOD);
        let pushed = fixture.assay(&["queue", "push", "--pr", &format!("{REPO}#1")]);
        assert_eq!(pushed.code, 0, "{}", pushed.stderr);
        let mut agents = fixture.agents(&["qa"]);
        agents.wait_for_line("Posted the review on");
        agents.wait_for_line("Approved: ");
        assert_eq!(agents.stop(), 0);
        assert_eq!(posted(&fixture).0, state, "{for_github:?}");
    }
}
