//! The requirements of a loop only rise: anything that a later spec or plan removes is an issue
//! until a person decides on it by name.

use std::fs;

use super::{PLAN, QaFixture, SPEC};

const WHY: &str = "agreed with the product owner on Monday";

/// A plan with a risk, a minimum coverage and a command.
const STRICT: &str = r#"{
  "phases": [{"subtasks": [{"id": "1", "status": "completed"}]}],
  "verification_strategy": {
    "risk_level": "high",
    "acceptance_criteria": ["`greets` passes", "`leaves` passes"],
    "unit_tests": {"required": true, "minimum_coverage": 80, "commands": ["sh test.sh"]},
    "integration_tests": {"required": true, "commands": ["sh test.sh"]}
  }
}
"#;

/// Returns a strict spec that was rejected on its branch, because a test fails.
fn rejected(spec: &str, plan: &str) -> QaFixture {
    let fixture = QaFixture::with(spec, plan, "true\n", "");
    fixture.ends(4, &[]);
    fixture
}

/// Changes spec and plan on the same branch, and fixes the remaining tests.
fn lower(fixture: &QaFixture, spec: &str, plan: &str) {
    fixture.repository.write("specs/001-greeting/spec.md", spec);
    fixture.repository.write("specs/001-greeting/implementation_plan.json", plan);
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
}

#[test]
fn every_requirement_removed_after_a_rejection_is_an_issue_by_name() {
    let prose =
        SPEC.replace("- [ ] `leaves` passes", "- [ ] `leaves` passes\n- [ ] It is `polite`");
    for (name, spec, plan, wanted) in [
        (
            "deleted",
            &prose.replace("- [ ] It is `polite`\n", ""),
            PLAN,
            "Criterion was removed: It is `polite`",
        ),
        (
            "reworded",
            &prose.replace("It is `polite`", "It is `polite`, mostly"),
            PLAN,
            "Criterion was removed: It is `polite`",
        ),
        (
            "out of the section",
            &prose
                .replace("- [ ] It is `polite`\n", "")
                .replace("# Greeting\n", "# Greeting\n\n- [ ] It is `polite`\n"),
            PLAN,
            "Criterion was removed: It is `polite`",
        ),
        (
            "commented out",
            &prose.replace("- [ ] It is `polite`", "<!-- - [ ] It is `polite` -->"),
            PLAN,
            "Criterion was removed: It is `polite`",
        ),
        (
            "a command",
            &prose.replace("\n**Integration Tests:**\n- `sh test.sh` - All pass\n", ""),
            PLAN,
            "Verification was removed: integration: `sh test.sh`",
        ),
    ] {
        let fixture = rejected(&prose, PLAN);
        lower(&fixture, spec, plan);
        let ran = fixture.ends(4, &["--resume"]);
        assert!(ran.stderr.contains(wanted), "{name}: {}", ran.stderr);
        let titles: Vec<String> = fixture.issues().into_iter().map(|(_, title)| title).collect();
        assert!(titles.contains(&wanted.to_owned()), "{name}: {titles:?}");
    }
}

#[test]
fn a_plan_with_lowered_requirements_is_an_issue_by_name() {
    let spec = "# Greeting\n";
    for (name, from, to, wanted) in [
        ("risk", "\"high\"", "\"low\"", "Risk was lowered from high to low"),
        ("no risk", "\"risk_level\": \"high\",", "", "Risk was lowered from high to none given"),
        (
            "minimum",
            "\"minimum_coverage\": 80",
            "\"minimum_coverage\": 10",
            "Minimum coverage was lowered from 80% to 10%",
        ),
        (
            "no minimum",
            "\"minimum_coverage\": 80, ",
            "",
            "Minimum coverage was lowered from 80% to none",
        ),
        ("criterion", ", \"`leaves` passes\"", "", "Criterion was removed: `leaves` passes"),
        (
            "required",
            "\"integration_tests\": {\"required\": true",
            "\"integration_tests\": {\"required\": false",
            "Verification was removed: integration: tests are required",
        ),
    ] {
        let fixture = rejected(spec, STRICT);
        lower(&fixture, spec, &STRICT.replace(from, to));
        let ran = fixture.ends(4, &["--resume"]);
        assert!(ran.stderr.contains(wanted), "{name}: {}", ran.stderr);
        assert!(!ran.stdout.contains("APPROVED"), "{name}: {}", ran.stdout);
    }
}

