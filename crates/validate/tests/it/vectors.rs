//! The collected cases of how a loop begins, continues and ends, each with a name.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use assay_validate::ending::{Ending, Limits};
use assay_validate::event::{ArtifactDigests, EpochReason, Event, ReviewResult};
use assay_validate::export::Exporter;
use assay_validate::file_names::FIX_REQUEST;
use assay_validate::loop_state::{LoopState, Round, RoundOutcome};
use assay_validate::plan::{self, HistoryEntry, ImplementationPlan, Signoff, Stats};
use assay_validate::resume::ResumeAction;
use assay_validate::run::StepError;
use assay_validate::spec::Spec;
use assay_validate::step::Step;
use serde_json::{Value, json};

use crate::loop_simulation::{self, FixFn, LoopStorage, ReviewFn, SimulatedLoop, StepCall, hash};

const LOOP: &str = include_str!("../fixtures/vectors/loop.json");

const AREAS: [&str; 5] =
    ["build_complete", "readiness", "signoff_update", "signoff_transition", "termination"];

/// The tests that cover the cases of all other areas.
const ELSEWHERE: [(&str, &str); 16] = [
    ("acceptance_criteria", "spec, manual_plan"),
    ("backoff", "models: retries"),
    ("cli", "assay: qa"),
    ("coverage", "checks: coverage"),
    ("coverage_path_pattern", "checks: coverage_paths"),
    ("no_test_project", "checks: discovery; ground_tests"),
    ("normalize_key", "findings: vectors"),
    ("pattern", "rules"),
    ("recovery_metrics", "metrics"),
    ("recurring", "findings: vectors; run"),
    ("risk", "plan; checks: required"),
    ("sequence_ratio", "findings: vectors"),
    ("similarity", "findings: vectors"),
    ("summary", "plan, status"),
    ("test_discovery", "checks: discovery"),
    ("validation_strategy", "checks: required"),
];

fn cases(area: &str) -> Vec<Value> {
    let mut cases: Vec<Value> = serde_json::from_str(LOOP).unwrap();
    cases.retain(|case| case["area"] == area);
    assert!(!cases.is_empty(), "no case of {area}");
    cases
}

fn words(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().map(|word| word.as_str().unwrap()).collect()
}

fn check(area: &str, actual: impl Fn(&Value) -> Value) {
    for case in cases(area) {
        assert_eq!(actual(&case["given"]), case["want"], "{}: {}", case["id"], case["about"]);
    }
}

#[test]
fn every_area_of_the_cases_is_tested() {
    let all: Vec<Value> = serde_json::from_str(LOOP).unwrap();
    let here: BTreeSet<&str> = all.iter().map(|case| case["area"].as_str().unwrap()).collect();
    assert_eq!(here, AREAS.into_iter().collect());
    assert!(ELSEWHERE.iter().all(|(area, _)| !here.contains(area)));
    let names: BTreeSet<&str> = all.iter().map(|case| case["id"].as_str().unwrap()).collect();
    assert_eq!(names.len(), all.len());
}

#[test]
fn a_build_is_complete_as_the_cases_say() {
    check("build_complete", |given| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(plan::NAME);
        given["plan"].as_str().into_iter().for_each(|text| fs::write(&path, text).unwrap());
        let plan = ImplementationPlan::read(&path);
        let complete = plan.as_ref().is_ok_and(ImplementationPlan::is_complete);
        json!({ "complete": complete, "error": plan.is_err() })
    });
}

const AT: &str = "2026-01-01T00:00:00Z";

