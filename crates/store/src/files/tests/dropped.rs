//! Tests of task files that people add, edit and remove by hand.

use std::fs;
use std::time::Duration;

use assay_base::clock::Clock;
use expect_test::expect;
use serde_json::json;

use super::{LONG, QueueFixture, claim, claimed, done, make_old, policy, qa, task, task_json};
use crate::files::FileQueue;
use crate::queue::{ClaimState, LeaseKind, Queue, QueueError, TaskFilter};
use crate::task::TaskStatus;

#[test]
fn a_dropped_file_is_claimed_under_any_file_name() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    fixture.drop_in("queues/qa/anything at all.json", &task_json("by-hand", json!({})));
    assert_eq!(claimed(&queue).as_deref(), Some("by-hand"));
    assert_eq!(fixture.names("queues/qa"), ["by-hand.json"]);
    assert_eq!(fixture.names("locks"), ["by-hand.lock"]);
    assert_eq!(fixture.json("queues/qa/by-hand.json")["status"], "in_progress");
    assert_eq!(fixture.json("locks/by-hand.lock")["agent"], "qa-1");
}

#[test]
fn a_dropped_file_wakes_a_watch_and_is_claimed_at_once() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    let watch = queue.watch(&qa()).unwrap();
    assert!(claim(&queue).is_none());
    fs::write(fixture.path("queues/qa/new.json"), task_json("new", json!({}))).unwrap();
    assert!(watch.wait(LONG));
    assert_eq!(claimed(&queue).as_deref(), Some("new"));
}

#[test]
fn an_edited_file_wakes_a_watch() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    fixture.drop_in("queues/qa/a.json", &task_json("a", json!({ "status": "failed" })));
    let watch = queue.watch(&qa()).unwrap();
    assert!(claim(&queue).is_none());
    fs::write(fixture.path("queues/qa/a.json"), task_json("a", json!({ "priority": 7 }))).unwrap();
    while claim(&queue).is_none() {
        assert!(watch.wait(LONG));
    }
}

#[test]
fn a_file_that_is_still_being_written_is_waited_for() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    queue.watch(&qa()).unwrap();
    fs::write(fixture.path("queues/qa/a.json"), "{\"id\": \"a\", ").unwrap();
    assert!(claim(&queue).is_none());
    assert_eq!(fixture.names("malformed"), [""; 0]);
    assert!(queue.next_ready(&qa()).unwrap().is_some(), "it is looked at again soon");
    fs::write(fixture.path("queues/qa/a.json"), task_json("a", json!({}))).unwrap();
    assert_eq!(claimed(&queue).as_deref(), Some("a"));
}

#[test]
fn an_invalid_task_file_is_set_aside_with_the_reason_and_does_not_block_others() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    fixture.drop_in("queues/qa/broken.json", "{\"id\": ");
    fixture.drop_in("queues/qa/hostile.json", &task_json("../../etc/passwd", json!({})));
    fixture.drop_in("queues/qa/huge.json", &" ".repeat(crate::task::MAX_STORED + 1));
    std::os::unix::fs::symlink("/etc/passwd", fixture.path("queues/qa/link.json")).unwrap();
    fixture.drop_in("queues/qa/t.json.tmp.123", "junk");
    fixture.drop_in("queues/qa/.notify", "");
    fixture.drop_in("queues/qa/good.json", &task_json("good", json!({})));
    assert_eq!(claimed(&queue).as_deref(), Some("good"));
    let mut listing = String::new();
    for name in fixture.names("malformed") {
        listing += &format!("{name}\n");
        if name.ends_with(".reason.txt") {
            let text = fs::read_to_string(fixture.path("malformed").join(&name)).unwrap();
            listing += &format!("  {}", text.split_once(' ').unwrap().1);
        }
    }
    expect![[r#"
        broken.json
        broken.json.reason.txt
          EOF while parsing a value at line 1 column 7
        hostile.json
        hostile.json.reason.txt
          invalid task id "../../etc/passwd": expected 1 to 128 letters, digits, `.`, `_` or `-`, and no leading dot at line 1 column 24
        huge.json
        huge.json.reason.txt
          the file has 16777217 bytes; the limit is 16777216
        link.json
        link.json.reason.txt
          not a regular file; links are not followed
    "#]]
    .assert_eq(&listing);
}

#[test]
fn an_out_of_range_number_or_priority_does_not_block_the_queue() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    let made_up = json!({ "fence": u64::MAX, "retry_count": u32::MAX });
    fixture.drop_in("queues/qa/a.json", &task_json("a", made_up));
    fixture.drop_in("queues/qa/b.json", &task_json("b", json!({ "priority": 0 })));
    let held = claim(&queue).unwrap();
    assert_eq!((held.lease.task.as_str(), held.lease.fence), ("a", 1));
    let failure = crate::queue::AttemptFailure {
        error: "broke".into(),
        retry_limit: crate::queue::RetryLimit::AtMost(Some(u32::MAX)),
    };
    queue.settle(&held.lease, crate::queue::TaskResult::Failed(failure)).unwrap();
    assert_eq!(fixture.names("malformed"), ["b.json", "b.json.reason.txt"]);
}

