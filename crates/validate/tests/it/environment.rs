//! Tests of a loop on a real tree, from the first review to the approval, and of the limits of a
//! fixer.

use std::fs;
use std::path::Path;

use assay_validate::ending::Ending;
use assay_validate::event::Event;
use assay_validate::file_names::{self, ESCALATION, FIX_REQUEST, REPORT};
use assay_validate::journal;
use assay_validate::loop_files;
use assay_validate::loop_status::LoopStatus;
use assay_validate::plan::{self, ImplementationPlan, SignoffStatus};
use expect_test::expect;

use crate::loop_fixture::{LoopFixture, RIGHT, SPEC, WRONG, apply_correct_fix, put};

#[test]
fn failing_checks_are_fixed_and_the_resulting_tree_is_approved() {
    let fixture = LoopFixture::new();
    assert_eq!(fixture.take_up(&apply_correct_fix), Ending::Approved);
    expect![[r#"
        [
            "Test fails: adds two numbers; Not met: It `adds two numbers`; Not met: `docs/add.md` exists",
            "",
        ]
    "#]]
    .assert_debug_eq(&fixture.rounds());
    assert_eq!((fixture.reviews.get(), fixture.fixes.get()), (2, 1));
    assert_eq!(fixture.read("src/add.sh"), RIGHT);
    let tree = loop_files::tree_hash(fixture.root()).unwrap();
    assert_eq!(fixture.loop_state().state, LoopStatus::Approved(tree.clone()));
    assert!(
        fs::read_to_string(fixture.artifact_path(file_names::JOURNAL)).unwrap().contains(&tree.0)
    );
    assert!(!fixture.artifact_path(FIX_REQUEST).exists());
    let plan = ImplementationPlan::read(&fixture.artifact_path(plan::NAME)).unwrap();
    let signoff = plan.signoff().unwrap();
    assert_eq!((signoff.status, signoff.qa_session), (SignoffStatus::Approved, 2));
    let passed = signoff.tests_passed.unwrap();
    assert_eq!((passed.unit, passed.integration, passed.e2e), (true, true, false));
    assert_eq!(plan.whole()["feature"], "add");
    let report = fs::read_to_string(fixture.artifact_path(REPORT)).unwrap();
    assert!(report.contains("| met | `adds two numbers` passed in"), "{report}");
    assert!(report.contains(&format!("- Tree: {}", tree.0)));
}

#[test]
fn an_approved_tree_is_not_reviewed_again_until_one_byte_changes() {
    let fixture = LoopFixture::new();
    fixture.take_up(&apply_correct_fix);
    assert_eq!(fixture.take_up(&apply_correct_fix), Ending::Approved);
    assert_eq!(fixture.reviews.get(), 2);
    fixture.repository.write("src/add.sh", format!("{RIGHT}\n"));
    assert_eq!(fixture.take_up(&apply_correct_fix), Ending::Approved);
    assert_eq!((fixture.reviews.get(), fixture.fixes.get()), (3, 1));
    let entries = journal::Journal::read(&fixture.root().join(SPEC)).unwrap();
    let epochs = entries.iter().filter(|it| matches!(it.event, Event::EpochBegun { .. })).count();
    assert_eq!(epochs, 2);
}

#[test]
fn a_fixer_that_deletes_the_failing_test_is_found_out() {
    let fixture = LoopFixture::new();
    let ending = fixture.take_up(&|folder| {
        apply_correct_fix(folder);
        put(folder, "src/add.sh", WRONG);
        put(folder, "tests/run.sh", "echo 1..1\necho 'ok 1 - adds nothing'\n");
    });
    assert!(matches!(ending, Ending::Recurring { .. } | Ending::NoProgress { .. }), "{ending:?}");
    let second = &fixture.rounds()[1];
    assert!(second.contains("Weakened test: adds two numbers"), "{second}");
}

#[test]
fn a_fixer_that_skips_the_failing_test_is_found_out() {
    let fixture = LoopFixture::new();
    let skips = "echo 1..2\necho 'ok 1 - adds two numbers # SKIP'\necho 'ok 2 - adds nothing'\n";
    let ending = fixture.take_up(&|folder| {
        apply_correct_fix(folder);
        put(folder, "tests/run.sh", skips);
    });
    assert!(matches!(ending, Ending::Recurring { .. } | Ending::NoProgress { .. }), "{ending:?}");
    expect!["Weakened test: adds two numbers; Cannot tell: It `adds two numbers`"]
        .assert_eq(&fixture.rounds()[1]);
}

#[test]
fn changes_of_a_fixer_to_the_spec_plan_and_loop_files_are_left_out() {
    let fixture = LoopFixture::new();
    let before = fixture.read(&format!("{SPEC}/spec.md"));
    let ending = fixture.take_up(&|folder| {
        apply_correct_fix(folder);
        let spec = Path::new(SPEC);
        let inside = |name: &str| spec.join(name).display().to_string();
        put(folder, &inside("spec.md"), "## Acceptance Criteria\n\n- [ ] `README` exists\n");
        let approved = r#"{ "qa_signoff": { "status": "approved" } }"#;
        put(folder, &inside(plan::NAME), approved);
        put(folder, &inside(file_names::JOURNAL), "{}\n");
        put(folder, &inside(FIX_REQUEST), "- [x] all of it\n");
        put(folder, ".assay/config.toml", "anything = true\n");
    });
    assert_eq!(ending, Ending::Approved);
    assert_eq!(fixture.read(&format!("{SPEC}/spec.md")), before);
    assert!(
        !fixture.root().join(".assay").exists() && !fixture.artifact_path(FIX_REQUEST).exists()
    );
    let plan = ImplementationPlan::read(&fixture.artifact_path(plan::NAME)).unwrap();
    assert_eq!(plan.whole()["feature"], "add");
    expect![[r#"
        [
            ".assay/config.toml",
            "specs/001-add/QA_FIX_REQUEST.md",
            "specs/001-add/implementation_plan.json",
            "specs/001-add/qa_journal.jsonl",
            "specs/001-add/spec.md",
        ]
    "#]]
    .assert_debug_eq(&fixture.left_out.borrow());
}

#[test]
fn changes_of_a_person_during_a_fix_are_kept_and_the_fix_stays_in_git() {
    for changed in ["src/add.sh", "README"] {
        let fixture = LoopFixture::new();
        let ending = fixture.take_up(&|folder| {
            apply_correct_fix(folder);
            fixture.repository.write(changed, "mine\n");
        });
        assert_eq!(ending, Ending::TreeMoved);
        assert_eq!(fixture.read(changed), "mine\n");
        assert!(!fixture.root().join("docs").exists(), "none of it is put in");
        let entries = journal::Journal::read(&fixture.root().join(SPEC)).unwrap();
        let patch = entries.iter().find_map(|it| match &it.event {
            Event::FixMade { patch, .. } => Some(patch.clone()),
            _ => None,
        });
        let files = patch.unwrap().files(fixture.root()).unwrap();
        assert_eq!(files, ["docs/add.md", "src/add.sh"], "git has it still");
        assert!(
            fixture.artifact_path(FIX_REQUEST).exists()
                && fixture.artifact_path(ESCALATION).exists()
        );
        assert_eq!(fixture.take_up(&apply_correct_fix), Ending::TreeMoved, "it waits for them");
        fs::remove_file(fixture.artifact_path(FIX_REQUEST)).unwrap();
        assert_eq!(fixture.take_up(&apply_correct_fix), Ending::Approved);
    }
}

#[test]
fn a_fixer_that_changes_nothing_ends_with_an_escalation() {
    let fixture = LoopFixture::new();
    assert!(matches!(fixture.take_up(&|_| {}), Ending::Recurring { .. }));
    let escalation = fs::read_to_string(fixture.artifact_path(ESCALATION)).unwrap();
    assert!(escalation.contains("Test fails: adds two numbers"), "{escalation}");
    assert!(escalation.contains("- Rounds: 1, 2, 3\n"), "{escalation}");
    assert!(escalation.contains("Everything is perfect."), "{escalation}");
}

#[test]
fn a_partially_applied_fix_is_completed() {
    let half: [&dyn Fn(&LoopFixture); 4] = [
        &|_| {},
        &|fixture| fixture.repository.remove("docs/add.md"),
        &|fixture| fixture.repository.write("src/add.sh", WRONG),
        &|fixture| {
            fixture.repository.remove("docs/add.md");
            fixture.repository.write("src/add.sh", WRONG);
        },
    ];
    for half in half {
        let fixture = LoopFixture::new();
        fixture.kill_before(10, &apply_correct_fix);
        assert_eq!(fixture.read("src/add.sh"), RIGHT);
        half(&fixture);
        assert_eq!(fixture.take_up(&apply_correct_fix), Ending::Approved);
        assert_eq!(fixture.fixes.get(), 1, "it is not made again");
    }
}

#[test]
fn a_fixer_that_starts_from_feedback_may_not_delete_a_test() {
    let fixture = LoopFixture::new();
    assert!(matches!(fixture.take_up(&|_| {}), Ending::Recurring { .. }));
    fs::write(fixture.artifact_path(FIX_REQUEST), "- Write the page about it.\n").unwrap();
    let deletes = |folder: &Path| {
        apply_correct_fix(folder);
        put(folder, "tests/run.sh", "echo 1..1\necho 'ok 1 - adds two numbers'\n");
    };
    let ending = fixture.take_up(&deletes);
    assert!(matches!(ending, Ending::Recurring { .. } | Ending::NoProgress { .. }), "{ending:?}");
    assert_eq!(fixture.rounds()[3], "Weakened test: adds nothing");
}

#[test]
fn a_fixer_that_silences_the_tests_is_found_out() {
    let fixture = LoopFixture::new();
    let spec =
        fixture.read(&format!("{SPEC}/spec.md")).replace("- [ ] It `adds two numbers`\n", "");
    fixture.repository.write(format!("{SPEC}/spec.md"), spec);
    let ending = fixture.take_up(&|folder| {
        put(folder, "docs/add.md", "# Add\n");
        put(folder, "tests/run.sh", "exit 0\n");
    });
    assert!(matches!(ending, Ending::Recurring { .. } | Ending::NoProgress { .. }), "{ending:?}");
    expect!["Weakened test: adds nothing; Weakened test: adds two numbers"]
        .assert_eq(&fixture.rounds()[1]);
}

#[test]
fn deleting_all_tests_does_not_make_a_project_without_tests() {
    let fixture = LoopFixture::new();
    let spec = "## Acceptance Criteria\n\n- [ ] `README` exists\n";
    fixture.repository.write(format!("{SPEC}/spec.md"), spec);
    let test = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        \
                self.fail()\n";
    fixture.repository.write("tests/test_it.py", test);
    fixture.repository.write(".gitignore", "__pycache__\n");
    let ending = fixture.take_up(&|folder| {
        let _ = fs::remove_file(folder.join("tests/test_it.py"));
        put(folder, "README", "nothing\n");
    });
    assert!(ending != Ending::Approved, "{:?}", fixture.rounds());
    let second = &fixture.rounds()[1];
    assert!(second.contains("Weakened test: "), "{second}");
}
