//! Tests of the checks of `impl-docs`.

use assay_gates::plan::{Decision, Milestone, Plan};
use assay_gates::subject::Subject;
use expect_test::{Expect, expect};

use crate::check_runner::{change, check_results, milestone};

/// A file's path and its text.
type File<'t> = (&'t str, &'t str);

/// Compares the results of one check on a change with those expected. Files that are not named
/// stay.
fn check(key: &str, before: &[File<'_>], after: &[File<'_>], expected: Expect) {
    check_planned(key, None, before, after, expected);
}

fn check_planned(
    key: &str,
    plan: Option<Plan>,
    before: &[File<'_>],
    after: &[File<'_>],
    expected: Expect,
) {
    let stays = |file: &&File<'_>| !after.iter().any(|(path, _)| path == &file.0);
    let all: Vec<File<'_>> = before.iter().filter(stays).chain(after).copied().collect();
    let (_repository, change) = change(before, &all);
    let plan = plan.as_ref().map(|plan| (plan, "plan.md"));
    expected.assert_eq(&check_results(&Subject::new(plan, Some(&change), change.tree()), key));
}

fn plan(milestones: Vec<Milestone>, decisions: &[&str]) -> Option<Plan> {
    let decision = |id: &&str| Decision {
        id: (*id).to_owned(),
        decision: String::new(),
        reason: String::new(),
        line: 1,
    };
    Some(Plan {
        milestones,
        decisions: decisions.iter().map(decision).collect(),
        ..Plan::default()
    })
}

#[test]
fn dead_links_fail() {
    let other = ("docs/other.md", "# Other page\n\n## Second part\n");
    let page = "# Page\n[a](other.md#second-part) [b](other.md#third) [c](gone.md) [d](#page) [e](#x)\n\
                [f](/docs/other.md) [g](../src) [h](https://a.b/c.md) [i](mailto:a@b) [j](../src/a.py#L3)\n\
                [k](../../issues) `[l](no.md)` [m](a%20b.md) [n](../docs)\n";
    check(
        "impl-docs/links",
        &[other, ("src/a.py", "x = 1\n"), ("docs/a b.md", "x\n")],
        &[("docs/page.md", page)],
        expect![[r#"
            SHOULD file:docs/page.md | Check for dead links in docs/page.md | FAILS: line 2 links to `other.md#third`: there is no such heading; line 2 links to `gone.md`: there is no such file; line 2 links to `#x`: there is no such heading.
        "#]],
    );
}

#[test]
fn added_references_to_missing_files_fail() {
    let old = "See `src/never.py`.\n";
    let page = "See `src/never.py`.\nAnd `src/a.py`, `src/a.py:12`, `src/gone.py`, `lib/b.py`, `path/to/x.py`.\n\
                Not `a/b`, `gone.py`, `https://x/y.py`, `src/*.py`, `~/x/y.py`, `cat src/x.py`.\n\
                ```\n`src/fenced.py`\n```\n";
    check(
        "impl-docs/paths",
        &[("src/a.py", "x = 1\n"), ("deep/lib/b.py", "x = 1\n"), ("README.md", old)],
        &[("README.md", page)],
        expect![[r#"
            SHOULD file:README.md | Check the paths of the files that are named in README.md | FAILS: line 2 names `src/gone.py`, and there is no such file.
        "#]],
    );
}

#[test]
fn a_changelog_must_mention_changes_to_code() {
    let log = ("CHANGELOG.md", "# 1\n");
    let code = ("src/a.py", "x = 1\n");
    check(
        "impl-docs/changelog",
        &[log],
        &[code],
        expect![[r#"
        SHOULD * | Check that the changelog mentions the change | FAILS: code changed, and `CHANGELOG.md` does not mention it.
    "#]],
    );
    check(
        "impl-docs/changelog",
        &[log],
        &[code, ("CHANGELOG.md", "# 2\n# 1\n")],
        expect![[r#"
        SHOULD * | Check that the changelog mentions the change | holds
    "#]],
    );
    check("impl-docs/changelog", &[log], &[("tests/test_a.py", "x = 1\n")], expect![[""]]);
    check("impl-docs/changelog", &[], &[code], expect![[""]]);
}

#[test]
fn documents_that_a_milestone_names_must_be_changed() {
    check_planned(
        "impl-docs/planned-documents",
        plan(
            vec![
                milestone("M1", &["README.md", "docs/a.md", "src/a.py"], &[]),
                milestone("M2", &["src/b.py"], &[]),
            ],
            &[],
        ),
        &[("README.md", "x\n")],
        &[("docs/a.md", "a\n")],
        expect![[r#"
            SHOULD milestone:M1 | Check that the documents that milestone M1 names were written | FAILS: milestone M1 names `README.md`, and the change does not touch it.
        "#]],
    );
}

#[test]
fn documents_of_milestones_with_the_same_id_must_all_be_changed() {
    let milestones =
        vec![milestone("M1", &["docs/a.md"], &[]), milestone("M1", &["docs/b.md"], &[])];
    check_planned(
        "impl-docs/planned-documents",
        plan(milestones, &[]),
        &[],
        &[("docs/a.md", "a\n")],
        expect![[r#"
            SHOULD milestone:M1 | Check that the documents that milestone M1 names were written | FAILS: milestone M1 names `docs/b.md`, and the change does not touch it.
        "#]],
    );
}

#[test]
fn added_public_items_without_documentation_fail() {
    check(
        "impl-docs/documented",
        &[("src/a.rs", "pub fn old() {}\n")],
        &[
            ("src/a.rs", "pub fn old() {}\npub fn new() {}\n"),
            ("src/b.rs", "/// Says so.\npub fn new() {}\n"),
            ("tests/c.rs", "pub fn new() {}\n"),
        ],
        expect![[r#"
            SHOULD file:src/a.rs | Check that public items are documented in src/a.rs | FAILS: line 2: `new` has no documentation.
            SHOULD file:src/b.rs | Check that public items are documented in src/b.rs | holds
        "#]],
    );
}

#[test]
fn references_to_decisions_outside_the_log_fail() {
    let code = "# see DL-1 and DL-007\nx = 'DL-009'  # by AD-12\ny = 'UTF-8'  # UTF-8\n";
    let files = [("src/a.py", code), ("docs/a.md", "By DL-002.\n"), ("plan.md", "DL-999\n")];
    check_planned(
        "impl-docs/decisions",
        plan(Vec::new(), &["DL-001", "AD-011"]),
        &[],
        &files,
        expect![[r#"
            MUST file:docs/a.md | Check the decisions referred to in docs/a.md | FAILS: line 1 refers to DL-002, which is not in the plan's decision log.
            MUST file:src/a.py | Check the decisions referred to in src/a.py | FAILS: line 1 refers to DL-007, which is not in the plan's decision log; line 2 refers to AD-012, which is not in the plan's decision log.
        "#]],
    );
    check_planned(
        "impl-docs/decisions",
        plan(Vec::new(), &["DL-001", "DL-002", "DL-007"]),
        &[],
        &files,
        expect![[r#"
            MUST file:docs/a.md | Check the decisions referred to in docs/a.md | holds
            MUST file:src/a.py | Check the decisions referred to in src/a.py | holds
        "#]],
    );
    check("impl-docs/decisions", &[], &files, expect![[""]]);
}

#[test]
fn comments_that_begin_with_history_are_reported() {
    let code = "# Previously this was a list.\nx = 1\n# It is a set, which was\n# previously a list.\ny = 'no longer'\n\
                z = 2  # no longer used by b\n";
    check(
        "impl-docs/history",
        &[],
        &[("src/a.py", code)],
        expect![[r#"
        MAY file:src/a.py | Check for comments about earlier versions in src/a.py | FAILS: the comment on line 1 describes an earlier version; the comment on line 6 describes an earlier version.
    "#]],
    );
    check(
        "impl-docs/history",
        &[("src/a.py", code)],
        &[("src/a.py", &format!("{code}# Sums up.\nw = 1\n"))],
        expect![[r#"
            MAY file:src/a.py | Check for comments about earlier versions in src/a.py | holds
        "#]],
    );
}