#[test]
fn a_second_file_for_a_task_is_set_aside() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    queue.push(vec![task("a"), task("b")]).unwrap();
    let b = (0..2).filter_map(|_| claim(&queue)).find(|it| it.lease.task.as_str() == "b").unwrap();
    queue.settle(&b.lease, done(vec![])).unwrap();
    fixture.drop_in("queues/qa/again.json", &task_json("a", json!({})));
    fixture.drop_in("queues/other/again.json", &task_json("a", json!({})));
    fixture.drop_in("queues/qa/b.json", &task_json("b", json!({})));
    assert!(claim(&queue).is_none());
    queue.list(&TaskFilter::default()).unwrap();
    let aside = fixture.names("malformed");
    let aside: Vec<&str> =
        aside.iter().map(String::as_str).filter(|name| name.ends_with(".json")).collect();
    assert_eq!(aside, ["2-again.json", "again.json", "b.json"]);
    assert_eq!(fixture.names("queues/qa"), ["a.json"]);
}

#[test]
fn a_task_with_a_deleted_file_is_unknown_and_can_be_pushed_again() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    queue.push(vec![task("a"), task("b")]).unwrap();
    fs::remove_file(fixture.path("queues/qa/a.json")).unwrap();
    assert_eq!(claimed(&queue).as_deref(), Some("b"));
    let gone = queue.get(&"a".parse().unwrap()).unwrap_err();
    assert!(matches!(gone, QueueError::Unknown(_)), "{gone}");
    queue.push(vec![task("a")]).unwrap();
}

#[test]
fn a_renamed_file_is_the_same_task() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    queue.push(vec![task("a")]).unwrap();
    fs::rename(fixture.path("queues/qa/a.json"), fixture.path("queues/qa/urgent.json")).unwrap();
    assert_eq!(claimed(&queue).as_deref(), Some("a"));
    assert_eq!(fixture.names("queues/qa"), ["a.json"]);
}

#[test]
fn the_index_can_be_deleted_at_any_time() {
    let fixture = QueueFixture::new();
    let (one, other) = (fixture.open(), fixture.open());
    one.push(vec![task("a"), task("b"), task("c")]).unwrap();
    let a = claim(&one).unwrap();
    fs::remove_dir_all(fixture.path(".index")).unwrap();
    let b = claim(&other).unwrap();
    one.settle(&a.lease, done(vec![])).unwrap();
    fs::remove_dir_all(fixture.path(".index")).unwrap();
    one.settle(&b.lease, done(vec![])).unwrap();
    fs::write(fixture.path(".index/index.db"), "no database at all").unwrap();
    assert_eq!(claimed(&fixture.open()).as_deref(), Some("c"));
}

#[test]
fn a_restart_of_the_machine_ends_every_lease() {
    let fixture = QueueFixture::new();
    fixture.drop_in(
        "queues/qa/a.json",
        &task_json("a", json!({ "status": "in_progress", "fence": 3 })),
    );
    let lock = json!({
        "task": "a", "queue": "qa", "agent": "qa-7", "fence": 3, "ends": "by_time",
        "until": "2999-01-01T00:00:00Z", "until_uptime_ms": i64::MAX, "boot_id": "another",
    });
    fixture.drop_in("locks/a.lock", &lock.to_string());
    let again = claim(&fixture.open()).expect("it is free");
    assert_eq!(again.lease.fence, 4);
}

