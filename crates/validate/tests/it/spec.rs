//! Tests of parsing the requirements of a spec, from its text and its plan.

use std::fmt::Write;
use std::path::Path;

use assay_checks::verification::Group;
use assay_testkit::specs::LOGIN;
use assay_validate::plan::ImplementationPlan;
use assay_validate::spec::{Spec, SpecError};
use expect_test::{Expect, expect};

pub(crate) fn read(spec: &str, plan: &str) -> Result<Spec, SpecError> {
    let plan = ImplementationPlan::parse(plan.to_owned()).unwrap();
    Spec::parse(Path::new("specs/001-login"), spec, &plan)
}

fn check(spec: &str, expected: Expect) {
    check_with_plan(spec, "{}", expected);
}

fn check_with_plan(spec: &str, plan: &str, expected: Expect) {
    let text = match read(spec, plan) {
        Ok(spec) => shown(&spec),
        Err(error) => format!("{error}\n"),
    };
    expected.assert_eq(&text);
}

fn shown(spec: &Spec) -> String {
    let mut out = String::new();
    for criterion in &spec.criteria {
        let line = criterion.line.map_or("plan".to_owned(), |line| line.to_string());
        writeln!(out, "{line}: {}", criterion.text).unwrap();
    }
    for unread in &spec.not_understood {
        let line = unread.line.map_or("plan".to_owned(), |line| line.to_string());
        writeln!(out, "{line} not understood: {}", unread.text).unwrap();
    }
    let verification = &spec.verification;
    let groups = [
        ("unit", &verification.unit),
        ("integration", &verification.integration),
        ("e2e", &verification.e2e),
    ];
    for (name, group) in groups {
        write_group(&mut out, name, group);
    }
    if let Some(coverage) = verification.minimum_coverage {
        writeln!(out, "coverage {coverage}").unwrap();
    }
    if verification.network {
        writeln!(out, "network allowed").unwrap();
    }
    out
}

fn write_group(out: &mut String, name: &str, group: &Group) {
    if group.is_required {
        writeln!(out, "{name} required").unwrap();
    }
    for command in &group.commands {
        let expect = command.expect.as_ref().map(|words| format!(" | {words}"));
        writeln!(out, "{name} runs {}{}", command.command, expect.unwrap_or_default()).unwrap();
    }
    for steps in &group.by_hand {
        writeln!(out, "{name} by hand {steps:?}").unwrap();
    }
    for flow in &group.flows {
        writeln!(out, "{name} goes through {flow}").unwrap();
    }
}

