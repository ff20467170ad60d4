//! Criteria outside of a section "Acceptance Criteria", in the forms that people use: none is
//! skipped, and text that only looks similar is no criterion.

use super::{PLAN, QaFixture};

/// A criterion that is met, so that only the others decide.
const MET: &str = "# Greeting\n\n## Acceptance Criteria\n\n- `greets` passes\n";

/// Runs a spec and a plan whose tests all pass, at the lowest risk, and returns the exit code and
/// the titles of the issues.
fn run(spec: &str, plan: &str) -> (i32, Vec<String>) {
    let fixture = QaFixture::with(spec, plan, "true\n", "");
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    fixture.repository.write("integ.sh", "exit 1\n");
    fixture.repository.write("CHANGELOG.md", "# Changes\n\n- `--loud` greets in capitals\n");
    fixture.repository.write("calc.py", "def mul(a, b):\n    return a * b\n");
    let ran = fixture.qa_with(&[], &[("MAX_QA_ITERATIONS", "1")]);
    if ran.code == 0 {
        return (0, Vec::new());
    }
    (ran.code, fixture.issues().into_iter().map(|(_, title)| title).collect())
}

fn has(titles: &[String], wanted: &str) -> bool {
    titles.iter().any(|title| title.contains(wanted))
}

/// Appends sections to a criterion that is met.
fn with(more: &str) -> String {
    format!("{MET}\n{more}\n\n## Verification\n\n**Unit Tests:**\n- `sh test.sh`\n")
}

/// Returns a spec with the given criteria, and tests to run.
fn only(criteria: &str) -> String {
    let criteria = format!("# Greeting\n\n## Acceptance Criteria\n\n{criteria}\n");
    format!("{criteria}\n## Verification\n\n**Unit Tests:**\n- `sh test.sh`\n")
}

#[test]
fn a_criterion_counts_in_any_section_by_its_heading_or_its_form() {
    let nope = "`test_nope` passes";
    for (more, wanted) in [
        (format!("## Acceptance tests\n\n- {nope}"), nope),
        (format!("## Must have\n\n- {nope}"), nope),
        (format!("## Should have (later)\n\n- {nope}"), nope),
        (format!("## Security requirements\n\n- {nope}"), nope),
        (format!("## Acceptance Crit\u{435}ria\n\n- {nope}"), nope),
        (format!("## Quality\n\n- [ ] {nope}"), nope),
        (
            "## Quality\n\n- [ ] All is well:\n  - every word is polite".to_owned(),
            "every word is polite",
        ),
        (format!("## Details\n\nAC2: {nope}"), nope),
        (format!("## Details\n\nSome words.\n**AC-2** {nope}"), nope),
        (format!("## Notes\n\n- AC-7: {nope}"), nope),
        (format!("## Goals\n\n- {nope}"), nope),
        (
            format!("## Table\n\n| Acceptance Criteria | Status |\n|---|---|\n| {nope} | open |"),
            nope,
        ),
        (
            "## Scenarios\n\nGiven a guest\nWhen she comes\nThen she is greeted".to_owned(),
            "Given a guest",
        ),
        (
            "## Scenarios\n\n```gherkin\nScenario: x\n  Given a\n  Then test_nope passes\n```"
                .to_owned(),
            "Scenario: x, Given a, Then test_nope passes",
        ),
        (
            "## Behaviour\n\n```gherkin\nFeature: f\n  Scenario: y\n    Given a\n    Then b\n```"
                .to_owned(),
            "Scenario: y, Given a, Then b",
        ),
        ("## User stories\n\nGiven x, when y, then z is said.".to_owned(), "Given x, when y"),
        ("## Acceptance tests\n\n```json\n{\"a\": 1}\n```".to_owned(), "Not understood: "),
    ] {
        let (code, titles) = run(&with(&more), PLAN);
        assert_eq!(code, 4, "{more}\n{titles:#?}");
        assert!(has(&titles, wanted), "{more}\n{titles:#?}");
    }
}

#[test]
fn text_that_only_resembles_criteria_does_not_block_approval() {
    for more in [
        "## Tasks\n\n- [x] Write the greeting\n- [ ] Tell the others",
        "## Notes\n\n- [ ] Ask Ada",
        "## Acceptance tests\n\n- AC-1: `leaves` passes\n\n## Notes\n\n- AC-1: took long",
        "## Overview\n\nAC-2 of the last release is no part of this.\n\n- Greets politely",
        "## Files\n\n| File | Status |\n|---|---|\n| greeting.txt | new |",
        "## Quality\n\n- [ ] `greets` passes\n- [x] `leaves` passes",
        "## Must have\n\n- `leaves` passes",
        "## Background\n\n```gherkin\nScenario: an old one\n  Then nothing\n```",
        "| Acceptance Criteria | Status |\n|---|---|\n| `leaves` passes | done |",
    ] {
        let (code, titles) = run(&with(more), PLAN);
        assert_eq!(code, 0, "{more}\n{titles:#?}");
    }
}