#[test]
fn an_unreadable_lock_does_not_lease_its_task() {
    for lock in ["", "garbage", "12345", "{\"pid\": 1}"] {
        let fixture = QueueFixture::new();
        fixture.drop_in("queues/qa/a.json", &task_json("a", json!({})));
        fixture.drop_in("queues/qa/b.json", &task_json("b", json!({ "status": "in_progress" })));
        fixture.drop_in("locks/a.lock", lock);
        fixture.drop_in("locks/b.lock", lock);
        let queue = fixture.open();
        assert_eq!(claimed(&queue).as_deref(), Some("a"), "{lock:?}");
        assert_eq!(claimed(&queue).as_deref(), Some("b"), "{lock:?}");
    }
}

#[test]
fn a_task_in_progress_without_a_lock_is_not_claimed_while_its_agent_is_alive() {
    let fixture = QueueFixture::new();
    let running = json!({ "status": "in_progress", "started_by": "qa-9" });
    fixture.drop_in("queues/qa/a.json", &task_json("a", running));
    fs::create_dir_all(fixture.path("heartbeats")).unwrap();
    fs::write(fixture.path("heartbeats/qa-9.json"), "{}").unwrap();
    let queue = fixture.open();
    assert!(claim(&queue).is_none());
    fixture.drop_in("heartbeats/qa-9.json", "{}");
    make_old(&fixture.path("heartbeats/qa-9.json"));
    assert_eq!(claimed(&queue).as_deref(), Some("a"));
}

#[test]
fn a_failure_timed_by_the_wall_clock_delays_the_retry_for_a_bounded_time() {
    let ago = |seconds: i64| {
        let then = Clock::system().now() - jiff::SignedDuration::from_secs(seconds);
        crate::task::Moment(then).to_string()
    };
    let cases = [
        (1, 1, None),
        (1, 31, Some("r")),
        (9, 239, None),
        (9, 241, Some("r")),
        // The clock was set back by an hour after the failure.
        (9, -3_600, Some("r")),
    ];
    for (retries, seconds, expected) in cases {
        let fixture = QueueFixture::new();
        let policy = crate::queue::Policy { initial_backoff: Duration::from_secs(30), ..policy() };
        let failed = json!({ "retry_count": retries, "last_failed_at": ago(seconds) });
        fixture.drop_in("queues/qa/r.json", &task_json("r", failed));
        let queue = super::FileQueue::open(fixture.0.path(), policy, &Clock::system()).unwrap();
        assert_eq!(claimed(&queue).as_deref(), expected, "{retries} retries, {seconds} s ago");
    }
}

#[test]
fn only_pending_tasks_are_claimed() {
    let fixture = QueueFixture::new();
    for status in ["completed", "failed", "cancelled"] {
        let name = format!("queues/qa/{status}.json");
        fixture.drop_in(&name, &task_json(status, json!({ "status": status })));
    }
    fixture.drop_in("queues/qa/p.json", &task_json("p", json!({ "depends_on": ["completed"] })));
    let queue = fixture.open();
    assert_eq!(claimed(&queue).as_deref(), Some("p"));
    assert!(claim(&queue).is_none());
}

#[test]
fn a_task_that_is_archived_by_hand_counts_as_completed() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    fixture.drop_in("queues/qa/child.json", &task_json("child", json!({ "depends_on": ["d1"] })));
    let listed = queue.get(&"child".parse().unwrap()).unwrap();
    assert!(matches!(listed.claim_state, ClaimState::Blocked { .. }), "{:?}", listed.claim_state);
    fixture
        .drop_in("completed/elsewhere/d1.json", &task_json("d1", json!({ "status": "completed" })));
    // A later scan counts the dependency as completed; a queue without its index scans at once.
    fs::remove_dir_all(fixture.path(".index")).unwrap();
    assert_eq!(claimed(&queue).as_deref(), Some("child"));
}

#[test]
fn the_task_of_a_killed_agent_can_be_claimed_again() {
    let fixture = QueueFixture::new();
    let (queue, agent) = (fixture.open(), "qa-1".parse().unwrap());
    queue.push(vec![task("a")]).unwrap();
    let presence = queue.join(&agent).unwrap();
    let held = queue.claim(&qa(), &agent, LeaseKind::WhileAlive(LONG), 1).unwrap();
    assert_eq!(held.len(), 1);
    assert!(claim(&queue).is_none());
    drop(presence);
    assert_eq!(claimed(&queue).as_deref(), Some("a"));
}

