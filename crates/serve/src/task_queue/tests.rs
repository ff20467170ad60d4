//! Tests of the tools, with a real queue on files.

use std::fs;
use std::path::Path;

use assay_base::clock::Clock;
use assay_change::state::State;
use assay_store::files::FileQueue;
use assay_store::pulls::{Pull, PullOrigin};
use assay_store::queue::{LeaseKind, Policy, QueuedTask, TaskResult};
use assay_store::task::{Moment, Task};
use assay_testkit::github::{self as fake, Access, Fault, NewPull, sha};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::test_clients::{self, SAMPLE_DIFF};

const TOKEN: &str = "t-secret";

/// A repository with a queue, and the settings of the server for it.
struct TaskQueueFixture {
    folder: TempDir,
    parent: Option<TaskId>,
    /// The fake of GitHub; `None` if GitHub is not configured.
    github: Option<FakePullRequest>,
}

/// A fake GitHub on which `o/r` has a pull request 7.
struct FakePullRequest {
    fake: Arc<fake::GitHub>,
    served: fake::Server,
}

impl FakePullRequest {
    fn new() -> FakePullRequest {
        let fake = Arc::new(fake::GitHub::new(Arc::new(fake::GitHubClock::stopped())));
        fake.add_repository("o/r");
        fake.add_token("bot", TOKEN, Access::User);
        for number in 1..=7 {
            let head = if number == 7 { "a".repeat(40) } else { sha(&number.to_string()) };
            let new = NewPull::new("ann", &format!("feature/PROJ-{number}"), &head, SAMPLE_DIFF);
            assert_eq!(fake.open_pull("o/r", NewPull { draft: true, ..new }), number);
        }
        FakePullRequest { served: Arc::clone(&fake).serve(), fake }
    }
}

impl TaskQueueFixture {
    fn new() -> TaskQueueFixture {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/a.rs"), "fn a() {\n    b().unwrap();\n}\n").unwrap();
        TaskQueueFixture { folder, parent: None, github: None }
    }

    fn queue(&self) -> FileQueue {
        FileQueue::open(&self.folder.path().join("queue"), Policy::default(), &Clock::system())
            .unwrap()
    }

    fn state(&self) -> State {
        let at = |name| self.folder.path().join(name);
        State::new(&at("tree"), Some(&at("home")))
    }

    fn server(&self) -> Server {
        let named = |name: &str| (name.parse().unwrap(), name.parse().unwrap());
        let tools = TaskTools {
            queue: Arc::new(self.queue()),
            agents: ["architect", "engineer", "qa"].map(named).into_iter().collect(),
            parent: self.parent.clone(),
            reports: ExternalReports::open(&self.state()).unwrap(),
            root: self.folder.path().to_owned(),
            github: self.github.as_ref().map(|github| {
                test_clients::github(&github.served.url(), TOKEN, self.folder.path())
            }),
            clock: Clock::system(),
            repositories: vec!["O/R".parse().unwrap()],
        };
        server(tools, "1.0.0")
    }

    /// Pushes a task to the queue of `qa`.
    fn push(&self, task: Value) -> TaskId {
        let mut whole = json!({
            "id": "one", "type": "review", "title": "One", "assigned_to": "qa",
            "created_at": "2026-02-03T10:00:00.000Z",
        });
        whole.as_object_mut().unwrap().extend(task.as_object().unwrap().clone());
        let task = Task::parse(whole.to_string().as_bytes()).unwrap();
        let id = task.id.clone();
        self.queue().push(vec![QueuedTask { queue: "qa".parse().unwrap(), task }]).unwrap();
        id
    }

    /// Calls a tool. Fails if the result does not match the published schema.
    fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        let server = self.server();
        let tool = server.tool(tool).unwrap();
        let answer = tool.call(arguments).map_err(|refusal| refusal.to_string())?.value;
        let published = Value::Object(tool.output().clone());
        if let Err(error) = jsonschema::validate(&published, &answer) {
            panic!("{error}: {answer:#}");
        }
        Ok(answer)
    }

    fn refusal(&self, tool: &str, arguments: Value) -> String {
        let before = files(self.folder.path());
        let refusal = self.call(tool, arguments).unwrap_err();
        assert_eq!(files(self.folder.path()), before, "something was written: {refusal}");
        refusal
    }
}

/// Returns the names and contents of all JSON files below a folder, which excludes the lock and the
/// index of the queue.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false if path.extension().is_some_and(|name| name == "json") => {
                found.push(format!("{}: {}", path.display(), fs::read_to_string(&path).unwrap()));
            }
            false => {}
        }
    }
    found.sort();
    found
}

