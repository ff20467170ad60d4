//! Tests of running a gate from end to end, with a fixer.

use std::cell::{Cell, RefCell};
use std::path::Path;

use assay_gates::blocking_policy::{BlockingPolicy, ChecklistPolicy};
use assay_gates::digest::Digest;
use assay_gates::gate::{Gate, GateError, IfExists, NewItem};
use assay_gates::gate_store::GateStore;
use assay_gates::guide::Instruction;
use assay_gates::item::{Item, Severity};
use assay_gates::phase::Phase;
use assay_gates::plan::Plan;
use assay_gates::result::CheckResult;
use assay_gates::run::{FixPolicy, GateEnvironment, GateObserver, RunEnding, RunResult, run};
use assay_gates::subject::Subject;
use assay_gates::verifier::{Judge, Verifiers};
use assay_gates::verify::GateVerification;
use expect_test::expect;
use tempfile::TempDir;

use crate::answers::handed_in;
use crate::files::Files;

/// A policy in which everything blocks, and that allows lists without the built-in checklist.
const STRICT: BlockingPolicy =
    BlockingPolicy { built_in: ChecklistPolicy::Optional, ..BlockingPolicy::STRICT };

/// A judge that passes a plan with the text `good`.
struct ReaderPolicy;

impl Judge for ReaderPolicy {
    fn judge(&self, _: Phase, subject: &Subject<'_>, items: &[&Item]) -> Vec<CheckResult> {
        let (plan, _) = subject.plan.unwrap();
        let seen = match plan.text.as_str() {
            "good" => CheckResult::Pass,
            "unreadable" => CheckResult::NotChecked("it cannot be read".to_owned()),
            text => CheckResult::Fail(format!("it says {text}")),
        };
        vec![seen; items.len()]
    }

    fn propose(&self, _: Phase, _: &Subject<'_>) -> Result<Vec<NewItem>, String> {
        Ok(Vec::new())
    }
}

/// A plan in a temporary folder, and its fixer.
struct RunFixture<'a> {
    folder: TempDir,
    text: RefCell<String>,
    rounds: Cell<u32>,
    severity: Severity,
    fixer: &'a dyn Fn(u32, &str, &Path) -> Result<String, String>,
}

impl RunFixture<'_> {
    fn on<T>(&self, work: impl FnOnce(&Gate<'_>) -> T) -> T {
        let plan = Plan { text: self.text.borrow().clone(), ..Plan::default() };
        let tree = Files::default();
        let subject = Subject::new(Some((&plan, "plan.md")), None, &tree);
        let (phase, keep) = (Phase::PlanStructure, self.keep());
        work(&Gate { phase, subject: &subject, store: &keep, policy: STRICT })
    }

    fn keep(&self) -> GateStore {
        crate::keep(self.folder.path())
    }
}

impl GateEnvironment for RunFixture<'_> {
    type Error = GateError;

    fn verify(&self) -> Result<GateVerification, GateError> {
        self.on(|gate| {
            gate.verify(Verifiers { judge: Some(&ReaderPolicy), ..Verifiers::default() })
        })
    }

    fn content(&self) -> Result<Digest, GateError> {
        Ok(self.on(|gate| gate.subject.whole(gate.phase)))
    }

    fn fix(&self, guidance: &str) -> Result<(), String> {
        let round = self.rounds.get() + 1;
        self.rounds.set(round);
        *self.text.borrow_mut() = (self.fixer)(round, guidance, self.folder.path())?;
        Ok(())
    }
}

/// An observer that records all notifications.
#[derive(Default)]
struct RecordingObserver(Vec<String>);

impl GateObserver for RecordingObserver {
    fn on_verified(&mut self, gate: &GateVerification) {
        self.0.push(format!("{:?}", gate.status.outcome));
    }

    fn on_guidance(&mut self, instructions: &[Instruction]) {
        self.0.push(instructions.iter().map(|one| format!("fix: {}", one.fix)).collect());
    }

    fn on_restored(&mut self) {
        self.0.push("put back".to_owned());
    }
}

