//! Tests of the checks on whole changes.

use expect_test::{Expect, expect};

use crate::{File, format_findings, review};

fn check(before: &[File<'_>], after: &[File<'_>], expected: Expect) {
    expected.assert_eq(&format_findings(&review(before, after)));
}

/// Returns a file with this many statements.
fn code(lines: usize) -> String {
    (0..lines).map(|n| format!("value_{n} = compute({n}, {})\n", n * 7)).collect()
}

const TEST: File<'_> = ("tests/test_shop.py", "def test_total():\n    assert total([1, 2]) == 3\n");

#[test]
fn much_new_code_without_a_test_is_reported_if_the_repository_has_tests() {
    let (old, new) = (code(1), code(40));
    check(
        &[("shop.py", &old), TEST],
        &[("shop.py", &new), TEST],
        expect!["the change change/untested"],
    );
    check(&[("shop.py", &old)], &[("shop.py", &new)], expect![""]);
    check(&[("shop.py", &old), TEST], &[("shop.py", &code(10)), TEST], expect![""]);
}

#[test]
fn a_test_in_the_same_file_counts() {
    let body = "    let mut sum = 0;\n".to_owned() + &"    sum += step();\n".repeat(40);
    let after = format!(
        "fn f() {{\n{body}}}\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn works() {{\n        super::f();\n    }}\n}}\n"
    );
    let tests = ("tests/it.rs", "#[test]\nfn a() {}\n");
    check(&[("src/a.rs", "fn f() {}\n"), tests], &[("src/a.rs", &after), tests], expect![""]);
}

#[test]
fn removed_tests_are_reported_unless_their_code_is_removed_or_they_move() {
    let two = "def test_total():\n    assert total([1]) == 1\n\n\ndef test_empty():\n    assert total([]) == 0\n";
    let one = "def test_total():\n    assert total([1]) == 1\n";
    let shop = ("shop.py", "def total(x):\n    return sum(x)\n");
    check(
        &[shop, ("tests/test_shop.py", two)],
        &[shop, ("tests/test_shop.py", one)],
        expect!["tests/test_shop.py test/removed"],
    );
    check(
        &[shop, ("tests/test_shop.py", two)],
        &[shop],
        expect!["tests/test_shop.py test/file-deleted"],
    );
    check(&[shop, ("tests/test_shop.py", two)], &[], expect![""]);
    let moved = "import shop\n\n\ndef test_empty():\n    assert total([]) == 0\n";
    check(
        &[shop, ("tests/test_shop.py", two)],
        &[shop, ("tests/test_shop.py", one), ("tests/test_empty.py", moved)],
        expect![""],
    );
}

#[test]
fn a_test_that_lost_an_assertion_is_reported() {
    let before = "def test_total():\n    result = total([1])\n    assert result == 1\n    assert result.currency == 'EUR'\n";
    let after =
        "def test_total():\n    result = total([1])\n    assert result == 1\n    print(result)\n";
    check(
        &[("tests/test_a.py", before)],
        &[("tests/test_a.py", after)],
        expect!["tests/test_a.py:4 test/weakened"],
    );
    let renamed = "def test_total():\n    answer = total([1])\n    assert answer == 1\n    assert answer.currency == 'USD'\n";
    check(&[("tests/test_a.py", before)], &[("tests/test_a.py", renamed)], expect![""]);
}

