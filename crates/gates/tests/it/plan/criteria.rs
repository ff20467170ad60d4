//! Tests of parsing the criteria of a plan.

use expect_test::expect;

use super::check;

#[test]
fn criteria_are_read_below_headings_bold_labels_and_paragraphs() {
    check(
        "\
## M1: A
### Acceptance Criteria
- one
1. two

## M2: B
**Success criteria**:

- [ ] three
- [x] four

## M3: C
These are the exit criteria

- five

## M4: D
- Goal: x
- Acceptance criteria:
  - six
  - [ ] seven
- Notes: y

## M5: E
Acceptance criteria: eight

## M6: F
#### Acceptance criteria
Nine is printed.
",
        expect![[r#"
            M1: A (line 1)
              criterion 3: one
              criterion 4: two
            M2: B (line 6)
              criterion 9: three
              criterion 10: four
            M3: C (line 12)
              criterion 15: five
            M4: D (line 17)
              criterion 20: six
              criterion 21: seven
            M5: E (line 24)
              criterion 25: eight
            M6: F (line 27)
              criterion 29: Nine is printed.
        "#]],
    );
}

#[test]
fn nested_criteria_count_and_their_group_does_not() {
    check(
        "\
## M1: A
**Acceptance criteria:**
- Login:
  - with a password
  - with a token
- `cargo test` passes
  - also on Windows
- this prints nothing:
  ```
  grep -r x
  ```
  on each platform
",
        expect![[r#"
            M1: A (line 1)
              criterion 4: with a password
              criterion 5: with a token
              criterion 6: `cargo test` passes
              criterion 7: also on Windows
              criterion 8: this prints nothing: on each platform
        "#]],
    );
}

#[test]
fn other_lists_of_a_milestone_are_no_criteria() {
    check(
        "\
## M1: A
### Acceptance criteria
All of these hold:

- one

**Speed**
- two

**Notes:**
- me too

### Risks
- not me
",
        expect![[r#"
            M1: A (line 1)
              criterion 5: one
              criterion 8: two
              criterion 11: me too
        "#]],
    );
    check(
        "\
## M1: A
**Acceptance criteria**:
- one

Out of scope:
- not me
",
        expect![[r#"
        M1: A (line 1)
          criterion 3: one
    "#]],
    );
}

#[test]
fn criteria_are_read_from_tables_and_scenarios() {
    check(
        "\
## M1: A
### Acceptance criteria
| # | Criterion |
|---|---|
| 1 | prints 3 |

## M2: B
### Acceptance criteria
```gherkin
Feature: x
  Scenario: an empty file
    Given nothing
  Scenario: a full one
```
",
        expect![[r#"
            M1: A (line 1)
              criterion 5: 1 — prints 3
            M2: B (line 7)
              criterion 11: Scenario: an empty file
              criterion 13: Scenario: a full one
        "#]],
    );
}

#[test]
fn criteria_elsewhere_belong_to_the_milestone_that_they_name() {
    check(
        "\
## M1: A
## M2: B
## Acceptance criteria
- M1: one
- M2: two
- three
### Acceptance criteria for M2
- four
",
        expect![[r#"
            M1: A (line 1)
              criterion 4: one
            M2: B (line 2)
              criterion 5: two
              criterion 8: four
        "#]],
    );
}

#[test]
fn one_paragraph_may_hold_all_labels() {
    check(
        "\
## M2: A
**Files**: `src/a.rs`, `src/b.rs` (new)
**Depends on**: M1, M3 and milestone 4
**Tests:** `tests/it/a.rs`
**Acceptance criteria**: it prints 3
and then 4
",
        expect![[r#"
            M2: A (line 1)
              criterion 5: it prints 3 and then 4
              files: src/a.rs, src/b.rs
              new: src/b.rs
              old: src/a.rs
              needs: M1, M3, M4
              tests: `tests/it/a.rs`
        "#]],
    );
}

#[test]
fn text_between_two_horizontal_rules_is_not_front_matter() {
    check(
        "# M1: a\n\nAcceptance criteria:\n\n- b\n\n---\n- c\n- d\n---\n\n- e\n",
        expect![[r#"
            M1: a (line 1)
              criterion 5: b
              criterion 8: c
              criterion 9: d
              criterion 12: e
        "#]],
    );
}
