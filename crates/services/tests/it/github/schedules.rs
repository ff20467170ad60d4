//! Random schedules of failures: whatever fails, each finding is visible exactly once.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Duration;

use assay_findings::post::{ReviewDraft, ReviewEvent};
use assay_services::post::{PostOutcome, PostReport};
use assay_testkit::github::{Fault, FaultTiming, ReviewView, sha};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CrashPayload, GithubFixture, REPO, diff_text, draft, finding, found};

/// The maximum number of attempts to post a draft, before the faults end.
const TRIES: usize = 40;

/// All transient faults.
const FAULTS: [Fault; 15] = [
    Fault::Invalid,
    Fault::ServerError,
    Fault::BadGateway(FaultTiming::BeforeEffect),
    Fault::BadGateway(FaultTiming::AfterEffect),
    Fault::Unavailable,
    Fault::SecondaryLimit { retry_after: Some(17) },
    Fault::SecondaryLimit { retry_after: None },
    Fault::Abuse,
    Fault::TooManyRequests { retry_after: Some(90) },
    Fault::TooManyRequests { retry_after: None },
    Fault::Cut(FaultTiming::BeforeEffect),
    Fault::Cut(FaultTiming::AfterEffect),
    Fault::Html(FaultTiming::AfterEffect),
    Fault::Truncated,
    Fault::Slow(Duration::from_secs(40)),
];

/// The findings of one review, by number.
type Round = BTreeSet<usize>;

#[derive(Debug, Clone)]
struct Schedule {
    seed: u64,
    one_in: u64,
    faults: Vec<Fault>,
    rounds: Vec<Round>,
    /// The numbers of requests after which the process crashes, one for each attempt.
    deaths: Vec<usize>,
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let round = proptest::collection::btree_set(0_usize..70, 0..45);
    (
        any::<u64>(),
        2_u64..9,
        proptest::sample::subsequence(FAULTS.to_vec(), 1..FAULTS.len()),
        proptest::collection::vec(round, 1..4),
        proptest::collection::vec(1_usize..30, 0..6),
    )
        .prop_map(|(seed, one_in, faults, rounds, deaths)| Schedule {
            seed,
            one_in,
            faults,
            rounds,
            deaths,
        })
}

/// Returns the finding with a number: on a line, on a file, or where no comment can be.
fn numbered(number: usize) -> Value {
    let line = u32::try_from(number).unwrap() + 1;
    let severity = ["CRITICAL", "HIGH", "MEDIUM", "LOW"][number % 4];
    let title = title(number);
    match number % 7 {
        5 => finding(&title, "b.txt", 40 + line, severity),
        6 => finding(&title, "elsewhere.rs", line, severity),
        _ => finding(&title, "src/a.rs", line.min(60), severity),
    }
}

/// Returns a title that occurs nowhere else.
fn title(number: usize) -> String {
    format!("Defect q{number}q is here")
}

/// Posts a draft until it succeeds, each time from where the last attempt stopped.
fn stand(
    fixture: &GithubFixture,
    draft: &ReviewDraft,
    deaths: &mut Vec<usize>,
) -> Result<PostReport, TestCaseError> {
    for _ in 0..TRIES {
        fixture.dies_after.store(deaths.pop().map_or(0, |after| after + 2), Ordering::Relaxed);
        match attempt(fixture, draft) {
            // The next attempt repairs what was not permitted.
            Some(Ok(standing)) if standing.not_permitted > 0 => {}
            Some(Ok(standing)) => return Ok(standing),
            Some(Err(_)) => fixture.clock.advance(Duration::from_secs(300)),
            None => {}
        }
    }
    fixture.dies_after.store(0, Ordering::Relaxed);
    fixture.github.stop_failing();
    fixture.clock.advance(Duration::from_secs(3_700));
    let last = attempt(fixture, draft);
    last.and_then(Result::ok).ok_or_else(|| TestCaseError::fail("it does not end"))
}

/// Posts a draft once. Returns `None` if the process crashed.
fn attempt(fixture: &GithubFixture, draft: &ReviewDraft) -> Option<Result<PostReport, String>> {
    let posting = || fixture.post(draft, &BTreeSet::new());
    match catch_unwind(AssertUnwindSafe(posting)) {
        Ok(Ok(PostOutcome::Posted(standing))) => Some(Ok(standing)),
        Ok(Ok(PostOutcome::Superseded(_))) => panic!("nobody else pushes"),
        Ok(Err(error)) => Some(Err(error.to_string())),
        Err(death) if death.is::<CrashPayload>() => None,
        Err(bug) => std::panic::resume_unwind(bug),
    }
}

