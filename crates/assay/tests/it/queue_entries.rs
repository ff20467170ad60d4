//! Entries that people add to the queue's folder, and effects of a failing disk on an answer.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use assay_testkit::Repository;
use serde_json::{Value, json};

use crate::{AssayRun, assay_in};

const FOLDER: &str = ".agent-communication";

fn queue(repository: &Repository, args: &[&str], input: &str) -> AssayRun {
    assay_in(repository.path(), &[&["queue"], args].concat(), input.as_bytes())
}

#[track_caller]
fn answer(repository: &Repository, args: &[&str], input: &str) -> Value {
    let ran = queue(repository, args, input);
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn push(repository: &Repository, id: &str) {
    let args = ["push", "--queue", "qa", "--type", "review", "--title", id, "--id", id];
    let ran = queue(repository, &args, "");
    assert_eq!((ran.code, ran.stdout), (0, format!("queued {id} in `qa`\n")), "{}", ran.stderr);
}

fn place(repository: &Repository, inside: &str) -> PathBuf {
    repository.path().join(FOLDER).join(inside)
}

/// Writes a file into a queue as a person does, with a timestamp of a minute ago.
fn drop_in(repository: &Repository, name: &str, text: &str) -> PathBuf {
    let path = place(repository, &format!("queues/qa/{name}"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    path
}

fn written(id: &str, more: &Value) -> String {
    let mut task = json!({
        "id": id, "type": "review", "created_at": "2026-02-03T10:00:00Z", "title": id,
    });
    task.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    task.to_string()
}

/// Claims the next task and completes it. Returns its id; `None` if there is none.
fn work_off(repository: &Repository) -> Option<String> {
    let claimed = answer(repository, &["claim", "--queue", "qa", "--agent", "me"], "");
    let lease = claimed["claimed"].get(0)?["lease"].clone();
    let (id, fence) = (lease["task"].as_str()?.to_owned(), lease["fence"].to_string());
    answer(repository, &["complete", &id, "--agent", "me", "--fence", &fence], "");
    Some(id)
}

/// Runs `assay queue` without root's permission to read every file.
fn as_a_user(folder: &Path, args: &[&str]) -> AssayRun {
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut command = match is_root {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]);
            command.arg(env!("CARGO_BIN_EXE_assay"));
            command
        }
        false => Command::new(env!("CARGO_BIN_EXE_assay")),
    };
    let command = command.arg("queue").args(args).current_dir(folder);
    let output = command.env("XDG_STATE_HOME", crate::state_home()).output().unwrap();
    AssayRun {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_claim_does_not_overwrite_the_file_of_another_task() {
    for order in [["foo.json", "x.json"], ["x.json", "foo.json"]] {
        let repository = Repository::new();
        for name in order {
            let id = if name == "foo.json" { "x" } else { "y" };
            drop_in(&repository, name, &written(id, &json!({})));
            assert_eq!(queue(&repository, &["list"], "").code, 0);
        }
        assert_eq!(work_off(&repository).as_deref(), Some("x"));
        assert_eq!(work_off(&repository).as_deref(), Some("y"), "{order:?}");
    }
}

#[test]
fn an_unreadable_task_file_is_reported_and_does_not_block_other_tasks() {
    let repository = Repository::new();
    push(&repository, "good");
    let bad = drop_in(&repository, "bad.json", &written("bad", &json!({ "priority": 1 })));
    assert_eq!(queue(&repository, &["list"], "").code, 0);
    fs::set_permissions(&bad, fs::Permissions::from_mode(0o000)).unwrap();
    let claimed = as_a_user(repository.path(), &["claim", "--queue", "qa", "--agent", "me"]);
    assert_eq!(claimed.code, 0, "{}", claimed.stderr);
    assert!(claimed.stdout.contains("\"good\""), "{}", claimed.stdout);
    let listed = as_a_user(repository.path(), &["list"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert!(listed.stdout.contains("good"), "{}", listed.stdout);
    assert!(
        listed.stdout.contains("/malformed`, each with the reason: bad.json"),
        "{}",
        listed.stdout
    );
    let reason = fs::read_to_string(place(&repository, "malformed/bad.json.reason.txt")).unwrap();
    assert!(reason.contains("Permission denied"), "{reason}");
}

#[test]
fn a_folder_among_locks_and_intents_stops_no_command() {
    let repository = Repository::new();
    push(&repository, "good");
    for inside in ["locks/good.lock", "locks/other.lock", "intents/some.json", "pause/qa-9"] {
        fs::create_dir_all(place(&repository, inside)).unwrap();
    }
    for args in [&["list"][..], &["stats"], &["show", "good"]] {
        let ran = queue(&repository, args, "");
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    }
    assert_eq!(work_off(&repository).as_deref(), Some("good"));
    assert_eq!(work_off(&repository), None);
    let listed = queue(&repository, &["list"], "").stdout;
    assert!(
        listed.contains("/malformed`, each with the reason: good.lock, other.lock, some.json"),
        "{listed}"
    );
}

#[test]
fn an_index_that_cannot_be_written_does_not_change_the_answer() {
    let repository = Repository::new();
    push(&repository, "first");
    let index = place(&repository, ".index");
    fs::remove_dir_all(&index).unwrap();
    fs::write(&index, "no folder").unwrap();
    push(&repository, "second");
    let claimed = answer(&repository, &["claim", "--queue", "qa", "--agent", "me"], "");
    let fence = claimed["claimed"][0]["lease"]["fence"].to_string();
    let complete = ["complete", "first", "--agent", "me", "--fence", &fence];
    assert_eq!(answer(&repository, &complete, ""), json!({ "completed": "first" }));
    let again = json!({ "completed": "first", "already_completed": true });
    assert_eq!(answer(&repository, &complete, ""), again);
    assert_eq!(work_off(&repository).as_deref(), Some("second"));
}

#[test]
fn a_disk_failure_exits_with_3_and_not_as_a_usage_error() {
    let repository = Repository::new();
    push(&repository, "first");
    let queues = place(&repository, "queues/qa");
    fs::rename(&queues, place(&repository, "away")).unwrap();
    fs::write(&queues, "no folder").unwrap();
    let args = ["push", "--queue", "qa", "--type", "review", "--title", "t", "--id", "second"];
    let ran = queue(&repository, &args, "");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("queues/qa"), "{}", ran.stderr);
}

#[test]
fn a_file_that_is_not_a_task_is_reported_immediately() {
    let repository = Repository::new();
    push(&repository, "good");
    fs::write(place(&repository, "queues/qa/broken.json"), "{\"id\": \"broken\"").unwrap();
    for args in [["list"], ["stats"]] {
        let printed = queue(&repository, &args, "").stdout;
        assert!(printed.contains("`qa/broken.json` is not a task: EOF while parsing"), "{printed}");
    }
}

#[test]
fn read_only_commands_create_no_folder() {
    let repository = Repository::new();
    assert_eq!(queue(&repository, &["list"], "").stdout, "no tasks\n");
    assert_eq!(answer(&repository, &["list", "--json"], "")["tasks"], json!([]));
    let stats = queue(&repository, &["stats"], "").stdout;
    assert!(stats.contains("architect  0 "), "{stats}");
    assert_eq!(queue(&repository, &["show", "t"], "").code, 2);
    assert_eq!(assay_in(repository.path(), &["agent", "status"], b"").code, 0);
    assert!(!place(&repository, "").exists());
}

#[test]
fn a_task_is_read_with_a_byte_order_mark_and_a_status_in_capitals() {
    let repository = Repository::new();
    let text = format!("\u{feff}{}", written("by-hand", &json!({ "status": "PENDING" })));
    drop_in(&repository, "by-hand.json", &text);
    let pushed = written("pushed", &json!({ "status": "Pending", "assigned_to": "engineer" }));
    let input = format!("\u{feff}{pushed}");
    let args = ["push", "--file", "-", "--queue", "qa", "--json"];
    let printed = answer(&repository, &args, &input);
    assert_eq!(printed[0]["assigned_to"], "qa", "a push keeps no foreign `assigned_to`");
    assert_eq!(work_off(&repository).as_deref(), Some("by-hand"));
    assert_eq!(work_off(&repository).as_deref(), Some("pushed"));
    let listed = answer(&repository, &["list", "--status", "COMPLETED", "--json"], "");
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 2);
}

#[test]
fn a_retried_task_has_no_last_error() {
    let repository = Repository::new();
    push(&repository, "t");
    answer(&repository, &["claim", "--queue", "qa", "--agent", "me"], "");
    let fail = ["fail", "t", "--agent", "me", "--fence", "1", "--error", "broke", "--for-good"];
    answer(&repository, &fail, "");
    assert_eq!(answer(&repository, &["show", "t", "--json"], "")["task"]["last_error"], "broke");
    assert_eq!(queue(&repository, &["retry", "t"], "").code, 0);
    let task = answer(&repository, &["show", "t", "--json"], "")["task"].clone();
    assert_eq!((&task["last_error"], &task["status"]), (&Value::Null, &json!("pending")));
}

#[test]
fn an_unknown_task_type_is_refused_in_queues_that_have_agents() {
    let repository = Repository::new();
    let args = ["push", "--queue", "qa", "--type", "dancing", "--title", "t"];
    let ran = queue(&repository, &args, "");
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("has the type `dancing`, which is unknown to the agents of `qa`"),
        "{}",
        ran.stderr
    );
    let args = ["push", "--queue", "scripts", "--type", "dancing", "--title", "t"];
    assert_eq!(queue(&repository, &args, "").code, 0, "scripts have types of their own");
}

#[test]
fn list_shows_the_title_next_to_a_long_id() {
    let repository = Repository::new();
    let id = "x".repeat(120);
    let args = ["push", "--queue", "qa", "--type", "review", "--id", &id, "--title"];
    queue(&repository, &[&args[..], &["A title that tells what is to be done"]].concat(), "");
    let listed = queue(&repository, &["list"], "").stdout;
    assert!(listed.contains("A title that tells what is to be done"), "{listed}");
}

#[test]
fn a_task_that_blocks_another_is_claimed_first() {
    let repository = Repository::new();
    push(&repository, "second");
    drop_in(
        &repository,
        "first.json",
        &written("first", &json!({ "blocks": ["second"], "priority": 90 })),
    );
    let shown = queue(&repository, &["show", "second"], "").stdout;
    assert!(shown.contains("waits for `first`"), "{shown}");
    assert_eq!(work_off(&repository).as_deref(), Some("first"));
    assert_eq!(work_off(&repository).as_deref(), Some("second"));
}

#[test]
fn stats_count_long_dependency_chains() {
    let repository = Repository::new();
    let task = |number: usize| {
        let needs = if number == 0 { vec![] } else { vec![format!("t{}", number - 1)] };
        let task: Value = serde_json::from_str(&written(
            &format!("t{number}"),
            &json!({ "assigned_to": "scripts", "depends_on": needs }),
        ))
        .unwrap();
        task
    };
    repository.write("config/agent-framework.yaml", "safeguards:\n  max_queue_size: 5000\n");
    let tasks = Value::from_iter((0..3_000).map(task)).to_string();
    answer(&repository, &["push", "--file", "-", "--json"], &tasks);
    let stats = answer(&repository, &["stats", "--json"], "");
    let counts = stats.as_array().unwrap().iter().find(|it| it["queue"] == "scripts").unwrap();
    assert_eq!((&counts["ready"], &counts["waiting"]), (&json!(1), &json!(2_999)));
}

#[test]
fn a_task_can_be_scheduled_and_repeated() {
    let repository = Repository::new();
    let args = ["push", "--queue", "qa", "--type", "review", "--title", "Look", "--id"];
    let nightly = ["nightly", "--run-at", "2026-02-03T02:00:00Z", "--every", "1d"];
    assert_eq!(queue(&repository, &[&args[..], &nightly].concat(), "").code, 0);
    let later = ["later", "--run-at", "2099-01-01T00:00:00Z"];
    assert_eq!(queue(&repository, &[&args[..], &later].concat(), "").code, 0);
    assert_eq!(work_off(&repository).as_deref(), Some("nightly"));
    assert_eq!(work_off(&repository), None);
    let shown = queue(&repository, &["show", "later"], "").stdout;
    assert!(shown.contains("scheduled for 2099-01-01T00:00:00.000Z"), "{shown}");
    let tasks = answer(&repository, &["list", "--json"], "")["tasks"].clone();
    let next =
        tasks.as_array().unwrap().iter().find(|it| it["task"]["repeat_every"] == "1d").unwrap();
    assert!(next["task"]["id"].as_str().unwrap().ends_with("T020000Z"), "{next}");
    let wrong = queue(&repository, &[&args[..], &["t", "--every", "soon"]].concat(), "");
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("invalid interval"), "{}", wrong.stderr);
}