#[test]
fn the_queue_folder_is_ignored_by_git() {
    let fixture = QueueFixture::new();
    fixture.open();
    assert!(fs::read_to_string(fixture.path(".gitignore")).unwrap().ends_with("\n*\n"));
}

#[test]
fn a_failed_escalation_is_moved_to_the_escalations_folder_and_not_retried() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    let listing = json!({ "type": "escalation", "priority": 0, "retry_count": 5 });
    fixture.drop_in("queues/qa/told.json", &task_json("told", listing));
    let held = claim(&queue).unwrap();
    let failure = crate::queue::AttemptFailure {
        error: "nobody there".into(),
        retry_limit: crate::queue::RetryLimit::AtMost(Some(5)),
    };
    queue.settle(&held.lease, crate::queue::TaskResult::Failed(failure)).unwrap();
    assert_eq!(fixture.json("escalations/told.json")["last_error"], "nobody there");
    let filter = TaskFilter { statuses: vec![TaskStatus::Pending], ..TaskFilter::default() };
    assert!(queue.list(&filter).unwrap().is_empty());
}

/// Returns the tasks in the queue's folder, each with its file.
fn files(fixture: &QueueFixture) -> Vec<(String, String)> {
    let names = fixture.names("queues/qa").into_iter();
    let id = |name: String| {
        let task = fixture.json(&format!("queues/qa/{name}"));
        (task["id"].as_str().unwrap().to_owned(), name)
    };
    names.map(id).collect()
}

#[test]
fn a_file_under_the_name_of_another_task_is_never_overwritten() {
    let drops = [("foo.json", "x"), ("x.json", "y"), ("y.json", "z")];
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in orders {
        let fixture = QueueFixture::new();
        let queue = fixture.open();
        for at in order {
            let (file, id) = drops[at];
            fixture.drop_in(&format!("queues/qa/{file}"), &task_json(id, json!({})));
            queue.list(&TaskFilter::default()).unwrap();
        }
        let mut done = Vec::new();
        while let Some(next) = claim(&queue) {
            queue.settle(&next.lease, super::done(vec![])).unwrap();
            done.push(next.lease.task.to_string());
        }
        assert_eq!(done, ["x", "y", "z"], "{order:?}: {:?}", files(&fixture));
        assert_eq!(fixture.names("completed/qa"), ["x.json", "y.json", "z.json"]);
        assert_eq!(fixture.names("malformed"), [""; 0]);
    }
}

#[test]
fn a_pushed_task_does_not_overwrite_a_dropped_file_of_the_same_name() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    fixture.drop_in("queues/qa/x.json", &task_json("y", json!({})));
    queue.push(vec![task("x")]).unwrap();
    let mut ids: Vec<String> = files(&fixture).into_iter().map(|(id, _)| id).collect();
    ids.sort();
    assert_eq!(ids, ["x", "y"]);
}

#[test]
fn an_entry_that_is_not_a_file_is_set_aside_and_does_not_block_the_queue() {
    let fixture = QueueFixture::new();
    let queue = fixture.open();
    queue.push(vec![task("a")]).unwrap();
    for folder in ["locks/a.lock", "locks/other.lock", "intents/b.json", "heartbeats/qa.json"] {
        fs::create_dir_all(fixture.path(folder)).unwrap();
    }
    fs::write(fixture.path("queues/not-a-folder"), "").unwrap();
    fs::write(fixture.path("completed/not-a-folder"), "").unwrap();
    queue.recover().unwrap();
    queue.push(vec![task("c")]).unwrap();
    fs::create_dir_all(fixture.path("locks/c.lock")).unwrap();
    assert_eq!(claimed(&queue).as_deref(), Some("a"));
    assert_eq!(claimed(&queue).as_deref(), Some("c"));
    queue.agents().unwrap();
    queue.count().unwrap();
    let all = TaskFilter { statuses: TaskStatus::ALL.to_vec(), ..TaskFilter::default() };
    assert_eq!(queue.list(&all).unwrap().len(), 2);
    let aside = FileQueue::malformed_files(fixture.0.path()).unwrap();
    assert_eq!(aside, ["a.lock", "b.json", "c.lock", "other.lock"]);
}