#[test]
fn lowered_requirements_are_approved_once_a_person_decided_about_them() {
    let fixture = rejected(SPEC, PLAN);
    lower(&fixture, &SPEC.replace("- [ ] `leaves` passes\n", ""), PLAN);
    fixture.ends(4, &["--resume"]);
    fixture.is_handed_over("awaits_decision", "a person must decide");
    let plain = fixture.ends(2, &["--sign-off", "Ada"]);
    assert!(plain.stderr.contains("`Criterion was removed: `leaves` passes`"), "{}", plain.stderr);
    let what = "Criterion was removed: `leaves` passes";
    fixture.ends(0, &["--sign-off", "Ada", "--for", what, "--because", WHY]);
    fixture.is_approved();
    assert!(fixture.artifact("qa_report.md").contains(WHY));
    // The decision is void on any other tree.
    fixture.repository.write("greeting.txt", "hello, goodbye, bye\n");
    fixture.ends(4, &[]);
}

#[test]
fn requirements_persist_over_epochs_and_a_deleted_journal_or_moved_folder() {
    for way in ["resume twice", "journal deleted", "folder renamed", "folder moved"] {
        let fixture = rejected(SPEC, PLAN);
        lower(&fixture, &SPEC.replace("- [ ] `leaves` passes\n", ""), PLAN);
        let specs = fixture.repository.file("specs");
        let journal = specs.join("001-greeting/qa_journal.jsonl");
        let mut args = vec!["--resume"];
        match way {
            "resume twice" => drop(fixture.ends(4, &["--resume"])),
            "journal deleted" => fs::remove_file(&journal).unwrap(),
            "folder renamed" => {
                fs::remove_file(&journal).unwrap();
                fs::rename(specs.join("001-greeting"), specs.join("001-hello")).unwrap();
            }
            _ => {
                let home = fixture.repository.file(".auto-claude/specs");
                fs::create_dir_all(&home).unwrap();
                fs::remove_file(&journal).unwrap();
                fs::rename(specs.join("001-greeting"), home.join("001-greeting")).unwrap();
            }
        }
        if way != "resume twice" {
            args.clear();
        }
        let ran = fixture.ends(4, &args);
        assert!(
            ran.stderr.contains("Criterion was removed: `leaves` passes"),
            "{way}: {}",
            ran.stderr
        );
    }
}

#[test]
fn added_criteria_are_accepted() {
    let fixture = rejected(SPEC, PLAN);
    let more = SPEC
        .replace("- [ ] `leaves` passes", "- [x] `leaves`  passes\n- [ ] `greets` always passes");
    lower(&fixture, &more, PLAN);
    let ran = fixture.ends(0, &["--resume"]);
    assert!(!ran.stderr.contains("removed"), "{}", ran.stderr);
    fixture.is_approved();
}

/// Commits a spec that requires `mul`, and switches to a branch on which a test was fixed.
fn required_on_main(plan: &str) -> QaFixture {
    let fixture = QaFixture::bare();
    fixture.implemented(
        &SPEC.replace("- [ ] `leaves` passes", "- [ ] The function `mul` exists"),
        plan,
        "true\n",
        "",
    );
    fixture.repository.commit("the spec");
    fixture.repository.git(&["switch", "--quiet", "--create", "work"]);
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    fixture
}