#[test]
fn tasks_are_completed_in_batches_and_old_ones_are_pruned() {
    let repository = Repository::new();
    for id in ["a", "b", "c"] {
        push(&repository, id);
    }
    let claim = ["claim", "--queue", "qa", "--agent", "me", "--count", "3"];
    let mut claimed = answer(&repository, &claim, "");
    let complete = ["complete", "--leases", "-", "--summary", "done"];
    let printed = answer(&repository, &complete, &claimed.to_string());
    assert_eq!(printed, json!({ "completed": ["a", "b", "c"], "refused": [] }));
    claimed["claimed"][0]["lease"]["fence"] = json!(7);
    let ran = queue(&repository, &complete, &claimed.to_string());
    let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &printed["completed"]), (2, &json!(["b", "c"])));
    assert_eq!(printed["refused"][0]["task"], "a");
    assert_eq!(queue(&repository, &["prune", "--older", "30d"], "").stdout, "0 tasks removed\n");
    assert_eq!(queue(&repository, &["prune", "--older", "never"], "").code, 2);
    let path = place(&repository, "completed/qa/a.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut task: Value = serde_json::from_str(&text).unwrap();
    task["completed_at"] = json!("2026-01-01T00:00:00.000Z");
    fs::write(&path, task.to_string()).unwrap();
    assert_eq!(queue(&repository, &["prune", "--older", "30d"], "").stdout, "1 task removed\n");
    assert!(!path.exists());
}