/// Returns the events that a word represents, in a world whose tree is 10.
fn events(word: &str, round: &Cell<u32>) -> Vec<Event> {
    let tree = || hash(10);
    match word {
        "review" => {
            // A review that restarts before the round has a result is of the same round.
            vec![Event::ReviewBegun { round: round.get(), tree: tree() }]
        }
        "reject" => {
            round.set(round.get() + 1);
            let issues = vec![loop_simulation::issue("t")];
            vec![Event::Reviewed { review: ReviewResult { issues, ..ReviewResult::default() } }]
        }
        "approve" => vec![Event::Reviewed { review: ReviewResult::default() }],
        "fail" => vec![Event::Failed { why: "no answer".to_owned() }],
        "fix" => vec![
            Event::FixBegun { tree: tree(), request: String::new() },
            Event::FixMade { patch: loop_simulation::patch(9, 10), summary: String::new() },
            Event::Fixed { tree: tree() },
        ],
        "hand over" => {
            let ending = Ending::Recurring { issues: vec![(loop_simulation::issue("t"), 3)] };
            vec![Event::EndBegun { ending, artifacts: ArtifactDigests::default(), tree: None }]
        }
        "ended" => vec![Event::Ended],
        other => panic!("`{other}`"),
    }
}

/// Returns a world with the given events.
fn happened(given: &Value) -> LoopStorage {
    let storage = LoopStorage::new();
    storage.tree.set(10);
    let mut journal = storage.journal();
    let round = Cell::new(1);
    let first_event = vec![Event::EpochBegun { why: EpochReason::First, base: None }];
    let all = words(&given["happened"]).into_iter().flat_map(|word| events(word, &round));
    for event in first_event.into_iter().chain(all) {
        journal.add(AT, event).unwrap();
    }
    drop(journal);
    storage
}

#[test]
fn a_run_begins_as_the_cases_say() {
    check("readiness", |given| {
        let storage = happened(given);
        let loop_state = storage.loop_state();
        let opens = match storage.opening(false) {
            ResumeAction::Continue => "goes on",
            ResumeAction::BeginEpoch(_) => "begins anew",
            ResumeAction::Approved => "approved",
            ResumeAction::Wait(_) => "waits",
        };
        let next = match loop_state.next_step(&Limits::default()) {
            Step::Review => "review",
            Step::Fix(_) => "fix",
            Step::ApplyPatch { .. } => "put in",
            Step::End(_) => "end",
        };
        json!({ "opens": opens, "next": next, "round": loop_state.round })
    });
}

#[test]
fn a_sign_off_is_exported_as_the_cases_say() {
    check("signoff_update", |given| {
        let plan = given["plan"].as_str().unwrap_or("{}").to_owned();
        let plan = ImplementationPlan::parse(plan).unwrap();
        let spec = Spec::parse(Path::new(loop_simulation::SPEC), "", &plan).unwrap();
        let loop_state = happened(given).loop_state();
        let status = Exporter { spec: &spec, loop_state: &loop_state }.status();
        let signoff = Signoff {
            status: loop_state.signoff_status(),
            qa_session: status.qa_sessions,
            timestamp: status.last_check.clone().unwrap_or_default(),
            tests_passed: None,
            issues_found: status.issues_found.clone(),
            recurring_issues: Vec::new(),
            escalation_reason: None,
        };
        let history: [HistoryEntry; 0] = [];
        let written = plan.with_export(&signoff, &history, &Stats::of(&history));
        assert_eq!(ImplementationPlan::parse(written).unwrap().signoff(), Some(signoff));
        let titles = status.issues_found.iter().map(|issue| issue.title.as_str());
        json!({
            "status": status.status,
            "qa_sessions": status.qa_sessions,
            "titles": titles.collect::<Vec<&str>>(),
        })
    });
}

