//! Review, fix, review: until the change is approved, or a person has to decide.

use assay_testkit::model::{Answer, FakeModel, PromptRequest};

use super::*;

/// The text of `shop.py` on the branch: a safe fix removes one defect, and another one is new.
const FIXABLE: &str = "def total(prices):\n    breakpoint()\n    return sum(prices, 0)\n";

fn tasks(repository: &Repository) -> Vec<String> {
    let mut all = Vec::new();
    for folder in ["completed/qa", "completed/engineer", "queues/architect"] {
        all.extend(names(repository, folder).iter().map(|name| format!("{folder}/{name}")));
    }
    all
}

#[test]
fn without_a_model_a_change_is_fixed_by_the_safe_fixes_and_approved() {
    let repository = with_change(QUICK, "shop.py", FIXABLE);
    let mut agents = Agents::start(&repository, &[]);
    let context = json!({ "jira_key": "SHOP-1", "branch_name": "topic" });
    drop_in(&repository, "qa", &review_task("t", &context));
    agents.wait_for_line("Approved: ");
    assert_eq!(
        tasks(&repository),
        [
            "completed/qa/review-t-c1.json",
            "completed/qa/t.json",
            "completed/engineer/review-fix-t-c1.json",
        ]
    );
    let fix = read(&repository, "completed/engineer/review-fix-t-c1.json");
    assert_eq!(fix["title"], "Address code review feedback for SHOP-1");
    let description = fix["description"].as_str().unwrap();
    assert!(description.contains("1. [ ] **HIGH** ("), "{description}");
    let found = &fix["context"]["structured_findings"];
    assert_eq!(
        (&found["total_count"], &found["findings"][0]["line_number"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        repository.git(&["show", "topic:shop.py"]),
        FIXABLE.replace("    breakpoint()\n", "").trim_end()
    );
    assert_eq!(
        repository.git(&["log", "-1", "--format=%an: %s", "topic"]),
        "assay: Address code review feedback for SHOP-1"
    );
    // No other files were touched.
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(agents.stop(), 0);
}

#[test]
fn without_a_model_findings_without_a_safe_fix_are_escalated_to_a_person() {
    let token = ["ghp_", "q7R2mXc9Vb4Nz8Kp1Lw6Ty3Hd5Jf0Gs2AeUo"].concat();
    let repository = with_change(QUICK, "shop.py", &format!("TOKEN = \"{token}\"\n"));
    let mut agents = Agents::start(&repository, &[]);
    drop_in(&repository, "qa", &review_task("t", &json!({ "branch_name": "topic" })));
    agents.wait_for_line("Escalated to a person: ");
    let escalation = waiting(&repository, "architect", "review-escalation-t");
    assert_eq!((&escalation["type"], &escalation["priority"]), (&json!("escalation"), &json!(49)));
    assert_eq!(escalation["context"]["structured_findings"]["critical_count"], 1);
    let text = escalation.to_string();
    assert!(text.contains("GitHub token") && !text.contains(&token), "{text}");
    // The finding is critical, so the architect was notified at once as well.
    assert_eq!(
        names(&repository, "queues/architect"),
        ["review-critical-t-architect.json", "review-escalation-t.json"]
    );
    assert_eq!(agents.stop(), 0);
}

/// Answers as a reviewer that reports a line of the file, and as a fixer that edits it.
fn script(fixes: bool) -> impl Fn(&PromptRequest) -> Answer + Send + Sync {
    move |asked: &PromptRequest| {
        let text = asked.text();
        if text.contains("You fix code after a review") {
            let (_, rest) = text.rsplit_once("    return sum(prices) / ").unwrap();
            let now = rest.lines().next().unwrap();
            let better =
                if fixes { "max(len(prices), 1)".to_owned() } else { format!("{now} * 1") };
            let edit = json!({
                "file": "shop.py", "find": format!("    return sum(prices) / {now}\n"),
                "replace": format!("    return sum(prices) / {better}\n"),
            });
            return Answer::json(&json!({ "edits": [edit], "summary": "The divisor is another." }));
        }
        if text.contains("`validator`") {
            return Answer::json(&json!({ "answer": "confirm", "why": "it is so" }));
        }
        let (_, rest) = text.split_once("You are the `").unwrap();
        let (reviewer, _) = rest.split_once("` reviewer").unwrap();
        let line = text.lines().find(|line| line.contains("+ ") && line.contains("sum(prices) / "));
        let bad = line.filter(|line| reviewer == "general" && !line.contains("max("));
        let findings = bad.map(|line| {
            let quote = line.split_once("+ ").unwrap().1.trim();
            json!({
                "title": "No prices make it divide by zero", "severity": "P1", "file": "shop.py",
                "line": 6, "why_it_matters": "An empty list ends the program.",
                "autofix_class": "gated_auto", "owner": "downstream-resolver",
                "requires_verification": false, "confidence": 100, "evidence": [quote],
                "pre_existing": false,
            })
        });
        Answer::json(&json!({
            "reviewer": reviewer, "findings": findings.into_iter().collect::<Vec<_>>(),
            "residual_risks": [], "testing_gaps": [],
        }))
    }
}

fn with_model(fixes: bool) -> (Repository, FakeModel) {
    let model = FakeModel::start(script(fixes));
    let url = model.url();
    let configuration = format!(
        "{QUICK}models:\n  use:\n    fake:\n      api: anthropic\n      model: fake-1\n      url: {url}\n      \
         key_env: FAKE_KEY\n"
    );
    let after = "def total(prices):\n    return sum(prices)\n\n\ndef mean(prices):\n    return sum(prices) / len(prices)\n";
    (with_change(&configuration, "shop.py", after), model)
}

const KEY: [(&str, &str); 1] = [("FAKE_KEY", "sk-test-5d0f8a7c61e94b23")];

#[test]
fn with_a_model_a_change_is_rejected_fixed_in_a_work_tree_and_approved() {
    let (repository, _model) = with_model(true);
    let mut agents = Agents::start_with(&repository, &[], &KEY);
    let context = json!({ "jira_key": "SHOP-2", "branch_name": "topic" });
    drop_in(&repository, "qa", &review_task("t", &context));
    agents.wait_for_line("Changes requested: ");
    agents.wait_for_line("Approved: ");
    let fix = read(&repository, "completed/engineer/review-fix-t-c1.json");
    let found = &fix["context"]["structured_findings"]["findings"][0];
    assert_eq!((&found["file"], &found["severity"]), (&json!("shop.py"), &json!("HIGH")));
    assert!(fix["description"].as_str().unwrap().contains("1. [ ] **HIGH** ("), "{fix}");
    let after = repository.git(&["show", "topic:shop.py"]);
    assert!(after.ends_with("/ max(len(prices), 1)"), "{after}");
    assert_eq!(agents.stop(), 0);
}

#[test]
fn a_damaged_report_of_a_model_is_never_an_approval() {
    for report in assay_testkit::model::DAMAGED_REPORTS
        .iter()
        .filter(|report| ["half list", "contradiction in words"].contains(&report.name))
    {
        let model = FakeModel::start(|_: &PromptRequest| Answer::text(report.text));
        let configuration = format!(
            "task:\n  backoff: {{ initial: 0, max: 0 }}\n  max_retries: 1\nmodels:\n  use:\n    \
             fake:\n      api: anthropic\n      model: fake-1\n      url: {}\n      \
             key_env: FAKE_KEY\n",
            model.url()
        );
        let after = "def total(prices):\n    return sum(prices, 0)\n";
        let repository = with_change(&configuration, "shop.py", after);
        let mut agents = Agents::start_with(&repository, &[], &KEY);
        drop_in(&repository, "qa", &review_task("t", &json!({ "branch_name": "topic" })));
        agents.wait_for_line("the review is incomplete");
        assert!(!agents.seen.iter().any(|line| line.contains("Approved")), "{:?}", agents.seen);
    }
}

#[test]
fn a_change_that_never_improves_is_sent_back_three_times_and_escalated_once() {
    let (repository, _model) = with_model(false);
    let mut agents = Agents::start_with(&repository, &[], &KEY);
    drop_in(&repository, "qa", &review_task("t", &json!({ "branch_name": "topic" })));
    agents.wait_for_line("Escalated to a person: the change was sent back 3 times");
    assert_eq!(
        tasks(&repository),
        [
            "completed/qa/review-t-c1.json",
            "completed/qa/review-t-c2.json",
            "completed/qa/review-t-c3.json",
            "completed/qa/t.json",
            "completed/engineer/review-fix-t-c1.json",
            "completed/engineer/review-fix-t-c2.json",
            "completed/engineer/review-fix-t-c3.json",
            "queues/architect/review-escalation-t.json",
        ]
    );
    let escalation = read(&repository, "queues/architect/review-escalation-t.json");
    assert_eq!(escalation["context"]["_review_cycle_count"], 4);
    // The task has the findings of the last review, not of the first.
    let last = read(&repository, "completed/qa/review-t-c3.json");
    let run = last["context"]["run"].as_str().unwrap();
    let kept =
        fs::read_to_string(repository.path().join(".assay/runs").join(run).join("synthesis.json"))
            .unwrap();
    let synthesis: Value = serde_json::from_str(&kept).unwrap();
    assert!(
        synthesis["findings"][0]["evidence"][0].as_str().unwrap().contains("* 1 * 1 * 1"),
        "{kept}"
    );
    assert_eq!(escalation["context"]["structured_findings"]["total_count"], 1);
    assert_eq!(agents.stop(), 0);
}

#[test]
fn a_review_whose_model_is_unreachable_is_retried() {
    let (repository, model) = with_model(true);
    let url = model.url().to_owned();
    drop(model);
    let mut agents = Agents::start_with(&repository, &[], &KEY);
    let text = fs::read_to_string(repository.path().join("config/agent-framework.yaml")).unwrap();
    assert!(text.contains(&url));
    drop_in(&repository, "qa", &review_task("t", &json!({ "branch_name": "topic" })));
    let line = agents.wait_for_line("Review failed (");
    assert!(line.contains("the review is incomplete, so it has no verdict"), "{line}");
    agents.wait_for_line("Retrying in 0 s");
    assert!(names(&repository, "completed/qa").is_empty());
}

#[test]
fn a_change_with_nothing_to_review_ends_its_task_and_is_not_approved() {
    let repository = with_change(QUICK, "Cargo.lock", "version = 4\n");
    let mut agents = Agents::start(&repository, &[]);
    drop_in(&repository, "qa", &review_task("t", &json!({ "branch_name": "topic" })));
    let line = agents.wait_for_line("Nothing to review, and nothing approved: ");
    assert!(line.contains("lock file"), "{line}");
    assert_eq!(tasks(&repository), ["completed/qa/t.json"]);
    let task = read(&repository, "completed/qa/t.json");
    assert_eq!(task["context"]["verdict"], "nothing_to_review");
    assert_eq!(agents.stop(), 0);
}

#[test]
fn a_change_that_does_not_parse_is_not_approved() {
    let repository = with_change(QUICK, "shop.py", "def f(:\n    return 1\n");
    let mut agents = Agents::start(&repository, &[]);
    drop_in(&repository, "qa", &review_task("t", &json!({ "branch_name": "topic" })));
    let line = agents.wait_for_line("Review failed (");
    assert!(line.contains("does not parse"), "{line}");
    assert!(names(&repository, "completed/qa").is_empty());
}

#[test]
fn stop_reports_an_agent_that_is_not_running_and_refuses_an_unknown_one() {
    let repository = Repository::new();
    let ran = assay(&repository, &["agent", "stop", "qa"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "qa is not running\n"));
    let ran = assay(&repository, &["agent", "stop", "nobody"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("unknown agent `nobody`; configured agents: qa, "),
        "{}",
        ran.stderr
    );
}
