//! Tests of the steps of a gate, in a folder.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use assay_gates::gate::{Gate, GateError, IfExists, NewItem, Release};
use assay_gates::gate_status::GateOutcome;
use assay_gates::item::{Item, ItemResult, Scope, Severity};
use assay_gates::phase::Phase;
use assay_gates::plan::Plan;
use assay_gates::result::CheckResult;
use assay_gates::sidecar::{GateInputs, VerifiedBy};
use assay_gates::store_error::StoreError;
use assay_gates::subject::Subject;
use assay_gates::text::write::verified;
use assay_gates::verifier::{Judge, Verifiers, groups, lanes};
use expect_test::expect;
use tempfile::TempDir;

use crate::answers::{LENIENT, handed_in};
use crate::files::Files;

/// A gate in a temporary folder, on a plan that is just text.
struct Bench {
    folder: TempDir,
    plan: RefCell<Plan>,
}

impl Bench {
    fn new() -> Bench {
        let plan = RefCell::new(Plan { text: "one".to_owned(), ..Plan::default() });
        Bench { folder: TempDir::new().unwrap(), plan }
    }

    fn on<T>(&self, work: impl FnOnce(&Gate<'_>) -> T) -> T {
        on(self.folder.path(), &self.plan.borrow(), work)
    }

    fn edit(&self, text: &str) {
        self.plan.borrow_mut().text = text.to_owned();
    }

    fn decompose(&self, items: Vec<NewItem>) {
        self.on(|gate| gate.decompose(handed_in(), items, IfExists::Keep)).unwrap();
    }

    fn update(&self, id: &str, result: ItemResult) -> Result<(), GateError> {
        self.on(|gate| gate.update(&id.parse().unwrap(), result))
    }

    fn verify(&self) -> String {
        self.on(|gate| verified(&gate.verify(Verifiers::default()).unwrap().status))
    }

    fn iteration(&self) -> u32 {
        self.on(|gate| gate.store.read().unwrap().sidecar.iteration)
    }

    fn list(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("qr-plan-structure.json")).unwrap()
    }
}

