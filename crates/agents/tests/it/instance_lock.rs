//! Tests of the instance locks of supervisors and workers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use assay_agents::instance_lock::{InstanceLock, InstanceLockError, SupervisorInfo, WorkerInfo};
use assay_base::clock::Clock;
use assay_store::task::Moment;

fn worker_info(name: &str) -> WorkerInfo {
    let agent = "qa".parse().unwrap();
    WorkerInfo {
        name: name.parse().unwrap(),
        agent,
        pid: 7,
        since: Moment::now(&Clock::system()),
        waits_because: None,
    }
}

fn names(folder: &tempfile::TempDir) -> Vec<String> {
    InstanceLock::workers(folder.path()).into_iter().map(|worker| worker.name.to_string()).collect()
}

#[test]
fn a_worker_is_listed_until_it_exits_and_its_name_cannot_be_acquired_twice() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(names(&folder), [""; 0]);
    let second = InstanceLock::acquire_worker(folder.path(), &worker_info("qa-2")).unwrap();
    let first = InstanceLock::acquire_worker(folder.path(), &worker_info("qa-1")).unwrap();
    assert_eq!(names(&folder), ["qa-1", "qa-2"]);
    let refused =
        InstanceLock::acquire_worker(folder.path(), &worker_info("qa-1")).unwrap_err().to_string();
    assert!(refused.contains("already running here: qa-1 (process 7, since"), "{refused}");
    assert!(!InstanceLock::wait_until_gone(
        folder.path(),
        &worker_info("qa-1").name,
        Duration::ZERO
    ));
    drop(first);
    assert!(InstanceLock::wait_until_gone(folder.path(), &worker_info("qa-1").name, Duration::MAX));
    assert_eq!(names(&folder), ["qa-2"]);
    drop(second);
}

#[test]
fn readers_do_not_block_acquiring_the_instance_lock() {
    let folder = tempfile::tempdir().unwrap();
    let about =
        SupervisorInfo { pid: 7, since: Moment::now(&Clock::system()), agents: vec!["qa".into()] };
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                InstanceLock::supervisor(folder.path());
            }
        });
        let taken: Vec<Result<InstanceLock, InstanceLockError>> = (0..2_000)
            .map(|_| InstanceLock::acquire(folder.path(), &about))
            .filter(Result::is_err)
            .collect();
        done.store(true, Ordering::Relaxed);
        assert!(taken.is_empty(), "{taken:?}");
    });
}