/// Returns a reviewer that follows a script, round by round; the last word is repeated.
fn scripted<'a>(script: &'a [&'a str], before: u32) -> impl Fn(StepCall) -> Reviewed + 'a {
    move |StepCall { round, .. }: StepCall| {
        let at = (round.saturating_sub(before + 1)) as usize;
        let word = match script {
            // A script of two errors and a rejection is repeated as a whole.
            [_, _, "reject:new"] => script[at % 3],
            _ => script[at.min(script.len() - 1)],
        };
        match word {
            "approve" => Ok(Vec::new()),
            "silent" | "garbage" => Err(StepError::Round("it says nothing".to_owned())),
            "reject:new" => {
                Ok(vec![loop_simulation::issue(&format!("nit {round} of the {round}th kind"))])
            }
            other => Ok(vec![loop_simulation::issue(other.strip_prefix("reject:").unwrap())]),
        }
    }
}

type Reviewed = Result<Vec<assay_validate::issue::Issue>, StepError>;

fn fixer(word: &str) -> &'static FixFn<'static> {
    match word {
        "apply" => &|it| Ok(it.tree + 1),
        "silent" => &|it| Ok(it.tree),
        "raise" => &|_| Err(StepError::Round("it broke".to_owned())),
        other => panic!("`{other}`"),
    }
}

/// Brings a world into the initial state of a case.
fn start(storage: &LoopStorage, words: &[&str]) {
    storage.tree.set(10);
    for word in words {
        match *word {
            "approved" => {
                let simulation = SimulatedLoop::new(storage, &|_| Ok(vec![]), fixer("apply"));
                assert_eq!(simulation.take_up(), Ending::Approved);
            }
            "feedback" => fs::write(storage.artifact_path(FIX_REQUEST), "- It is slow.\n").unwrap(),
            "49 rounds" => rounds(storage, 49),
            other => panic!("`{other}`"),
        }
    }
}

/// Runs a number of rounds and stops there.
fn rounds(storage: &LoopStorage, number: u32) {
    let review = |it: StepCall| match it.round > number {
        true => Err(StepError::Fatal("stopped".to_owned())),
        false => scripted(&["reject:new"], 0)(it),
    };
    let simulation = SimulatedLoop::new(storage, &review, fixer("apply"));
    assert!(matches!(simulation.try_run(None), Err(StepError::Fatal(_))));
}

#[test]
fn statuses_follow_each_other_as_the_cases_say() {
    for case in cases("signoff_transition") {
        let storage = LoopStorage::new();
        start(&storage, &[]);
        let script = words(&case["given"]["review"]);
        let review = scripted(&script, 0);
        let simulation =
            SimulatedLoop::new(&storage, &review, fixer(case["given"]["fix"].as_str().unwrap()));
        simulation.take_up();
        let statuses = [&["pending"], simulation.exported.borrow().as_slice()].concat();
        let wanted = (&case["want"]["from"], &case["want"]["to"]);
        let is_there = statuses.windows(2).any(|pair| wanted == (&json!(pair[0]), &json!(pair[1])));
        assert!(is_there, "{}: {statuses:?}", case["id"]);
    }
}

#[test]
fn a_loop_ends_as_the_cases_say() {
    check("termination", |given| {
        let storage = LoopStorage::new();
        start(&storage, &words(&given["start"]));
        let script = words(&given["review"]);
        // A round in progress is continued.
        let before = storage.loop_state();
        let before = before.round - u32::from(before.open.is_some());
        let review: &ReviewFn<'_> = &scripted(&script, before);
        let simulation =
            SimulatedLoop::new(&storage, review, fixer(given["fix"].as_str().unwrap()));
        let ending = serde_json::to_value(simulation.take_up()).unwrap();
        let artifacts = storage.snapshot().files.into_keys();
        let artifacts: Vec<String> = artifacts
            .filter(|path| path.extension().is_some_and(|it| it == "md"))
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        json!({
            "ending": ending["ending"],
            "reviews": simulation.reviews.get(),
            "fixes": simulation.fixes.get(),
            "history": history(&storage.loop_state()),
            "papers": artifacts,
        })
    });
}

/// Returns the outcomes of the rounds, or their number if there are many.
fn history(loop_state: &LoopState) -> Value {
    let word = |round: &Round| match &round.outcome {
        RoundOutcome::Error(_) => "error",
        RoundOutcome::Verdict(review) if review.issues.is_empty() => "approved",
        RoundOutcome::Verdict(_) => "rejected",
    };
    match loop_state.history.len() {
        0..10 => loop_state.history.iter().map(word).collect(),
        many => json!(many),
    }
}
