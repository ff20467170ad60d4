//! Tests of parsing the decisions and assumptions of a plan, with their reasons and evidence.

use expect_test::expect;

use super::check;

#[test]
fn decisions_are_read_from_tables_with_their_reasons() {
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
| Use `a|brief` \\| c | short |
",
        expect![[r#"
        D1 5: Use `a | brief` | c
    "#]],
    );
}

#[test]
fn decisions_are_read_from_lists_and_below_headings() {
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
fn a_reference_to_a_decision_is_not_a_second_decision() {
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
fn an_assumption_is_validated_only_by_stated_evidence() {
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
fn assumptions_are_distinguished_from_constraints_and_risks() {
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
fn a_decision_record_is_read_with_its_rationale() {
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
fn the_statement_after_a_bold_decision_is_its_reason() {
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