#[test]
fn a_spec_replaced_by_another_folder_keeps_its_requirements() {
    for (name, folder, removes) in [
        ("renamed", "specs/001-zebra", true),
        ("moved", ".auto-claude/specs/001-other", true),
        ("another number", "specs/007-other", true),
    ] {
        let fixture = required_on_main(PLAN);
        let path = fixture.repository.file("specs/001-greeting");
        if removes {
            fs::remove_dir_all(&path).unwrap();
        }
        let easy = SPEC.replace("- [ ] `leaves` passes\n", "");
        fixture.repository.write(format!("{folder}/spec.md"), &easy);
        fixture.repository.write(format!("{folder}/implementation_plan.json"), PLAN);
        let ran = crate::assay_with(fixture.repository.path(), &["qa", "--spec", folder], b"", &[]);
        assert_eq!(ran.code, 4, "{name}: {}{}", ran.stdout, ran.stderr);
        let wanted = "Criterion was removed: The function `mul` exists";
        assert!(ran.stderr.contains(wanted), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_renamed_spec_keeps_the_same_requirements() {
    let fixture = required_on_main(PLAN);
    let specs = fixture.repository.file("specs");
    fs::rename(specs.join("001-greeting"), specs.join("001-hello")).unwrap();
    fixture.repository.write("calc.py", "def mul(a, b):\n    return a * b\n");
    let ran = fixture.ends(0, &[]);
    assert!(!ran.stderr.contains("was removed"), "{}", ran.stderr);
}

#[test]
fn a_second_folder_with_the_number_of_a_spec_is_ambiguous() {
    let fixture = required_on_main(PLAN);
    fixture.repository.write("specs/001/spec.md", SPEC.replace("- [ ] `leaves` passes\n", ""));
    fixture.repository.write("specs/001/implementation_plan.json", PLAN);
    let ran = fixture.ends(2, &[]);
    assert!(ran.stderr.contains("`specs/001`, `specs/001-greeting`"), "{}", ran.stderr);
}

#[test]
fn a_risk_that_was_always_low_is_not_reported_as_lowered() {
    for risk in ["low", "trivial"] {
        let plan = PLAN.replacen(
            '{',
            &format!("{{\"verification_strategy\": {{\"risk_level\": \"{risk}\"}},"),
            1,
        );
        let fixture = required_on_main(&plan);
        fixture.repository.write("calc.py", "def mul(a, b):\n    return a * b\n");
        let ran = fixture.qa(&[]);
        assert!(!ran.stderr.contains("Risk was lowered"), "{risk}: {}", ran.stderr);
        assert_eq!(ran.code == 0, risk == "low", "{risk}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_test_added_to_a_criterion_later_does_not_decide_it_without_a_person() {
    let prose =
        SPEC.replace("- [ ] `leaves` passes", "- [ ] `leaves` passes\n- [ ] Guests feel welcome");
    for named in ["Guests feel welcome (`greets`)", "Guests feel welcome, covered by `greets`"] {
        let fixture = rejected(&prose, PLAN);
        lower(&fixture, &prose.replace("Guests feel welcome", named), PLAN);
        let ran = fixture.ends(4, &["--resume"]);
        let title = "Criterion was reworded: Guests feel welcome";
        assert!(ran.stderr.contains(title), "{}", ran.stderr);
        assert!(fixture.artifact("qa_report.md").contains(title), "{named}");
    }
    // A test that is named later must not replace a criterion that code decides, or another test.
    let decided = SPEC.replace(
        "- [ ] `leaves` passes",
        "- [ ] `leaves` passes\n- [ ] The function `bow` exists in `greet.py`\n- [ ] `bows` passes",
    );
    for (from, to) in [
        ("exists in `greet.py`", "exists in `greet.py` (`greets`)"),
        ("`bows` passes", "`bows` passes (`greets`)"),
    ] {
        let fixture = rejected(&decided, PLAN);
        lower(&fixture, &decided.replace(from, to), PLAN);
        let ran = fixture.ends(4, &["--resume"]);
        assert!(ran.stderr.contains("Criterion was removed: "), "{to}: {}", ran.stderr);
    }
}
