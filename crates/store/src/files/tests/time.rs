//! Leases and back-off, by a clock that the test moves.

use assay_base::clock::ManualClock;

use super::*;
use crate::queue::{AttemptFailure, RetryLimit};

const SECOND: Duration = Duration::from_secs(1);

fn at_noon() -> ManualClock {
    ManualClock::at("2026-02-03T12:00:00Z".parse().unwrap())
}

fn open(fixture: &QueueFixture, manual: &ManualClock) -> FileQueue {
    FileQueue::open(fixture.0.path(), Policy::default(), &manual.clock()).unwrap()
}

#[test]
fn a_lease_expires_at_its_time_and_not_before() {
    let (fixture, manual) = (QueueFixture::new(), at_noon());
    let queue = open(&fixture, &manual);
    queue.push(vec![task("t1")]).unwrap();
    let lease = claim(&queue).unwrap().lease;
    manual.advance(LONG - SECOND);
    queue.renew(&lease, LONG).unwrap();
    manual.advance(LONG - SECOND);
    assert_eq!(queue.recover().unwrap().len(), 0);
    manual.advance(SECOND);
    assert_eq!(queue.recover().unwrap().len(), 1);
    assert!(queue.settle(&lease, done(vec![])).is_err());
}

#[test]
fn a_failed_task_is_claimed_again_after_its_back_off() {
    let (fixture, manual) = (QueueFixture::new(), at_noon());
    let queue = open(&fixture, &manual);
    queue.push(vec![task("t1")]).unwrap();
    let lease = claim(&queue).unwrap().lease;
    let failure =
        AttemptFailure { error: "no network".to_owned(), retry_limit: RetryLimit::AtMost(None) };
    queue.settle(&lease, TaskResult::Failed(failure)).unwrap();
    let rest = Policy::default().initial_backoff;
    manual.advance(rest - SECOND);
    assert_eq!(claimed(&queue), None);
    // A folder that has just changed is scanned again sooner.
    assert!(queue.next_ready(&qa()).unwrap().is_some_and(|wait| wait <= SECOND));
    manual.advance(SECOND);
    assert_eq!(claimed(&queue).as_deref(), Some("t1"));
}