#[test]
fn structural_text_among_criteria_is_ignored_and_demands_in_it_count() {
    for criteria in [
        "- `greets` passes\n  - Example: \"hello, Ada\"\n- `leaves` passes",
        "- `greets` passes\n- Example:\n  - \"hello\"\n  - \"hello, Ada\"\n- `leaves` passes",
        "- **Saying hello**\n  - `greets` passes\n- **Saying goodbye**\n  - `leaves` passes",
        "- `greets` passes\n\n> Note: greetings were shorter once.\n\n- `leaves` passes",
    ] {
        let (code, titles) = run(&only(criteria), PLAN);
        assert_eq!(code, 0, "{criteria}\n{titles:#?}");
    }
    for (criteria, wanted) in [
        ("- `greets` passes\n- Example: `test_nope` passes", "`test_nope` passes"),
        ("- `greets` passes\n\n> Note: it must also be polite.", "must also be polite"),
        ("- `greets` passes\n- **It is polite**\n  - `leaves` passes", "It is polite"),
        ("- `greets` passes\n- **Politeness**", "Politeness"),
    ] {
        let (code, titles) = run(&only(criteria), PLAN);
        assert_eq!(code, 4, "{criteria}\n{titles:#?}");
        assert!(has(&titles, wanted), "{criteria}\n{titles:#?}");
    }
}

