//! What is read from a plan in Markdown.

use std::fmt::Write;

use assay_gates::plan::{self, Plan};
use expect_test::{Expect, expect};

/// Reads a plan and tells what is in it, a line for each thing.
fn check(text: &str, expected: Expect) {
    let plan = plan::read("plan.md", text.as_bytes()).unwrap();
    expected.assert_eq(&told(&plan));
}

/// Tells what is in a plan.
pub(crate) fn told(plan: &Plan) -> String {
    let mut out = String::new();
    for m in &plan.milestones {
        writeln!(out, "{}: {} (line {})", m.id, m.title, m.line).unwrap();
        for c in &m.criteria {
            writeln!(out, "  criterion {}: {}", c.line, c.text).unwrap();
        }
        let lists = [
            ("files", &m.files),
            ("new", &m.new_files),
            ("old", &m.old_files),
            ("needs", &m.needs),
            ("tests", &m.tests),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            writeln!(out, "  {name}: {}", list.join(", ")).unwrap();
        }
        for diff in &m.diffs {
            writeln!(out, "  diff {}: {:?}", diff.line, diff.text).unwrap();
        }
    }
    for d in &plan.decisions {
        writeln!(out, "{} {}: {} | {}", d.id, d.line, d.decision, d.reason).unwrap();
    }
    for a in &plan.assumptions {
        writeln!(out, "assumption {}: {} | {:?}", a.line, a.text, a.evidence).unwrap();
    }
    for diff in &plan.loose_diffs {
        writeln!(out, "diff {}: {:?}", diff.line, diff.text).unwrap();
    }
    for link in &plan.links {
        writeln!(out, "link {}: {}", link.line, link.target).unwrap();
    }
    out
}

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
fn criteria_stand_below_headings_bold_labels_and_paragraphs() {
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
- not me

### Risks
- nor me
",
        expect![[r#"
            M1: A (line 1)
              criterion 5: one
              criterion 8: two
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
fn criteria_may_stand_in_tables_and_scenarios() {
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
fn what_a_milestone_waits_for_is_named_in_many_ways() {
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

#[test]
fn decisions_stand_in_tables_with_their_reasons() {
    check(
        "\
## Decision Log
| ID | Decision | Reasoning Chain |
|---|---|---|
| DL-001 | Use SQLite | one file -> no server |
| DL-002 | Use tabs | |
| DL-003 | Use X | TBD |

## Rejected alternatives
| Alternative | Why rejected |
|---|---|
| Postgres | a server |
",
        expect![[r#"
            DL-001 4: Use SQLite | one file -> no server
            DL-002 5: Use tabs | 
            DL-003 6: Use X | 
        "#]],
    );
    check(
        "\
# Plan

| Decision | Why |
|---|---|
| Use `a|b` \\| c | short |
",
        expect![[r#"
        D1 5: Use `a | b` | c
    "#]],
    );
}

#[test]
fn decisions_stand_in_lists_and_below_headings() {
    check(
        "\
## Key decisions
- DL-001: Use SQLite because it is one file
- **DL-002**: Use Rust. Reason: speed
- Use tabs
- Use spaces
  - Rationale: everybody does
- **Use JSON** — every tool reads it

### Rejected
- Use YAML

## Linked decisions
- the one about tabs

## Decisions needed
- Which database?
",
        expect![[r#"
            DL-001 2: Use SQLite | because it is one file
            DL-002 3: Use Rust. | speed
            D3 4: Use tabs | 
            D4 5: Use spaces | everybody does
            D5 7: Use JSON | every tool reads it
        "#]],
    );
    check(
        "\
### DL-001: Use SQLite
**Reasoning**: one file

### ADR-2: Use Rust
#### Context
We know C.
#### Rationale
It is safe.

### DL-003: Use tabs
We just do.
",
        expect![[r#"
            DL-001 1: Use SQLite | one file
            ADR-2 4: Use Rust | It is safe.
            DL-003 10: Use tabs | 
        "#]],
    );
    check(
        "\
## M1: A
Decision: use SQLite. Reason: one file
As DL-001 says, we go on.
D3 charts are used.
",
        expect![[r#"
            M1: A (line 1)
            D1 2: use SQLite. | one file As DL-001 says, we go on. D3 charts are used.
        "#]],
    );
}

#[test]
fn a_decision_that_is_only_referred_to_is_no_second_one() {
    check(
        "\
## M1: A
- DL-001: applies here

## Decisions
- DL-001: Use SQLite because it is one file
",
        expect![[r#"
            M1: A (line 1)
            DL-001 5: Use SQLite | because it is one file
        "#]],
    );
}

#[test]
fn assumptions_are_validated_by_what_shows_it() {
    check(
        "\
## Assumptions
- The API is stable (verified: read the changelog)
- [x] Ticked and not shown
- Users have Git
  - Evidence: `git --version` ran in CI
- Not verified by anyone
- Unverified
- It scales; will be validated by the load test in M2
- Small (verified)
- None
",
        expect![[r#"
            assumption 2: The API is stable (verified: read the changelog) | Some("verified: read the changelog")
            assumption 3: Ticked and not shown | None
            assumption 4: Users have Git. Evidence: `git --version` ran in CI | Some("Evidence: `git --version` ran in CI")
            assumption 6: Not verified by anyone | None
            assumption 7: Unverified | None
            assumption 8: It scales; will be validated by the load test in M2 | Some("validated by the load test in M2")
            assumption 9: Small (verified) | None
        "#]],
    );
    check(
        "\
### Key assumptions
| Assumption | Validation | Impact |
|---|---|---|
| Fast | measured 3 ms in bench | none |
| Small | ✓ | big |

## Other
- Assumption: people read. Evidence: survey
",
        expect![[r#"
            assumption 4: Fast | Some("measured 3 ms in bench")
            assumption 5: Small | None
            assumption 8: people read. Evidence: survey | Some("Evidence: survey")
        "#]],
    );
    check("## Constraints & assumptions\n- no new dependency\n", expect![[""]]);
    check(
        "\
## Assumptions
No assumptions are made.

## Assumptions
The disk is big.
",
        expect![[r#"
            assumption 5: The disk is big. | None
        "#]],
    );
}

#[test]
fn diffs_are_known_by_their_fence_or_their_first_lines() {
    check(
        "\
```diff
--- a/x
+++ b/x
```
## M1: A
~~~patch
+a
~~~
- item
  ```
  diff --git a/y b/y
  new file mode 100644
  --- /dev/null
  +++ b/y
  @@ -0,0 +1 @@
  +a
  ```
```
--- no diff
```
```rust
+++ x
```
",
        expect![[r#"
            M1: A (line 5)
              files: y
              new: y
              diff 7: "+a\n"
              diff 11: "diff --git a/y b/y\nnew file mode 100644\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+a\n"
            diff 2: "--- a/x\n+++ b/x\n"
        "#]],
    );
}

#[test]
fn links_outside_code_are_kept_with_their_lines() {
    check(
        "\
[a](x.md) `[b](y.md)`

![c](z.png)
[d][ref] <https://e.org>

```
[f](g.md)
```
> [q](quoted.md)

[ref]: h.md#i
",
        expect![[r#"
            link 1: x.md
            link 3: z.png
            link 4: h.md#i
            link 4: https://e.org
            link 9: quoted.md
        "#]],
    );
}

#[test]
fn lines_are_true_with_carriage_returns_tabs_and_a_mark_at_the_start() {
    check(
        "\u{feff}# Plan\r\n\r\n## M1: A\r\n\tcode\r\n\r\n**Acceptance criteria**:\r\n\r\n-\tone\r\n-\ttwo\r\n",
        expect![[r#"
            M1: A (line 3)
              criterion 8: one
              criterion 9: two
        "#]],
    );
}

#[test]
fn front_matter_and_quotes_and_comments_are_not_the_plan() {
    check(
        "\
---
title: M1: x
---
# Plan
> ## M9: quoted
> - x

<!-- ## M8: hidden -->
## M1: A
```
## M7: code
```
",
        expect![[r#"
            M1: A (line 9)
        "#]],
    );
}

#[test]
fn an_empty_plan_can_be_read() {
    check("", expect![[""]]);
    check("\u{feff}", expect![[""]]);
}

#[test]
fn what_is_no_text_or_too_deep_is_refused() {
    let error = |bytes: &[u8]| plan::read("p.md", bytes).unwrap_err().to_string();
    expect!["the plan `p.md` is not UTF-8 at byte 3"].assert_eq(&error(b"## \xff"));
    let deep = format!("# a\n{}x\n", "> ".repeat(200));
    expect!["line 2 of the plan `p.md` is nested deeper than 100 lists or quotes"]
        .assert_eq(&error(deep.as_bytes()));
    let list = format!("{}- x\n", " ".repeat(300));
    expect!["line 1 of the plan `p.md` is nested deeper than 100 lists or quotes"]
        .assert_eq(&error(list.as_bytes()));
}

#[test]
fn assumptions_are_told_from_what_stands_beside_them() {
    check(
        "\
## Constraints & Assumptions
- The queue holds every message for a day
  - verified by reading its settings
- Requests must stay below 1 MB
- At most two servers run
- We assume that clocks agree
- No new dependency
- Does it scale?
- Use the standard library
- Assuming a limit of 10, one table is enough

### Constraints
- It runs on one machine
",
        expect![[r#"
            assumption 2: The queue holds every message for a day. verified by reading its settings | Some("verified by reading its settings")
            assumption 6: We assume that clocks agree | None
            assumption 10: Assuming a limit of 10, one table is enough | None
        "#]],
    );
    check(
        "\
## Key Assumptions and Risks
- The vendor answers within a day
- The vendor might close
- Risk: the vendor is slow
- Assumptions:
  - Users have an account
- Risks:
  - Accounts get lost
",
        expect![[r#"
            assumption 2: The vendor answers within a day | None
            assumption 6: Users have an account | None
        "#]],
    );
    check(
        "## Dependencies, constraints, risks and key assumptions\n- It is there\n",
        expect![[r#"
            assumption 2: It is there | None
        "#]],
    );
    check(
        "## Key assumption\n- It is there\n",
        expect![[r#"
        assumption 2: It is there | None
    "#]],
    );
}

#[test]
fn a_record_has_one_decision() {
    check(
        "## Context\nIt is slow.\n\n## Decision\nWe use Redis.\n\n## Consequences\nOne more server.\n",
        expect![[r#"
            D1 4: We use Redis. | 
        "#]],
    );
    check(
        "## Decision\nWe use Redis because it is there.\n",
        expect![[r#"
        D1 1: We use Redis | because it is there.
    "#]],
    );
    check(
        "## Decision\nWe use Redis.\n\n## Rationale\nIt is there.\n\n## Next\nMore.\n",
        expect![[r#"
            D1 1: We use Redis. | It is there.
        "#]],
    );
    check(
        "## Decision outcome\n- Use Redis\n- Use Go since it is known\n",
        expect![[r#"
        D1 2: Use Redis | 
        D2 3: Use Go | since it is known
    "#]],
    );
    check("## Decision\n\n## Next\nMore.\n", expect![[""]]);
}

#[test]
fn the_sentence_behind_one_that_stands_out_gives_the_ground() {
    check(
        "\
## Decisions
- **No shim.** The shim would double the code paths
- **DL-007: Keep tabs**. They are what everybody has
- **Storage.** Use Redis for all of it
- **Use Redis.** Really?
- No shim. It would double the code paths
- **Use Go.** See below
- **Use C.** It is old, because nothing else runs
",
        expect![[r#"
            D1 2: No shim. | The shim would double the code paths
            DL-007 3: Keep tabs | They are what everybody has
            D3 4: Storage. Use Redis for all of it | 
            D4 5: Use Redis. Really? | 
            D5 6: No shim. It would double the code paths | 
            D6 7: Use Go. See below | 
            D7 8: Use C. It is old | because nothing else runs
        "#]],
    );
}
