//! Tests of validation tasks, with a scripted validator.

use assay_agents::change_event::ChangeEvent;
use assay_agents::workflow::validation::ValidationHandler;
use assay_agents::workflow::{SpecValidator, ValidationOutcome};

use super::*;

/// The journal that the scripted validator writes.
const JOURNAL: &str = "specs/001-a/qa_journal.jsonl";

/// A validator that writes files and returns a fixed result.
struct ScriptedValidator<'a> {
    writes: &'a [(&'a str, &'a str)],
    ends: Result<ValidationOutcome, HandlerError>,
}

impl SpecValidator for ScriptedValidator<'_> {
    fn validate(
        &self,
        folder: &Path,
        base: Option<&str>,
        spec: &str,
        _job: &Job<'_>,
    ) -> Result<ValidationOutcome, HandlerError> {
        assert_eq!((base, spec), (Some("main"), "001"));
        for (path, text) in self.writes {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        self.ends.clone()
    }
}

fn approved() -> Result<ValidationOutcome, HandlerError> {
    Ok(ValidationOutcome::Approved { summary: "all is met".to_owned() })
}

fn escalated() -> Result<ValidationOutcome, HandlerError> {
    let paper = "specs/001-a/QA_HUMAN_ESCALATION.md".to_owned();
    Ok(ValidationOutcome::Escalated { reason: "nothing got better".to_owned(), paper })
}

/// Returns a repository with an implementation on `topic`.
fn implemented() -> Repository {
    let repository = Repository::new();
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write("a", "1\n");
    repository.commit("implemented");
    repository.git(&["switch", "--quiet", "main"]);
    repository
}

fn validate(
    repository: &Repository,
    validator: ScriptedValidator<'static>,
    context: &Value,
) -> Result<TaskOutcome, HandlerError> {
    let workflow_context =
        workflow_context(repository, "- id: agent\n  permissions: [read, edit]\n");
    let work = ValidationHandler { workflow_context: workflow_context.clone(), validator };
    work_on(&work, &workflow_context, "validation", context)
}

/// Validates `topic` and checks the outcome, the follow-up tasks and the commits of the branch.
fn check(validator: ScriptedValidator<'static>, expected: &Expect) {
    let repository = implemented();
    let context = json!({ "branch_name": "topic", "spec": "001" });
    let mut shown = match validate(&repository, validator, &context) {
        Err(failed) => format!("failed: {failed} (passing: {})\n", failed.is_transient),
        Ok(outcome) => {
            let verdict = outcome.context.get("verdict").unwrap_or(&Value::Null);
            let mut shown =
                format!("{verdict} {}\n{:?}\n", outcome.summary, outcome.event.unwrap());
            for next in &outcome.follow_ups {
                let Task { id, kind, title, description, .. } = &next.task;
                shown += &format!("{} {kind} {id}: {title}\n{description}\n", next.queue);
            }
            shown
        }
    };
    let log = repository.git(&["log", "--format=%B", "--name-only", "main..topic"]);
    shown += &format!("--\n{log}\n");
    expected.assert_eq(&shown);
}

