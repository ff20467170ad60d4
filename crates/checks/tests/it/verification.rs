//! What a spec says about its verification.

use assay_checks::verification::{Group, Verification};
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn check(markdown: &str, expect: Expect) {
    let Verification { unit, integration, e2e, .. } = Verification::read(markdown);
    let groups = [("unit", unit), ("integration", integration), ("e2e", e2e)];
    expect.assert_eq(&groups.map(|(name, group)| shown(name, &group)).concat());
}

fn shown(name: &str, group: &Group) -> String {
    let mut text = String::new();
    for command in &group.commands {
        let expect = command.expect.as_deref().unwrap_or("nothing in words");
        text.push_str(&format!("{name}: {} ({expect})\n", command.command));
    }
    if let Some(minimum) = group.minimum_coverage {
        text.push_str(&format!("{name}: at least {minimum}%\n"));
    }
    group.by_hand.iter().for_each(|steps| text.push_str(&format!("{name}: by hand, {steps}\n")));
    text
}

#[test]
fn commands_coverage_and_manual_steps_are_read_by_group() {
    check(
        "## Acceptance Criteria

- [ ] User can register with `email`

## Verification

**Unit Tests:**
- `pytest tests/test_auth.py` - All pass
- Coverage: >= 80%

**Integration Tests:**
- `pytest tests/integration/test_api.py` - All pass

**E2E Tests:**
- Manual: Register -> Verify email -> Login -> Logout

## Notes
- `rm -rf /` - never
",
        expect![[r#"
            unit: pytest tests/test_auth.py (All pass)
            unit: at least 80%
            integration: pytest tests/integration/test_api.py (All pass)
            e2e: by hand, Register -> Verify email -> Login -> Logout
        "#]],
    );
}

#[test]
fn groups_may_be_headings_and_lists_may_look_otherwise() {
    check(
        "# Plan\r\n### Feature Verification:\r\n#### Unit tests\r\n* [x] `cargo test` — ok\r\n* **Coverage**: ≥ 72.5 %\r\n#### End-to-end\r\n+ ``echo `date` ``\r\n+ **Manual:** Open → Close\r\n### Else\r\n- `no`\r\n",
        expect![[r#"
            unit: cargo test (ok)
            unit: at least 72.5%
            e2e: echo `date` (nothing in words)
            e2e: by hand, Open → Close
        "#]],
    );
}

#[test]
fn what_is_no_command_is_left_alone() {
    check(
        "## Verification\n- `before any group`\n**Unit Tests:**\n- run the tests\n- `never closed\n- Coverage: high\n- Coverage: 400%\n```\n- `in a block`\n```\nUnit tests: all\n",
        expect![""],
    );
    check("", expect![""]);
}

proptest! {
    #[test]
    fn any_spec_is_read(text in "(#{0,3} ?(Verification|Unit Tests:|\\*\\*E2E\\*\\*)?\\n|- `{0,3}[a-z`*]{0,5}|- Coverage: [>=0-9.%]{0,6}|\\PC{0,6}|\\n){0,20}") {
        Verification::read(&text);
    }
}
