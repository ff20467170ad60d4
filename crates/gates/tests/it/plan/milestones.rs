//! Tests of parsing the milestones of a plan, with their files and dependencies.

use expect_test::expect;

use super::check;

#[test]
fn milestones_are_headings_with_their_ids() {
    check(
        "\
# Plan
## Milestone 1: Parser
### M2: Printer
## M3 — Docs
## Milestone A
## 3.4 Milestone 4.1. Last
### ✅ Milestone M5 - Really last
### 5.1 Tidy up (M6)
## M1 Max support
## Ship it (in May)
## Milestone dependencies
",
        expect![[r#"
            M1: Parser (line 2)
            M2: Printer (line 3)
            M3: Docs (line 4)
            MA:  (line 5)
            M4.1: Last (line 6)
            M5: Really last (line 7)
            M6: Tidy up (line 8)
        "#]],
    );
}

#[test]
fn milestones_without_ids_get_them_by_their_order() {
    check(
        "\
# Plan
## Milestones
### Overview
### Read the file
#### Details
### Write the file
## Risks
### None
",
        expect![[r#"
            M1: Read the file (line 4)
            M2: Write the file (line 6)
        "#]],
    );
    check(
        "## Milestone: Read\n## Milestone: Write\n",
        expect![[r#"
        M1: Read (line 1)
        M2: Write (line 2)
    "#]],
    );
    check(
        "\
**M1: Read**

Text.

**M2: Write**
",
        expect![[r#"
        M1: Read (line 1)
        M2: Write (line 5)
    "#]],
    );
}

#[test]
fn items_of_a_list_are_milestones_where_a_plan_has_no_others() {
    check(
        "\
## Milestones

1. **M1: Reproduce** — add a test in `tests/config.rs`
   - Acceptance: the test fails on main
2. **M2: Fix** — handle an empty file in `src/config.rs`
   - Acceptance criteria:
     - `cargo test config` passes
   - Depends on: M1

- Something else
",
        expect![[r#"
            M1: Reproduce — add a test in `tests/config.rs` (line 3)
              criterion 4: the test fails on main
              files: tests/config.rs
              tests: tests/config.rs
            M2: Fix — handle an empty file in `src/config.rs` (line 5)
              criterion 7: `cargo test config` passes
              files: src/config.rs
              needs: M1
        "#]],
    );
}

#[test]
fn phases_are_milestones_where_a_plan_has_no_others() {
    check(
        "\
## Phase 1: Read
## Phase 2: Write
Depends on: Phase 1
",
        expect![[r#"
        P1: Read (line 1)
        P2: Write (line 2)
          needs: P1
    "#]],
    );
    check(
        "\
## Phase 1
### M1: Read
### M2: Write
## Phase 2
### M3: Check
#### Step 1: Look
",
        expect![[r#"
            M1: Read (line 2)
            M2: Write (line 3)
            M3: Check (line 5)
        "#]],
    );
    check(
        "\
## Milestones
### Phase 1: Read
### Phase 2: Write
",
        expect![[r#"
        P1: Read (line 2)
        P2: Write (line 3)
    "#]],
    );
}

#[test]
fn files_are_listed_or_named_in_the_text() {
    check(
        "\
## M1: A
**Files**:
- Create: `src/new.rs`
- Modify: `src/old.rs:10-20`
- src/plain.rs - the parser
- `docs/` and `src/**/*.rs`

## M2: B
Update `src/lib.rs` and see `crate::x`, `a.b()`, `config.timeout`, `/api/users`, `application/json`.
Create `src/made.rs`. Uses `Cargo.toml`, `https://x.org/a.md`.

## M3: C
### New files
- `tests/x_test.py`
### Files to create/modify
| File | Change |
|---|---|
| `src/t.rs` | more |
",
        expect![[r#"
            M1: A (line 1)
              files: src/new.rs, src/old.rs, src/plain.rs, docs/, src/**/*.rs
              new: src/new.rs
              old: src/old.rs, src/plain.rs, docs/, src/**/*.rs
            M2: B (line 8)
              files: src/lib.rs, src/made.rs, Cargo.toml
              new: src/made.rs
              old: src/lib.rs
            M3: C (line 12)
              files: tests/x_test.py, src/t.rs
              new: tests/x_test.py
              old: src/t.rs
              tests: tests/x_test.py
        "#]],
    );
}

#[test]
fn dependencies_of_a_milestone_are_read_in_many_notations() {
    check(
        "\
## M3: A (depends on M1)
## M4: B
Depends on: Milestones 1 and 2
## M5: C
- **Dependencies**: M3, serde 1.0
## M6: D
**Dependencies**: none
## M7: E
Depends on M5.
## M8: F
### Dependencies
- M6
- M7
## M9: G
Depends on: 1, 2
",
        expect![[r#"
            M3: A (depends on M1) (line 1)
              needs: M1
            M4: B (line 2)
              needs: M1, M2
            M5: C (line 4)
              needs: M3
            M6: D (line 6)
            M7: E (line 8)
              needs: M5
            M8: F (line 10)
              needs: M6, M7
            M9: G (line 14)
              needs: M1, M2
        "#]],
    );
}
