//! Tests of the transitions between states: every pair, through all possible events.

use assay_validate::ending::Ending;
use assay_validate::event::{ArtifactDigests, EpochReason, Event, ReviewResult};
use assay_validate::loop_state::LoopState;
use assay_validate::loop_status::LoopStatus;
use assay_validate::tree_hash::TreeHash;
use expect_test::expect;

use crate::loop_simulation;

const AT: &str = "2026-01-01T00:00:00Z";

/// The states, each with the events that lead to it from the beginning.
const STATES: [(&str, &[&str]); 8] = [
    ("pending", &["begin"]),
    ("in_review", &["begin", "review"]),
    ("rejected", &["begin", "review", "reject"]),
    ("fixes_applied", &["begin", "review", "reject", "fix"]),
    ("approved", &["begin", "review", "approve"]),
    ("human_escalation", &["begin", "review", "reject", "hand over"]),
    ("human_escalation", &["begin", "review", "await"]),
    ("error", &["begin", "review", "reject", "give up"]),
];

/// All events except for a new epoch.
const HAPPENS: [&str; 11] = [
    "review", "reject", "await", "approve", "fail", "fix", "feedback", "sign", "hand over",
    "give up", "end approved",
];

fn events(word: &str) -> Vec<Event> {
    let tree = || TreeHash("tree".to_owned());
    let reviewed = |review| vec![Event::Reviewed { review }];
    let ends = |ending| {
        vec![Event::EndBegun { ending, artifacts: ArtifactDigests::default(), tree: None }]
    };
    match word {
        "begin" => vec![Event::EpochBegun { why: EpochReason::First, base: None }],
        "review" => vec![Event::ReviewBegun { round: 1, tree: tree() }],
        "reject" => reviewed(ReviewResult {
            issues: vec![loop_simulation::issue("x")],
            ..ReviewResult::default()
        }),
        "await" => reviewed(ReviewResult { needs_sign_off: true, ..ReviewResult::default() }),
        "approve" => reviewed(ReviewResult::default()),
        "fail" => vec![Event::Failed { why: "no answer".to_owned() }],
        "fix" => vec![
            Event::FixBegun { tree: tree(), request: String::new() },
            Event::FixMade { patch: loop_simulation::patch(0, 1), summary: String::new() },
            Event::Fixed { tree: TreeHash("another".to_owned()) },
        ],
        "feedback" => {
            let (digest, archived) = ("digest".to_owned(), "QA_FEEDBACK.md".to_owned());
            vec![Event::FeedbackTaken { items: Vec::new(), digest, archived }]
        }
        "sign" => vec![Event::SignedOff { by: "Jo".to_owned(), tree: tree() }],
        "hand over" => ends(Ending::NoProgress { rounds: 3 }),
        "give up" => ends(Ending::Errors { errors: 3, last: String::new() }),
        "end approved" => ends(Ending::Approved),
        other => panic!("`{other}`"),
    }
}

fn after(words: &[&str]) -> LoopState {
    let mut loop_state = LoopState::default();
    for event in words.iter().flat_map(|word| events(word)) {
        loop_state.apply(AT, &event).unwrap();
    }
    loop_state
}

/// Returns the state after an event; `None` if the state does not change.
fn becomes(from: &[&str], word: &str) -> Option<String> {
    let mut loop_state = after(from);
    let before = loop_state.state.clone();
    for event in events(word) {
        if let Err(refused) = loop_state.apply(AT, &event) {
            assert_eq!(refused.from, before.name());
            assert_eq!(loop_state.state, before, "what is refused changes nothing");
            return Some(format!("refused ({})", refused.to));
        }
    }
    (loop_state.state != before).then(|| loop_state.state.name().to_owned())
}

