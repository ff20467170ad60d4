//! Tests of the guarantees of a queue, on every store.

/// Defines a test of every claim for every store.
macro_rules! promises {
    ($($claim:ident),* $(,)?) => {
        mod files {
            $(#[test]
            fn $claim() {
                super::$claim(&crate::stores::Files::new());
            })*
        }

        mod on_postgres {
            $(#[test]
            fn $claim() {
                super::$claim(&crate::stores::Postgres::new());
            })*
        }
    };
}

mod agents;
mod holding;
mod keeping;
mod order;
mod overview;
mod pushing;
mod settling;

use std::time::Duration;

use assay_store::queue::{ClaimedTask, LeaseKind, Queue};
use assay_store::task::QueueName;

/// A lease time that never expires within a test.
const LONG: Duration = Duration::from_secs(3_600);

fn qa() -> QueueName {
    "qa".parse().unwrap()
}

fn claim(queue: &dyn Queue, agent: &str) -> Option<ClaimedTask> {
    let lease_kind = LeaseKind::ByTime(LONG);
    queue.claim(&qa(), &agent.parse().unwrap(), lease_kind, 1).unwrap().pop()
}
