//! Tests of commands that verify items.

use std::time::Duration;

use assay_gates::command::{AnswerForm, CommandVerifier};
use assay_gates::item::{Item, ItemResult, Severity};
use assay_gates::phase::Phase;
use assay_gates::result::CheckResult;
use expect_test::{Expect, expect};

fn check(answer: AnswerForm, script: &str, expected: Expect) {
    let folder = tempfile::tempdir().unwrap();
    let verifier = CommandVerifier {
        name: "probe".to_owned(),
        phases: vec![Phase::PlanDocs],
        check: "It holds".to_owned(),
        severity: Severity::Must,
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        answer,
        time: Duration::from_secs(20),
        folder: folder.path().to_owned(),
    };
    let item = Item {
        id: "plan-docs-007".parse().unwrap(),
        scope: "file:a.rs:4-9".into(),
        check: "It holds".to_owned(),
        result: ItemResult::Todo,
    };
    let outcome = match verifier.run(Phase::PlanDocs, &item, Some("docs/plan.md")) {
        CheckResult::Pass => "holds".to_owned(),
        CheckResult::Fail(why) => format!("fails: {why}"),
        CheckResult::NotChecked(why) => format!("unseen: {why}"),
    };
    expected.assert_eq(&outcome);
}

#[test]
fn the_exit_code_of_a_command_decides_the_result() {
    check(AnswerForm::Exit, "exit 0", expect!["holds"]);
    check(
        AnswerForm::Exit,
        "echo two links are dead; exit 3",
        expect!["fails: `probe` exited with code 3: two links are dead"],
    );
    check(
        AnswerForm::Exit,
        "echo oh >&2; exit 1",
        expect!["fails: `probe` exited with code 1: oh"],
    );
    check(AnswerForm::Exit, "exit 1", expect!["fails: `probe` exited with code 1: no output"]);
}

#[test]
fn a_command_killed_by_a_signal_has_no_result() {
    check(AnswerForm::Exit, "kill -9 $$", expect!["unseen: `probe` was killed by a signal"]);
}

#[test]
fn a_command_gets_the_phase_plan_and_item_in_its_environment() {
    check(
        AnswerForm::Exit,
        "echo $ASSAY_GATE_PHASE $ASSAY_GATE_PLAN $ASSAY_ITEM_ID $ASSAY_ITEM_SCOPE $ASSAY_ITEM_CHECK; exit 1",
        expect![
            "fails: `probe` exited with code 1: plan-docs docs/plan.md plan-docs-007 file:a.rs:4-9 It holds"
        ],
    );
}

#[test]
fn a_text_answer_passes_only_if_it_is_well_formed_and_the_exit_code_agrees() {
    check(AnswerForm::Text, "echo PASS", expect!["holds"]);
    check(
        AnswerForm::Text,
        "echo PASS; exit 1",
        expect!["fails: `probe` reports PASS, but exited with code 1"],
    );
    check(
        AnswerForm::Text,
        "echo '## VERDICT: PASS'",
        expect![
            "fails: the answer of `probe` is malformed: it begins with none of the known forms"
        ],
    );
    check(
        AnswerForm::Text,
        "true",
        expect!["fails: the answer of `probe` is malformed: it is empty"],
    );
    check(
        AnswerForm::Text,
        "printf 'RESULT: FAIL\\nPATH: out/qr.md\\n'",
        expect!["fails: `probe` reports FAIL: out/qr.md"],
    );
    check(
        AnswerForm::Text,
        "printf 'VERIFICATION COMPLETE\\n\\nStatus: FAIL\\nFailed items:\\n- a-1: dead link\\n'",
        expect!["fails: `probe` reports FAIL: a-1: dead link"],
    );
}
