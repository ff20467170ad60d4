//! Tests of the follow-up of reviews and fixes.

use assay_agents::config::framework::{TaskSettings, Workflow};
use assay_agents::config::roster::Roster;
use assay_agents::task_handler::{HandlerError, TaskOutcome};
use assay_agents::workflow::ReviewOutcome;
use assay_agents::workflow::follow_up::{
    FollowUpInput, after_commit, after_empty_fix, after_review,
};
use assay_findings::report::Report;
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_store::pulls::{Pull, PullOrigin};
use assay_store::task::{Moment, QueueName, Task};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

/// A senior engineer, for the tests that need one.
const SENIOR: &str = "- id: senior-engineer\n  permissions: [read, edit]\n";

struct Case {
    context: Value,
    created_by: &'static str,
    queue: &'static str,
    agents: &'static str,
    /// The findings, one per line: `HIGH a.py:3 title`, with the autofix class after the severity
    /// if it matters.
    findings: &'static str,
}

impl Default for Case {
    fn default() -> Case {
        Case {
            context: json!({}),
            created_by: "manual-test",
            queue: "qa",
            agents: "",
            findings: "HIGH a.py:1 It breaks",
        }
    }
}

fn task(id: &str, context: &Value) -> Task {
    let json = json!({
        "id": id, "type": "review", "created_at": "2026-02-03T10:00:00.000Z", "title": "Review",
        "priority": 50, "context": context,
    });
    Task::parse(json.to_string().as_bytes()).unwrap()
}

