//! `assay queue` as scripts use it: many concurrent processes, on both stores.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use assay_testkit::Repository;
use expect_test::expect;
use serde_json::{Value, json};

use crate::{AssayRun, assay_in};

const PROCESSES: usize = 16;
const TASKS: usize = 64;

fn queue(folder: &Path, args: &[&str], input: &str) -> AssayRun {
    assay_in(folder, &[&["queue"], args].concat(), input.as_bytes())
}

#[track_caller]
fn answer(folder: &Path, args: &[&str], input: &str) -> Value {
    let ran = queue(folder, args, input);
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn on_files() -> Repository {
    Repository::new()
}

/// Returns a list of tasks as JSON; all others depend on the first.
fn tasks() -> String {
    let task = |number: usize| {
        json!({
            "id": format!("t{number}"), "type": "review", "assigned_to": "qa",
            "created_at": "2026-02-03T10:00:00Z", "title": format!("Task {number}"),
            "depends_on": if number == 0 { vec![] } else { vec!["t0"] },
        })
    };
    Value::from_iter((0..TASKS).map(task)).to_string()
}

/// Claims and completes one task after the other, each in its own process.
fn work(folder: &Path, agent: &str, done: &Mutex<BTreeMap<String, usize>>) {
    loop {
        let claimed = answer(folder, &["claim", "--queue", "qa", "--agent", agent], "");
        let Some(lease) = claimed["claimed"].get(0).map(|claimed| claimed["lease"].clone()) else {
            return;
        };
        let (id, fence) = (lease["task"].as_str().unwrap(), lease["fence"].to_string());
        let settle = ["complete", id, "--agent", agent, "--fence", &fence];
        assert_eq!(answer(folder, &settle, ""), json!({ "completed": id }));
        let again = json!({ "completed": id, "already_completed": true });
        assert_eq!(answer(folder, &settle, ""), again);
        *done.lock().unwrap().entry(id.to_owned()).or_default() += 1;
    }
}

#[track_caller]
fn sixteen_processes_do_each_task_once(repository: &Repository) {
    let folder = repository.path();
    answer(folder, &["push", "--file", "-", "--json"], &tasks());
    let done = Mutex::new(BTreeMap::new());
    let first = answer(folder, &["claim", "--queue", "qa", "--agent", "first"], "");
    assert_eq!(first["claimed"][0]["lease"]["task"], "t0");
    let none = answer(folder, &["claim", "--queue", "qa", "--agent", "other"], "");
    assert_eq!(none, json!({ "claimed": [] }));
    answer(folder, &["complete", "t0", "--agent", "first", "--fence", "1"], "");
    thread::scope(|scope| {
        for number in 0..PROCESSES {
            let done = &done;
            scope.spawn(move || work(folder, &format!("worker-{number}"), done));
        }
    });
    let done = done.into_inner().unwrap();
    assert_eq!(done.len(), TASKS - 1);
    assert!(done.values().all(|times| *times == 1), "{done:?}");
    let stats = answer(folder, &["stats", "--json"], "");
    let qa = stats.as_array().unwrap().iter().find(|count| count["queue"] == "qa").unwrap();
    assert_eq!((&qa["completed"], &qa["ready"]), (&json!(TASKS), &json!(0)));
}

#[test]
fn sixteen_processes_do_each_task_once_on_files() {
    sixteen_processes_do_each_task_once(&on_files());
}

#[test]
fn show_lists_findings_on_lines_and_hides_internal_context_keys() {
    let repository = on_files();
    let findings = json!([
        { "file": "shop.py", "line_number": 2, "severity": "CRITICAL", "category": "security",
          "description": "SQL built from strings\nby hand", "suggested_fix": null },
        { "id": "f-7", "title": "no\u{1b}[31m test", "severity": "LOW", "file": "" },
        "what is this",
    ]);
    let task = json!({
        "id": "fix", "type": "fix", "assigned_to": "engineer", "created_by": "qa",
        "created_at": "2026-02-03T10:00:00Z", "title": "Mend the shop",
        "context": {
            "jira_key": "SHOP-1", "_root_task_id": "t",
            "structured_findings": { "findings": findings, "total_count": 2 },
        },
    });
    answer(repository.path(), &["push", "--file", "-", "--json"], &task.to_string());
    expect![[r#"
        Mend the shop (fix in `engineer`)
          state           ready to be claimed
          type            fix
          priority        50
          created         2026-02-03T10:00:00.000Z by qa
          · jira_key      SHOP-1
          · findings      1. CRITICAL shop.py:2 SQL built from strings
                          f-7 LOW no\u{1b}[31m test
                          3.
    "#]]
    .assert_eq(&queue(repository.path(), &["show", "fix"], "").stdout);
    let whole = answer(repository.path(), &["show", "fix", "--json"], "");
    assert_eq!(whole["task"]["context"]["_root_task_id"], "t");
    assert_eq!(whole["task"]["context"]["structured_findings"]["findings"][2], "what is this");
}

#[test]
fn files_without_a_valid_task_are_reported() {
    let repository = on_files();
    repository.write(".agent-communication/queues/qa/.keep", "");
    let message = "without a valid task moved to `.agent-communication/malformed`, each with the reason: a.json, b.json\n";
    assert_eq!(queue(repository.path(), &["list"], "").stdout, "no tasks\n");
    for name in ["a", "b"] {
        let task = json!({ "id": name, "type": "review" });
        repository.write(format!(".agent-communication/malformed/{name}.json"), task.to_string());
        repository.write(format!(".agent-communication/malformed/{name}.json.reason.txt"), "why");
    }
    let listed = queue(repository.path(), &["list"], "").stdout;
    assert_eq!(listed, format!("no tasks\n2 files {message}"));
    let stats = queue(repository.path(), &["stats"], "").stdout;
    assert!(stats.ends_with(&format!("\n2 files {message}")), "{stats}");
    assert_eq!(answer(repository.path(), &["list", "--json"], "")["tasks"], json!([]));
}

/// Returns the exit code of `assay doctor`, and its line about the queue's database.
fn doctor_on(url: &str) -> (i32, String) {
    let repository = Repository::new();
    repository.write("config/agent-framework.yaml", format!("queue:\n  url: \"{url}\"\n"));
    let ran = assay_in(repository.path(), &["doctor"], b"");
    let named = ["queue's", "queue tables", "queue database", "url"];
    let lines = ran.stdout.lines().filter(|line| named.iter().any(|name| line.contains(name)));
    (ran.code, lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn the_doctor_reports_an_unreachable_database_and_does_not_hang() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://me:s3cret@{}/shop", silent.local_addr().unwrap());
    let message = "bad  the queue's database did not answer within 3 s".to_owned();
    assert_eq!(doctor_on(&url), (2, message));
    drop(silent);
    let (code, message) = doctor_on(&url);
    assert_eq!(code, 2);
    assert!(message.starts_with("bad  cannot connect to the queue database: "), "{message}");
    assert!(!message.contains("s3cret"), "{message}");
    let (code, message) = doctor_on("mysql://me@here/shop");
    assert_eq!((code, message.contains("`queue.url` in ")), (2, true), "{message}");
}

#[test]
fn a_queue_tracked_in_git_is_refused() {
    let repository = Repository::new();
    let task = json!({
        "id": "planted", "type": "review", "created_at": "2026-02-03T10:00:00Z", "title": "Obey",
    });
    repository.write(".agent-communication/queues/qa/planted.json", task.to_string());
    repository.commit("a task");
    let ran = queue(repository.path(), &["list"], "");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("`.agent-communication` is tracked in git"), "{}", ran.stderr);
}

#[test]
fn a_queue_in_a_submodule_or_behind_a_link_is_refused() {
    let state = Repository::new();
    state.write("queues/qa/.keep", "");
    state.commit("a queue");
    let with_submodule = Repository::new();
    let (url, name) = (state.path().to_str().unwrap(), ".agent-communication");
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "--quiet", url, name];
    with_submodule.git(&add);
    let with_link = Repository::new();
    with_link.write("docs/queues/qa/.keep", "");
    std::os::unix::fs::symlink("docs", with_link.file(name)).unwrap();
    for repository in [with_submodule, with_link] {
        let ran = queue(repository.path(), &["list"], "");
        assert_eq!(ran.code, 2);
        let message = "`.agent-communication` is a link, a file or another repository";
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
}

#[test]
fn a_bad_task_is_refused_with_the_reason_and_nothing_is_written() {
    let repository = Repository::new();
    let folder = repository.path();
    let cases = [
        ("[", "`-` is not JSON"),
        ("[]", "`-` contains no task"),
        ("{\"id\": \"../../etc\"}", "invalid task 1 in `-`"),
        (
            "{\"id\":\"a\",\"type\":\"review\",\"created_at\":\"2026-02-03T10:00:00Z\",\"title\":\"t\"}",
            "task `a` has no valid `assigned_to`",
        ),
    ];
    for (input, expected) in cases {
        let ran = queue(folder, &["push", "--file", "-"], input);
        assert_eq!(ran.code, 2, "{input}");
        assert!(ran.stderr.contains(expected), "{input}: {}", ran.stderr);
    }
    let bad: [&[&str]; 4] = [
        &["--queue", "../up", "--type", "review", "--title", "t"],
        &["--queue", "qa", "--type", "review", "--title", "t\u{1b}[31m"],
        &["--queue", "qa", "--type", "review", "--title", "t", "--priority", "0"],
        &["--queue", "qa", "--type", "review", "--title", "t", "--priority", "101"],
    ];
    for args in bad {
        assert_eq!(queue(folder, &[&["push"], args].concat(), "").code, 2, "{args:?}");
    }
    assert_eq!(queue(folder, &["list"], "").stdout, "no tasks\n");
}

mod on_postgres {
    use assay_store::postgres::PgQueue;
    use assay_testenv::postgres::schema;

    use super::*;

    fn in_postgres() -> Repository {
        let repository = Repository::new();
        let configuration = format!("queue:\n  url: \"{}\"\n", schema());
        repository.write("config/agent-framework.yaml", &configuration);
        let migrated = queue(repository.path(), &["migrate"], "");
        assert_eq!(migrated.stdout, "migrated the tables: 1 step\n");
        assert_eq!(
            queue(repository.path(), &["migrate"], "").stdout,
            "the tables are up to date\n"
        );
        repository
    }

    #[test]
    fn sixteen_processes_do_each_task_once_on_postgres() {
        sixteen_processes_do_each_task_once(&in_postgres());
    }

    #[test]
    fn tasks_are_copied_from_files_to_a_database_and_back() {
        let (files, database) = (on_files(), in_postgres());
        answer(files.path(), &["push", "--file", "-", "--json"], &tasks());
        answer(files.path(), &["claim", "--queue", "qa", "--agent", "me"], "");
        let path = database.path().join("config/agent-framework.yaml");
        let configuration = std::fs::read_to_string(path).unwrap();
        let url = configuration.split('"').nth(1).unwrap().to_owned();
        let copy = |from: &str, to: &str| queue(files.path(), &["copy", from, to], "");
        let refused = copy(".agent-communication", &url);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains("1 task in progress"), "{}", refused.stderr);
        answer(files.path(), &["complete", "t0", "--agent", "me", "--fence", "1"], "");
        let message = "64 tasks copied, 0 already present; the source is unchanged\n";
        assert_eq!(copy(".agent-communication", &url).stdout, message);
        let claimed = answer(database.path(), &["claim", "--queue", "qa", "--agent", "me"], "");
        assert_eq!(claimed["claimed"][0]["lease"]["task"], "t1");
        answer(database.path(), &["complete", "t1", "--agent", "me", "--fence", "1"], "");
        files.write("back/.keep", "");
        assert_eq!(copy(&url, "back").stdout, message);
        assert!(files.path().join("back/completed/qa/t1.json").is_file());
        assert!(files.path().join("back/queues/qa/t2.json").is_file());
    }

    #[test]
    fn the_doctor_tries_the_database_of_the_queue() {
        let url = schema();
        let missing = "bad  the queue tables are missing; run `assay queue migrate`".to_owned();
        assert_eq!(doctor_on(&url), (2, missing));
        PgQueue::migrate(&url).unwrap();
        let good = "ok   the queue's database answers; its schema version is 1".to_owned();
        assert_eq!(doctor_on(&url), (0, good));
    }
}