fn review() -> Value {
    json!({
        "agent_id": "qa", "task_type": "review", "title": "Review PR #456",
        "description": "Check security.", "context": { "pr_number": 456 },
    })
}

fn with(key: &str, value: Value) -> Value {
    let mut arguments = review();
    arguments[key] = value;
    arguments
}

#[test]
fn a_queued_task_has_the_requested_fields() {
    let fixture = TaskQueueFixture::new();
    let mut call_arguments = review();
    call_arguments["priority"] = json!(7);
    call_arguments["acceptance_criteria"] = json!(["All checks pass"]);
    call_arguments["plan"] = json!({ "approach": "Look." });
    let answer = fixture.call("queue_task_for_agent", call_arguments).unwrap();
    let id = answer["task_id"].as_str().unwrap();
    let [kind, agent, millis, chance] = id.split('-').collect::<Vec<_>>()[..] else {
        panic!("{id}")
    };
    assert_eq!((kind, agent, millis.len(), chance.len()), ("review", "qa", 13, 6));
    let task = fixture.queue().get(&id.parse().unwrap()).unwrap().task;
    assert_eq!(task.context["pr_number"], 456);
    assert_eq!(task.priority.get(), 7);
    assert_eq!(task.plan, json!({ "approach": "Look." }));
    assert_eq!(task.acceptance_criteria, ["All checks pass"]);
    assert_eq!((task.created_by.as_str(), task.assigned_to.as_str()), ("mcp", "qa"));
}

#[test]
fn trusted_context_keys_are_inherited_from_the_parent_task() {
    let mut fixture = TaskQueueFixture::new();
    let parent = fixture.push(json!({
        "context": { "github_repo": "real/repo", "workflow": "default", "_review_cycle_count": 2 },
    }));
    let agent = "qa-1".parse().unwrap();
    let time = LeaseKind::ByTime(std::time::Duration::from_secs(60));
    fixture.queue().claim(&"qa".parse().unwrap(), &agent, time, 1).unwrap();
    fixture.parent = Some(parent.clone());
    let made_up =
        json!({ "github_repo": "invented/repo", "pr_number": 1, "_review_cycle_count": 0 });
    let mut call_arguments = with("context", made_up);
    call_arguments["agent_id"] = json!("engineer");
    let answer = fixture.call("queue_task_for_agent", call_arguments).unwrap();
    let expected = json!({
        "github_repo": "real/repo", "workflow": "default", "pr_number": 1, "_review_cycle_count": 2,
    });
    assert_eq!(answer["context"], expected);
    let id: TaskId = answer["task_id"].as_str().unwrap().parse().unwrap();
    let task = fixture.queue().get(&id).unwrap().task;
    assert_eq!(task.parent_task_id, Some(parent));
    assert_eq!(task.created_by, "qa-1");
}

#[test]
fn a_child_task_of_a_pull_request_cannot_name_a_ticket_that_its_parent_lacks() {
    let mut fixture = TaskQueueFixture::new();
    let context = json!({ "github_repo": "o/r", "pr_number": 7 });
    let parent = fixture.push(json!({ "context": context }));
    let agent = "qa-1".parse().unwrap();
    let time = LeaseKind::ByTime(std::time::Duration::from_secs(60));
    fixture.queue().claim(&"qa".parse().unwrap(), &agent, time, 1).unwrap();
    fixture.parent = Some(parent);
    let mut call_arguments = with("context", json!({ "jira_key": "PROJ-1", "pr_number": 7 }));
    call_arguments["agent_id"] = json!("engineer");
    let answer = fixture.call("queue_task_for_agent", call_arguments).unwrap();
    assert_eq!(answer["context"], context);
}

/// Returns the arguments for a review of a pull request on GitHub.
fn review_of_pull(context: Value) -> Value {
    let mut whole = json!({ "github_repo": "o/r", "pr_number": 7 });
    whole.as_object_mut().unwrap().extend(context.as_object().unwrap().clone());
    with("context", whole)
}