#[test]
fn the_verification_of_a_subtask_is_required() {
    let plan = |verification: &str| {
        PLAN.replace(
            "\"title\": \"Say hello\",",
            &format!("\"title\": \"Say hello\", \"verification\": {verification},"),
        )
    };
    for (verification, wanted) in [
        (
            r#"{"type": "command", "command": "false", "expected": "0"}"#,
            "Not met: `false` succeeds",
        ),
        (r#"{"command": "sh integ.sh"}"#, "Not met: `sh integ.sh` succeeds"),
        (r#"{"command": "true", "expected": "every word is polite"}"#, "every word is polite"),
        (r#""sh integ.sh""#, "Not met: `sh integ.sh` succeeds"),
        (r#""Every guest is greeted""#, "Cannot tell: Every guest is greeted"),
        (r#"{"type": "manual", "instructions": "Look at it"}"#, "Cannot tell: Look at it"),
        (r#"{"type": "api", "method": "GET"}"#, "Not understood: `verification`"),
    ] {
        let (code, titles) = run(&with(""), &plan(verification));
        assert_eq!(code, 4, "{verification}\n{titles:#?}");
        assert!(has(&titles, wanted), "{verification}\n{titles:#?}");
    }
    for verification in [
        r#"{"type": "command", "command": "sh test.sh", "expected": "All pass"}"#,
        r#"{"type": "none"}"#,
        "null",
    ] {
        let (code, titles) = run(&with(""), &plan(verification));
        assert_eq!(code, 0, "{verification}\n{titles:#?}");
    }
}

#[test]
fn commands_below_testing_in_tables_and_without_back_ticks_are_run() {
    for verification in [
        "## Testing\n\n- `sh integ.sh`",
        "## Test plan\n\n1. Run `sh integ.sh`",
        "## Tests\n\nRun `sh integ.sh` first.",
        "## Testing\n\n### Integration tests\n\n- `sh integ.sh`",
        "## Verification\n\n| Tests | Command |\n|---|---|\n| Unit | `sh integ.sh` |",
        "## Verification\n\n- Run sh integ.sh",
        "## Verification\n\n### Integration tests\n\nRun: sh integ.sh",
    ] {
        let (code, titles) = run(&format!("{MET}\n{verification}\n"), PLAN);
        assert_eq!(code, 4, "{verification}\n{titles:#?}");
        assert!(has(&titles, "sh integ.sh"), "{verification}\n{titles:#?}");
    }
    for (verification, wanted) in [
        ("## Testing\n\n- [ ] `test_nope` passes", "`test_nope` passes"),
        ("## Test plan\n\n- [ ] Every guest was asked", "Every guest was asked"),
        ("## Verification\n\n- [ ] Every guest was asked", "Every guest was asked"),
    ] {
        let (code, titles) = run(&format!("{MET}\n{verification}\n"), PLAN);
        assert_eq!(code, 4, "{verification}\n{titles:#?}");
        assert!(has(&titles, wanted), "{verification}\n{titles:#?}");
    }
    for verification in [
        "## Testing\n\nThe tests are in `test.sh`.\n\n- `test.sh` holds two tests\n- `sh test.sh`",
        "## Test plan\n\n- Both tests pass\n- `sh test.sh`\n\n```python\nprint('an example')\n```",
        "## Verification\n\n| Tests | Command | Expected |\n|---|---|---|\n| Unit | `sh test.sh` | all pass |",
    ] {
        let (code, titles) = run(&format!("{MET}\n{verification}\n"), PLAN);
        assert_eq!(code, 0, "{verification}\n{titles:#?}");
    }
}

#[test]
fn manual_steps_on_a_plain_line_are_required_like_those_of_a_list_item() {
    for verification in [
        "## Verification\n\nManual: Open → Look",
        "## Verification\n\n### Unit tests\n\n- `sh test.sh`\nManual: Open → Look",
        "## Testing\n\n- `sh test.sh`\n\nManual: Open → Look",
        "## Verification\n\n| Kind | How |\n|---|---|\n| Manual | Open → Look |",
    ] {
        let spec = format!("{MET}- `leaves` passes\n\n{verification}\n");
        let fixture = QaFixture::with(&spec, PLAN, "true\n", "");
        fixture.ends(4, &[]);
        let lowered = spec.lines().filter(|line| !line.contains("Manual")).collect::<Vec<_>>();
        fixture.repository.write("specs/001-greeting/spec.md", lowered.join("\n"));
        let ran = fixture.ends(4, &["--resume"]);
        let wanted = "Verification was removed: unit: by hand Open → Look";
        assert!(ran.stderr.contains(wanted), "{verification}\n{}", ran.stderr);
    }
}

#[test]
fn plain_criteria_in_usual_words_are_decided() {
    for criterion in [
        "Guests are greeted (covered by `greets`)",
        "Guests are greeted [`greets`]",
        "Guests are greeted, verified by `greets`",
        "Greeting is tested by `greets`",
        "Guests are greeted, see `greets`",
        "Guests are greeted → `greets`",
        "**AC-2** Guests are greeted: `greets`",
        "✅ `greets` passes",
        "All 2 tests pass",
        "No regressions",
        "No existing test breaks",
        "Run sh test.sh",
        "CHANGELOG.md mentions `--loud`",
        "New function `mul` in `calc.py`",
        "`times` is renamed to `mul`",
        "`times` is replaced by `mul`",
        "The function `times` is replaced by `mul`",
    ] {
        let (code, titles) = run(&with(&format!("### More\n\n- {criterion}")), PLAN);
        assert_eq!(code, 0, "{criterion}\n{titles:#?}");
    }
    for (criterion, wanted) in [
        ("All 3 tests pass", "Not met"),
        ("CHANGELOG.md mentions `--quiet`", "Not met"),
        ("New function `div` in `calc.py`", "Not met"),
        ("`mul` is renamed to `times`", "Not met"),
        ("`times` is renamed to `div`", "Not met"),
        ("`mul` is renamed from `times`", "Cannot tell"),
        ("Run sh integ.sh", "Not met"),
        ("Guests are greeted (not covered by `greets`)", "Cannot tell"),
        ("No regressions in the manual", "Cannot tell"),
    ] {
        let (code, titles) = run(&with(&format!("### More\n\n- {criterion}")), PLAN);
        assert_eq!(code, 4, "{criterion}\n{titles:#?}");
        assert!(has(&titles, &format!("{wanted}: {criterion}")), "{criterion}\n{titles:#?}");
    }
}

#[test]
fn an_undecided_criterion_names_the_words_and_the_remedies() {
    let fixture = QaFixture::with(
        "# Greeting\n\n## Acceptance Criteria\n\n- `greets` passes within a second\n",
        PLAN,
        "true\n",
        "",
    );
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    fixture.ends(4, &[]);
    let report = fixture.artifact("qa_report.md").replace('\\', "");
    for words in [
        "not understood: \"within\", \"second\"",
        "--sign-off NAME --for 1",
        "in back-ticks",
        "a model",
    ] {
        assert!(report.contains(words), "{words}\n{report}");
    }
}
