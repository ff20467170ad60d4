//! Tests that a loop, killed at any point, resumes from the stored state and ends in the same way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_validate::ending::{Ending, Limits};
use assay_validate::file_names::{self, ESCALATION, FIX_REQUEST};
use assay_validate::loop_state::LoopState;
use assay_validate::resume::ResumeAction;
use assay_validate::run::StepError;
use expect_test::{Expect, expect};

use crate::loop_simulation::{
    FixFn, LoopStorage, ReviewFn, SEAL, SPEC, SimulatedLoop, Snapshot, issue,
};

/// The stored state after all runs have ended.
#[derive(Debug, PartialEq)]
struct Outcome {
    ending: Ending,
    tree: u32,
    loop_state: LoopState,
    artifacts: BTreeMap<PathBuf, Vec<u8>>,
}

fn outcome(storage: &LoopStorage, ending: Ending) -> Outcome {
    let Snapshot { tree, files } = storage.snapshot();
    let is_artifact = |path: &PathBuf| path.extension().is_some_and(|it| it == "md");
    let artifacts = files.into_iter().filter(|(path, _)| is_artifact(path)).collect();
    Outcome { ending, tree, loop_state: storage.loop_state(), artifacts }
}

fn journal_at() -> PathBuf {
    Path::new(SPEC).join(file_names::JOURNAL)
}

/// Returns the lines of a journal, each with its digest.
fn lines(storage: &LoopStorage) -> Vec<(Vec<u8>, String)> {
    let bytes = &storage.snapshot().files[&journal_at()];
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec);
    let sealed = |line: Vec<u8>| {
        let entry: serde_json::Value = serde_json::from_slice(&line).unwrap();
        let chain = entry["chain"].as_str().unwrap().to_owned();
        (line, chain)
    };
    lines.map(sealed).collect()
}

/// Returns every world that a kill can leave at a line of the journal: before it, with the seal
/// alone, with a part of the line, and with the line but no consequence of it.
fn killed_at(before: &Snapshot, line: &[u8], seal: &str) -> Vec<(&'static str, Snapshot)> {
    let with = |seal: &str, part: &[u8]| {
        let mut killed = before.clone();
        let sealed = killed.files.entry(SEAL.into()).or_default();
        let last = String::from_utf8_lossy(sealed).lines().last().unwrap_or("").to_owned();
        *sealed = format!("{last}\n{seal}\n").into_bytes();
        killed.files.entry(journal_at()).or_default().extend(part);
        killed
    };
    vec![
        ("before", before.clone()),
        ("seal", with(seal, b"")),
        ("torn", with(seal, &line[..line.len() - 1])),
        ("line", with(seal, line)),
    ]
}

fn limits() -> Limits {
    Limits { errors: 5, ..Limits::default() }
}

fn check(needs_sign_off: bool, review: &ReviewFn<'_>, fix: &FixFn<'_>, expected: Expect) {
    let storage = LoopStorage::new();
    let simulation = SimulatedLoop {
        is_kept: true,
        needs_sign_off,
        limits: limits(),
        ..SimulatedLoop::new(&storage, review, fix)
    };
    let whole = outcome(&storage, simulation.take_up());
    let (lines, snapshots) = (lines(&storage), simulation.snapshots.take());
    assert_eq!(lines.len(), snapshots.len());
    for (number, ((line, seal), before)) in lines.iter().zip(&snapshots).enumerate() {
        for (point, killed) in killed_at(before, line, seal) {
            let again = LoopStorage::of(&killed);
            let simulation = SimulatedLoop {
                needs_sign_off,
                limits: limits(),
                ..SimulatedLoop::new(&again, review, fix)
            };
            let ended = outcome(&again, simulation.take_up());
            assert_eq!(ended, whole, "{point} of line {number}");
            assert_eq!(
                simulation.storage.opening(false),
                waits(&whole.ending),
                "{point} of {number}"
            );
        }
    }
    let (rounds, artifacts) = (whole.loop_state.round, whole.artifacts.len());
    let lines = lines.len();
    expected.assert_eq(&format!(
        "{} (tree {}, {rounds} rounds, {lines} lines, {artifacts} artifacts)",
        whole.ending.reason(),
        whole.tree,
    ));
}

fn waits(ending: &Ending) -> ResumeAction {
    match ending {
        Ending::Approved => ResumeAction::Approved,
        other => ResumeAction::Wait(other.clone()),
    }
}

#[test]
fn a_loop_is_approved_after_a_kill_at_any_point() {
    check(
        false,
        &|_| Ok(vec![]),
        &|it| Ok(it.tree + 5),
        expect!["all acceptance criteria are met (tree 10, 3 rounds, 21 lines, 0 artifacts)"],
    );
}

