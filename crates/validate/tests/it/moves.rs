//! Tests of the transitions between states: every pair, through all possible events.

use assay_validate::ending::Ending;
use assay_validate::event::{Begun, Event, Left, Seen};
use assay_validate::standing::Standing;
use assay_validate::state::State;
use assay_validate::tree_hash::TreeHash;
use expect_test::expect;

use crate::stage;

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
    let reviewed = |seen| vec![Event::Reviewed { seen }];
    let ends = |ending| vec![Event::EndBegun { ending, papers: Left::default(), tree: None }];
    match word {
        "begin" => vec![Event::EpochBegun { why: Begun::First, base: None }],
        "review" => vec![Event::ReviewBegun { round: 1, tree: tree() }],
        "reject" => reviewed(Seen { issues: vec![stage::issue("x")], ..Seen::default() }),
        "await" => reviewed(Seen { needs_sign_off: true, ..Seen::default() }),
        "approve" => reviewed(Seen::default()),
        "fail" => vec![Event::Failed { why: "no answer".to_owned() }],
        "fix" => vec![
            Event::FixBegun { tree: tree(), request: String::new() },
            Event::FixMade { patch: stage::patch(0, 1), said: String::new() },
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

fn after(words: &[&str]) -> Standing {
    let mut standing = Standing::default();
    for event in words.iter().flat_map(|word| events(word)) {
        standing.take(AT, &event).unwrap();
    }
    standing
}

/// Returns the state after an event; `None` if the state does not change.
fn becomes(from: &[&str], word: &str) -> Option<String> {
    let mut standing = after(from);
    let before = standing.state.clone();
    for event in events(word) {
        if let Err(refused) = standing.take(AT, &event) {
            assert_eq!(refused.from, before.name());
            assert_eq!(standing.state, before, "what is refused changes nothing");
            return Some(format!("refused ({})", refused.to));
        }
    }
    (standing.state != before).then(|| standing.state.name().to_owned())
}

#[test]
fn every_move_that_is_not_in_the_table_is_refused() {
    let mut told = String::new();
    for (name, from) in STATES {
        assert_eq!(after(from).state.name(), name);
        told.push_str(&format!("{name}, after {}\n", from.last().unwrap()));
        for word in HAPPENS {
            let becomes = becomes(from, word).unwrap_or("stays".to_owned());
            told.push_str(&format!("  {word}: {becomes}\n"));
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
    .assert_eq(&told);
}

#[test]
fn a_new_epoch_begins_wherever_the_loop_stands() {
    let all = [
        (Begun::First, "pending"),
        (Begun::Changed, "pending"),
        (Begun::Feedback, "pending"),
        (Begun::Elsewhere, "pending"),
        (Begun::RequestDeleted, "fixes_applied"),
        (Begun::Resumed, "fixes_applied"),
        (Begun::TreeChanged, "fixes_applied"),
    ];
    for ((_, from), (why, to)) in STATES.iter().flat_map(|from| all.map(|to| (from, to))) {
        let mut standing = after(from);
        standing.take(AT, &Event::EpochBegun { why, base: None }).unwrap();
        assert_eq!(standing.state.name(), to);
        assert!(standing.epoch().is_empty() && standing.open.is_none());
    }
}

#[test]
fn a_review_shows_as_what_was_before_it() {
    let shown = |words: &[&str]| {
        let mut standing = after(words);
        let before = standing.exported().name();
        standing.take(AT, &events("review")[0]).unwrap();
        assert_eq!(standing.state, State::InReview);
        (before, standing.exported().name())
    };
    assert_eq!(shown(&["begin"]), ("pending", "pending"));
    assert_eq!(shown(&["begin", "review"]), ("pending", "pending"));
    assert_eq!(shown(&["begin", "review", "reject"]), ("rejected", "fixes_applied"));
    let fixed = ["begin", "review", "reject", "fix"];
    assert_eq!(shown(&fixed), ("fixes_applied", "fixes_applied"));
    let mut resumed = after(&["begin", "review", "reject", "hand over"]);
    resumed.take(AT, &Event::EpochBegun { why: Begun::Resumed, base: None }).unwrap();
    resumed.take(AT, &events("review")[0]).unwrap();
    assert_eq!(resumed.exported().name(), "fixes_applied");
}
