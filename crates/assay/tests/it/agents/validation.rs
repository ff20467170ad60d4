//! An agent that implements a spec also validates it.

use assay_testkit::model::{Answer, FakeModel, PromptRequest};

use super::*;

const SPEC: &str = "\
# Greeting

## Acceptance Criteria

- [ ] `greets` passes

## Verification

**Unit Tests:**
- `sh test.sh` - All pass

**Integration Tests:**
- `sh test.sh` - All pass
";

/// A runner with one test, which prints TAP.
const RUNNER: &str = "\
echo 1..1
if grep -q hello greeting.txt; then echo 'ok 1 - greets'; exit 0; fi
echo 'not ok 1 - greets'
exit 1
";

fn plan(status: &str) -> String {
    let subtask = json!({ "id": "1.1", "title": "Say hello", "status": status });
    json!({ "phases": [{ "name": "one", "subtasks": [subtask] }] }).to_string()
}

/// A repository with a spec that is not implemented, scripts that implement and fix, and an
/// engineer.
struct ValidationFixture {
    repository: Repository,
    /// The folder of the scripts.
    aside: tempfile::TempDir,
}

impl ValidationFixture {
    fn new(implements: &str, fixes: &str) -> ValidationFixture {
        let (repository, aside) = (Repository::new(), tempfile::tempdir().unwrap());
        let script = |name: &str, text: &str| {
            let path = aside.path().join(name);
            fs::write(&path, text).unwrap();
            json!(["sh", path])
        };
        let (command, fixer) = (script("implement.sh", implements), script("fix.sh", fixes));
        let agents = format!(
            "- id: engineer\n  permissions: [read, edit]\n  command: {command}\n- id: qa\n"
        );
        repository.write("config/agents.yaml", agents);
        let configuration = format!("{QUICK}qa:\n  fixer: {{ run: {fixer} }}\n");
        repository.write("config/agent-framework.yaml", configuration);
        repository.write("test.sh", RUNNER);
        repository.write("specs/001-greeting/spec.md", SPEC);
        repository.write("specs/001-greeting/implementation_plan.json", plan("pending"));
        repository.commit("a spec");
        ValidationFixture { repository, aside }
    }

    /// Replaces the script of the fixer.
    fn has_fixer(&self, script: &str) {
        fs::write(self.aside.path().join("fix.sh"), script).unwrap();
    }

    /// Starts agents with a task to implement the spec on the branch `topic`.
    fn implement(&self) -> Agents<'_> {
        self.implement_with(&[])
    }

    /// Starts agents with a task to implement the spec, with variables.
    fn implement_with(&self, variables: &[(&str, &str)]) -> Agents<'_> {
        let agents = Agents::start_with(&self.repository, &[], variables);
        let context = json!({ "jira_key": "SHOP-1", "branch_name": "topic", "spec": "001" });
        let mut task = review_task("t", &context);
        task["type"] = json!("implementation");
        drop_in(&self.repository, "engineer", &task);
        agents
    }

    /// Adds a task to validate the branch `topic`.
    fn validate(&self, id: &str) {
        let mut task = review_task(id, &json!({ "branch_name": "topic", "spec": "001" }));
        task["type"] = json!("validation");
        drop_in(&self.repository, "engineer", &task);
    }

    /// Returns a file of the spec from the branch.
    fn artifact(&self, name: &str) -> String {
        self.repository.git(&["show", &format!("topic:specs/001-greeting/{name}")])
    }

    /// Returns the names of the files that differ on the branch.
    fn changed(&self) -> Vec<String> {
        let names = self.repository.git(&["diff", "--name-only", "main", "topic"]);
        names.lines().map(str::to_owned).collect()
    }
}

/// Returns a script that implements the spec wrongly, and marks it as done.
fn implements() -> String {
    let plan = plan("completed");
    format!(
        "echo bye > greeting.txt; echo '{plan}' > specs/001-greeting/implementation_plan.json; \
         echo implemented"
    )
}