const PULL_TASK: &str = "review-o.r-7-main-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[test]
fn a_queued_review_of_a_pull_request_equals_the_task_of_every_other_trigger() {
    let mut fixture = TaskQueueFixture::new();
    fixture.github = Some(FakePullRequest::new());
    let call_arguments = review_of_pull(json!({ "head_commit": "made up", "pr_number": "7" }));
    let answer = fixture.call("queue_task_for_agent", call_arguments).unwrap();
    assert_eq!((&answer["task_id"], &answer["already_there"]), (&json!(PULL_TASK), &json!(false)));
    let task = fixture.queue().get(&PULL_TASK.parse().unwrap()).unwrap().task;
    assert_eq!(
        (task.title.as_str(), task.description.as_str()),
        ("Review PR #456", "Check security.")
    );
    let pull = Pull {
        repository: "o/r".parse().unwrap(),
        number: 7,
        head: "a".repeat(40).parse().unwrap(),
        title: "Merge feature/PROJ-7".to_owned(),
        branch: "feature/PROJ-7".to_owned(),
        base: "main".to_owned(),
        url: "https://github.com/o/r/pull/7".to_owned(),
        origin: PullOrigin::Inside,
    };
    let made = pull.review(&"qa".parse().unwrap(), "webhook", Moment::now(&Clock::system())).task;
    assert_eq!((&task.id, &task.context), (&made.id, &made.context));
}

#[test]
fn an_existing_review_is_returned_and_not_queued_again() {
    let mut fixture = TaskQueueFixture::new();
    fixture.github = Some(FakePullRequest::new());
    fixture.push(json!({ "id": PULL_TASK, "context": { "from": "a webhook" } }));
    fixture.queue().cancel(&PULL_TASK.parse().unwrap(), "ann").unwrap();
    let answer = fixture.call("queue_task_for_agent", review_of_pull(json!({}))).unwrap();
    let expected = json!({
        "success": true, "task_id": PULL_TASK, "already_there": true, "agent_id": "qa", "queue": "qa",
        "status": "cancelled", "context": { "from": "a webhook" },
    });
    assert_eq!(answer, expected);
}

#[test]
fn a_given_ticket_replaces_the_ticket_of_the_branch_name() {
    let mut fixture = TaskQueueFixture::new();
    fixture.github = Some(FakePullRequest::new());
    let call_arguments = review_of_pull(json!({ "jira_key": "OTHER-9" }));
    let context = &fixture.call("queue_task_for_agent", call_arguments).unwrap()["context"];
    assert_eq!((&context["jira_key"], &context["jira_project"]), (&json!("OTHER-9"), &json!(null)));
}

#[test]
fn tasks_without_a_pull_request_to_look_up_are_queued_with_an_unchanged_context() {
    let mut fixture = TaskQueueFixture::new();
    let github = FakePullRequest::new();
    let fake_github = Arc::clone(&github.fake);
    fixture.github = Some(github);
    let mut fix = review_of_pull(json!({}));
    fix["task_type"] = json!("fix");
    for call_arguments in [fix, review_of_pull(json!({ "github_repo": "else/where" })), review()] {
        let answer = fixture.call("queue_task_for_agent", call_arguments.clone()).unwrap();
        assert_eq!(answer["context"], call_arguments["context"]);
    }
    assert_eq!(fake_github.log().len(), 0);
    fixture.github = None;
    fixture.call("queue_task_for_agent", review_of_pull(json!({}))).unwrap();
}

#[test]
fn a_review_is_not_queued_if_github_fails_or_the_pull_request_is_closed() {
    let mut fixture = TaskQueueFixture::new();
    let github = FakePullRequest::new();
    let fake = Arc::clone(&github.fake);
    fixture.github = Some(github);
    fake.fail_next("GET pulls/7", Fault::Unavailable);
    let refusal = fixture.refusal("queue_task_for_agent", review_of_pull(json!({})));
    expect![
        "nothing was queued: cannot read the head commit of o/r#7: GitHub refused `GET \
         /repos/o/r/pulls/7` with status 503: Service unavailable"
    ]
    .assert_eq(&refusal);
    fake.merge("o/r", 7);
    let refusal = fixture.refusal("queue_task_for_agent", review_of_pull(json!({})));
    expect!["nothing was queued: o/r#7 is closed"].assert_eq(&refusal);
}

#[test]
fn nothing_is_queued_if_the_parent_task_does_not_exist() {
    let mut fixture = TaskQueueFixture::new();
    fixture.parent = Some("gone".parse().unwrap());
    let refusal = fixture.refusal("queue_task_for_agent", review());
    assert!(refusal.contains("AGENT_TASK_ID names task `gone`"), "{refusal}");
}

fn check_refused(arguments: Value, expected: Expect) {
    expected.assert_eq(&TaskQueueFixture::new().refusal("queue_task_for_agent", arguments));
}