fn on<T>(folder: &Path, plan: &Plan, work: impl FnOnce(&Gate<'_>) -> T) -> T {
    let tree = Files::default();
    let subject = Subject::new(Some((plan, "plan.md")), None, &tree);
    let keep = crate::keep(folder);
    work(&Gate { phase: Phase::PlanStructure, subject: &subject, store: &keep, policy: LENIENT })
}

fn item(id: &str, scope: &str, check: &str) -> NewItem {
    NewItem {
        id: Some(id.parse().unwrap()),
        scope: scope.into(),
        check: check.to_owned(),
        severity: Severity::Must,
        parent: None,
        by: None,
    }
}

#[test]
fn the_list_is_written_as_its_form_says_to_the_byte() {
    let bench = Bench::new();
    bench.decompose(vec![
        item("plan-001", "*", "Verify milestone definitions are complete with acceptance criteria"),
        item("plan-002", "milestone:M1", "Validate acceptance criteria for milestone M1"),
        item("plan-003", "file:planner/qa/verify.py", "Check diff syntax and formatting"),
    ]);
    bench.update("plan-001", ItemResult::Pass).unwrap();
    let finding = "Acceptance criteria missing. Need success conditions and verification steps.";
    bench.update("plan-002", ItemResult::Fail(finding.to_owned())).unwrap();
    expect![[r#"
        {
          "schema_version": "1.0",
          "phase": "plan-structure",
          "items": [
            {
              "id": "plan-001",
              "scope": "*",
              "check": "Verify milestone definitions are complete with acceptance criteria",
              "status": "PASS",
              "finding": null
            },
            {
              "id": "plan-002",
              "scope": "milestone:M1",
              "check": "Validate acceptance criteria for milestone M1",
              "status": "FAIL",
              "finding": "Acceptance criteria missing. Need success conditions and verification steps."
            },
            {
              "id": "plan-003",
              "scope": "file:planner/qa/verify.py",
              "check": "Check diff syntax and formatting",
              "status": "TODO",
              "finding": null
            }
          ]
        }
    "#]]
    .assert_eq(&bench.list());
}

#[test]
fn a_list_is_made_once_and_again_only_when_asked_for() {
    let bench = Bench::new();
    bench.decompose(vec![item("a", "*", "one")]);
    bench.update("a", ItemResult::Pass).unwrap();
    let made = |earlier, items| {
        let made = bench.on(|gate| gate.decompose(handed_in(), items, earlier)).unwrap();
        let ids: Vec<String> = made.state.list.items().map(|item| item.id.to_string()).collect();
        (made.was_there, ids.join(" "))
    };
    assert_eq!(made(IfExists::Keep, vec![item("b", "*", "two")]), (true, "a".to_owned()));
    assert_eq!(made(IfExists::Replace, vec![item("b", "*", "two")]), (false, "b a".to_owned()));
    let release = Release { reason: "one is done".to_owned(), by: "ada".to_owned() };
    let released = IfExists::Release(&release);
    assert_eq!(made(released, vec![item("b", "*", "two")]), (false, "b".to_owned()));
}

#[test]
fn a_new_list_keeps_the_names_of_what_it_still_looks_for_and_uses_none_again() {
    let bench = Bench::new();
    let numbered = |check: &str| NewItem { id: None, ..item("x", "*", check) };
    bench.decompose(vec![numbered("one"), numbered("two")]);
    let again = |checks: &[&str]| {
        let items = checks.iter().map(|check| numbered(check)).collect();
        let release = Release { reason: "other items".to_owned(), by: "ada".to_owned() };
        let earlier = IfExists::Release(&release);
        bench.on(|gate| gate.decompose(handed_in(), items, earlier)).unwrap();
        bench.on(|gate| {
            let state = gate.store.read().unwrap();
            let lines = state.list.items().map(|item| format!("{} {}\n", item.id, item.check));
            lines.collect::<String>()
        })
    };
    expect![[r#"
        plan-structure-002 two
        plan-structure-003 three
    "#]]
    .assert_eq(&again(&["two", "three"]));
    expect![[r#"
        plan-structure-004 one
    "#]]
    .assert_eq(&again(&["one"]));
}

#[test]
fn items_that_make_no_list_leave_the_one_that_is_there() {
    let bench = Bench::new();
    bench.decompose(vec![item("a", "*", "one")]);
    let before = bench.list();
    let twice = vec![item("b", "*", "x"), item("b", "*", "y")];
    let refused =
        bench.on(|gate| gate.decompose(handed_in(), twice, IfExists::Replace)).unwrap_err();
    expect!["invalid items: duplicate id: `b`"].assert_eq(&refused.to_string());
    assert_eq!(bench.list(), before);
}

#[test]
fn what_a_person_saw_counts_for_the_content_that_they_saw() {
    let bench = Bench::new();
    bench.decompose(vec![item("a", "*", "one")]);
    assert!(bench.verify().contains("Items: 1 total, 0 PASS, 0 FAIL, 1 TODO"));
    bench.update("a", ItemResult::Pass).unwrap();
    assert!(bench.verify().contains("Status: PASS"));
    bench.edit("two");
    assert!(bench.verify().contains("Items: 1 total, 0 PASS, 0 FAIL, 1 TODO"));
    bench.edit("one");
    assert!(bench.verify().contains("Status: PASS"), "this very content was seen");
}

#[test]
fn verifying_often_does_not_lower_the_bar_and_fixing_does_not_raise_it() {
    let bench = Bench::new();
    bench.decompose(vec![item("a", "*", "one")]);
    bench.update("a", ItemResult::Fail("x".to_owned())).unwrap();
    for _ in 0..5 {
        bench.verify();
    }
    assert_eq!(bench.iteration(), 1);
    bench.edit("two");
    for _ in 0..5 {
        bench.verify();
    }
    assert_eq!(bench.iteration(), 2);
    bench.edit("three");
    bench.verify();
    assert_eq!(bench.iteration(), 2, "nobody looked at the second, so it was no whole attempt");
    bench.update("a", ItemResult::Fail("y".to_owned())).unwrap();
    bench.verify();
    bench.edit("four");
    bench.verify();
    assert_eq!(bench.iteration(), 3);
}

#[test]
fn without_a_list_or_with_one_that_cannot_be_read_there_is_no_pass() {
    let bench = Bench::new();
    let verify = || bench.on(|gate| gate.verify(Verifiers::default()).map(|gate| gate.status));
    assert!(matches!(verify(), Err(GateError::Store(StoreError::Missing { .. }))));
    bench.decompose(vec![item("a", "*", "one")]);
    bench.update("a", ItemResult::Pass).unwrap();
    assert_eq!(verify().unwrap().outcome, GateOutcome::Pass);
    let path = bench.folder.path().join("qr-plan-structure.json");
    let beside = bench.folder.path().join("qr-plan-structure.state.json");
    let whole = std::fs::read(&path).unwrap();
    for spoiled in [&whole[..whole.len() / 2], b"", b"\xff\xfe", b"{}"] {
        std::fs::write(&path, spoiled).unwrap();
        assert!(matches!(verify(), Err(GateError::Store(StoreError::Unreadable { .. }))));
        assert_eq!(std::fs::read(&path).unwrap(), spoiled, "it is not written over");
    }
    std::fs::write(&path, &whole).unwrap();
    let kept = std::fs::read(&beside).unwrap();
    std::fs::write(&beside, &kept[..kept.len() / 2]).unwrap();
    assert!(matches!(verify(), Err(GateError::Store(StoreError::State(_)))));
    std::fs::remove_file(&beside).unwrap();
    assert!(matches!(verify(), Err(GateError::Store(StoreError::Unreadable { .. }))));
    std::fs::write(&path, String::from_utf8(whole).unwrap().replace("PASS", "TODO")).unwrap();
    assert_ne!(
        verify().unwrap().outcome,
        GateOutcome::Pass,
        "a list by hand is verified like any other"
    );
}

#[test]
fn no_update_is_lost_however_many_write_at_once() {
    let bench = Bench::new();
    let names: Vec<String> = (0..32).map(|number| format!("i-{number}")).collect();
    bench.decompose(names.iter().map(|name| item(name, "*", "c")).collect());
    let (folder, plan) = (bench.folder.path(), bench.plan.borrow().clone());
    thread::scope(|scope| {
        for name in &names {
            let plan = &plan;
            scope.spawn(move || {
                let result = ItemResult::Fail(format!("found by {name}"));
                on(folder, plan, |gate| gate.update(&name.parse().unwrap(), result)).unwrap();
            });
        }
    });
    let state = bench.on(|gate| gate.store.read().unwrap());
    for item in state.list.items() {
        assert_eq!(item.result, ItemResult::Fail(format!("found by {}", item.id)));
    }
}

#[test]
fn everything_is_looked_at_one_by_one_and_parts_side_by_side() {
    let items = [("a-001", "*"), ("a-002", "*"), ("a-003", "file:x.rs"), ("a-004", "milestone:M1")]
        .map(|(id, scope)| Item {
            id: id.parse().unwrap(),
            scope: scope.into(),
            check: "c".to_owned(),
            result: ItemResult::Todo,
        });
    let ids = |lane: Vec<&Item>| lane.iter().map(|item| item.id.to_string()).collect::<Vec<_>>();
    let (one_by_one, side_by_side) = lanes(&items);
    assert_eq!(ids(one_by_one), ["a-001", "a-002"]);
    assert_eq!(ids(side_by_side), ["a-003", "a-004"]);
}

#[test]
fn groups_are_about_as_large_as_asked_for_and_not_too_many() {
    let sizes = |count: usize, about, most| {
        let things: Vec<usize> = (0..count).collect();
        let groups = groups(&things, about, most);
        assert_eq!(groups.concat(), things, "none is lost, none twice");
        groups.iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert_eq!(sizes(20, 3, 8), [3, 3, 3, 3, 3, 3, 2]);
    assert_eq!(sizes(100, 3, 8), [13, 13, 13, 13, 12, 12, 12, 12]);
    assert_eq!(sizes(0, 3, 8), [0usize; 0]);
    assert_eq!(sizes(1, 3, 8), [1]);
}

/// A judge with a fixed answer, which records the items of each request.
struct FixedJudge {
    seen: CheckResult,
    asked: Mutex<Vec<Vec<String>>>,
}

impl Judge for FixedJudge {
    fn judge(&self, _: Phase, _: &Subject<'_>, items: &[&Item]) -> Vec<CheckResult> {
        self.asked.lock().unwrap().push(items.iter().map(|item| item.id.to_string()).collect());
        vec![self.seen.clone(); items.len()]
    }

    fn propose(&self, _: Phase, _: &Subject<'_>) -> Result<Vec<NewItem>, String> {
        Ok(Vec::new())
    }
}

fn judged_by(bench: &Bench, seen: CheckResult) -> (String, Vec<Vec<String>>) {
    let judge = FixedJudge { seen, asked: Mutex::default() };
    let verifiers = Verifiers { judge: Some(&judge), ..Verifiers::default() };
    let text = bench.on(|gate| verified(&gate.verify(verifiers).unwrap().status));
    (text, judge.asked.into_inner().unwrap())
}

#[test]
fn a_judge_is_asked_about_what_nobody_else_verifies_and_not_twice_about_the_same() {
    let bench = Bench::new();
    let by_code =
        NewItem { by: Some(VerifiedBy::Code("gone".to_owned())), ..item("c", "*", "code") };
    bench.decompose(vec![item("a", "*", "one"), item("b", "*", "two"), by_code]);
    let (text, asked) = judged_by(&bench, CheckResult::Fail("no".to_owned()));
    assert_eq!(asked, [["a"], ["b"]]);
    assert!(text.contains("3 total, 0 PASS, 2 FAIL, 1 TODO"), "{text}");
    assert_eq!(judged_by(&bench, CheckResult::Pass).1, [[""; 0]; 0], "the content is the same");
    bench.edit("two");
    let (text, asked) = judged_by(&bench, CheckResult::Pass);
    assert_eq!(asked, [["a"], ["b"]]);
    assert!(text.contains("3 total, 2 PASS, 0 FAIL, 1 TODO"), "{text}");
}

#[test]
fn a_judge_that_breaks_down_leaves_its_items_open() {
    let bench = Bench::new();
    bench.decompose(vec![item("a", "*", "one")]);
    let (text, _) = judged_by(&bench, CheckResult::NotChecked("no answer".to_owned()));
    assert!(text.contains("Items: 1 total, 0 PASS, 0 FAIL, 1 TODO"), "{text}");
}

#[test]
fn scopes_are_read_and_written_as_they_are() {
    for text in [
        "*", "milestone:M1", "decision:DL-001", "file:a.rs", "file:a:b.rs:4-9", "file:a:7",
        "anything else", "file:x:y",
    ] {
        assert_eq!(Scope::from(text).to_string(), text);
    }
    assert_eq!(
        Scope::from("file:a.rs:4-9"),
        Scope::File { path: "a.rs".into(), lines: Some((4, 9)) }
    );
    assert_eq!(GateInputs::default().plan, None);
}