fn ran(
    severity: Severity,
    fixing: FixPolicy,
    fixer: &dyn Fn(u32, &str, &Path) -> Result<String, String>,
) -> (RunResult, String) {
    let (folder, text) = (TempDir::new().unwrap(), RefCell::new("bad".to_owned()));
    let fixture = RunFixture { folder, text, rounds: Cell::new(0), severity, fixer };
    let item = NewItem {
        id: Some("a-1".parse().unwrap()),
        scope: "*".into(),
        check: "It is good".to_owned(),
        severity: fixture.severity,
        parent: None,
        by: None,
    };
    fixture.on(|gate| gate.decompose(handed_in(), vec![item], IfExists::Keep)).unwrap();
    let mut events = RecordingObserver::default();
    let ran = run(&fixture, &fixture.keep(), &STRICT, fixing, &mut events).unwrap();
    (ran, events.0.join("\n"))
}

#[test]
fn a_failed_item_is_fixed_and_verified_again() {
    let (ran, events) = ran(Severity::Must, FixPolicy::Enabled, &|_, _, _| Ok("good".to_owned()));
    assert!(matches!(ran.ending, RunEnding::Passed));
    expect![[r#"
        Fail
        fix: it says bad
        Pass"#]]
    .assert_eq(&events);
}

#[test]
fn a_run_without_a_fixer_ends_after_the_first_failure() {
    let (ran, events) = ran(Severity::Must, FixPolicy::Disabled, &|_, _, _| unreachable!());
    assert!(matches!(ran.ending, RunEnding::Failed));
    assert_eq!(events, "Fail");
}

fn handed_over(ran: RunResult) -> String {
    match ran.ending {
        RunEnding::HandedOver(reasons) => {
            format!("{} after {} fixes", reasons.join("; "), ran.fixes)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_fixer_that_changes_nothing_or_fails_ends_the_run() {
    let (ran_idle, _) = ran(Severity::Must, FixPolicy::Enabled, &|_, _, _| Ok("bad".to_owned()));
    expect!["the fixer changed nothing after 0 fixes"].assert_eq(&handed_over(ran_idle));
    let (ran_broken, _) =
        ran(Severity::Must, FixPolicy::Enabled, &|_, _, _| Err("no keys".to_owned()));
    expect!["the fixer failed: no keys after 0 fixes"].assert_eq(&handed_over(ran_broken));
}

#[test]
fn a_run_whose_fixes_keep_failing_or_flip_back_is_handed_over_to_a_person() {
    let (ever_new, _) =
        ran(Severity::Must, FixPolicy::Enabled, &|round, _, _| Ok(format!("bad {round}")));
    expect!["a-1 failed 6 times, and 5 are allowed after 5 fixes"]
        .assert_eq(&handed_over(ever_new));
    let flips: &dyn Fn(u32, &str, &Path) -> Result<String, String> =
        &|round, _, _| Ok(if round % 2 == 0 { "bad" } else { "worse" }.to_owned());
    let (flipped, _) = ran(Severity::Must, FixPolicy::Enabled, flips);
    expect!["the limit of 8 fixes is reached after 8 fixes"].assert_eq(&handed_over(flipped));
}

#[test]
fn a_run_with_unverifiable_content_ends_without_a_pass() {
    let (ran, _) = ran(Severity::Must, FixPolicy::Enabled, &|_, _, _| Ok("unreadable".to_owned()));
    // A FAIL that was not verified again is still one, and the fixer is stopped in the end.
    assert!(!matches!(ran.ending, RunEnding::Passed), "{:?}", ran.ending);
}

#[test]
fn gate_files_that_a_fixer_forges_are_restored() {
    let forge: &dyn Fn(u32, &str, &Path) -> Result<String, String> = &|round, _, folder| {
        for name in ["qr-plan-structure.json", "qr-plan-structure.state.json"] {
            let path = folder.join(name);
            let text = std::fs::read_to_string(&path).unwrap();
            let forged = text.replace("FAIL", "PASS").replace("MUST", "MAY");
            std::fs::write(&path, forged.replace("\"it says bad\"", "null")).unwrap();
        }
        std::fs::remove_file(folder.join("qr-plan-structure.state.json")).unwrap();
        Ok(format!("forged {round}"))
    };
    let (ran, events) = ran(Severity::Must, FixPolicy::Enabled, forge);
    assert!(matches!(ran.ending, RunEnding::HandedOver(_)));
    assert!(events.contains("put back\nFail"), "{events}");
}