#[test]
fn an_invalid_task_is_refused() {
    check_refused(
        with("agent_id", json!("../../x")),
        expect![
            "`agent_id` must be one of architect, engineer, qa. Nothing was done; correct the \
             arguments and call `queue_task_for_agent` again."
        ],
    );
    check_refused(
        with("task_type", json!("../../etc")),
        expect![
            "`task_type` must match `^[A-Za-z0-9_-][A-Za-z0-9._-]*$`. Nothing was done; correct \
             the arguments and call `queue_task_for_agent` again."
        ],
    );
    check_refused(
        with("depends_on", json!(["../../etc/passwd"])),
        expect![
            "`depends_on.0` must match `^[A-Za-z0-9_-][A-Za-z0-9._-]*$`. Nothing was done; \
             correct the arguments and call `queue_task_for_agent` again."
        ],
    );
    check_refused(
        with("depends_on", json!(["nobody-knows-it"])),
        expect!["unknown task `nobody-knows-it`; list_pending_tasks lists the pending ones"],
    );
    check_refused(with("title", json!("two\nlines")), expect!["the title has control characters"]);
    check_refused(
        with("title", json!("x".repeat(1_001))),
        expect![
            "`title` is too long: at most 1000 characters. Nothing was done; correct the \
             arguments and call `queue_task_for_agent` again."
        ],
    );
    check_refused(
        with("context", json!({ "big": "x".repeat(5 << 20) })),
        expect!["the task has 5243313 bytes; the limit is 4194304; shorten its context"],
    );
}

#[test]
fn only_an_escalation_may_have_priority_zero() {
    let refusal =
        TaskQueueFixture::new().refusal("queue_task_for_agent", with("priority", json!(0)));
    assert!(refusal.contains("has priority 0, which is reserved for escalations"), "{refusal}");
    let mut escalation = with("priority", json!(0));
    escalation["task_type"] = json!("escalation");
    TaskQueueFixture::new().call("queue_task_for_agent", escalation).unwrap();
}

#[test]
fn details_of_an_unknown_task_are_an_answer_with_an_error() {
    let answer = TaskQueueFixture::new().call("get_task_details", json!({ "task_id": "nope" }));
    assert_eq!(answer, Ok(json!({ "error": "Task nope not found" })));
}

#[test]
fn a_task_id_with_path_components_is_refused() {
    let fixture = TaskQueueFixture::new();
    for tool in ["get_task_details", "cancel_task", "get_findings"] {
        for name in ["../../../secret", "/etc/passwd", ".hidden", "", "a\u{0}b"] {
            let refusal = fixture.refusal(tool, json!({ "task_id": name }));
            assert!(refusal.contains("`task_id`"), "{tool}: {refusal}");
        }
    }
}

#[test]
fn a_large_task_is_truncated_in_its_details() {
    let fixture = TaskQueueFixture::new();
    fixture.push(json!({ "description": "x".repeat(60_000), "notes": ["a", "b"] }));
    let answer = fixture.call("get_task_details", json!({ "task_id": "one" })).unwrap();
    let description = answer["task"]["description"].as_str().unwrap();
    assert!(description.ends_with("characters left out)"), "{}", &description[49_000..]);
    assert_eq!(answer["task"]["notes"], json!(["… (2 left out)"]));
    assert_eq!(answer["standing"], json!({ "state": "ready" }));
    assert_eq!(answer["queue"], "qa");
}