#[test]
fn a_loop_is_handed_over_after_a_kill_at_any_point() {
    check(
        false,
        &|_| Ok(vec![]),
        &|it| Ok(it.tree + 1),
        expect![
            "`Fails: unit` and 1 more recurred in 3 rounds (tree 2, 3 rounds, 21 lines, 2 artifacts)"
        ],
    );
    check(
        false,
        &|it| match it.round {
            2 => Err(StepError::Budget("2.50 USD".to_owned())),
            _ => Ok(vec![issue("nit")]),
        },
        &|it| Ok(it.tree + 10),
        expect!["the budget is used up: 2.50 USD (tree 10, 2 rounds, 13 lines, 2 artifacts)"],
    );
    check(
        true,
        &|_| Ok(vec![]),
        &|_| Ok(10),
        expect!["a person must sign off this tree (tree 10, 2 rounds, 14 lines, 2 artifacts)"],
    );
}

#[test]
fn errors_are_counted_after_a_kill_at_any_point() {
    check(
        false,
        &|it| match it.round % 3 {
            0 => Ok(vec![issue(&format!("a new thing, number {}", it.round))]),
            _ => Err(StepError::Round("garbage".to_owned())),
        },
        &|it| Ok(it.tree + 10),
        expect![
            "5 rounds failed, the last one with: garbage (tree 20, 7 rounds, 37 lines, 2 artifacts)"
        ],
    );
    check(
        false,
        &|_| Ok(vec![]),
        &|_| Err(StepError::Round("no keys".to_owned())),
        expect![
            "3 rounds failed, the last one with: no keys (tree 0, 1 rounds, 13 lines, 2 artifacts)"
        ],
    );
}

/// Runs until a kind of event is about to be written, and returns the world at that point.
fn killed_before(kind: &str, review: &ReviewFn<'_>, fix: &FixFn<'_>) -> LoopStorage {
    let storage = LoopStorage::new();
    let simulation = SimulatedLoop { is_kept: true, ..SimulatedLoop::new(&storage, review, fix) };
    simulation.run(None);
    let is_it = |line: &[u8]| {
        let entry: serde_json::Value = serde_json::from_slice(line).unwrap();
        entry["event"]["kind"] == kind
    };
    let number = lines(&storage).iter().position(|(line, _)| is_it(line)).unwrap();
    LoopStorage::of(&simulation.snapshots.borrow()[number])
}

#[test]
fn a_fix_whose_application_was_interrupted_is_applied_once() {
    let fix: &FixFn<'_> = &|it| Ok(it.tree + 10);
    let review: &ReviewFn<'_> = &|_| Ok(vec![]);
    for (tree, puts) in [(0, 1), (10, 0)] {
        let storage = killed_before("fixed", review, fix);
        assert_eq!(storage.tree.get(), 10, "it was in already");
        storage.tree.set(tree);
        let simulation = SimulatedLoop::new(&storage, review, fix);
        assert_eq!(simulation.take_up(), Ending::Approved);
        assert_eq!(
            (storage.tree.get(), simulation.puts.get(), simulation.fixes.get()),
            (10, puts, 0)
        );
    }
}

#[test]
fn a_fix_is_not_applied_to_a_tree_that_changed_after_the_kill() {
    let storage = killed_before("fixed", &|_| Ok(vec![]), &|it| Ok(it.tree + 10));
    storage.tree.set(3);
    let simulation = SimulatedLoop::new(&storage, &|_| Ok(vec![]), &|it| Ok(it.tree + 10));
    assert_eq!(simulation.take_up(), Ending::TreeMoved);
    assert_eq!((storage.tree.get(), simulation.puts.get()), (3, 0));
}

#[test]
fn a_completed_check_is_not_run_again_on_the_same_tree() {
    let storage = killed_before("reviewed", &|_| Ok(vec![]), &|_| Ok(10));
    let simulation = SimulatedLoop::new(&storage, &|_| Ok(vec![]), &|_| Ok(10));
    assert_eq!(simulation.take_up(), Ending::Approved);
    assert_eq!((simulation.checks.get(), simulation.reviews.get()), (2, 2));

    let storage = killed_before("reviewed", &|_| Ok(vec![]), &|_| Ok(10));
    storage.tree.set(1);
    let simulation = SimulatedLoop::new(&storage, &|_| Ok(vec![]), &|_| Ok(10));
    assert_eq!(simulation.take_up(), Ending::Approved);
    assert_eq!(simulation.checks.get(), 4, "on another tree they are");
}

#[test]
fn artifacts_missing_after_a_kill_are_written_and_not_treated_as_deleted() {
    let storage = killed_before("ended", &|_| Ok(vec![]), &|it| Ok(it.tree));
    for name in [FIX_REQUEST, ESCALATION] {
        std::fs::remove_file(storage.artifact_path(name)).unwrap();
    }
    assert_eq!(storage.opening(false), ResumeAction::Continue);
    let simulation = SimulatedLoop::new(&storage, &|_| Ok(vec![]), &|it| Ok(it.tree));
    assert!(matches!(simulation.take_up(), Ending::Recurring { .. }));
    assert_eq!((simulation.reviews.get(), simulation.fixes.get()), (0, 0));
    assert!(
        storage.artifact_path(FIX_REQUEST).exists() && storage.artifact_path(ESCALATION).exists()
    );
    assert!(matches!(storage.opening(false), ResumeAction::Wait(Ending::Recurring { .. })));
}