fn with_input<T>(queue: &str, agents: &str, act: impl FnOnce(&FollowUpInput<'_>) -> T) -> T {
    let workflow = Workflow::default();
    let roster = Roster::parse(Some(agents), &TaskSettings::default()).unwrap();
    let queue: QueueName = queue.parse().unwrap();
    let now: Moment = "2026-02-03T11:00:00.000Z".parse().unwrap();
    let worker = "qa-1";
    act(&FollowUpInput {
        workflow: &workflow,
        roster: &roster,
        queue: &queue,
        worker,
        now,
        version: "1",
    })
}

fn reviewed(findings: &str) -> ReviewOutcome {
    let findings = findings.lines().map(|line| {
        let mut words = line.splitn(3, ' ');
        let (severity, place) = (words.next().unwrap(), words.next().unwrap());
        let (severity, class) = severity.split_once('/').unwrap_or((severity, "gated_auto"));
        let (file, at) = place.split_once(':').unwrap();
        json!({
            "title": words.next().unwrap(), "severity": severity, "file": file,
            "line": at.parse::<u32>().unwrap(), "confidence": 100, "autofix_class": class,
            "owner": "downstream-resolver", "evidence": ["x"], "why_it_matters": "It does.",
        })
    });
    let report = json!({ "reviewer": "qa", "findings": findings.collect::<Vec<_>>(),
        "residual_risks": [], "testing_gaps": [] });
    let report = Report::from_text(&report.to_string(), "qa", None);
    let synthesis = synthesize(&[report], &SynthesisInputs::default());
    ReviewOutcome {
        synthesis,
        draft: None,
        head: None,
        messages: Vec::new(),
        tracked: Vec::new(),
        run: Some("run-1".to_owned()),
        may_answer_later: false,
    }
}

fn outcome(case: &Case) -> Result<TaskOutcome, HandlerError> {
    let mut task = task("t1", &case.context);
    task.created_by = case.created_by.to_owned();
    with_input(case.queue, case.agents, |input| {
        after_review(input, &task, &reviewed(case.findings))
    })
}

/// Checks the verdict and the follow-up tasks: `queue kind id cycle priority`.
fn check(case: &Case, expected: &Expect) {
    let shown = match outcome(case) {
        Err(failed) => format!("failed: {failed} (passing: {})", failed.is_transient),
        Ok(outcome) => {
            let lines = outcome.follow_ups.iter().map(|next| {
                let Task { id, kind, priority, context, .. } = &next.task;
                let cycle = &context["_review_cycle_count"];
                format!("{} {kind} {id} cycle {cycle} priority {}\n", next.queue, priority.get())
            });
            format!("{}\n{}", outcome.context["verdict"], lines.collect::<String>())
        }
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_ready_change_is_approved_without_follow_up_tasks() {
    check(
        &Case { findings: "", ..Case::default() },
        &expect![[r#"
        "approved"
    "#]],
    );
    check(
        &Case { findings: "LOW a.py:1 A nit", ..Case::default() },
        &expect![[r#"
        "approved"
    "#]],
    );
}

#[test]
fn the_first_rejected_review_queues_a_fix_for_the_engineer() {
    check(
        &Case::default(),
        &expect![[r#"
        "needs_fix"
        engineer fix review-fix-t1-c1 cycle 1 priority 50
    "#]],
    );
}

#[test]
fn the_third_rejected_review_queues_a_fix_and_the_fourth_an_escalation() {
    for (count, expected) in [
        (
            2,
            expect![[r#"
        "needs_fix"
        engineer fix review-fix-root-9-c3 cycle 3 priority 50
    "#]],
        ),
        (
            3,
            expect![[r#"
        "needs_fix"
        architect escalation review-escalation-root-9 cycle 4 priority 49
    "#]],
        ),
    ] {
        let context = json!({ "_review_cycle_count": count, "_root_task_id": "root-9" });
        check(&Case { context, ..Case::default() }, &expected);
    }
}

#[test]
fn only_reviews_in_the_reviewers_queue_get_follow_up_tasks() {
    check(
        &Case { queue: "engineer", ..Case::default() },
        &expect![[r#"
        "needs_fix"
    "#]],
    );
}

#[test]
fn an_incomplete_review_approves_nothing() {
    let mut reviewed = reviewed("");
    reviewed.synthesis = synthesize(&[], &SynthesisInputs::default());
    for may_answer_later in [false, true] {
        let reviewed = ReviewOutcome { may_answer_later, ..reviewed.clone() };
        let failed = with_input("qa", "", |input| {
            after_review(input, &task("t1", &json!({})), &reviewed).unwrap_err()
        });
        assert!(failed.error.contains("no reviewer returned a report"), "{failed}");
        assert_eq!(failed.is_transient, may_answer_later);
    }
}

#[test]
fn a_fix_goes_to_the_authoring_agent_if_that_agent_may_edit() {
    let agents = "- id: backend\n  permissions: [read, edit]\n- id: reader\n";
    check(
        &Case { created_by: "backend-2", agents, ..Case::default() },
        &expect![[r#"
        "needs_fix"
        backend fix review-fix-t1-c1 cycle 1 priority 50
    "#]],
    );
    // An agent without the permission to edit gets no fix.
    check(
        &Case { created_by: "reader", agents, ..Case::default() },
        &expect![[r#"
        "needs_fix"
        engineer fix review-fix-t1-c1 cycle 1 priority 50
    "#]],
    );
}

#[test]
fn a_critical_finding_is_escalated_to_the_architect_once() {
    let findings = "CRITICAL a.py:1 It leaks\nHIGH b.py:1 It breaks";
    check(
        &Case { findings, ..Case::default() },
        &expect![[r#"
        "needs_fix"
        engineer fix review-fix-t1-c1 cycle 1 priority 50
        architect escalation review-critical-t1-architect cycle 1 priority 49
    "#]],
    );
    let already_notified = json!({ "_also_told": ["architect"], "_review_cycle_count": 1 });
    check(
        &Case { context: already_notified, findings, ..Case::default() },
        &expect![[r#"
        "needs_fix"
        engineer fix review-fix-t1-c2 cycle 2 priority 50
    "#]],
    );
}

#[test]
fn a_wide_or_manual_fix_goes_to_a_senior_engineer_if_the_roster_has_one() {
    let wide = "HIGH a.py:1 One\nHIGH b.py:1 Two\nHIGH c.py:1 Three";
    let manual = "HIGH/manual a.py:1 A design";
    for findings in [wide, manual] {
        check(
            &Case { findings, agents: SENIOR, ..Case::default() },
            &expect![[r#"
            "needs_fix"
            senior-engineer fix review-fix-t1-c1 cycle 1 priority 50
        "#]],
        );
        check(
            &Case { findings, ..Case::default() },
            &expect![[r#"
            "needs_fix"
            engineer fix review-fix-t1-c1 cycle 1 priority 50
        "#]],
        );
    }
    let small = "HIGH a.py:1 One\nHIGH a.py:9 Two\nMEDIUM/manual c.py:1 Three";
    check(
        &Case { findings: small, agents: SENIOR, ..Case::default() },
        &expect![[r#"
        "needs_fix"
        engineer fix review-fix-t1-c1 cycle 1 priority 50
    "#]],
    );
}

#[test]
fn a_fix_task_has_a_checklist_and_the_findings() {
    let context = json!({
        "jira_key": "PROJ-123", "review_mode": true, "review_note": "x", "keep": 1,
        "implementation_branch": "feat/x", "_review_cycle_count": 1,
    });
    let findings = "CRITICAL src/a.py:45 It leaks\nHIGH src/b.py:89 It is slow";
    let outcome = outcome(&Case { context, findings, ..Case::default() }).unwrap();
    let fix = &outcome.follow_ups[0].task;
    assert_eq!(fix.title, "Address code review feedback for PROJ-123");
    expect![[r#"
        QA review found 2 issue(s) that need fixing.

        ## Summary
        2 findings must be fixed: It leaks (src/a.py:45); It is slow (src/b.py:89)

        ## Review Findings

        1. [ ] **CRITICAL** (general): src/a.py:45
            Issue: It leaks. It does.

        2. [ ] **HIGH** (general): src/b.py:89
            Issue: It is slow. It does.

        ## Instructions
        1. Review each finding above
        2. Fix the issues in the specified files/lines
        3. Run tests to verify fixes
        4. Commit and push your changes
        5. The review will be automatically re-queued
    "#]]
    .assert_eq(&fix.description);
    let mut context = Value::Object(fix.context.clone());
    let found = context["structured_findings"].take();
    assert_eq!(found["total_count"], 2);
    assert_eq!(found["findings"][0]["line_number"], 45);
    expect![[r#"{"jira_key":"PROJ-123","keep":1,"implementation_branch":"feat/x","_review_cycle_count":2,"worktree_branch":"feat/x","structured_findings":null,"_root_task_id":"t1","_also_told":["architect"]}"#]].assert_eq(&context.to_string());
}

#[test]
fn a_follow_up_id_stays_valid_if_the_root_id_is_long_or_invalid() {
    let long = "t".repeat(128);
    let context = json!({ "_root_task_id": long });
    let outcome = outcome(&Case { context, ..Case::default() }).unwrap();
    let id = outcome.follow_ups[0].task.id.as_str();
    assert!(id.starts_with("review-fix-ttt") && id.len() <= 128, "{id}");
    // A root that is not a valid id is ignored.
    let context = json!({ "_root_task_id": "../../etc" });
    check(
        &Case { context, ..Case::default() },
        &expect![[r#"
        "needs_fix"
        engineer fix review-fix-t1-c1 cycle 1 priority 50
    "#]],
    );
}

#[test]
fn the_review_of_a_committed_fix_does_not_get_the_earlier_findings() {
    let context = json!({
        "jira_key": "PROJ-1", "structured_findings": {}, "verdict": "needs_fix", "run": "r",
        "_review_cycle_count": 2, "_root_task_id": "t0",
    });
    let outcome = with_input("engineer", "", |input| {
        after_commit(input, &task("f", &context), "topic", None, "done".to_owned())
    });
    let [next] = &outcome.follow_ups[..] else { panic!("{outcome:?}") };
    assert_eq!((next.queue.as_str(), next.task.id.as_str()), ("qa", "review-t0-c2"));
    expect![[r#"{"jira_key":"PROJ-1","_review_cycle_count":2,"_root_task_id":"t0","branch_name":"topic","_own_branch":"topic"}"#]].assert_eq(&Value::Object(next.task.context.clone()).to_string());
}

#[test]
fn a_pushed_fix_queues_the_same_pull_request_review_as_a_trigger() {
    let context = json!({
        "jira_key": "PROJ-1", "structured_findings": {}, "base_branch": "old", "commit": "HEAD",
        "head_commit": "before", "_own_branch": "assay/t0", "_review_cycle_count": 1,
        "_root_task_id": "t0",
    });
    let head = "0123456789012345678901234567890123456789";
    let pull = Pull {
        repository: "o/r".parse().unwrap(),
        number: 7,
        head: head.parse().unwrap(),
        title: "Log in".to_owned(),
        branch: "feature/OTHER-2".to_owned(),
        base: "main".to_owned(),
        url: "https://github.example/o/r/pull/7".to_owned(),
        origin: PullOrigin::Inside,
    };
    let outcome = with_input("engineer", "", |input| {
        let task = task("f", &context);
        after_commit(input, &task, "assay/t0", Some(&pull), "done".to_owned())
    });
    let [next] = &outcome.follow_ups[..] else { panic!("{outcome:?}") };
    assert_eq!(next.task.id, pull.task_id());
    assert_eq!(next.queue.as_str(), "qa");
    expect![[r#"{"jira_key":"PROJ-1","head_commit":"0123456789012345678901234567890123456789","_review_cycle_count":1,"_root_task_id":"t0","github_repo":"o/r","pr_number":7,"pr_url":"https://github.example/o/r/pull/7","branch_name":"feature/OTHER-2","base_branch":"main"}"#]].assert_eq(&Value::Object(next.task.context.clone()).to_string());
}

#[test]
fn a_fix_without_changes_is_escalated_to_the_architect() {
    let context = json!({ "_root_task_id": "t0", "_review_cycle_count": 1 });
    let outcome = with_input("engineer", "", |input| {
        after_empty_fix(input, &task("f", &context), "no safe fix".to_owned())
    });
    let [next] = &outcome.follow_ups[..] else { panic!("{outcome:?}") };
    assert_eq!(next.task.id.as_str(), "review-escalation-t0");
    assert!(next.task.kind.is_escalation());
    assert_eq!((next.queue.as_str(), next.task.priority.get()), ("architect", 49));
}
