//! Tests of the manual test plan.

use assay_validate::artifacts::render_manual_plan;
use assay_validate::spec::Criterion;
use expect_test::{Expect, expect};
use proptest::prelude::*;

use crate::spec;

fn criteria(texts: &[&str]) -> Vec<Criterion> {
    texts.iter().map(|text| Criterion { text: (*text).to_owned(), line: None }).collect()
}

fn check(texts: &[&str], previous: &str, expected: Expect) {
    expected.assert_eq(&render_manual_plan(&criteria(texts), Some(previous)));
}

#[test]
fn each_criterion_gets_one_box() {
    let spec = spec::read(assay_testkit::specs::LOGIN, "{}").unwrap();
    expect![[r#"
        # Manual Test Plan

        ## Test Cases

        1. [ ] User can register with email/password
        2. [ ] Password must be 8+ characters with special char
        3. [ ] Account created after email verification
        4. [ ] Login with valid credentials works
        5. [ ] Login with invalid credentials shows error
    "#]]
    .assert_eq(&render_manual_plan(&spec.criteria, None));
}

#[test]
fn existing_ticks_are_kept() {
    check(
        &["new", "User can register", "Login works", "open"],
        "# Manual Test Plan\r\n\r\n## Test Cases\r\n\r\n1. [x] user can  REGISTER\r\n- [X] Login works\r\n3. [ ] open\r\n",
        expect![[r#"
            # Manual Test Plan

            ## Test Cases

            1. [ ] new
            2. [x] User can register
            3. [x] Login works
            4. [ ] open
        "#]],
    );
}

#[test]
fn a_tick_is_not_transferred_to_another_criterion() {
    check(
        &["Login works twice"],
        "1. [x] Login works\n2. [ ] gone\n",
        expect![[r#"
        # Manual Test Plan

        ## Test Cases

        1. [ ] Login works twice

        ## Notes

        1. [x] Login works
    "#]],
    );
}

#[test]
fn notes_of_a_person_are_kept() {
    check(
        &["a", "b"],
        "# Manual Test Plan\n\n## Test Cases\n\n1. [ ] b\n   - seen on Firefox\n   \u{1b}[0m\n2. [x] a\n\nTried by Jo.\n",
        expect![[r#"
            # Manual Test Plan

            ## Test Cases

            1. [x] a
            2. [ ] b
               - seen on Firefox
               \u{1b}[0m

            ## Notes

            Tried by Jo.
        "#]],
    );
}

proptest! {
    #[test]
    fn rendering_a_manual_plan_again_changes_nothing(
        texts in proptest::collection::vec("\\PC{1,20}", 0..6),
        notes in "(\\PC{0,20}\n){0,3}",
    ) {
        let texts: Vec<&str> =
            texts.iter().map(String::as_str).filter(|text| !text.trim().is_empty()).collect();
        let criteria = criteria(&texts);
        let once = render_manual_plan(&criteria, Some(&notes));
        prop_assert_eq!(render_manual_plan(&criteria, Some(&once)), once);
    }
}