#[test]
fn an_implementation_of_a_spec_is_validated_fixed_and_approved_on_its_branch() {
    let fixture = ValidationFixture::new(&implements(), "echo hello >> greeting.txt; echo mended");
    let mut agents = fixture.implement();
    agents.wait_for_line("Queued validation-t for engineer");
    agents.wait_for_line(
        "[engineer] [SHOP-1] Approved: all acceptance criteria are met, after 2 rounds",
    );
    let repository = &fixture.repository;
    let task = completed(repository, "engineer", "validation-t");
    assert_eq!(task["context"]["verdict"], "approved");
    assert_eq!(task["context"]["reviewed_commit"], repository.git(&["rev-parse", "topic"]));
    assert_eq!(repository.git(&["show", "topic:greeting.txt"]), "bye\nhello");
    assert_eq!(
        fixture.changed(),
        [
            "greeting.txt",
            "specs/001-greeting/implementation_plan.json",
            "specs/001-greeting/qa_journal.jsonl",
            "specs/001-greeting/qa_report.md",
        ]
    );
    let plan: Value = serde_json::from_str(&fixture.artifact("implementation_plan.json")).unwrap();
    assert_eq!(plan["qa_signoff"]["status"], "approved");
    assert!(fixture.artifact("qa_report.md").contains("- Verdict: APPROVED"));
    // The loop includes the review.
    assert_eq!(names(repository, "completed/qa"), Vec::<String>::new());
    assert_eq!(names(repository, "queues/qa"), Vec::<String>::new());
    // No other files were touched.
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    let worktrees = repository.git(&["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 1, "{worktrees}");
    assert_eq!(agents.stop(), 0);
}

#[test]
fn a_validation_without_progress_is_escalated_with_its_artifacts_on_the_branch() {
    let fixture = ValidationFixture::new(&implements(), "echo 'all is well'");
    let mut agents = fixture.implement();
    agents.wait_for_line("[engineer] [SHOP-1] Escalated to a person: ");
    let repository = &fixture.repository;
    let escalation = waiting(repository, "architect", "validation-escalation-t");
    assert_eq!(escalation["type"], "escalation");
    assert_eq!(escalation["needs_human_review"], true);
    let artifact = "specs/001-greeting/QA_HUMAN_ESCALATION.md";
    assert_eq!(escalation["context"]["escalation_file"], artifact);
    let description = escalation["description"].as_str().unwrap();
    assert!(description.contains(&format!("`{artifact}` on branch `topic`")), "{description}");
    let task = completed(repository, "engineer", "validation-t");
    assert_eq!(task["context"]["verdict"], "human_escalation");
    let reason = task["result_summary"].as_str().unwrap();
    let reason = reason.strip_prefix("a person must decide: ").unwrap();
    let escalation_text = fixture.artifact("QA_HUMAN_ESCALATION.md");
    assert!(
        escalation_text.contains(&format!("The loop stopped here: {reason}")),
        "{escalation_text}"
    );
    assert!(fixture.artifact("QA_FIX_REQUEST.md").contains("greets"));
    // A second validation has the same result, until a person resumes the loop.
    let events = fixture.artifact("qa_journal.jsonl");
    fixture.validate("again");
    agents.wait_for_line(&format!("Escalated to a person: {reason}"));
    assert_eq!(fixture.artifact("qa_journal.jsonl"), events);
    repository.git(&["switch", "--quiet", "topic"]);
    repository.remove("specs/001-greeting/QA_FIX_REQUEST.md");
    repository.write("greeting.txt", "hello\n");
    repository.commit("what a person did");
    repository.git(&["switch", "--quiet", "main"]);
    fixture.validate("resumed");
    agents.wait_for_line("Approved: all acceptance criteria are met, after 1 round");
    assert_eq!(agents.stop(), 0);
}

#[test]
fn a_journal_from_the_branch_is_not_trusted_and_the_checks_run_again() {
    let fixture = ValidationFixture::new(&implements(), "echo hello >> greeting.txt; echo mended");
    let mut agents = fixture.implement();
    agents.wait_for_line("Approved: ");
    let checks = |journal: &str| journal.matches("\"kind\":\"checked\"").count();
    let before = fixture.artifact("qa_journal.jsonl");
    fixture.validate("again");
    agents.wait_for_line("Approved: all acceptance criteria are met, after 1 round");
    let after = fixture.artifact("qa_journal.jsonl");
    assert!(after.contains("\"why\":\"elsewhere\"") && after.starts_with(&before), "{after}");
    assert!(checks(&after) > checks(&before), "{after}");
    assert_eq!(agents.stop(), 0);
}

#[test]
fn a_worker_killed_during_validation_starts_over_and_reaches_the_same_result() {
    let fixture = ValidationFixture::new(&implements(), "");
    let go = fixture.repository.path().join(".git/go");
    let waits = format!("while [ ! -e '{}' ]; do sleep 0.05; done\n", go.display());
    fixture.has_fixer(&format!("{waits}echo hello >> greeting.txt; echo mended"));
    let mut agents = fixture.implement();
    let worker = fixture.repository.path().join(".assay/worktrees/engineer");
    until("a fixer", || {
        let mut attempts = fs::read_dir(&worker).ok()?.flatten();
        let has_started = |attempt: fs::DirEntry| {
            let folder = attempt.path().join("validation-t/specs/001-greeting");
            let journal = fs::read_to_string(folder.join("qa_journal.jsonl"));
            journal.is_ok_and(|journal| journal.contains("fix_begun"))
        };
        attempts.any(has_started).then_some(())
    });
    agents.kill("engineer");
    agents.wait_for_line("[supervisor] engineer exited unexpectedly: signal: 9 (SIGKILL)");
    agents.wait_for_line("Starting validation");
    fs::write(go, "").unwrap();
    agents.wait_for_line("Approved: all acceptance criteria are met, after 2 rounds");
    assert_eq!(fixture.repository.git(&["show", "topic:greeting.txt"]), "bye\nhello");
    assert_eq!(fixture.artifact("qa_journal.jsonl").matches("epoch_begun").count(), 1);
    assert_eq!(fixture.repository.git(&["log", "--format=%s", "main..topic"]).lines().count(), 2);
    assert_eq!(agents.stop(), 0);
}

#[test]
fn an_unfinished_implementation_is_reviewed_instead_of_validated() {
    let fixture = ValidationFixture::new("echo hello > greeting.txt; echo begun", "exit 1");
    let mut agents = fixture.implement();
    agents.wait_for_line("Queued review-t for qa");
    agents.wait_for_line("[qa] [SHOP-1] Approved: ");
    let task = completed(&fixture.repository, "engineer", "validation-t");
    let said = task["result_summary"].as_str().unwrap();
    assert!(said.contains("`1.1` (Say hello) is pending"), "{said}");
    assert_eq!(fixture.changed(), ["greeting.txt"]);
    assert_eq!(agents.stop(), 0);
}

#[test]
fn model_costs_of_a_validation_are_recorded_in_the_state_home() {
    let model = FakeModel::start(|asked: &PromptRequest| {
        let text = asked.text();
        let reviewer = text.split_once("You are the `").and_then(|(_, it)| it.split_once("` rev"));
        let (reviewer, _) = reviewer.unwrap();
        Answer::json(&json!({
            "reviewer": reviewer, "findings": [], "residual_risks": [], "testing_gaps": [],
        }))
    });
    let fixture = ValidationFixture::new(&implements(), "echo hello >> greeting.txt; echo mended");
    let file = "config/agent-framework.yaml";
    let configuration = fs::read_to_string(fixture.repository.file(file)).unwrap();
    let models = format!(
        "models:\n  use:\n    fake: {{ api: anthropic, model: fake-1, url: '{}', key_env: FAKE_KEY }}\n  \
         budget:\n    day: {{ tokens: 1000000 }}\n",
        model.url()
    );
    fixture.repository.write(file, format!("{configuration}{models}"));
    fixture.repository.commit("a model");
    let state = tempfile::tempdir().unwrap();
    let mut agents = fixture.implement_with(&[
        ("FAKE_KEY", "sk-test-5d0f8a7c61e94b23"),
        ("XDG_STATE_HOME", state.path().to_str().unwrap()),
    ]);
    agents.wait_for_line("[engineer] [SHOP-1] Approved: ");
    let days = fs::read_dir(state.path().join("assay/spend")).unwrap();
    let mut spent = days.flat_map(|tree| fs::read_dir(tree.unwrap().path()).unwrap());
    assert!(spent.any(|file| file.unwrap().metadata().unwrap().len() > 0));
    assert_eq!(agents.stop(), 0);
}

#[test]
fn a_failed_validation_is_retried_and_commits_no_journal() {
    let fixture = ValidationFixture::new(&implements(), "echo broken >&2; exit 1");
    let mut agents = fixture.implement();
    let line = agents.wait_for_line("Validation failed (");
    assert!(line.contains("rounds failed") && line.contains("broken"), "{line}");
    agents.wait_for_line("Retrying in 0 s");
    assert!(!fixture.changed().contains(&"specs/001-greeting/qa_journal.jsonl".to_owned()));
}
