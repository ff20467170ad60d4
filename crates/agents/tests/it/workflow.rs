//! Tests of reviews and fixes in a repository.

mod validation;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_agents::config::framework::{TaskSettings, Workflow};
use assay_agents::config::roster::Roster;
use assay_agents::log::{Log, LogFormat};
use assay_agents::task_handler::{HandlerError, Job, TaskHandler, TaskOutcome};
use assay_agents::workflow::command::{CommandHandler, OutputPolicy};
use assay_agents::workflow::fix::FixHandler;
use assay_agents::workflow::review::ReviewHandler;
use assay_agents::workflow::{
    ChangeFixer, ChangePublisher, ChangeReviewer, ReviewOutcome, Runner, WorkflowContext,
};
use assay_base::clock::Clock;
use assay_change::Scope;
use assay_change::state::State;
use assay_findings::report::Report;
use assay_findings::synthesis::{SynthesisInputs, synthesize};
use assay_store::pulls::Pull;
use assay_store::task::Task;
use assay_testkit::Repository;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tempfile::TempDir;

fn workflow_context(repository: &Repository, agents: &str) -> WorkflowContext {
    WorkflowContext {
        root: repository.path().to_owned(),
        state: State::new(repository.path(), None),
        worktrees: repository.path().join(".git/assay-worktrees"),
        workflow: Workflow::default(),
        roster: Roster::parse(Some(agents), &TaskSettings::default()).unwrap(),
        publisher: None,
        clock: Clock::system(),
        version: "1".to_owned(),
    }
}

/// Runs a handler on a task `t` as the agent `agent`.
fn work_on(
    handler: &dyn TaskHandler,
    workflow_context: &WorkflowContext,
    kind: &str,
    context: &Value,
) -> Result<TaskOutcome, HandlerError> {
    let json = json!({
        "id": "t", "type": kind, "created_at": "2026-02-03T10:00:00.000Z", "title": "The task",
        "context": context,
    });
    let task = Task::parse(json.to_string().as_bytes()).unwrap();
    let logs = TempDir::new().unwrap();
    let log = Log::open(logs.path(), "agent", LogFormat::Plain, &Clock::system()).unwrap();
    let agent = workflow_context.roster.find("agent").unwrap();
    let (log, worker) = (log.for_task(&task), "agent".parse().unwrap());
    handler.handle(&Job { task: &task, queue: &agent.queue, agent, worker: &worker, log: &log })
}

/// A reviewer that fails with the scope as its message.
struct ScopeReviewer;

impl ChangeReviewer for ScopeReviewer {
    fn review(&self, scope: &Scope, _job: &Job<'_>) -> Result<ReviewOutcome, HandlerError> {
        Err(HandlerError::permanent(format!("{scope:?}")))
    }
}

/// Checks the scope of a review.
fn check_scope(repository: &Repository, context: &Value, expected: &Expect) {
    let workflow_context = workflow_context(repository, "- id: agent\n");
    let work =
        ReviewHandler { workflow_context: workflow_context.clone(), reviewer: ScopeReviewer };
    let failed = work_on(&work, &workflow_context, "review", context).unwrap_err();
    expected.assert_eq(&failed.error);
}

/// A fixer that writes a file, if one is given.
struct FileFixer(Option<(&'static str, &'static str)>);

