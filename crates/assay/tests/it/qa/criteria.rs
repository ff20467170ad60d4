//! Criteria as people write them: a criterion is decided only if all of it is understood, and none
//! is skipped.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{PLAN, QaFixture};

/// Tests with the names that common runners give them.
const RUNNER: &str = "\
echo 1..6
echo 'ok 1 - test_sub'
echo 'ok 2 - test_add'
echo 'ok 3 - tests.test_calc.T > test_mul'
echo 'ok 4 - tests::test_div'
echo 'ok 5 - calc > adds two numbers'
echo 'ok 6 - never rounds'
";

const CALC: &str = "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n";

/// Runs a spec with criteria, whose tests all pass, and returns the answer for each criterion.
fn answers(criteria: &str) -> (QaFixture, BTreeMap<String, String>) {
    let spec = format!(
        "# Calc\n\n## Acceptance Criteria\n\n{criteria}\n\n## Verification\n\n**Unit Tests:**\n- `sh test.sh`\n"
    );
    let fixture = QaFixture::with(&spec, PLAN, "true\n", "");
    fixture.repository.write("test.sh", RUNNER);
    fixture.repository.write("Makefile", "lint:\n\t@true\nbroken:\n\t@false\n");
    fixture.repository.commit("the project");
    fixture.repository.write("calc.py", CALC);
    fixture
        .repository
        .write("README.md", "# Calc\n\nAdds numbers with `add`.\n\n<!-- hidden -->\n");
    fixture.qa(&[]);
    let reviewed = fixture.events_of("reviewed");
    let reviewed = reviewed.last().unwrap_or_else(|| panic!("{:#?}", fixture.events()));
    let line = |line: &Value| {
        let text = |key: &str| line[key].as_str().unwrap().to_owned();
        (text("text"), text("answer"))
    };
    let answers = reviewed["criteria"].as_array().unwrap().iter().map(line).collect();
    (fixture, answers)
}

fn listed(criteria: &[&str]) -> String {
    criteria.iter().map(|it| format!("- {it}\n")).collect()
}

#[test]
fn no_criterion_is_met_by_its_opposite_or_by_a_part_of_it() {
    let criteria = [
        "`test_sub` fails",
        "`test_sub` is skipped",
        "`test_sub` does not pass",
        "`test_sub` passes; and more",
        "`test_sub` passes and the log is empty",
        "`test_sub` passes, and logins are limited to five per minute",
        "`test_sub` passes within 5 seconds",
        "`test_sub` or `test_none` passes",
        "Known failures: `test_sub`",
        "Either way: `test_sub` fails",
        "There is no `mul`",
        "There is no `mul` in `calc.py`",
        "The readme mentions `hidden`",
        "`README.md` mentions `hidden`",
        "The readme mentions `add` and how rounding works",
        "The readme explains `add`",
        "`rounds` passes",
        "All tests pass and the coverage rises",
        "Not all tests pass",
        "`make lint` succeeds and takes less than a minute",
        "`make lint` fails",
    ];
    let (fixture, answers) = answers(&listed(&criteria));
    assert_eq!(answers.len(), criteria.len(), "{answers:#?}");
    for (text, answer) in &answers {
        assert_ne!(answer, "met", "{text}");
    }
    assert_ne!(fixture.ending()["ending"], "approved");
}

#[test]
fn usual_names_of_tests_and_commands_decide_criteria() {
    let criteria = [
        "`test_sub` passes",
        "`test_sub()` passes.",
        "The test `test_sub` still passes",
        "`test_sub` and `test_add` pass",
        "Subtraction works: `test_sub`",
        "`sub(2, 3)` is now `1` instead of `-1`: `test_sub` passes",
        "`tests/test_calc.py::T::test_mul` passes",
        "`T.test_mul` passes",
        "`tests.test_calc.T.test_mul` passes",
        "The class `T` passes",
        "All tests in `tests/test_calc.py` pass",
        "`tests::test_div` passes",
        "`calc > adds two numbers` passes",
        "`calc adds two numbers` passes",
        "All tests pass",
        "All existing tests still pass",
        "`sh test.sh` passes",
        "`make lint` succeeds",
        "`make lint` exits 0",
        "The readme mentions `add`",
    ];
    let (fixture, answers) = answers(&listed(&criteria));
    assert_eq!(answers.len(), criteria.len(), "{answers:#?}");
    for (text, answer) in &answers {
        assert_eq!(answer, "met", "{text}");
    }
    fixture.is_approved();
}