#[test]
fn criteria_and_verification_of_the_seed_are_read() {
    check(
        LOGIN,
        expect![[r#"
            3: User can register with email/password
            4: Password must be 8+ characters with special char
            5: Account created after email verification
            6: Login with valid credentials works
            7: Login with invalid credentials shows error
            unit runs pytest tests/test_auth.py | All pass
            integration runs pytest tests/integration/test_api.py | All pass
            e2e by hand ["Register", "Verify email", "Login", "Logout"]
            coverage 80
        "#]],
    );
}

#[test]
fn two_character_arrows_separate_manual_steps() {
    check(
        "## Verification\n\n**E2E Tests:**\n- Manual: Register -> Verify email -> Login -> Logout\n",
        expect![[r#"
            e2e by hand ["Register", "Verify email", "Login", "Logout"]
        "#]],
    );
}

#[test]
fn any_heading_that_names_acceptance_criteria_counts() {
    check(
        "# Login\n- [ ] not one\n\n### Functional ACCEPTANCE criteria:\n- [x] a\n* [X] b\n1. [ ] c\n\
         #### More\n- [ ] d\n### Notes\n- [ ] not one\n\nAcceptance Criteria\n---\n+ [ ] e\n",
        expect![[r#"
            5: a
            6: b
            7: c
            9: d
            15: e
        "#]],
    );
}

#[test]
fn words_in_bold_on_their_own_line_are_a_heading() {
    check(
        "**Acceptance Criteria:**\n- [ ] a\n\n**Notes:**\n- [ ] not one\n",
        expect![[r#"
            2: a
        "#]],
    );
}

#[test]
fn every_item_counts_with_or_without_a_box() {
    check(
        "## Acceptance Criteria\n- a note\n- [ ] a\n- another note\n\
         ## API Acceptance Criteria\n- b\n- c\n  1. c1\n  2. c2\n- d:\n  - d1\n",
        expect![[r#"
            2: a note
            3: a
            4: another note
            6: b
            7: c
            8: c1
            9: c2
            11: d: d1
        "#]],
    );
}

#[test]
fn text_below_a_criterion_is_a_criterion_of_its_own() {
    check(
        "## Acceptance Criteria\n- [ ] Login fails\n  for strangers\n\n  and says why\n\
         \x20 - with a code\n  - [ ] which is logged\n- [ ] b\n",
        expect![[r#"
            2: Login fails for strangers
            5: and says why
            6: with a code
            7: which is logged
            8: b
        "#]],
    );
}

#[test]
fn introductory_words_are_prepended_to_each_criterion() {
    check(
        "## Acceptance Criteria\n\nFor guests:\n\n- a\n- b\n\nFor admins:\n\n- c:\n  - d\n  - e\n\nAlone:\n\n\
         ### Speed\n\n- f\n\n### 2. It never stops\n\nG holds, e.g. here. H holds\ntoo.\n",
        expect![[r#"
            5: For guests: a
            6: For guests: b
            11: For admins: c: d
            12: For admins: c: e
            14: Alone:
            18: f
            20: 2. It never stops
            22: G holds, e.g. here.
            22: H holds too.
        "#]],
    );
}

#[test]
fn criteria_are_read_from_tables_labels_and_marks() {
    check(
        "**Acceptance Criteria (security)**\n\n| # | What | Test |\n|---|---|---|\n| 1 | a \\| b | `t \\| u` |\n| 2 | c | |\n\n\
         AC-1: d\nAC-2: e\n\n• f\n☐ g\n\n**Notes**\n- no\n\n- Story\n  - **Acceptance criteria:** h\n    - i\n  - no\n\n\
         Acceptance criteria for j: k holds.\n",
        expect![[r#"
            5: 1 – a \| b – `t \| u`
            6: 2 – c
            8: AC-1: d
            9: AC-2: e
            11: f
            12: g
            18: h
            19: i
            22: k holds.
        "#]],
    );
}

#[test]
fn comments_hold_no_criteria_and_code_is_reported_as_not_understood() {
    check(
        "## Acceptance Criteria\n<!--\n- [ ] no\n-->\n<!-- - [ ] no -->\n```md\n- [ ] no\n```\n\
         > - [ ] no\n\n~~~\n```\n- [ ] no\n~~~~\n- [ ] a\n- [ ]\n",
        expect![[r#"
            9: no
            15: a
            6 not understood: - [ ] no
        "#]],
    );
}

#[test]
fn line_numbers_are_right_with_windows_line_endings_and_a_byte_order_mark() {
    check(
        "\u{feff}## Acceptance Criteria\r\n\r\n- [ ] a\r\n- [ ] b\r\n\r\n## Verification\r\n\
         **Unit Tests:**\r\n- `x` - ok\r\n",
        expect![[r#"
            3: a
            4: b
            unit runs x | ok
        "#]],
    );
}

#[test]
fn criteria_of_the_plan_are_added_once() {
    check_with_plan(
        "## Acceptance Criteria\n- [ ] User can  register\n",
        r#"{
            "verification_strategy": {"acceptance_criteria": ["user can register", "b", "", 3]},
            "qa_acceptance": {"acceptance_criteria": [{"text": "c"}, {"description": "B"}, {}]}
        }"#,
        expect![[r#"
            2: User can register
            plan: b
            plan: c
            plan not understood: `acceptance_criteria` in the plan: 3
            plan not understood: `acceptance_criteria` in the plan: {}
        "#]],
    );
}

#[test]
fn the_plan_adds_to_the_verification() {
    check_with_plan(
        "## Verification\n### Unit Tests\n- `pytest -q` - All pass\n- Coverage: 70%\n",
        r#"{"verification_strategy": {
            "unit_tests": {"required": true, "minimum_coverage": 80, "commands": ["pytest -q", "tox"]},
            "integration_tests": {"required": true},
            "e2e_tests": {"required": false, "flows": ["user_login", {"name": "checkout"}]},
            "browser_verification": {"required": true, "pages": ["/dashboard", {"url": "/settings"}]}
        }}"#,
        expect![[r#"
            unit required
            unit runs pytest -q | All pass
            unit runs tox
            integration required
            e2e required
            e2e goes through user_login
            e2e goes through checkout
            e2e goes through /dashboard
            e2e goes through /settings
            coverage 80
        "#]],
    );
}

#[test]
fn qa_acceptance_is_another_name_for_the_strategy() {
    check_with_plan(
        "",
        r#"{"qa_acceptance": {
            "unit_tests": {"commands": [{"command": "go test ./...", "expected": "ok"}],
                           "minimum_coverage": "65.5%"},
            "integration_tests": {"command": "make it"}
        }}"#,
        expect![[r#"
            unit runs go test ./... | ok
            integration runs make it
            coverage 65.5
        "#]],
    );
}

#[test]
fn groups_are_labels_headings_or_items() {
    check(
        "## 4. Verification Steps\n- `first` - before any group\n\n### Backend Unit Tests\n`a` - ok\n\n\
         __Integration tests__: Run `b` — ok\n\n- **End-to-end:**\n  - `c`: ok\n  - **Slow**: `d`, `e` and `f`\n\n\
         **Lint:**\n- `g`\n\n## Later\n- `h`\n",
        expect![[r#"
            unit runs first | before any group
            unit runs a | ok
            integration runs b | ok
            e2e runs c | ok
            e2e runs d
            e2e runs e
            e2e runs f
        "#]],
    );
}

#[test]
fn groups_may_be_plain_lines_and_lists_may_use_other_notations() {
    check(
        "# Plan\r\n### Feature Verification: ###\r\n#### UnitTests ####\r\n* [x] `cargo test` — ok\r\n\
         * **Coverage**: ≥ 72.5 %\r\n\r\nIntegration tests:\r\n+ `make it`\r\n\r\n\
         #### End-to-end\r\n+ ``echo `date` ``\r\n+ **Manual:** Open → Close\r\n### Else\r\n- `no`\r\n",
        expect![[r#"
            unit runs cargo test | ok
            integration runs make it
            e2e runs echo `date`
            e2e by hand ["Open", "Close"]
            coverage 72.5
        "#]],
    );
}

#[test]
fn a_group_may_begin_right_below_a_list() {
    check(
        "## Verification\n**Unit Tests:**\n- `a` - ok\n**Integration Tests:**\n- `b` - ok\nE2E tests:\n- `c` - ok\n",
        expect![[r#"
            unit runs a | ok
            integration runs b | ok
            e2e runs c | ok
        "#]],
    );
}

#[test]
fn a_plain_line_names_a_group_only_in_a_verification_section() {
    check(
        "## Notes\nUnit tests:\n- `no`\n## Acceptance Criteria\nUnit tests:\n- [ ] a\n\
         ## Verification\n**E2E Tests:**\n`cat unit`:\nUnit tests: all\n- `b`\n",
        expect![[r#"
            6: Unit tests: a
            e2e runs cat unit
            e2e runs b
        "#]],
    );
}

#[test]
fn items_without_a_command_run_nothing_and_code_blocks_are_reported() {
    check(
        "## Verification\n**Unit Tests:**\n- run the tests\n- `never closed\n- ` `\n- Coverage: high\n\
         ```\n- `in a block`\n```\n",
        expect![[r#"
            7 not understood: code below Verification: - `in a block`
        "#]],
    );
}

#[test]
fn the_network_is_allowed_only_by_an_explicit_line_of_the_spec() {
    for allowed in ["- Network: allowed", "**Network:** yes", "* **Network access**: `on`."] {
        let spec = format!("## Verification\n**E2E Tests:**\n{allowed}\n");
        check(
            &spec,
            expect![[r#"
            network allowed
        "#]],
        );
    }
    for refused in ["no", "not allowed", "allowed to localhost only", "", "allowed or not"] {
        check(&format!("## Verification\n- Network: {refused}\n"), expect![""]);
    }
    check("## Notes\n- Network: allowed\n", expect![""]);
    check_with_plan("", r#"{"verification_strategy": {"network": true}}"#, expect![""]);
}

#[test]
fn a_section_on_email_verification_is_not_the_verification_section() {
    check("## Email Verification\n- `POST /verify` - sends a mail\n", expect![""]);
}

#[test]
fn code_that_an_item_only_mentions_is_no_command() {
    check(
        "## Verification\n**Unit Tests:**\n- Check that `config.json` is there\n- `` echo `x` `` - x\n",
        expect![[r#"
            unit runs echo `x` | x
        "#]],
    );
}

#[test]
fn manual_steps_may_be_a_list() {
    check(
        "## Verification\n**E2E Tests:**\n- **Manual:**\n  1. Register\n  2. Login\n- Manual steps: Look\n- Manual:\n",
        expect![[r#"
            e2e by hand ["Register", "Login"]
            e2e by hand ["Look"]
        "#]],
    );
}

#[test]
fn the_highest_coverage_counts() {
    check(
        "## Verification\n**Unit Tests:**\n- Coverage: >= 80%\n- **Test coverage** ≥ 85.5 %\n\
         - Minimum coverage of at least 60%\n- Coverage report for 3 modules\n",
        expect![[r#"
            coverage 85.5
        "#]],
    );
}

#[test]
fn an_invalid_coverage_is_an_error() {
    check(
        "## Verification\n- Coverage: >= 800%\n",
        expect![[r#"
            invalid coverage `800` in `specs/001-login/spec.md`: expected a percentage such as `80`
        "#]],
    );
    for odd in ["0.8", "-1", "\"most\"", "[]", "1e999"] {
        let plan = format!(
            r#"{{"verification_strategy": {{"unit_tests": {{"minimum_coverage": {odd}}}}}}}"#
        );
        let Ok(plan) = ImplementationPlan::parse(plan) else { continue };
        let error = Spec::parse(Path::new("specs/001-login"), "", &plan).unwrap_err();
        assert!(error.to_string().contains("implementation_plan.json"), "{odd}: {error}");
    }
}