#[test]
fn truncated_lists_report_the_number_of_omitted_tasks() {
    let fixture = TaskQueueFixture::new();
    for number in 0..5 {
        fixture.push(json!({ "id": format!("t{number}"), "priority": 50 + number }));
    }
    let all = fixture.call("list_pending_tasks", json!({})).unwrap();
    assert_eq!((all["tasks"].as_array().unwrap().len(), &all["left_out"]), (5, &json!(0)));
    let cut = fixture.call("list_pending_tasks", json!({ "agent_id": "qa", "limit": 2 })).unwrap();
    let ids: Vec<&str> =
        cut["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
    assert_eq!((ids, &cut["left_out"]), (vec!["t0", "t1"], &json!(3)));
    let none = fixture.call("list_pending_tasks", json!({ "agent_id": "engineer" })).unwrap();
    assert_eq!(none, json!({ "tasks": [], "left_out": 0 }));
    let status = fixture.call("get_queue_status", json!({ "agent_id": "qa" })).unwrap();
    assert_eq!(status["queues"][0]["ready"], 5);
}

#[test]
fn epic_progress_is_computed_from_the_tasks_of_the_epic() {
    let fixture = TaskQueueFixture::new();
    fixture.push(json!({ "id": "a", "context": { "epic_key": "PROJ-100" } }));
    fixture.push(json!({ "id": "b", "type": "fix", "context": { "epic_key": "PROJ-100" } }));
    fixture.push(json!({ "id": "c", "context": { "epic_key": "PROJ-200" } }));
    let queue = fixture.queue();
    let (name, agent) = ("qa".parse().unwrap(), "qa-1".parse().unwrap());
    let time = LeaseKind::ByTime(std::time::Duration::from_secs(60));
    let claimed = queue.claim(&name, &agent, time, 1).unwrap();
    let done = TaskResult::Completed {
        summary: "done".into(),
        context: Default::default(),
        follow_ups: vec![],
    };
    queue.settle(&claimed[0].lease, done).unwrap();
    let answer = fixture.call("get_epic_progress", json!({ "epic_key": "PROJ-100" })).unwrap();
    assert_eq!(answer["total"], 2);
    assert_eq!(answer["percent"], 50);
    assert_eq!(answer["by_status"]["completed"], 1);
    assert_eq!(answer["by_type"], json!({ "fix": 1, "review": 1 }));
    assert_eq!(answer["open"][0]["id"], "b");
    let none = fixture.call("get_epic_progress", json!({ "epic_key": "NONE-1" })).unwrap();
    assert_eq!((&none["total"], &none["percent"]), (&json!(0), &json!(0)));
}

#[test]
fn a_task_of_an_unknown_type_is_refused() {
    let fixture = TaskQueueFixture::new();
    let mut call_arguments = review();
    call_arguments["task_type"] = json!("dancing");
    let refusal = fixture.refusal("queue_task_for_agent", call_arguments.clone());
    assert!(refusal.contains("unknown task type `dancing`; known types: "), "{refusal}");
    // Such a task states the person who commands, so only a signed webhook creates it.
    call_arguments["task_type"] = json!("comment_command");
    let refusal = fixture.refusal("queue_task_for_agent", call_arguments);
    assert!(refusal.contains("unknown task type `comment_command`"), "{refusal}");
}

#[test]
fn epic_progress_reports_the_completed_percentage() {
    let fixture = TaskQueueFixture::new();
    fixture.push(json!({ "context": { "epic_key": "PROJ-1" } }));
    let answer = fixture.call("get_epic_progress", json!({ "epic_key": "PROJ-1" })).unwrap();
    assert_eq!((&answer["success"], &answer["percent_complete"]), (&json!(true), &json!(0)));
}

#[test]
fn a_task_can_be_scheduled_and_repeated() {
    let fixture = TaskQueueFixture::new();
    let mut call_arguments = review();
    call_arguments["run_at"] = json!("2099-01-01T00:00:00Z");
    call_arguments["repeat_every"] = json!("1d");
    let answer = fixture.call("queue_task_for_agent", call_arguments.clone()).unwrap();
    let id = answer["task_id"].as_str().unwrap().parse().unwrap();
    let task = fixture.queue().get(&id).unwrap().task;
    assert_eq!(task.run_at.unwrap().to_string(), "2099-01-01T00:00:00.000Z");
    assert_eq!(task.repeat_every.unwrap().to_string(), "1d");
    call_arguments["repeat_every"] = json!("soon");
    assert!(fixture.refusal("queue_task_for_agent", call_arguments).contains("invalid interval"));
}

#[test]
fn a_cancelled_task_is_not_cancelled_again() {
    let fixture = TaskQueueFixture::new();
    let id = fixture.push(json!({}));
    let answer = fixture.call("cancel_task", json!({ "task_id": "one" })).unwrap();
    let expected = json!({ "success": true, "task_id": "one", "status": "cancelled" });
    assert_eq!(answer, expected);
    assert_eq!(fixture.queue().get(&id).unwrap().task.failed_by.as_deref(), Some("mcp"));
    let refusal = fixture.refusal("cancel_task", json!({ "task_id": "one" }));
    assert!(refusal.contains("task `one` is cancelled"), "{refusal}");
    let refusal = fixture.refusal("cancel_task", json!({ "task_id": "two" }));
    assert!(refusal.contains("unknown task `two`"), "{refusal}");
}

#[test]
fn a_report_is_verified_against_the_code_and_stored_with_its_task() {
    let fixture = TaskQueueFixture::new();
    fixture.push(json!({
        "context": { "structured_findings": { "findings": [{ "file": "b.rs" }], "summary": "One." } },
    }));
    let report = json!([{
        "file": "src/a.rs", "line_number": 2, "severity": "HIGH", "category": "correctness",
        "description": "b can fail, and then a panics", "suggested_fix": "Return the error.",
        "evidence": ["b().unwrap();"],
    }]);
    let call_arguments =
        json!({ "task_id": "one", "report": report.to_string(), "reviewer": "qa-1" });
    let answer = fixture.call("report_findings", call_arguments).unwrap();
    assert_eq!(answer["report"], 1);
    assert_eq!(answer["verdict"], "not_ready", "{answer:#}");
    assert_eq!(answer["findings"][0]["line_number"], 2);
    let found = fixture.call("get_findings", json!({ "task_id": "one" })).unwrap();
    assert_eq!(found["summary"], "One.");
    assert_eq!(found["findings"][0], json!({ "from": "task", "finding": { "file": "b.rs" } }));
    assert_eq!(found["findings"][1]["from"], "report 1");
    assert_eq!(found["findings"][1]["finding"]["severity"], "HIGH");
    let first = fixture.call("get_findings", json!({ "task_id": "one", "limit": 1 })).unwrap();
    assert_eq!(first["left_out"], 1);
}

#[test]
fn a_report_changed_by_another_program_is_refused() {
    let fixture = TaskQueueFixture::new();
    fixture.push(json!({}));
    let report = json!([{
        "file": "src/a.rs", "line_number": 2, "severity": "HIGH", "category": "security",
        "description": "The query is put together from what users type.",
    }]);
    for number in 1..=3 {
        let call_arguments = json!({ "task_id": "one", "report": report.to_string() });
        assert_eq!(fixture.call("report_findings", call_arguments).unwrap()["report"], number);
    }
    let kept = fixture.folder.path().join("tree/.assay/reports/one");
    std::fs::write(kept.join("002.json"), "{").unwrap();
    let refusal = fixture.refusal("get_findings", json!({ "task_id": "one" }));
    assert!(refusal.contains("`.assay/reports/one` is not used: another program"), "{refusal}");
}

#[test]
fn a_report_without_readable_findings_is_refused_and_an_empty_list_is_ready() {
    let fixture = TaskQueueFixture::new();
    fixture.push(json!({}));
    let call_arguments = json!({ "task_id": "one", "report": "I had no time." });
    let refusal = fixture.refusal("report_findings", call_arguments);
    assert!(refusal.starts_with("invalid report: no findings could be read"), "{refusal}");
    let nothing = json!({ "task_id": "one", "report": "[]" });
    let answer = fixture.call("report_findings", nothing).unwrap();
    assert_eq!((&answer["verdict"], &answer["findings"]), (&json!("ready"), &json!([])));
}

#[test]
fn a_secret_in_a_report_is_not_kept() {
    let fixture = TaskQueueFixture::new();
    fixture.push(json!({}));
    let secret = ["gh", "p_", "iT6oEuG4aFs9JdH2cYn7BpL5mWx1RtZ8qV3k"].concat();
    let report = json!([{
        "file": "src/a.rs", "line_number": 2, "severity": "HIGH", "category": "security",
        "description": format!("The token {secret} is in the code"),
    }]);
    let call_arguments = json!({ "task_id": "one", "report": report.to_string() });
    let answer = fixture.call("report_findings", call_arguments).unwrap();
    assert!(!answer.to_string().contains(&secret), "{answer:#}");
    assert!(!files(fixture.folder.path()).concat().contains(&secret));
}

#[test]
fn a_damaged_report_is_never_answered_with_ready() {
    let fixture = TaskQueueFixture::new();
    fixture.push(json!({}));
    let code = "def total(prices):\n    return sum(prices)\n";
    fs::write(fixture.folder.path().join("shop.py"), code).unwrap();
    for report in assay_testkit::model::DAMAGED_REPORTS {
        let call_arguments = json!({ "task_id": "one", "report": report.text });
        // A report that cannot be parsed is refused, which is not a pass either.
        if let Ok(answer) = fixture.call("report_findings", call_arguments) {
            let verdict = answer["verdict"].as_str().unwrap();
            assert!(matches!(verdict, "incomplete" | "not_ready"), "{}: {answer}", report.name);
        }
    }
}
