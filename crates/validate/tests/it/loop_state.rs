//! Tests of the state of a loop and its next step.

use assay_validate::ending::{Ending, Limits};
use assay_validate::event::{ArtifactDigests, EpochReason, Event, ReviewResult};
use assay_validate::issue::Issue;
use assay_validate::loop_state::LoopState;
use assay_validate::step::Step;
use assay_validate::tree_hash::TreeHash;
use expect_test::{Expect, expect};

use crate::loop_simulation;

fn issue(words: &str) -> Issue {
    let (title, file) = words.split_once('@').unwrap_or((words, ""));
    let file = Some(file.to_owned()).filter(|file| !file.is_empty());
    Issue { file, ..loop_simulation::issue(title) }
}

/// Parses events: `begin`, `review TREE`, `reject ISSUE, ISSUE`, `approve`, `fail WHY`, `fix TREE
/// TREE`, `resume`.
fn events(text: &str) -> Vec<Event> {
    let mut round = 0;
    let mut event = |line: &str| {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let tree = |name: &str| TreeHash(name.to_owned());
        match word {
            "begin" => vec![Event::EpochBegun { why: EpochReason::First, base: None }],
            "resume" => vec![Event::EpochBegun { why: EpochReason::Resumed, base: None }],
            "review" => {
                round += 1;
                vec![Event::ReviewBegun { round, tree: tree(rest) }]
            }
            "reject" => {
                let issues = rest.split(", ").map(issue).collect();
                vec![Event::Reviewed { review: ReviewResult { issues, ..ReviewResult::default() } }]
            }
            "approve" => vec![Event::Reviewed { review: ReviewResult::default() }],
            "fail" => vec![Event::Failed { why: rest.to_owned() }],
            "fix" => {
                let (from, to) = rest.split_once(' ').unwrap();
                let summary = "done".to_owned();
                vec![
                    Event::FixBegun { tree: tree(from), request: "digest".to_owned() },
                    Event::FixMade { patch: loop_simulation::patch(0, 1), summary },
                    Event::Fixed { tree: tree(to) },
                ]
            }
            other => panic!("`{other}`"),
        }
    };
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.flat_map(&mut event).collect()
}

fn after(text: &str) -> LoopState {
    let mut loop_state = LoopState::default();
    for event in events(text) {
        loop_state.apply("2026-01-01T00:00:00Z", &event).unwrap();
    }
    loop_state
}

fn check(text: &str, expected: Expect) {
    let loop_state = after(text);
    let next = match loop_state.next_step(&Limits::default()) {
        Step::Review => "review".to_owned(),
        Step::Fix(issues) => format!("fix {}", issues.len()),
        Step::ApplyPatch { .. } => "put in".to_owned(),
        Step::End(ending) => format!("end: {}", ending.reason()),
    };
    expected.assert_eq(&format!("{}, {next}", loop_state.state.name()));
}

#[test]
fn a_loop_alternates_between_review_and_fix_until_approval() {
    check("begin", expect!["pending, review"]);
    check("begin\nreview a", expect!["in_review, review"]);
    check("begin\nreview a\nreject x, y", expect!["rejected, fix 2"]);
    check("begin\nreview a\nreject x\nfix a b", expect!["fixes_applied, review"]);
    check(
        "begin\nreview a\nreject x\nfix a b\nreview b\napprove",
        expect!["approved, end: all acceptance criteria are met"],
    );
}

#[test]
fn an_issue_that_recurs_in_three_rounds_ends_the_loop() {
    check(
        "begin\nreview a\nreject Missing error handling@api.py, p\nfix a b\nreview b
         reject Error: Missing error handling@api.py, q\nfix b c\nreview c
         reject missing error handling@api.py, r",
        expect!["rejected, end: `missing error handling` recurred in 3 rounds"],
    );
}

#[test]
fn an_issue_that_recurs_in_every_other_round_ends_the_loop() {
    let mut text = "begin\n".to_owned();
    for round in 0..5 {
        let issue = if round % 2 == 0 { "uses tabs@a.py" } else { "uses spaces@a.py" };
        text += &format!("review t{round}\nreject {issue}\n");
        if round < 4 {
            text += &format!("fix t{round} t{}\n", round + 1);
        }
    }
    check(&text, expect!["rejected, end: `uses tabs` recurred in 3 rounds"]);
}

#[test]
fn consecutive_and_scattered_errors_end_the_loop() {
    check("begin\nreview a\nfail x\nreview a\nfail y", expect!["pending, review"]);
    check(
        "begin\nreview a\nfail x\nreview a\nfail y\nreview a\nfail z",
        expect!["pending, end: 3 rounds failed, the last one with: z"],
    );
    let in_between: String = (0..5)
        .map(|n| {
            format!(
                "review a\nfail x\nreview a\nfail y\nreview a\nreject new {n}@f{n}\nfix a b{n}\n"
            )
        })
        .collect();
    check(
        &format!("begin\n{in_between}"),
        expect!["fixes_applied, end: 10 rounds failed, the last one with: y"],
    );
}

#[test]
fn a_new_issue_in_every_round_ends_the_loop_at_the_round_limit() {
    let nits: String = (0..50)
        .map(|n| format!("review t{n}\nreject nit number {n}@file{n}.rs\nfix t{n} t{}\n", n + 1))
        .collect();
    check(
        &format!("begin\n{nits}"),
        expect!["fixes_applied, end: the limit of 50 rounds is reached"],
    );
}

#[test]
fn rounds_without_a_change_or_with_the_same_failures_end_the_loop() {
    let limits = Limits { recurring: usize::MAX, ..Limits::default() };
    let next = |text: &str| match after(text).next_step(&limits) {
        Step::End(ending) => ending.reason(),
        other => format!("{other:?}"),
    };
    let idle = "review a\nreject x@f\nfix a a\n";
    assert_eq!(next(&format!("begin\n{}", idle.repeat(2))), "Review");
    expect!["no progress in 3 rounds"].assert_eq(&next(&format!("begin\n{}", idle.repeat(3))));
    let same: String =
        (0..4).map(|n| format!("review t{n}\nreject x@f\nfix t{n} t{}\n", n + 1)).collect();
    expect!["no progress in 3 rounds"].assert_eq(&next(&format!("begin\n{same}")));
}

#[test]
fn a_new_epoch_resets_the_counters_and_keeps_the_history() {
    let ended = "begin\nreview a\nfail x\nreview a\nfail y\nreview a\nfail z\n";
    check(&format!("{ended}resume"), expect!["fixes_applied, review"]);
    let loop_state = after(&format!("{ended}resume\nreview b\nreject x"));
    assert_eq!((loop_state.round, loop_state.history.len()), (4, 4));
}

#[test]
fn an_ended_loop_keeps_its_ending_and_artifacts() {
    let mut loop_state = after("begin\nreview a\nreject x");
    let ending = Ending::NoProgress { rounds: 3 };
    let request = Some("digest".to_owned());
    let artifacts = ArtifactDigests { request: request.clone(), escalation: None };
    for event in [Event::EndBegun { ending: ending.clone(), artifacts, tree: None }, Event::Ended] {
        assert!(!loop_state.has_ended);
        loop_state.apply("2026-01-01T00:00:00Z", &event).unwrap();
    }
    assert_eq!(loop_state.next_step(&Limits::default()), Step::End(ending));
    assert_eq!((loop_state.has_ended, &loop_state.artifacts.request), (true, &request));
    assert!(loop_state.knows_artifact("digest"));
}
