//! Tests of a process that dies, or a disk that fails, at any write of a gate's state.

use std::path::Path;
use std::process::Command;

use assay_gates::gate::{Gate, GateError, IfExists, NewItem};
use assay_gates::item::{ItemResult, Severity};
use assay_gates::phase::Phase;
use assay_gates::plan::Plan;
use assay_gates::subject::Subject;
use assay_gates::text::write::verified;
use assay_gates::verifier::Verifiers;
use assay_store::durable_fs::fault::{self, Fault};
use tempfile::TempDir;

use crate::answers::{LENIENT, handed_in};
use crate::files::Files;

/// Variables for the process that dies: its folder, the step, and the number of the write.
const FOLDER: &str = "ASSAY_TEST_GATE_FOLDER";
const STEP: &str = "ASSAY_TEST_GATE_STEP";
const WRITE: &str = "ASSAY_TEST_GATE_WRITE";

/// The steps that are interrupted.
const STEPS: [&str; 7] =
    ["pass", "fail", "pass-after-fail", "fail-after-edit", "accept", "again", "verify"];

fn on<T>(folder: &Path, text: &str, work: impl FnOnce(&Gate<'_>) -> T) -> T {
    let plan = Plan { text: text.to_owned(), ..Plan::default() };
    let tree = Files::default();
    let subject = Subject::new(Some((&plan, "plan.md")), None, &tree);
    let keep = crate::keep(folder);
    work(&Gate { phase: Phase::PlanStructure, subject: &subject, store: &keep, policy: LENIENT })
}

fn items(names: &[&str]) -> Vec<NewItem> {
    let item = |name: &&str| NewItem {
        id: Some(name.parse().unwrap()),
        scope: "*".into(),
        check: format!("check {name}"),
        severity: Severity::Must,
        parent: None,
        by: None,
    };
    names.iter().map(item).collect()
}

fn fail(finding: &str) -> ItemResult {
    ItemResult::Fail(finding.to_owned())
}

/// Brings a gate into the state before a step.
fn prepare(folder: &Path, step: &str) {
    on(folder, "one", |gate| {
        gate.decompose(handed_in(), items(&["a", "b"]), IfExists::Keep).unwrap();
        let update = |id: &str, result| gate.update(&id.parse().unwrap(), result).unwrap();
        match step {
            "pass-after-fail" | "accept" | "verify" => update("a", fail("x")),
            "fail-after-edit" => update("a", ItemResult::Pass),
            _ => {}
        }
        if step == "verify" {
            update("b", ItemResult::Pass);
            gate.verify(Verifiers::default()).unwrap();
        }
    });
}

/// Runs a step on its content.
fn make(folder: &Path, step: &str) -> Result<(), GateError> {
    let a = "a".parse().unwrap();
    match step {
        "pass" | "pass-after-fail" => on(folder, "one", |gate| gate.update(&a, ItemResult::Pass)),
        "fail" => on(folder, "one", |gate| gate.update(&a, fail("y"))),
        "fail-after-edit" => on(folder, "two", |gate| gate.update(&a, fail("y"))),
        "accept" => on(folder, "one", |gate| gate.accept(&a, "known", "ada")),
        "again" => on(folder, "one", |gate| {
            gate.decompose(handed_in(), items(&["b", "c"]), IfExists::Replace).map(drop)
        }),
        "verify" => on(folder, "two", |gate| gate.verify(Verifiers::default()).map(drop)),
        other => panic!("`{other}`"),
    }
}

/// Returns everything visible of a gate, on the content of the step.
fn seen(folder: &Path, step: &str) -> String {
    let content = if matches!(step, "fail-after-edit" | "verify") { "two" } else { "one" };
    on(folder, content, |gate| {
        let (state, status) = gate.status().unwrap();
        format!("{}{}", verified(&status), state.sidecar.iteration)
    })
}

/// Runs in a separate process, which dies.
#[test]
fn child_process_dies_at_the_given_write() {
    let (Ok(folder), Ok(step)) = (std::env::var(FOLDER), std::env::var(STEP)) else { return };
    let write: usize = std::env::var(WRITE).unwrap().parse().unwrap();
    fault::inject(write, Fault::Die);
    make(Path::new(&folder), &step).unwrap();
}

/// Returns the number of writes of a step, with the visible state before and after it.
fn whole(step: &str) -> (usize, String, String) {
    let folder = TempDir::new().unwrap();
    prepare(folder.path(), step);
    let before = seen(folder.path(), step);
    fault::inject(usize::MAX, Fault::Die);
    make(folder.path(), step).unwrap();
    let writes = fault::clear().len();
    (writes, before, seen(folder.path(), step))
}

#[test]
fn a_process_that_dies_at_any_write_leaves_the_gate_before_or_after_the_step() {
    let this = std::env::current_exe().unwrap();
    for step in STEPS {
        let (writes, before, after) = whole(step);
        assert!(writes >= 4, "{step} makes {writes} writes");
        for write in 1..=writes {
            let folder = TempDir::new().unwrap();
            prepare(folder.path(), step);
            let died = Command::new(&this)
                .args(["crash::child_process_dies_at_the_given_write", "--exact"])
                .env(FOLDER, folder.path())
                .env(STEP, step)
                .env(WRITE, write.to_string())
                .output()
                .unwrap();
            assert!(!died.status.success(), "{step} at {write} lives on");
            let now = seen(folder.path(), step);
            assert!(now == before || now == after, "{step} at {write}:\n{now}\n{before}\n{after}");
            // Nothing prevents a second try.
            make(folder.path(), step).unwrap();
            assert_eq!(seen(folder.path(), step), after, "{step} at {write}, made again");
        }
    }
}

#[test]
fn a_disk_that_fails_at_any_write_leaves_the_gate_before_or_after_the_step() {
    for step in STEPS {
        let (writes, before, after) = whole(step);
        for (write, fault) in (1..=writes).flat_map(|n| [(n, Fault::Full), (n, Fault::ReadOnly)]) {
            let folder = TempDir::new().unwrap();
            prepare(folder.path(), step);
            fault::inject(write, fault);
            let failed = make(folder.path(), step);
            fault::clear();
            let error = failed.expect_err("the disk fails");
            assert!(error.to_string().contains("cannot access"), "{error}");
            let now = seen(folder.path(), step);
            assert!(now == before || now == after, "{step} at {write}:\n{now}\n{before}\n{after}");
        }
    }
}
