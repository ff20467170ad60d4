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
struct GateFixture {
    folder: TempDir,
    plan: RefCell<Plan>,
}

impl GateFixture {
    fn new() -> GateFixture {
        let plan = RefCell::new(Plan { text: "one".to_owned(), ..Plan::default() });
        GateFixture { folder: TempDir::new().unwrap(), plan }
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
fn the_list_is_written_byte_for_byte_in_its_format() {
    let fixture = GateFixture::new();
    fixture.decompose(vec![
        item("plan-001", "*", "Verify milestone definitions are complete with acceptance criteria"),
        item("plan-002", "milestone:M1", "Validate acceptance criteria for milestone M1"),
        item("plan-003", "file:planner/qa/verify.py", "Check diff syntax and formatting"),
    ]);
    fixture.update("plan-001", ItemResult::Pass).unwrap();
    let finding = "Acceptance criteria missing. Need success conditions and verification steps.";
    fixture.update("plan-002", ItemResult::Fail(finding.to_owned())).unwrap();
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
    .assert_eq(&fixture.list());
}

#[test]
fn a_list_is_created_once_and_replaced_only_on_request() {
    let fixture = GateFixture::new();
    fixture.decompose(vec![item("a", "*", "one")]);
    fixture.update("a", ItemResult::Pass).unwrap();
    let made = |earlier, items| {
        let made = fixture.on(|gate| gate.decompose(handed_in(), items, earlier)).unwrap();
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
fn a_new_list_keeps_the_ids_of_remaining_items_and_reuses_no_other_id() {
    let fixture = GateFixture::new();
    let numbered = |check: &str| NewItem { id: None, ..item("x", "*", check) };
    fixture.decompose(vec![numbered("one"), numbered("two")]);
    let again = |checks: &[&str]| {
        let items = checks.iter().map(|check| numbered(check)).collect();
        let release = Release { reason: "other items".to_owned(), by: "ada".to_owned() };
        let earlier = IfExists::Release(&release);
        fixture.on(|gate| gate.decompose(handed_in(), items, earlier)).unwrap();
        fixture.on(|gate| {
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
fn invalid_items_leave_the_existing_list_unchanged() {
    let fixture = GateFixture::new();
    fixture.decompose(vec![item("a", "*", "one")]);
    let before = fixture.list();
    let twice = vec![item("b", "*", "x"), item("b", "*", "y")];
    let refused =
        fixture.on(|gate| gate.decompose(handed_in(), twice, IfExists::Replace)).unwrap_err();
    expect!["invalid items: duplicate id: `b`"].assert_eq(&refused.to_string());
    assert_eq!(fixture.list(), before);
}

#[test]
fn a_result_of_a_person_counts_only_for_the_verified_content() {
    let fixture = GateFixture::new();
    fixture.decompose(vec![item("a", "*", "one")]);
    assert!(fixture.verify().contains("Items: 1 total, 0 PASS, 0 FAIL, 1 TODO"));
    fixture.update("a", ItemResult::Pass).unwrap();
    assert!(fixture.verify().contains("Status: PASS"));
    fixture.edit("two");
    assert!(fixture.verify().contains("Items: 1 total, 0 PASS, 0 FAIL, 1 TODO"));
    fixture.edit("one");
    assert!(fixture.verify().contains("Status: PASS"), "this very content was seen");
}

#[test]
fn the_iteration_advances_only_with_new_content_after_a_complete_attempt() {
    let fixture = GateFixture::new();
    fixture.decompose(vec![item("a", "*", "one")]);
    fixture.update("a", ItemResult::Fail("x".to_owned())).unwrap();
    for _ in 0..5 {
        fixture.verify();
    }
    assert_eq!(fixture.iteration(), 1);
    fixture.edit("two");
    for _ in 0..5 {
        fixture.verify();
    }
    assert_eq!(fixture.iteration(), 2);
    fixture.edit("three");
    fixture.verify();
    assert_eq!(fixture.iteration(), 2, "nobody looked at the second, so it was no whole attempt");
    fixture.update("a", ItemResult::Fail("y".to_owned())).unwrap();
    fixture.verify();
    fixture.edit("four");
    fixture.verify();
    assert_eq!(fixture.iteration(), 3);
}

#[test]
fn a_missing_or_unreadable_list_prevents_a_pass() {
    let fixture = GateFixture::new();
    let verify = || fixture.on(|gate| gate.verify(Verifiers::default()).map(|gate| gate.status));
    assert!(matches!(verify(), Err(GateError::Store(StoreError::Missing { .. }))));
    fixture.decompose(vec![item("a", "*", "one")]);
    fixture.update("a", ItemResult::Pass).unwrap();
    assert_eq!(verify().unwrap().outcome, GateOutcome::Pass);
    let path = fixture.folder.path().join("qr-plan-structure.json");
    let beside = fixture.folder.path().join("qr-plan-structure.state.json");
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
    let fixture = GateFixture::new();
    let names: Vec<String> = (0..32).map(|number| format!("i-{number}")).collect();
    fixture.decompose(names.iter().map(|name| item(name, "*", "c")).collect());
    let (folder, plan) = (fixture.folder.path(), fixture.plan.borrow().clone());
    thread::scope(|scope| {
        for name in &names {
            let plan = &plan;
            scope.spawn(move || {
                let result = ItemResult::Fail(format!("found by {name}"));
                on(folder, plan, |gate| gate.update(&name.parse().unwrap(), result)).unwrap();
            });
        }
    });
    let state = fixture.on(|gate| gate.store.read().unwrap());
    for item in state.list.items() {
        assert_eq!(item.result, ItemResult::Fail(format!("found by {}", item.id)));
    }
}

#[test]
fn items_of_global_scope_are_verified_sequentially_and_others_in_parallel() {
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
fn groups_have_about_the_requested_size_and_do_not_exceed_the_maximal_number() {
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

fn judged_by(fixture: &GateFixture, seen: CheckResult) -> (String, Vec<Vec<String>>) {
    let judge = FixedJudge { seen, asked: Mutex::default() };
    let verifiers = Verifiers { judge: Some(&judge), ..Verifiers::default() };
    let text = fixture.on(|gate| verified(&gate.verify(verifiers).unwrap().status));
    (text, judge.asked.into_inner().unwrap())
}

#[test]
fn a_judge_verifies_items_without_another_verifier_once_per_content() {
    let fixture = GateFixture::new();
    let by_code =
        NewItem { by: Some(VerifiedBy::Code("gone".to_owned())), ..item("c", "*", "code") };
    fixture.decompose(vec![item("a", "*", "one"), item("b", "*", "two"), by_code]);
    let (text, asked) = judged_by(&fixture, CheckResult::Fail("no".to_owned()));
    assert_eq!(asked, [["a"], ["b"]]);
    assert!(text.contains("3 total, 0 PASS, 2 FAIL, 1 TODO"), "{text}");
    assert_eq!(judged_by(&fixture, CheckResult::Pass).1, [[""; 0]; 0], "the content is the same");
    fixture.edit("two");
    let (text, asked) = judged_by(&fixture, CheckResult::Pass);
    assert_eq!(asked, [["a"], ["b"]]);
    assert!(text.contains("3 total, 2 PASS, 0 FAIL, 1 TODO"), "{text}");
}

#[test]
fn a_judge_without_an_answer_leaves_its_items_open() {
    let fixture = GateFixture::new();
    fixture.decompose(vec![item("a", "*", "one")]);
    let (text, _) = judged_by(&fixture, CheckResult::NotChecked("no answer".to_owned()));
    assert!(text.contains("Items: 1 total, 0 PASS, 0 FAIL, 1 TODO"), "{text}");
}

#[test]
fn scopes_survive_parsing_and_formatting() {
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