/// Returns the number of times that a finding is shown: in open threads, in resolved threads, and
/// in the conversation.
fn count_shown(fixture: &GithubFixture, number: usize) -> (usize, usize, usize) {
    let title = title(number);
    let threads = fixture.github.threads(REPO, fixture.number);
    let own = threads.iter().filter(|thread| thread.comments[0].body.contains(&title));
    let (resolved, open): (Vec<_>, Vec<_>) = own.partition(|thread| thread.resolved_by.is_some());
    let below = fixture.github.comments(REPO, fixture.number);
    let below: usize = below.iter().map(|comment| comment.body.matches(&title).count()).sum();
    (open.len(), resolved.len(), below)
}

/// Adds a reply of a user to the first thread.
fn reply(fixture: &GithubFixture, round: usize) -> Option<String> {
    let threads = fixture.github.threads(REPO, fixture.number);
    let id = threads.first()?.comments[0].id;
    let text = format!("a person's word in round {round}");
    let target = format!("/repos/{REPO}/pulls/{}/comments/{id}/replies", fixture.number);
    fixture.github.ask("t-ann", "POST", &target, &json!({ "body": text }));
    Some(text)
}

fn play(schedule: Schedule) -> Result<(), TestCaseError> {
    let fixture = GithubFixture::new(schedule.seed);
    let (mut deaths, mut words, mut before) = (schedule.deaths, Vec::new(), Round::new());
    for (number, round) in schedule.rounds.iter().enumerate() {
        let head = sha(&format!("head {}", number + 1));
        if number > 0 {
            fixture.github.stop_failing();
            words.extend(reply(&fixture, number));
            fixture.clock.advance(Duration::from_secs(4_000));
            fixture.github.move_head(REPO, fixture.number, &head, &diff_text());
        }
        let seed = schedule.seed.wrapping_add(number as u64);
        fixture.github.fail_at_random(seed, schedule.one_in, &schedule.faults);
        let findings: Vec<Value> = round.iter().copied().map(numbered).collect();
        let draft = draft(&found(&findings), &head);
        stand(&fixture, &draft, &mut deaths)?;
        fixture.github.stop_failing();
        for number in round {
            let (open, resolved, below) = count_shown(&fixture, *number);
            prop_assert_eq!(
                (open + below, resolved),
                (1, 0),
                "{} in {}",
                number,
                fixture.visible()
            );
        }
        for number in before.difference(round) {
            let (open, _, below) = count_shown(&fixture, *number);
            prop_assert_eq!((open, below), (0, 0), "{} is gone: {}", number, fixture.visible());
        }
        let key = draft.key().as_str();
        let reviews = fixture.github.reviews(REPO, fixture.number);
        let verdicts = reviews.iter().filter(|review| review.body.contains(key)).count();
        prop_assert_eq!(verdicts, 1, "the verdict stands once");
        let misleads = |review: &&ReviewView| match review.state {
            "APPROVED" => review.commit != head && draft.event() != ReviewEvent::Approve,
            "CHANGES_REQUESTED" => {
                let approved = |it: &ReviewView| it.state == "APPROVED" && it.commit == head;
                draft.is_ready() && !reviews.iter().any(approved)
            }
            _ => false,
        };
        prop_assert_eq!(reviews.iter().find(misleads), None, "what is stale is taken back");
        before.extend(round);
    }
    let bodies = fixture.github.bodies(REPO, fixture.number);
    for word in &words {
        prop_assert_eq!(bodies.iter().filter(|body| *body == word).count(), 1);
    }
    let busiest = fixture.github.busiest();
    prop_assert!(busiest.minute <= 80 && busiest.hour <= 500, "{busiest:?}");
    Ok(())
}

/// Returns the configuration: a test run plays a few schedules, `cargo xtask soak posting` ten
/// thousand.
fn config() -> ProptestConfig {
    let cases = assay_testenv::cases(40);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn each_finding_is_visible_exactly_once_under_any_fault_schedule(schedule in schedules()) {
        play(schedule)?;
    }
}