#[test]
fn an_approved_validation_commits_all_written_files_to_the_branch() {
    check(
        ScriptedValidator { writes: &[("a", "2\n"), (JOURNAL, "{}\n")], ends: approved() },
        &expect![[r#"
        "approved" all is met
        Approved { summary: "all is met" }
        --
        The task

        all is met

        Task: t

        a
        specs/001-a/qa_journal.jsonl
        implemented


        a
    "#]],
    );
}

#[test]
fn an_escalated_validation_queues_an_escalation_that_names_the_report() {
    check(
        ScriptedValidator { writes: &[(JOURNAL, "{}\n")], ends: escalated() },
        &expect![[r#"
        "human_escalation" a person must decide: nothing got better
        Escalated { reason: "nothing got better" }
        architect escalation validation-escalation-t: Decide on the validation of task t
        A person must decide: nothing got better.

        `specs/001-a/QA_HUMAN_ESCALATION.md` on branch `topic` lists the attempts and the next steps.
        --
        The task

        a person must decide: nothing got better

        Task: t

        specs/001-a/qa_journal.jsonl
        implemented


        a
    "#]],
    );
}

#[test]
fn an_unfinished_implementation_is_reviewed_instead_of_validated() {
    let missing = "`1.2` is pending".to_owned();
    check(
        ScriptedValidator { writes: &[], ends: Ok(ValidationOutcome::Unfinished { missing }) },
        &expect![[r#"
        null not validated yet; reviewed instead: `1.2` is pending
        ReadyForReview { branch: "topic", pull: None }
        qa review review-t: Review `topic`
        `topic` was worked on for task t:

        not validated yet; reviewed instead: `1.2` is pending
        --
        implemented


        a
    "#]],
    );
}

#[test]
fn a_failed_validation_commits_nothing() {
    let ends = Err(HandlerError::transient("3 rounds broke down"));
    check(
        ScriptedValidator { writes: &[("a", "2\n"), (JOURNAL, "{}\n")], ends },
        &expect![[r#"
        failed: 3 rounds broke down (passing: true)
        --
        implemented


        a
    "#]],
    );
}

#[test]
fn a_validation_that_changes_agent_instructions_is_not_committed() {
    check(
        ScriptedValidator { writes: &[("config/agents.yaml", "")], ends: approved() },
        &expect![[r#"
        failed: the work changes `config/agents.yaml`, which instructs agents, so it is not committed; a person must make that change (passing: false)
        --
        implemented


        a
    "#]],
    );
}

#[test]
fn an_approval_names_the_commit_with_the_fixes() {
    let repository = implemented();
    let context = json!({ "branch_name": "topic", "spec": "001" });
    let validator = || ScriptedValidator { writes: &[("a", "2\n")], ends: approved() };
    let outcome = validate(&repository, validator(), &context).unwrap();
    let tip = repository.git(&["rev-parse", "topic"]);
    assert_eq!(outcome.context["reviewed_commit"], tip);
    assert_eq!(outcome.event, Some(ChangeEvent::Approved { summary: "all is met".to_owned() }));
    // After a crash before the task was settled, the task runs again.
    let again = validate(&repository, validator(), &context).unwrap();
    assert_eq!(again, outcome);
    assert_eq!(repository.git(&["rev-parse", "topic"]), tip);
}

/// A validator that approves after moving the branch.
struct MovingValidator<'a>(&'a Repository);

impl SpecValidator for MovingValidator<'_> {
    fn validate(
        &self,
        _folder: &Path,
        _base: Option<&str>,
        _spec: &str,
        _job: &Job<'_>,
    ) -> Result<ValidationOutcome, HandlerError> {
        self.0.git(&["update-ref", "refs/heads/topic", "main"]);
        approved()
    }
}

#[test]
fn a_branch_that_changed_during_the_validation_is_not_approved() {
    let repository = implemented();
    let workflow_context =
        workflow_context(&repository, "- id: agent\n  permissions: [read, edit]\n");
    let work = ValidationHandler {
        workflow_context: workflow_context.clone(),
        validator: MovingValidator(&repository),
    };
    let context = json!({ "branch_name": "topic", "spec": "001" });
    let failed = work_on(&work, &workflow_context, "validation", &context).unwrap_err();
    assert!(failed.error.contains("changed during the validation"), "{failed}");
    assert!(failed.is_transient);
}

#[test]
fn a_task_without_a_valid_spec_or_change_fails_permanently() {
    let repository = implemented();
    for (context, why) in [
        (json!({ "branch_name": "topic" }), "the task names no spec"),
        (json!({ "branch_name": "topic", "spec": "" }), "the task names no spec"),
        (json!({ "branch_name": "topic", "spec": ["001"] }), "the task names no spec"),
        (json!({ "spec": "001" }), "the task names no change"),
        (json!({ "branch_name": "nowhere", "spec": "001" }), "unknown branch `nowhere`"),
        (json!({ "github_repo": "o/r", "pr_number": 7, "spec": "001" }), "set `head_commit`"),
    ] {
        let validator = ScriptedValidator { writes: &[], ends: approved() };
        let failed = validate(&repository, validator, &context).unwrap_err();
        assert!(failed.error.contains(why) && !failed.is_transient, "{failed}");
    }
    assert_eq!(repository.git(&["branch", "--list", "assay/*"]), "");
}

/// Runs an implementation with an agent's own program, and checks the follow-up task.
fn check_implemented(context: &Value, expected: &Expect) {
    let repository = Repository::new();
    let agents = "- id: agent\n  permissions: [read, edit]\n  command: [sh, -c, 'echo b > b']\n";
    let workflow_context = workflow_context(&repository, agents);
    let runner = Runner { root: repository.path().to_owned(), ..Runner::default() };
    let work = CommandHandler {
        workflow_context: workflow_context.clone(),
        runner,
        output_policy: OutputPolicy::Commit,
    };
    let outcome = work_on(&work, &workflow_context, "implementation", context).unwrap();
    let [next] = &outcome.follow_ups[..] else { panic!("{outcome:?}") };
    let Task { id, kind, title, context, .. } = &next.task;
    let context = Value::Object(context.clone());
    expected.assert_eq(&format!("{} {kind} {id}: {title}\n{context}\n", next.queue));
}

#[test]
fn an_implementation_of_a_spec_is_validated_by_the_same_agent() {
    check_implemented(
        &json!({ "spec": "001", "jira_key": "SHOP-1" }),
        &expect![[r#"
        agent validation validation-t: Validate SHOP-1 by spec 001
        {"spec":"001","jira_key":"SHOP-1","_root_task_id":"t","branch_name":"assay/t","_own_branch":"assay/t"}
    "#]],
    );
    check_implemented(
        &json!({ "spec": 12, "commit": "main" }),
        &expect![[r#"
        agent validation validation-t: Validate `assay/t` by spec 12
        {"spec":12,"_root_task_id":"t","base":"main^","branch_name":"assay/t","_own_branch":"assay/t"}
    "#]],
    );
}

#[test]
fn an_implementation_without_a_spec_is_reviewed() {
    check_implemented(
        &json!({ "jira_key": "SHOP-1" }),
        &expect![[r#"
        qa review review-t: Review SHOP-1
        {"jira_key":"SHOP-1","_root_task_id":"t","branch_name":"assay/t","_own_branch":"assay/t"}
    "#]],
    );
    check_implemented(
        &json!({ "spec": null }),
        &expect![[r#"
        qa review review-t: Review `assay/t`
        {"spec":null,"_root_task_id":"t","branch_name":"assay/t","_own_branch":"assay/t"}
    "#]],
    );
}

#[test]
fn a_fix_after_a_review_is_reviewed_even_if_the_task_has_a_spec() {
    let repository = Repository::new();
    let context = json!({ "spec": "001", "_review_cycle_count": 1, "_root_task_id": "r" });
    let outcome = fix(&repository, Some(("b", "2\n")), &context).unwrap();
    let next = &outcome.follow_ups[0].task;
    assert_eq!((next.kind.as_str(), next.id.as_str()), ("review", "review-r-c1"));
}
