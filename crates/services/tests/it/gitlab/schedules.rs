//! Random schedules of failures and crashes: whatever fails, each finding is visible exactly once.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use assay_findings::post::ReviewDraft;
use assay_services::post::PostOutcome;
use assay_testkit::gitlab::Fault;
use proptest::prelude::*;
use serde_json::Value;

use super::{CrashPayload, GitLabFixture, draft, version};
use crate::github::{finding, found};

/// The maximum number of attempts to post a draft, before the faults end.
const MAX_ATTEMPTS: usize = 40;

/// All transient faults.
const FAULTS: [Fault; 7] = [
    Fault::Before(500),
    Fault::Before(502),
    Fault::After(500),
    Fault::After(502),
    Fault::CutBefore,
    Fault::CutAfter,
    Fault::Limit(17),
];

type Round = BTreeSet<usize>;

#[derive(Debug, Clone)]
struct Schedule {
    seed: u64,
    one_in: u64,
    rounds: Vec<Round>,
    /// The numbers of requests after which the process crashes, one for each attempt.
    crashes: Vec<usize>,
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let round = proptest::collection::btree_set(0_usize..40, 0..25);
    (
        any::<u64>(),
        3_u64..12,
        proptest::collection::vec(round, 1..4),
        proptest::collection::vec(1_usize..30, 0..6),
    )
        .prop_map(|(seed, one_in, rounds, crashes)| Schedule { seed, one_in, rounds, crashes })
}

fn title(number: usize) -> String {
    format!("Defect q{number}q is here")
}

/// Returns the finding with a number: on a line, on a file, or where no comment can be.
fn numbered(number: usize) -> Value {
    let line = u32::try_from(number).unwrap() + 1;
    match number % 7 {
        5 => finding(&title(number), "src/new.rs", 400 + line, "HIGH"),
        6 => finding(&title(number), "elsewhere.rs", line, "HIGH"),
        _ => finding(&title(number), "b.txt", line, "HIGH"),
    }
}

/// Posts a draft until it succeeds, each time from where the last attempt stopped.
fn post_until_done(
    fixture: &GitLabFixture,
    draft: &ReviewDraft,
    crashes: &mut Vec<usize>,
) -> Result<(), TestCaseError> {
    for attempt in 0..=MAX_ATTEMPTS {
        if attempt == MAX_ATTEMPTS {
            fixture.gitlab.stop_failing();
        }
        let countdown = crashes.pop().map_or(0, |after| after + 2);
        fixture.dies_after.store(countdown, Ordering::Relaxed);
        match catch_unwind(AssertUnwindSafe(|| fixture.post(draft))) {
            Ok(Ok(PostOutcome::Posted(report))) if report.not_permitted == 0 => return Ok(()),
            Ok(Ok(PostOutcome::Posted(_)) | Err(_)) => {}
            Ok(Ok(PostOutcome::Superseded(_))) => return Err(TestCaseError::fail("superseded")),
            Err(crash) if crash.is::<CrashPayload>() => {}
            Err(bug) => std::panic::resume_unwind(bug),
        }
        fixture.now.fetch_add(300_000, Ordering::Relaxed);
    }
    Err(TestCaseError::fail("posting does not end"))
}

/// Returns the number of times that a finding is shown: in open discussions, in resolved ones, and
/// in the conversation.
fn count_shown(fixture: &GitLabFixture, number: usize) -> (usize, usize, usize) {
    let title = title(number);
    let (mut open, mut resolved, mut below) = (0, 0, 0);
    for discussion in fixture.gitlab.discussions(fixture.number) {
        let count = discussion.notes[0].body.matches(&title).count().min(1);
        match (discussion.position.is_null(), discussion.resolved_by) {
            (true, _) => below += count,
            (false, None) => open += count,
            (false, Some(_)) => resolved += count,
        }
    }
    (open, resolved, below)
}

fn play(schedule: Schedule) -> Result<(), TestCaseError> {
    let fixture = GitLabFixture::new();
    let (mut crashes, mut before) = (schedule.crashes, Round::new());
    for (number, round) in (1..).zip(&schedule.rounds) {
        fixture.gitlab.push(fixture.number, &version(number));
        fixture.gitlab.fail_at_random(schedule.seed ^ u64::from(number), schedule.one_in, &FAULTS);
        let findings: Vec<Value> = round.iter().copied().map(numbered).collect();
        post_until_done(&fixture, &draft(&found(&findings), number), &mut crashes)?;
        fixture.gitlab.stop_failing();
        for number in round {
            let (open, resolved, below) = count_shown(&fixture, *number);
            prop_assert_eq!((open + below, resolved), (1, 0), "finding {}", number);
        }
        for number in before.difference(round) {
            let (open, _, below) = count_shown(&fixture, *number);
            prop_assert_eq!((open, below), (0, 0), "finding {} is gone", number);
        }
        let is_approved = !fixture.gitlab.approved_by(fixture.number).is_empty();
        prop_assert_eq!(is_approved, round.is_empty(), "the approval fits the change");
        before.extend(round);
    }
    Ok(())
}

fn config() -> ProptestConfig {
    let cases = assay_testenv::cases(40);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn each_finding_is_visible_exactly_once_on_gitlab_under_any_fault_schedule(schedule in schedules()) {
        play(schedule)?;
    }
}
