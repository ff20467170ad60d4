//! Starting, stopping, pausing and killing agents.

use super::*;

/// Returns the task of the manual, as it is written by hand.
fn by_the_book() -> Value {
    let context = json!({ "jira_key": "TEST-123", "github_repo": "owner/repo", "pr_number": 999 });
    review_task("test-review-task", &context)
}

/// Returns a repository whose remote is `owner/repo`, with the pull request 999.
fn with_pull_request() -> (Repository, tempfile::TempDir) {
    let repository =
        with_change(QUICK, "shop.py", "def total(prices):\n    return sum(prices, 0)\n");
    let remote = tempfile::tempdir().unwrap();
    let url = remote.path().join("owner/repo");
    fs::create_dir_all(&url).unwrap();
    assay_testkit::git(&url, &["init", "--quiet", "--bare", "--initial-branch=main"]);
    repository.git(&["remote", "add", "origin", url.to_str().unwrap()]);
    repository.git(&["push", "--quiet", "origin", "main", "topic:refs/pull/999/head"]);
    repository.git(&["branch", "--quiet", "-D", "topic"]);
    (repository, remote)
}

#[test]
fn a_task_file_written_by_hand_is_locked_processed_and_completed() {
    let (repository, _remote) = with_pull_request();
    let mut agents = Agents::start(&repository, &["qa"]);
    assert_eq!(assay(&repository, &["agent", "pause", "qa"]).stdout, "paused qa\n");
    agents.wait_for_line("[qa] Paused");
    let task = place(&repository, "queues/qa/test-task.json");
    fs::create_dir_all(task.parent().unwrap()).unwrap();
    fs::write(&task, by_the_book().to_string()).unwrap();
    assert_eq!(read(&repository, "queues/qa/test-task.json")["status"], "pending");
    let lock = place(&repository, "locks/test-review-task.lock");
    let done = place(&repository, "completed/qa/test-review-task.json");
    let running = place(&repository, "queues/qa/test-review-task.json");
    let watcher = {
        let (lock, running, done) = (lock.clone(), running.clone(), done.clone());
        thread::spawn(move || {
            until("the task in progress", || {
                let status = fs::read_to_string(&running).unwrap_or_default();
                let held = lock.exists() && status.contains("\"status\": \"in_progress\"");
                (held || done.exists()).then_some(held)
            })
        })
    };
    assert_eq!(assay(&repository, &["agent", "resume", "--all"]).code, 0);
    agents.wait_for_line("[qa] Found task: test-review-task");
    agents.wait_for_line("[qa] [TEST-123] Starting review of PR #999");
    let line = agents.wait_for_line("[qa] [TEST-123] Review completed (");
    assert!(line.ends_with("s)"), "{line}");
    assert!(watcher.join().unwrap(), "the task was seen neither locked nor in progress");
    let task = completed(&repository, "qa", "test-review-task");
    assert_eq!(
        (&task["status"], &task["context"]["verdict"]),
        (&json!("completed"), &json!("approved"))
    );
    assert!(!lock.exists() && !running.exists());
    let log = fs::read_to_string(repository.path().join("logs/qa.log")).unwrap();
    let line = log.lines().find(|line| line.contains("parsing findings")).unwrap();
    assert_eq!(&line[8..], " INFO [qa] [TEST-123] parsing findings: 1 of 1 reports");
    assert_eq!(
        fs::read_to_string(repository.path().join("logs/agent.log"))
            .unwrap()
            .matches("Found task")
            .count(),
        1
    );
    assert_eq!(agents.stop(), 0);
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_review_of_an_unknown_repository_fails_and_is_escalated_to_a_person() {
    let repository = Repository::new();
    let mut agents = Agents::start(&repository, &[]);
    drop_in(&repository, "qa", &by_the_book());
    agents.wait_for_line("Gave up; escalation-test-review-task escalates the task to a person");
    let task = read(&repository, "queues/qa/test-review-task.json");
    assert_eq!(task["status"], "failed");
    let error = "no remote of this repository is `owner/repo`; remotes: none";
    assert_eq!((&task["last_error"], &task["retry_count"]), (&json!(error), &json!(0)));
    let told = waiting(&repository, "architect", "escalation-test-review-task");
    assert_eq!((&told["status"], &told["needs_human_review"]), (&json!("pending"), &json!(true)));
    assert_eq!(names(&repository, "locks"), Vec::<String>::new());
    assert_eq!(agents.stop(), 0);
}

#[test]
fn tasks_of_unknown_or_forbidden_types_fail_with_the_reason() {
    let repository = Repository::new();
    let mut agents = Agents::start(&repository, &["qa"]);
    for (kind, why) in [
        (
            "dancing",
            "unknown task type `dancing`; known types: architecture, comment_command, fix, ",
        ),
        ("fix", "agent `qa` may not do tasks of type `fix`: missing permission `edit`"),
        ("planning", "agent `qa` has no program for tasks of type `planning`"),
        ("review", "the task names no change"),
    ] {
        let mut task = review_task(&format!("t-{kind}"), &json!({}));
        task["type"] = json!(kind);
        drop_in(&repository, "qa", &task);
        let line = agents.wait_for_line("failed (");
        assert!(line.contains(why), "{line}");
    }
}

#[test]
fn a_killed_worker_is_started_again_and_its_task_is_done_once() {
    let repository =
        with_change(QUICK, "shop.py", "def total(prices):\n    return sum(prices, 0)\n");
    // The program runs until the file exists, so it can be killed in between.
    let go = repository.path().join(".git/go");
    let script = format!(
        "echo x >> .git-started; while [ ! -e '{}' ]; do :; done; echo planned",
        go.display()
    );
    let agents = format!("- id: architect\n  command: [sh, -c, {}]\n", json!(script));
    repository.write("config/agents.yaml", agents);
    repository.commit("an architect");
    let mut agents = Agents::start(&repository, &["architect"]);
    let mut task = review_task("plan", &json!({ "branch_name": "topic" }));
    task["type"] = json!("planning");
    drop_in(&repository, "architect", &task);
    agents.wait_for_line("Starting planning");
    let first = until("a heartbeat", || {
        let beat = read(&repository, "heartbeats/architect.json");
        (beat["task"] == "plan").then_some(beat)
    });
    agents.kill("architect");
    agents.wait_for_line("[supervisor] architect exited unexpectedly: signal: 9 (SIGKILL)");
    agents.wait_for_line("Starting planning");
    fs::write(go, "").unwrap();
    agents.wait_for_line("Planning completed (");
    let task = completed(&repository, "architect", "plan");
    assert_eq!(task["result_summary"], "planned");
    let outcomes: Vec<&str> = task["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["the agent is gone", "completed"]);
    let second = read(&repository, "heartbeats/architect.json");
    assert_ne!(first["pid"], second["pid"]);
    assert_eq!(agents.stop(), 0);
}

#[test]
fn a_stopped_agent_returns_its_unfinished_task_to_the_queue() {
    let configuration = "task:\n  stop_grace: 0\n";
    let repository = with_change(configuration, "shop.py", "def total(prices):\n    return 0\n");
    repository.write("config/agents.yaml", "- id: architect\n  command: [sleep, \"600\"]\n");
    repository.commit("an architect");
    let mut agents = Agents::start(&repository, &["architect"]);
    let mut task = review_task("plan", &json!({ "branch_name": "topic" }));
    task["type"] = json!("planning");
    drop_in(&repository, "architect", &task);
    agents.wait_for_line("Starting planning");
    let stopped = assay(&repository, &["agent", "stop"]);
    assert_eq!((stopped.code, stopped.stdout.as_str()), (0, "stopped architect\n"));
    let task = read(&repository, "queues/architect/plan.json");
    assert_eq!((&task["status"], &task["retry_count"]), (&json!("pending"), &json!(0)));
    assert_eq!(task["attempts"][0]["outcome"], "given back: the agent was stopped");
    assert_eq!(names(&repository, "locks"), Vec::<String>::new());
}

#[test]
fn a_task_that_exceeds_its_timeout_fails_and_the_agents_stop_cleanly() {
    let repository = with_change(QUICK, "shop.py", "def total(prices):\n    return 0\n");
    let agents = "- id: architect\n  command: [sleep, \"600\"]\n  timeout: 1\n  max_retries: 0\n";
    repository.write("config/agents.yaml", agents);
    repository.commit("an architect");
    let mut agents = Agents::start(&repository, &["architect"]);
    let mut task = review_task("plan", &json!({ "branch_name": "topic" }));
    task["type"] = json!("planning");
    drop_in(&repository, "architect", &task);
    agents.wait_for_line("Gave up");
    let task = read(&repository, "queues/architect/plan.json");
    assert_eq!(task["status"], "failed", "{task}");
    assert_eq!(agents.stop(), 0);
}

#[test]
fn replicas_share_a_queue_and_one_folder_has_one_supervisor() {
    let repository =
        with_change(QUICK, "shop.py", "def total(prices):\n    return sum(prices, 0)\n");
    let mut agents = Agents::start(&repository, &["qa", "--replicas", "3"]);
    for number in 1..=12 {
        let task = review_task(&format!("t{number}"), &json!({ "branch_name": "topic" }));
        drop_in(&repository, "qa", &task);
    }
    for _ in 1..=12 {
        agents.wait_for_line("Review completed (");
    }
    assert_eq!(names(&repository, "completed/qa").len(), 12);
    let status = assay(&repository, &["agent", "status"]).json();
    let workers: Vec<&str> = status["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["agent"].as_str().unwrap())
        .collect();
    assert_eq!(workers, ["qa-1", "qa-2", "qa-3"]);
    assert_eq!(status["supervisor"]["agents"], json!(["qa-1", "qa-2", "qa-3"]));
    let second = assay(&repository, &["agent", "start"]);
    assert_eq!(second.code, 2);
    assert!(
        second.stderr.contains("already running here: qa-1, qa-2, qa-3 (process "),
        "{}",
        second.stderr
    );
    assert_eq!(assay(&repository, &["agent", "stop", "qa-2"]).stdout, "stopped qa-2\n");
    agents.wait_for_line("[supervisor] qa-2 has stopped");
    assert_eq!(agents.stop(), 0);
    let status = assay(&repository, &["agent", "status"]).json();
    assert!(status["supervisor"].is_null(), "{status}");
    assert!(status["agents"].as_array().unwrap().iter().all(|it| it["alive"] == false), "{status}");
}

#[test]
fn logs_can_be_json_and_hold_no_secret() {
    let repository = Repository::new();
    let mut agents = Agents::start(&repository, &["qa", "--json"]);
    let token = ["ghp_", "q7R2mXc9Vb4Nz8Kp1Lw6Ty3Hd5Jf0Gs2AeUo"].concat();
    let mut task = review_task("t", &json!({}));
    task["title"] = json!(format!("Look at {token}"));
    drop_in(&repository, "qa", &task);
    let line: Value = serde_json::from_str(&agents.wait_for_line("Starting review")).unwrap();
    assert_eq!(
        (&line["agent"], &line["level"], &line["about"]),
        (&json!("qa"), &json!("INFO"), &json!("t"))
    );
    agents.wait_for_line("Gave up");
    agents.stop();
    let printed = assay(&repository, &["agent", "logs"]).stdout;
    assert!(printed.contains("Look at ") && !printed.contains(&token), "{printed}");
    assert!(printed.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{printed}");
}

#[test]
fn unknown_agents_and_invalid_configuration_are_reported_before_agents_start() {
    let repository = Repository::new();
    let ran = assay(&repository, &["agent", "start", "nobody"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("unknown agent `nobody`; configured agents: qa, engineer, architect"),
        "{}",
        ran.stderr
    );
    repository.write("config/agents.yaml", "- id: qa\n  poll_intervall: 30\n");
    let ran = assay(&repository, &["agent", "start"]);
    assert_eq!(ran.code, 2);
    let told = "cannot read `config/agents.yaml`, line 2 (`poll_intervall`): unknown key";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}