#[test]
fn every_event_in_every_state_matches_the_transition_table() {
    let mut table = String::new();
    for (name, from) in STATES {
        assert_eq!(after(from).state.name(), name);
        table.push_str(&format!("{name}, after {}\n", from.last().unwrap()));
        for word in HAPPENS {
            let becomes = becomes(from, word).unwrap_or("stays".to_owned());
            table.push_str(&format!("  {word}: {becomes}\n"));
        }
    }
    expect![[r#"
        pending, after begin
          review: in_review
          reject: stays
          await: stays
          approve: stays
          fail: stays
          fix: refused (fixes_applied)
          feedback: rejected
          sign: stays
          hand over: human_escalation
          give up: error
          end approved: refused (approved)
        in_review, after review
          review: stays
          reject: rejected
          await: human_escalation
          approve: approved
          fail: pending
          fix: refused (fixes_applied)
          feedback: rejected
          sign: stays
          hand over: human_escalation
          give up: error
          end approved: refused (approved)
        rejected, after reject
          review: in_review
          reject: stays
          await: stays
          approve: stays
          fail: stays
          fix: fixes_applied
          feedback: refused (rejected)
          sign: stays
          hand over: human_escalation
          give up: error
          end approved: refused (approved)
        fixes_applied, after fix
          review: in_review
          reject: stays
          await: stays
          approve: stays
          fail: stays
          fix: refused (fixes_applied)
          feedback: refused (rejected)
          sign: stays
          hand over: human_escalation
          give up: error
          end approved: refused (approved)
        approved, after approve
          review: refused (in_review)
          reject: stays
          await: stays
          approve: stays
          fail: stays
          fix: refused (fixes_applied)
          feedback: refused (rejected)
          sign: stays
          hand over: refused (human_escalation)
          give up: refused (error)
          end approved: stays
        human_escalation, after hand over
          review: refused (in_review)
          reject: stays
          await: stays
          approve: stays
          fail: stays
          fix: refused (fixes_applied)
          feedback: refused (rejected)
          sign: stays
          hand over: stays
          give up: refused (error)
          end approved: refused (approved)
        human_escalation, after await
          review: refused (in_review)
          reject: stays
          await: stays
          approve: stays
          fail: stays
          fix: refused (fixes_applied)
          feedback: refused (rejected)
          sign: approved
          hand over: refused (human_escalation)
          give up: refused (error)
          end approved: refused (approved)
        error, after give up
          review: refused (in_review)
          reject: stays
          await: stays
          approve: stays
          fail: stays
          fix: refused (fixes_applied)
          feedback: refused (rejected)
          sign: stays
          hand over: refused (human_escalation)
          give up: stays
          end approved: refused (approved)
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_new_epoch_can_begin_in_every_state_of_the_loop() {
    let all = [
        (EpochReason::First, "pending"),
        (EpochReason::Changed, "pending"),
        (EpochReason::Feedback, "pending"),
        (EpochReason::Elsewhere, "pending"),
        (EpochReason::RequestDeleted, "fixes_applied"),
        (EpochReason::Resumed, "fixes_applied"),
        (EpochReason::TreeChanged, "fixes_applied"),
    ];
    for ((_, from), (why, to)) in STATES.iter().flat_map(|from| all.map(|to| (from, to))) {
        let mut loop_state = after(from);
        loop_state.apply(AT, &Event::EpochBegun { why, base: None }).unwrap();
        assert_eq!(loop_state.state.name(), to);
        assert!(loop_state.epoch().is_empty() && loop_state.open.is_none());
    }
}

#[test]
fn a_review_in_progress_is_exported_as_pending_or_fixes_applied() {
    let shown = |words: &[&str]| {
        let mut loop_state = after(words);
        let before = loop_state.signoff_status().name();
        loop_state.apply(AT, &events("review")[0]).unwrap();
        assert_eq!(loop_state.state, LoopStatus::InReview);
        (before, loop_state.signoff_status().name())
    };
    assert_eq!(shown(&["begin"]), ("pending", "pending"));
    assert_eq!(shown(&["begin", "review"]), ("pending", "pending"));
    assert_eq!(shown(&["begin", "review", "reject"]), ("rejected", "fixes_applied"));
    let fixed = ["begin", "review", "reject", "fix"];
    assert_eq!(shown(&fixed), ("fixes_applied", "fixes_applied"));
    let mut resumed = after(&["begin", "review", "reject", "hand over"]);
    resumed.apply(AT, &Event::EpochBegun { why: EpochReason::Resumed, base: None }).unwrap();
    resumed.apply(AT, &events("review")[0]).unwrap();
    assert_eq!(resumed.signoff_status().name(), "fixes_applied");
}