impl ChangeFixer for FileFixer {
    fn fix(
        &self,
        folder: &Path,
        _base: Option<&str>,
        _job: &Job<'_>,
    ) -> Result<String, HandlerError> {
        if let Some((path, text)) = self.0 {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        Ok("mended".to_owned())
    }
}

fn fix(
    repository: &Repository,
    file: Option<(&'static str, &'static str)>,
    context: &Value,
) -> Result<TaskOutcome, HandlerError> {
    let workflow_context =
        workflow_context(repository, "- id: agent\n  permissions: [read, edit]\n");
    let work = FixHandler {
        workflow_context: workflow_context.clone(),
        fixer: FileFixer(file),
        runner: Runner::default(),
    };
    work_on(&work, &workflow_context, "fix", context)
}

/// Returns the context of the only follow-up task.
fn next(outcome: &TaskOutcome) -> Value {
    let [next] = &outcome.follow_ups[..] else { panic!("{outcome:?}") };
    Value::Object(next.task.context.clone())
}

#[test]
fn a_local_branch_with_the_same_name_does_not_replace_the_pull_request() {
    let repository = Repository::new();
    repository.git(&["branch", "topic"]);
    let pull = json!({ "branch_name": "topic", "github_repo": "o/r", "pr_number": 7 });
    check_scope(
        &repository,
        &pull,
        &expect![[r#"Pull { repository: "o/r", number: 7, head: None, base: None }"#]],
    );
    let mut mended = pull.clone();
    mended["_own_branch"] = json!("topic");
    check_scope(&repository, &mended, &expect![[r#"Commits("main...topic")"#]]);
}

#[test]
fn a_fix_of_a_pull_request_is_committed_on_its_head_commit() {
    let repository = Repository::new();
    repository.git(&["branch", "topic"]);
    repository.write("a", "1\n");
    repository.commit("pulled");
    let head = repository.git(&["rev-parse", "HEAD"]);
    let pull = |branch: &str| {
        json!({
            "branch_name": branch, "github_repo": "o/r", "pr_number": 7, "head_commit": head,
            "base": "topic",
        })
    };
    let outcome = fix(&repository, Some(("b", "2\n")), &pull("topic")).unwrap();
    assert_eq!(repository.git(&["rev-parse", "assay/t^"]), head);
    check_scope(&repository, &next(&outcome), &expect![[r#"Commits("topic...assay/t")"#]]);
    let there = repository.git(&["branch", "right", &head]);
    assert_eq!(there, "");
    let outcome = fix(&repository, Some(("b", "2\n")), &pull("right")).unwrap();
    check_scope(&repository, &next(&outcome), &expect![[r#"Commits("topic...right")"#]]);
}

#[test]
fn a_fix_of_a_commit_is_reviewed_together_with_that_commit() {
    let repository = Repository::new();
    repository.write("a", "1\n");
    repository.commit("second");
    let commit = repository.git(&["rev-parse", "HEAD"]);
    let outcome = fix(&repository, Some(("b", "2\n")), &json!({ "commit": "main" })).unwrap();
    assert_eq!(repository.git(&["rev-parse", "assay/t^"]), commit);
    check_scope(&repository, &next(&outcome), &expect![[r#"Commits("main^...assay/t")"#]]);
}

#[test]
fn a_fix_that_was_committed_before_a_crash_is_reviewed() {
    let repository = Repository::new();
    let context = json!({ "branch_name": "topic" });
    let first = fix(&repository, Some(("b", "2\n")), &context).unwrap();
    let again = fix(&repository, Some(("b", "2\n")), &context).unwrap();
    assert_eq!((next(&again), &again.summary[..]), (next(&first), "mended"));
    let other_commit = repository.git(&["commit-tree", "topic^{tree}", "-p", "topic", "-m", "x"]);
    repository.git(&["update-ref", "refs/heads/topic", &other_commit]);
    let nothing = fix(&repository, None, &context).unwrap();
    assert!(nothing.follow_ups[0].task.kind.is_escalation());
}

/// A fixer that adds a line to a file at each call.
struct AppendingFixer;

impl ChangeFixer for AppendingFixer {
    fn fix(
        &self,
        folder: &Path,
        _base: Option<&str>,
        _job: &Job<'_>,
    ) -> Result<String, HandlerError> {
        let file = folder.join("lines");
        let before = fs::read_to_string(&file).unwrap_or_default();
        fs::write(file, before + "one more\n").unwrap();
        Ok("added a line".to_owned())
    }
}

/// A remote whose pull request is at a local branch, and that fails the first pushes.
#[derive(Debug)]
struct FakeRemote {
    pull: Option<(std::path::PathBuf, &'static str)>,
    refuses: AtomicUsize,
}

impl ChangePublisher for FakeRemote {
    fn pull_head(&self, _job: &Job<'_>) -> Result<Option<String>, HandlerError> {
        let head = |(root, branch): &(std::path::PathBuf, &str)| {
            assay_change::commit_of(root, branch).unwrap()
        };
        Ok(self.pull.as_ref().map(head))
    }

    fn publish(
        &self,
        commit: &str,
        _branch: &str,
        _base: Option<&str>,
        _job: &Job<'_>,
    ) -> Result<Option<Pull>, HandlerError> {
        let left = self.refuses.load(Ordering::Relaxed);
        if left > 0 {
            self.refuses.store(left - 1, Ordering::Relaxed);
            return Err(HandlerError::transient("the remote is out"));
        }
        if let Some((root, branch)) = &self.pull {
            assay_testkit::git(root, &["update-ref", &format!("refs/heads/{branch}"), commit]);
        }
        Ok(None)
    }
}

/// Runs a task until it succeeds, and returns the number of attempts.
fn try_until_done(workflow_context: &WorkflowContext, context: &Value) -> usize {
    let work = FixHandler {
        workflow_context: workflow_context.clone(),
        fixer: AppendingFixer,
        runner: Runner::default(),
    };
    let attempts = (1..9).find(|_| work_on(&work, workflow_context, "fix", context).is_ok());
    attempts.expect("it is done some time")
}

#[test]
fn a_retried_task_makes_one_commit() {
    let repository = Repository::new();
    repository.git(&["branch", "remote/topic"]);
    let pulls = [None, Some((repository.path().to_owned(), "remote/topic"))];
    for (pull, branch) in pulls.into_iter().zip(["topic", "remote/topic"]) {
        let is_pull = pull.is_some();
        let remote = FakeRemote { pull, refuses: AtomicUsize::new(3) };
        let workflow_context = WorkflowContext {
            publisher: Some(Arc::new(remote)),
            ..workflow_context(&repository, "- id: agent\n  permissions: [read, edit]\n")
        };
        let context = match is_pull {
            true => json!({ "github_repo": "o/r", "pr_number": 7 }),
            false => json!({ "branch_name": "topic" }),
        };
        assert_eq!(try_until_done(&workflow_context, &context), 4, "{branch}");
        let count = repository.git(&["rev-list", "--count", &format!("main..{branch}")]);
        assert_eq!(count, "1", "{branch}");
        assert_eq!(repository.git(&["show", &format!("{branch}:lines")]), "one more");
        // Another run, as after a crash just before the task was settled.
        assert_eq!(try_until_done(&workflow_context, &context), 1);
        assert_eq!(repository.git(&["rev-list", "--count", &format!("main..{branch}")]), "1");
    }
}

#[test]
fn a_pull_request_with_a_new_head_is_fixed_at_that_head() {
    let repository = Repository::new();
    repository.git(&["branch", "remote/topic"]);
    let pull = Some((repository.path().to_owned(), "remote/topic"));
    let remote = FakeRemote { pull, refuses: AtomicUsize::new(1) };
    let workflow_context = WorkflowContext {
        publisher: Some(Arc::new(remote)),
        ..workflow_context(&repository, "- id: agent\n  permissions: [read, edit]\n")
    };
    let work = FixHandler {
        workflow_context: workflow_context.clone(),
        fixer: AppendingFixer,
        runner: Runner::default(),
    };
    let context = json!({ "github_repo": "o/r", "pr_number": 7 });
    work_on(&work, &workflow_context, "fix", &context).unwrap_err();
    assert_eq!(repository.git(&["branch", "--list", "assay/*"]), "", "nothing is left behind");
    let tree = ["commit-tree", "remote/topic^{tree}", "-p", "remote/topic", "-m", "theirs"];
    let theirs = repository.git(&tree);
    repository.git(&["update-ref", "refs/heads/remote/topic", &theirs]);
    work_on(&work, &workflow_context, "fix", &context).unwrap();
    assert_eq!(repository.git(&["rev-parse", "remote/topic^"]), theirs);
}

#[test]
fn a_fix_of_a_pull_request_with_an_unknown_branch_fails_permanently() {
    let repository = Repository::new();
    let nowhere = [
        json!({ "github_repo": "o/r", "pr_number": 7 }),
        json!({ "github_repo": "o/r", "pr_number": "7", "branch_name": "not-here" }),
    ];
    for context in nowhere {
        let failed = fix(&repository, Some(("b", "2\n")), &context).unwrap_err();
        assert!(failed.error.starts_with("the branch of o/r#7 is unknown"), "{failed}");
        assert!(!failed.is_transient && failed.error.contains("`github.repositories`"), "{failed}");
    }
    assert_eq!(repository.git(&["branch", "--list"]), "* main");
}

#[test]
fn a_fix_that_changes_agent_instructions_is_not_committed() {
    let repository = Repository::new();
    for path in [
        "config/agents.yaml",
        "config/agent-framework.yaml",
        "assay.yaml",
        ".assay.yaml",
        ".assay/config.yaml",
        "config/mcp-config.json",
        "config",
        ".assay/rules/mine.yaml",
        ".agent-communication/queues/qa/x.json",
    ] {
        let failed = fix(&repository, Some((path, "x\n")), &json!({})).unwrap_err();
        assert!(failed.error.contains(&format!("changes `{path}`")), "{failed}");
        assert!(!failed.is_transient);
    }
    assert_eq!(repository.git(&["branch", "--list", "assay/*"]), "");
    fix(&repository, Some((".assay-notes", "x\n")), &json!({})).unwrap();
}

/// Runs a planning task with an agent's own program.
fn plan(repository: &Repository, command: &str) -> Result<TaskOutcome, HandlerError> {
    let workflow_context =
        workflow_context(repository, &format!("- id: agent\n  command: [sh, -c, '{command}']\n"));
    let runner = Runner { root: repository.path().to_owned(), ..Runner::default() };
    let work = CommandHandler {
        workflow_context: workflow_context.clone(),
        runner,
        output_policy: OutputPolicy::Summary,
    };
    work_on(&work, &workflow_context, "planning", &json!({}))
}

#[test]
fn a_command_that_prints_nothing_fails_with_a_transient_error() {
    let repository = Repository::new();
    let failed = plan(&repository, "true").unwrap_err();
    assert!(failed.error.contains("printed nothing") && failed.is_transient, "{failed}");
    assert_eq!(plan(&repository, "echo a plan; echo b > b").unwrap().summary, "a plan");
    assert_eq!(repository.git(&["branch", "--list"]), "* main");
}

/// A reviewer that approves, after moving the branch `topic` if a target is given.
struct ApprovingReviewer<'a>(&'a Repository, Option<&'a str>);

impl ChangeReviewer for ApprovingReviewer<'_> {
    fn review(&self, _scope: &Scope, _job: &Job<'_>) -> Result<ReviewOutcome, HandlerError> {
        let ApprovingReviewer(repository, moved) = self;
        if let Some(to) = moved {
            repository.git(&["update-ref", "refs/heads/topic", to]);
        }
        let report =
            r#"{ "reviewer": "qa", "findings": [], "residual_risks": [], "testing_gaps": [] }"#;
        let report = Report::from_text(report, "qa", None);
        let synthesis = synthesize(&[report], &SynthesisInputs::default());
        Ok(ReviewOutcome {
            synthesis,
            draft: None,
            head: None,
            messages: Vec::new(),
            tracked: Vec::new(),
            run: None,
            may_answer_later: false,
        })
    }
}

#[test]
fn an_approval_names_the_commit_that_it_is_about() {
    let repository = Repository::new();
    repository.git(&["branch", "topic"]);
    repository.write("a", "1\n");
    repository.commit("second");
    let context = json!({ "branch_name": "topic" });
    let workflow_context = workflow_context(&repository, "- id: agent\n");
    let review = |moved| {
        let work = ReviewHandler {
            workflow_context: workflow_context.clone(),
            reviewer: ApprovingReviewer(&repository, moved),
        };
        work_on(&work, &workflow_context, "review", &context)
    };
    let approved = review(None).unwrap();
    assert_eq!(approved.context["verdict"], "approved");
    assert_eq!(approved.context["reviewed_commit"], repository.git(&["rev-parse", "topic"]));
    let failed = review(Some("main")).unwrap_err();
    assert!(failed.error.contains("changed during the review"), "{failed}");
}