#[test]
fn a_migration_without_a_way_back_is_reported() {
    check(
        &[],
        &[
            ("db/1_a.up.sql", "CREATE TABLE a (id int);\n"),
            ("db/2_b.up.sql", "CREATE TABLE b (id int);\n"),
            ("db/2_b.down.sql", "DROP TABLE b;\n"),
            (
                "alembic/versions/1.py",
                "def upgrade():\n    op.add_column('a')\n\n\ndef downgrade():\n    pass\n",
            ),
            (
                "alembic/versions/2.py",
                "def upgrade():\n    op.add_column('a')\n\n\ndef downgrade():\n    op.drop_column('a')\n",
            ),
            (
                "db/migrate/1_add.rb",
                "class Add < ActiveRecord::Migration\n  def up\n    add_column :a, :b\n  end\nend\n",
            ),
            ("app/migrations/0002.py", "operations = [migrations.RunPython(fill)]\n"),
            ("app/migrations/0003.py", "operations = [migrations.RunPython(fill, empty)]\n"),
        ],
        expect![[r#"
            alembic/versions/1.py change/migration-without-way-back
            app/migrations/0002.py change/migration-without-way-back
            db/1_a.up.sql change/migration-without-way-back
            db/migrate/1_add.rb change/migration-without-way-back"#]],
    );
}

#[test]
fn committed_state_is_reported_once_for_each_kind() {
    let authored: &[File<'_>] = &[
        (".assay/rules/a.md", "a\n"),
        (".assay/personas/a.md", "a\n"),
        (".assay/prompts/qa_fixer.md", "a\n"),
        (".assay/baseline.json", "{}\n"),
        (".assay/flows.yaml", "a: 1\n"),
        (".assay/.gitignore", "/runs/\n"),
        ("docs/.assay/runs/1", "a\n"),
        (".assays/runs/1", "a\n"),
    ];
    check(&[], authored, expect![""]);
    let state: &[File<'_>] = &[
        (".assay/outbox/pull-o.r-1/review.json", "{}\n"),
        (".assay/outbox/pull-o.r-2/review.json", "{}\n"),
        (".assay/rules-disabled/a.txt", "a\n"),
        (".assay/ledger.db", "\0"),
        (".assay/a-later-kind", "a\n"),
    ];
    check(
        &[],
        state,
        expect![[r#"
            .assay/a-later-kind:1 change/state-committed
            .assay/ledger.db change/state-committed
            .assay/outbox/pull-o.r-1/review.json:1 change/state-committed
            .assay/rules-disabled/a.txt:1 change/state-committed"#]],
    );
    // Removing state from the repository is the intended fix.
    check(state, &[], expect![""]);
}

#[test]
fn a_new_dependency_without_a_lock_file_update_is_reported() {
    let manifest = |names: &str| format!("[package]\nname = \"x\"\n\n[dependencies]\n{names}");
    let (old, new) = (manifest("a = \"1\"\n"), manifest("a = \"2\"\nb = \"1\"\n"));
    let lock = |n: u32| format!("version = {n}\n");
    let before: &[File<'_>] = &[("Cargo.toml", &old), ("Cargo.lock", &lock(1))];
    check(
        before,
        &[("Cargo.toml", &new), ("Cargo.lock", &lock(1))],
        expect!["Cargo.toml change/lock-file-not-updated"],
    );
    check(before, &[("Cargo.toml", &new), ("Cargo.lock", &lock(2))], expect![""]);
    check(&[("Cargo.toml", &old)], &[("Cargo.toml", &new)], expect![""]);
    // A member of a workspace is locked by the lock file above it.
    check(
        &[("m/Cargo.toml", &old), ("Cargo.lock", &lock(1))],
        &[("m/Cargo.toml", &new), ("Cargo.lock", &lock(1))],
        expect!["m/Cargo.toml change/lock-file-not-updated"],
    );
}

#[test]
fn a_generated_file_that_changes_alone_is_reported_as_edited_by_hand() {
    let file = |n: u32| format!("// Code generated by protoc. DO NOT EDIT.\n\nconst N = {n}\n");
    let (one, two) = (file(1), file(2));
    check(
        &[("a.pb.go", &one)],
        &[("a.pb.go", &two)],
        expect!["a.pb.go:3 change/generated-file-edited"],
    );
    check(
        &[("a.pb.go", &one), ("a.proto", "1\n")],
        &[("a.pb.go", &two), ("a.proto", "2\n")],
        expect![""],
    );
}

#[test]
fn a_function_that_grows_too_long_is_reported() {
    let function = |lines: usize| format!("def f(x):\n{}", "    x = step(x)\n".repeat(lines));
    let (short, long, longer) = (function(100), function(160), function(170));
    check(&[("a.py", &short)], &[("a.py", &long)], expect!["a.py:102 shape/long-function"]);
    check(&[("a.py", &long)], &[("a.py", &longer)], expect![""]);
}

#[test]
fn deep_nesting_is_reported_once_at_the_first_line_that_is_too_deep() {
    let nested = |depth: usize| {
        let mut text = "def f(a):\n".to_owned();
        for level in 1..=depth {
            text += &format!("{}if a[{level}]:\n", "    ".repeat(level));
        }
        text + &format!("{}return a\n", "    ".repeat(depth + 1))
    };
    let flat = "def f(a):\n    return a\n";
    check(&[("a.py", flat)], &[("a.py", &nested(9))], expect!["a.py:8 shape/deep-nesting"]);
    check(&[("a.py", flat)], &[("a.py", &nested(6))], expect![""]);
    let chain = "def f(a):\n    if a == 0:\n        return 0\n".to_owned()
        + &"    elif a == 1:\n        return 1\n".repeat(20);
    check(&[("a.py", flat)], &[("a.py", &chain)], expect![""]);
}

#[test]
fn a_block_that_is_added_twice_is_reported_at_its_second_occurrence() {
    let block = code(20);
    let twice = format!("def f():\n    pass\n\n{block}\nmiddle = 1\n\n{block}");
    check(&[("a.py", "pass\n")], &[("a.py", &twice)], expect!["a.py:27 shape/duplicate-block"]);
    check(&[("a.py", "pass\n")], &[("a.py", &block)], expect![""]);
}

#[test]
fn a_skipped_test_is_not_reported_as_removed() {
    let plain = "it('adds', () => {\n  expect(1).toBe(1);\n});\n";
    let skipped = plain.replace("it(", "it.skip(");
    let findings = format_findings(&review(&[("a.test.js", plain)], &[("a.test.js", &skipped)]));
    assert!(!findings.contains("test/removed"), "{findings}");
}