#[test]
fn a_criterion_whose_command_fails_is_not_met() {
    let (fixture, answers) = answers("- `make broken` succeeds\n");
    assert_eq!(answers["`make broken` succeeds"], "not_met");
    let titles: Vec<String> = fixture.issues().into_iter().map(|(_, title)| title).collect();
    assert!(titles.contains(&"Fails: criterion: make broken".to_owned()), "{titles:?}");
}

/// Runs a spec as it is, whose tests all pass, and returns the titles of its issues.
fn issues_of(spec: &str) -> Vec<String> {
    let fixture = QaFixture::with(spec, PLAN, "true\n", "");
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    fixture.repository.write("integ.sh", "exit 1\n");
    fixture.qa(&[]);
    fixture.issues().into_iter().map(|(_, title)| title).collect()
}

#[test]
fn no_criterion_or_command_is_skipped_for_the_form_that_it_has() {
    let known = "# Greeting\n\n## Acceptance Criteria\n\n- `greets` passes\n";
    let unit = "\n## Verification\n\n### Unit tests\n\n- `sh test.sh`\n";
    let mut rows: Vec<(String, &str)> = Vec::new();
    for fenced in [
        "~~~\nLogin works for everyone\n~~~",
        "```\nThe function `login` exists\n```",
        "```text\nEvery login is limited\n```",
        "```json\n{\"acceptance_criteria\": [\"Login works\"]}\n```",
        "```markdown\n- Login works\n```",
        "Text:\n\n        The login works always\n        and is limited",
    ] {
        rows.push((format!("{known}\n{fenced}\n{unit}"), "Not understood: "));
    }
    for heading in [
        "AC", "Requirements", "Success Criteria", "Definition of Done", "Done when",
        "Abnahmekriterien", "Critères d'acceptation", "Criterios de aceptación",
        "Critérios de aceitação", "受け入れ基準", "验收标准",
    ] {
        rows.push((
            format!("{known}\n## {heading}\n\n- Every password is hashed\n{unit}"),
            "Cannot tell: Every password is hashed",
        ));
    }
    for command in [
        "```sh\nsh integ.sh\n```",
        "```console\n$ sh integ.sh\nok\n```",
        "Run `sh integ.sh` before each release.",
        "Before a release, run `sh integ.sh`.",
        "- Then `sh integ.sh` must exit with 0",
    ] {
        rows.push((
            format!("{known}{unit}\n### Integration tests\n\n{command}\n"),
            "Fails: integration: sh integ.sh",
        ));
    }
    rows.push((
        format!("{known}\n## Verification\n\nUnit tests: `sh test.sh`\n\nIntegration tests: `sh integ.sh`\n"),
        "Fails: integration: sh integ.sh",
    ));
    for (spec, wanted) in rows {
        let titles = issues_of(&spec);
        assert!(titles.iter().any(|title| title.contains(wanted)), "{spec}\n{titles:#?}");
    }
}

#[test]
fn an_example_in_code_below_a_criterion_is_no_criterion() {
    let spec = "# Greeting\n\n## Acceptance Criteria\n\n- `greets` passes\n\n  ```python\n  greet(\"Ada\")\n  \
                ```\n- `leaves` passes\n";
    let titles = issues_of(spec);
    assert!(!titles.iter().any(|it| it.contains("Not understood")), "{titles:?}");
}

#[test]
fn a_duplicate_key_in_a_plan_is_an_error_with_its_line() {
    let plan = "{\"phases\": [{\"subtasks\": [\n  {\"id\": \"1\", \"status\": \"pending\",\n   \"status\": \"completed\"}]}]}";
    let fixture = QaFixture::with(super::SPEC, plan, "true\n", "");
    let ran = fixture.ends(2, &[]);
    assert!(ran.stderr.contains("duplicate key `status`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("line 3"), "{}", ran.stderr);
}

#[test]
fn a_failed_round_lists_the_criteria_that_were_not_judged() {
    let fixture = QaFixture::with_fixer("true");
    fixture.repository.write("test.sh", format!("echo $$ > left.txt\n{}", super::RUNNER));
    fixture.qa_with(&[], &[("MAX_CONSECUTIVE_ERRORS", "1")]);
    let report = fixture.artifact("qa_report.md");
    assert!(report.contains("The criteria were not judged"), "{report}");
    assert!(report.contains("| 1 | `greets` passes |"), "{report}");
    assert!(!report.contains("No acceptance criteria."), "{report}");
}
