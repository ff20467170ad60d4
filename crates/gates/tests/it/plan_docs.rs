//! Tests of the checks of `plan-docs`.

use assay_gates::checks;
use assay_gates::phase::Phase;
use expect_test::{Expect, expect};

use crate::check_runner::{SOUND, failures, seen};

/// Compares the failures of a plan with those expected; `tree` has the paths of existing files.
fn check(plan: &str, tree: &str, expected: Expect) {
    expected.assert_eq(&failures(Phase::PlanDocs, "plan.md", plan, tree));
}

/// Compares the failures of a plan with one diff, whose documents are named, with those expected.
fn check_diff(diff: &str, expected: Expect) {
    check(&format!("The README changes.\n\n```diff\n{diff}```\n"), "README.md docs/a.md", expected);
}

/// Returns the diff of a new file.
fn new_file(path: &str, text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let count = text.lines().count();
    format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{count} @@\n{lines}")
}

#[test]
fn sound_plans_pass() {
    for (name, plan, tree) in SOUND {
        let failures = failures(Phase::PlanDocs, name, plan, tree);
        assert_eq!(failures, "", "{name}");
    }
    check("", "", expect![[""]]);
}

#[test]
fn references_to_decisions_outside_the_log_fail() {
    check(
        "\
## Decisions
- DL-001: a because b

## M1: A
By DL-1 and DL-007, not XDL-9 or DL-x.

```diff
--- a/docs/a.md
+++ b/docs/a.md
@@ -1 +1 @@
+see (DL-012), DL-007
```
",
        "",
        expect![[r#"
            MUST * decisions: Referenced decisions are not in the log: `DL-007` (line 5); `DL-012` (line 11).
        "#]],
    );
}

#[test]
fn a_plan_that_changes_code_must_name_a_document() {
    check(
        "## M1: A\nFiles: `src/a.rs`, `tests/b.rs`\n",
        "",
        expect![[r#"
        SHOULD * documents: Code changes and no document is named: `src/a.rs`.
    "#]],
    );
    check("## M1: A\nFiles: `src/a.rs`, `CHANGELOG.md`\n", "", expect![[""]]);
    check(
        "## M1: A\nFiles: `src/a.rs`\n\nDocumentation: none, nothing that users see.\n",
        "",
        expect![[""]],
    );
    check("## M1: A\nFiles: `tests/a.rs`, `Cargo.toml`\n", "", expect![[""]]);
}

#[test]
fn a_document_word_inside_a_path_link_or_code_names_no_document() {
    let check = |mention: &str, is_enough: bool| {
        let plan = format!("{mention}\n\n## M1: A\nFiles: `src/a.rs`\n");
        let reported = failures(Phase::PlanDocs, "plan.md", &plan, "docs/x.png src/a.rs");
        assert_eq!(reported.is_empty(), is_enough, "{mention}: {reported}");
    };
    for mention in [
        "See [the picture](docs/x.png).",
        "See [the picture][p].\n\n[p]: docs/x.png",
        "See https://example.com/docs/readme.md for more.",
        "It is built by `tools/docs/build`.",
        "```\nopen docs\n```",
        "The field `has_docs` stays.",
    ] {
        check(mention, false);
    }
    for mention in [
        "The docs change.",
        "`docs/` changes.",
        "`docs/guide.md` says so.",
        "**README** too",
        "See [the docs](https://example.com).",
        "Each has a doc comment.",
        "CHANGELOG.md.",
    ] {
        check(mention, true);
    }
}

#[test]
fn public_rust_has_doc_comments() {
    check_diff(
        &new_file(
            "src/a.rs",
            "\
pub fn first() {}

/// Documented.
#[must_use]
pub fn second() {}

pub(crate) fn third() {}
fn fourth() {}

#[derive(
    Debug,
)]
pub struct Fifth;

pub mod sixth;
pub use a::b;
/** Block. */
pub enum Seventh {}
#[doc(hidden)]
pub const EIGHTH: u8 = 1;
    pub async fn ninth() {}
/// Documented.
#[derive(
    Debug,
)]
#[must_use]
pub struct Tenth;
",
        ),
        expect![[r#"
            SHOULD * public-items: Public items have no doc comment: `pub fn first() {}` in `src/a.rs` (line 7); `pub struct Fifth;` in `src/a.rs` (line 19); `pub async fn ninth() {}` in `src/a.rs` (line 27).
        "#]],
    );
}

#[test]
fn items_whose_documentation_is_outside_the_diff_are_not_reported() {
    check_diff(
        "\
--- a/src/a.rs
+++ b/src/a.rs
@@ -10,3 +10,4 @@
+pub fn unknown() {}
+pub fn known() {}
@@ -20,3 +21,3 @@
 /// Documented before.
-pub fn old() {}
+pub fn new() {}
 pub fn not_added() {}
--- a/tests/b.rs
+++ b/tests/b.rs
@@ -1,1 +1,2 @@
+pub fn in_tests() {}
",
        expect![[r#"
            SHOULD * public-items: Public items have no doc comment: `pub fn known() {}` in `src/a.rs` (line 8).
        "#]],
    );
}

#[test]
fn diffs_without_line_numbers_are_read() {
    check_diff(
        "\
--- /dev/null
+++ b/src/a.rs
+pub fn in_no_hunk() {}
--- a/src/b.rs
+++ b/src/b.rs
@@ fn main() @@
 fn main() {}
unmarked
+pub fn in_a_hunk() {} // TODO
--- a/src/c.rs
+++ b/src/c.rs
@@ -10,7 +10,9 @@
 fn main() {}
+pub fn ill_counted() {}
",
        expect![[r#"
            SHOULD * public-items: Public items have no doc comment: `pub fn in_no_hunk() {}` in `src/a.rs` (line 6); `pub fn in_a_hunk() {} // TODO` in `src/b.rs` (line 12); `pub fn ill_counted() {}` in `src/c.rs` (line 17).
            SHOULD * todo-comments: Added comments contain open tasks: `pub fn in_a_hunk() {} // TODO` in `src/b.rs` (line 12).
        "#]],
    );
}

#[test]
fn public_python_has_docstrings() {
    check_diff(
        &new_file(
            "src/a.py",
            "\
def first():
    return 1


def second(
    a: dict[str, int],
) -> int:

    r\"\"\"Documented.\"\"\"
    return a


def _third():
    pass


class Fourth(Base):  # noqa: D1
    x = 1

    def method(self):
        pass


class Error(Exception): ...


@overload
def fifth(a: int) -> int:
    x = 1


async def sixth():
    'Documented.'


def last():
",
        ),
        expect![[r#"
            SHOULD * public-items: Public items have no doc comment: `def first():` in `src/a.py` (line 7); `class Fourth(Base): # noqa: D1` in `src/a.py` (line 23); `def method(self):` in `src/a.py` (line 26).
        "#]],
    );
}

#[test]
fn exported_go_has_comments() {
    check_diff(
        &new_file(
            "a.go",
            "\
package a

func First() {}

// Second is documented.
func Second() {}
func third() {}
func (t *Type) Fourth() {}
func (t *hidden) Fifth() {}
// Sixth is documented.
//go:noinline
func Sixth() {}
type Seventh struct{}
",
        ),
        expect![[r#"
            SHOULD * public-items: Public items have no doc comment: `func First() {}` in `a.go` (line 9); `func (t *Type) Fourth() {}` in `a.go` (line 14); `type Seventh struct{}` in `a.go` (line 19).
        "#]],
    );
    check_diff(&new_file("a_test.go", "package a\nfunc TestFirst() {}\n"), expect![[""]]);
}

#[test]
fn exported_script_has_doc_comments() {
    check_diff(
        &new_file(
            "src/a.ts",
            "\
export function first() {}
/** Documented. */
export async function second(a: string): void;
export async function second(a: number): void;
/**
 * Documented.
 */
@Injectable()
export class Third {}
export default class Fourth {}
export const fifth = 1;
function sixth() {}
",
        ),
        expect![[r#"
            SHOULD * public-items: Public items have no doc comment: `export function first() {}` in `src/a.ts` (line 7); `export default class Fourth {}` in `src/a.ts` (line 16); `export const fifth = 1;` in `src/a.ts` (line 17).
        "#]],
    );
}

#[test]
fn open_tasks_in_added_comments_are_reported() {
    check_diff(
        &new_file(
            "src/a.rs",
            "\
// TODO: later
let todo = Todo::new(); // FIXME
let a = \"// TODO\";
// The TODO list is shown.
/// FIXME(anna)
// TODOs are counted
/*
 * TODO here
 */
",
        ),
        expect![[r#"
            SHOULD * todo-comments: Added comments contain open tasks: `// TODO: later` in `src/a.rs` (line 7); `let todo = Todo::new(); // FIXME` in `src/a.rs` (line 8); `/// FIXME(anna)` in `src/a.rs` (line 11); `* TODO here` in `src/a.rs` (line 14).
        "#]],
    );
    check_diff(
        &new_file("a.py", "x = 1  # TODO: more\n# fine\n"),
        expect![[r#"
            SHOULD * todo-comments: Added comments contain open tasks: `x = 1 # TODO: more` in `a.py` (line 7).
        "#]],
    );
    check_diff(
        "\
--- a/a.py
+++ b/a.py
@@ -1,2 +1,2 @@
 # TODO: was here before
-# TODO: goes
+x = 1
",
        expect![[""]],
    );
}

#[test]
fn history_in_added_comments_is_reported() {
    check_diff(
        &new_file(
            "src/a.rs",
            "\
// Previously this was a list.
// No longer needed.

// The cache is dropped when it is
// no longer used, or
// changed from outside.
let a = 1; // now uses b
// Used to parse dates.
//! Formerly x
",
        ),
        expect![[r#"
            MAY * history: Added comments describe earlier versions: `// Previously this was a list.` in `src/a.rs` (line 7); `// No longer needed.` in `src/a.rs` (line 8); `let a = 1; // now uses b` in `src/a.rs` (line 13); `//! Formerly x` in `src/a.rs` (line 15).
        "#]],
    );
}

#[test]
fn dead_links_in_added_markdown_are_reported() {
    check_diff(
        &format!(
            "{}{}",
            new_file(
                "docs/b.md",
                "\
# B
[a](a.md) [gone](gone.md) [c](c.md)
`[code](x.md)`
[up](../README.md)

![p](p.png) [anchor](#b)
"
            ),
            new_file("docs/c.md", "text\n")
        ),
        expect![[r#"
            SHOULD * links: Dead links in added Markdown: `gone.md` in `docs/b.md` (line 8); `p.png` in `docs/b.md` (line 12).
        "#]],
    );
}

#[test]
fn findings_name_the_lines_of_the_plan() {
    check(
        "\
# Plan

The docs change.

- a list

  ```diff
  --- a/a.py
  +++ b/a.py
  @@ -1 +1 @@
  +# TODO: more
  ```
",
        "",
        expect![[r#"
            SHOULD * todo-comments: Added comments contain open tasks: `# TODO: more` in `a.py` (line 11).
        "#]],
    );
}

#[test]
fn a_plan_without_milestones_is_not_checked() {
    for (name, plan) in [("plan.md", ""), ("plan.json", "{}")] {
        let plan = assay_gates::plan::read(name, plan.as_bytes()).unwrap();
        for check in checks::of(Phase::PlanDocs) {
            let seen = seen(check.key, "*", Some(&plan));
            assert_eq!(seen, "unseen: The plan has no milestones.", "{}", check.key);
        }
    }
    let only_diffs = "```diff\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n+# TODO: more\n```\n";
    let plan = assay_gates::plan::read("plan.md", only_diffs.as_bytes()).unwrap();
    expect!["FAILS: Added comments contain open tasks: `# TODO: more` in `a.py` (line 5)."]
        .assert_eq(&seen("plan-docs/todo-comments", "*", Some(&plan)));
    for key in ["plan-code/named", "plan-code/tests"] {
        assert_eq!(seen(key, "*", Some(&plan)), "unseen: The plan has no milestones.", "{key}");
    }
}

#[test]
fn without_a_plan_nothing_is_checked() {
    expect!["unseen: There is no plan."].assert_eq(&seen("plan-docs/decisions", "*", None));
}
