//! Tests of the diffs of a plan: their parsing, and their effect on a tree.

use std::collections::BTreeMap;
use std::path::Path;

use assay_change::unified::PatchedTree;
use assay_gates::plan::patch::{fault_text, files};
use assay_gates::plan::{Plan, PlannedDiff};
use expect_test::{Expect, expect};

use crate::files::{Files, at};

/// Returns a plan with diffs only, the first at line 11, the next at line 111.
fn plan(diffs: &[&str]) -> Plan {
    let lines = (0u32..).map(|nth| 11 + 100 * nth);
    let diffs = diffs.iter().zip(lines);
    let loose_diffs =
        diffs.map(|(text, line)| PlannedDiff { text: (*text).to_owned(), line }).collect();
    Plan { loose_diffs, is_markdown: true, ..Plan::default() }
}

/// Applies diffs to files and returns the faults and the results.
fn applied(before: &[(&str, &str)], diffs: &[&str]) -> String {
    let plan = plan(diffs);
    let patches = plan.patches();
    let tree = Files::new(before);
    let patched = PatchedTree::of(&tree, files(&patches));
    let mut report = String::new();
    for placed in &patches {
        for fault in &placed.patch.faults {
            report += &format!("! {}: {}\n", fault.line, fault_text(&fault.kind));
        }
        for file in &placed.patch.files {
            for fault in &file.faults {
                report +=
                    &format!("! {} {}: {}\n", file.path(), fault.line, fault_text(&fault.kind));
            }
        }
    }
    let paths: Vec<&str> =
        patches.iter().flat_map(|p| &p.patch.files).map(|file| file.path()).collect();
    let mut seen = Vec::new();
    for path in paths {
        if seen.contains(&path) {
            continue;
        }
        seen.push(path);
        for misfit in patched.misfits(path) {
            report += &format!("x {path} {}: {}\n", misfit.line, plan.misfit_text(&misfit.kind));
        }
        for moved in patched.moved_hunks(path) {
            report += &format!("~ {path} {}: {} -> {}\n", moved.line, moved.stated, moved.fits);
        }
    }
    let change = patched.change("the plan", Path::new("/none"), BTreeMap::new());
    for file in &change.files {
        let lines = |lines: &[assay_findings::vote::LineRange]| {
            let shown: Vec<String> =
                lines.iter().map(|l| format!("{}-{}", l.start(), l.end())).collect();
            shown.join(",")
        };
        let (old, new) = (file.old_path.as_deref(), file.new_path.as_deref());
        report += &format!("{} => {}", old.unwrap_or("-"), new.unwrap_or("-"));
        for hunk in &file.hunks {
            report += &format!(" [-{} +{}]", lines(&hunk.removed), lines(&hunk.added));
        }
        report.push('\n');
        if let Some(text) = new.and_then(|new| patched.text(&at(new))) {
            report += &text.split_inclusive('\n').map(|l| format!("  {l:?}\n")).collect::<String>();
        }
    }
    report
}

fn check(files: &[(&str, &str)], diffs: &[&str], expected: Expect) {
    expected.assert_eq(&applied(files, diffs));
}

const FIVE: (&str, &str) = ("a.txt", "one\ntwo\nthree\nfour\nfive\n");

#[test]
fn a_hunk_is_applied_at_its_stated_line() {
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -2,3 +2,4 @@ fn x\n two\n-three\n+3\n+3.5\n four\n";
    check(
        &[FIVE],
        &[diff],
        expect![[r#"
            a.txt => a.txt [-3-3 +3-4]
              "one\n"
              "two\n"
              "3\n"
              "3.5\n"
              "four\n"
              "five\n"
        "#]],
    );
}

#[test]
fn a_displaced_hunk_is_applied_at_its_only_match() {
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -40,2 +40,2 @@\n four\n-five\n+5\n";
    check(
        &[FIVE],
        &[diff],
        expect![[r#"
            ~ a.txt 13: 40 -> 4
            a.txt => a.txt [-5-5 +5-5]
              "one\n"
              "two\n"
              "three\n"
              "four\n"
              "5\n"
        "#]],
    );
}

#[test]
fn a_hunk_that_fits_twice_is_not_applied() {
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -9,1 +9,2 @@\n x\n+y\n";
    check(
        &[("a.txt", "x\na\nx\nb\nx\n")],
        &[diff],
        expect![[r#"
            x a.txt 13: it does not apply at line 9, and matches several other positions: lines 1, 3, 5
            a.txt => a.txt
              "x\n"
              "a\n"
              "x\n"
              "b\n"
              "x\n"
        "#]],
    );
}

#[test]
fn the_line_that_differs_is_named() {
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -2,3 +2,3 @@\n two\n-drei\n+3\n four\n\
                @@ -5,2 +5,2 @@\n five\n-six\n+6\n";
    check(
        &[("a.txt", "zero\none\ntwo\nthree\nfour\nfive\n")],
        &[diff],
        expect![[r#"
            x a.txt 13: line 4 of the file is `three`, and line 15 of the plan `drei`
            x a.txt 18: line 20 of the plan has `six`, and the file ends at line 6
            a.txt => a.txt
              "zero\n"
              "one\n"
              "two\n"
              "three\n"
              "four\n"
              "five\n"
        "#]],
    );
}

#[test]
fn successive_diffs_of_a_file_are_applied_in_order_and_combined() {
    let first = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n one\n+one and a half\n two\n";
    let second = "--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n one\n-one and a half\n+1.5\n-two\n+2\n \
                  three\n";
    check(
        &[FIVE],
        &[first, second],
        expect![[r#"
            a.txt => a.txt [-2-2 +2-3]
              "one\n"
              "1.5\n"
              "2\n"
              "three\n"
              "four\n"
              "five\n"
        "#]],
    );
}

#[test]
fn diffs_create_delete_and_rename_files() {
    let diff = "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n\
                @@ -0,0 +1,2 @@\n+a\n+b\n\
                diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n\
                +++ /dev/null\n@@ -1 +0,0 @@\n-bye\n\
                diff --git a/old.txt b/moved.txt\nsimilarity index 90%\nrename from old.txt\n\
                rename to moved.txt\n--- a/old.txt\n+++ b/moved.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n\
                diff --git a/empty.txt b/empty.txt\nnew file mode 100644\n";
    check(
        &[("gone.txt", "bye\n"), ("old.txt", "1\n2\n")],
        &[diff],
        expect![[r#"
            - => empty.txt
            gone.txt => - [-1-1 +]
            old.txt => moved.txt [-2-2 +2-2]
              "1\n"
              "two\n"
            - => new.txt [- +1-2]
              "a\n"
              "b\n"
        "#]],
    );
}

#[test]
fn diffs_that_create_existing_files_or_change_missing_ones_do_not_apply() {
    let diff = "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n\
                --- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+y\n\
                --- a/c.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n\
                --- a/new.txt\n+++ b/new.txt\n@@ -0,0 +1 @@\n+made all the same\n";
    check(
        &[FIVE, ("c.txt", "1\n2\n")],
        &[diff],
        expect![[r#"
            x a.txt 11: the diff creates the file, which already exists
            x b.txt 15: there is no file `b.txt`
            x c.txt 20: the diff deletes the file, and 1 of its lines remain
            c.txt => c.txt [-1-1 +]
              "2\n"
            - => new.txt [- +1-1]
              "made all the same\n"
        "#]],
    );
}

#[test]
fn a_missing_newline_at_the_end_of_a_file_must_match() {
    let without =
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n";
    check(
        &[("a.txt", "a\nb")],
        &[without],
        expect![[r#"
            a.txt => a.txt [-2-2 +2-2]
              "a\n"
              "c\n"
        "#]],
    );
    check(
        &[("a.txt", "a\nb\n")],
        &[without],
        expect![[r#"
            x a.txt 13: line 2 of the file ends with a line break, unlike line 15 of the plan
            a.txt => a.txt
              "a\n"
              "b\n"
        "#]],
    );
}

#[test]
fn added_lines_take_the_line_endings_of_the_file() {
    let plain = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n a\n+new\n b\n";
    check(
        &[("a.txt", "a\r\nb\r\n")],
        &[plain],
        expect![[r#"
            a.txt => a.txt [- +2-2]
              "a\r\n"
              "new\r\n"
              "b\r\n"
        "#]],
    );
    check(
        &[("a.txt", "a\nb\n")],
        &[&plain.replace('\n', "\r\n")],
        expect![[r#"
            a.txt => a.txt [- +2-2]
              "a\n"
              "new\n"
              "b\n"
        "#]],
    );
}

#[test]
fn wrong_counts_are_reported_with_the_line_of_the_hunk() {
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,9 +1,9 @@\n one\n+1.5\n two\n@@ -4,1 +5,1 @@\n \
                four\n-five\n+5\n\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+B\n";
    check(
        &[FIVE, ("b.txt", "b\n")],
        &[diff],
        expect![[r#"
            ! a.txt 13: the hunk header states 9 lines before and 9 after, and the hunk has 2 and 3
            ! a.txt 17: the hunk header states 1 lines before and 1 after, and the hunk has 2 and 2
            a.txt => a.txt [- +2-2] [-5-5 +6-6]
              "one\n"
              "1.5\n"
              "two\n"
              "three\n"
              "four\n"
              "5\n"
            b.txt => b.txt [-1-1 +1-1]
              "B\n"
        "#]],
    );
}

#[test]
fn lines_that_look_like_headers_are_content_within_the_counts_of_a_hunk() {
    let diff = "--- a/a.sql\n+++ b/a.sql\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n kept\n";
    check(
        &[("a.sql", "-- old\nkept\n")],
        &[diff],
        expect![[r#"
            a.sql => a.sql [-1-1 +1-1]
              "++ new\n"
              "kept\n"
        "#]],
    );
}

#[test]
fn a_hunk_line_without_a_prefix_is_reported() {
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n one\n+1.5\ntwo\n";
    check(
        &[FIVE],
        &[diff],
        expect![[r#"
            ! a.txt 16: `two` in a hunk does not begin with ` `, `+` or `-`
            x a.txt 13: it cannot be read
            a.txt => a.txt
              "one\n"
              "two\n"
              "three\n"
              "four\n"
              "five\n"
        "#]],
    );
}

#[test]
fn text_that_is_not_a_readable_diff_is_reported() {
    check(
        &[FIVE],
        &[
            "fn main() {}\n",
            "@@ -1 +1 @@\n-one\n+1\n",
            "--- a/a.txt\n+++ b/a.txt\n+1\n",
            "--- a/a.txt\n+++ b/a.txt\n@@ fn main @@\n-one\n+1\n",
            "--- a/a.txt\n+++ b/a.txt\n",
            "diff --git a/a.png b/a.png\nBinary files a/a.png and b/a.png differ\n",
            "",
        ],
        expect![[r#"
            ! 11: the diff names no file; put `--- a/PATH` and `+++ b/PATH` above its hunks
            ! 111: a hunk has no file; put `--- a/PATH` and `+++ b/PATH` above it
            ! a.txt 213: `+1` is outside of a hunk; a hunk begins with `@@ -LINE,COUNT +LINE,COUNT @@`
            ! a.txt 313: `@@ fn main @@` is not a valid hunk header; expected `@@ -LINE,COUNT +LINE,COUNT @@`
            ! a.txt 411: no hunk follows the names of the file
            ! 511: `a.png` is binary, so it cannot be checked
            ! 611: the diff names no file; put `--- a/PATH` and `+++ b/PATH` above its hunks
            x a.txt 313: it cannot be read
            a.txt => a.txt
              "one\n"
              "two\n"
              "three\n"
              "four\n"
              "five\n"
        "#]],
    );
}

#[test]
fn a_diff_with_a_path_outside_the_repository_is_refused() {
    let of = |path: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
    check(
        &[],
        &[&of("../up"), &of("/etc/passwd"), &of("a/../../up"), &of(".GIT/hooks/x"), &of("./a//b")],
        expect![[r#"
            ! 11: `../up` is not a valid path: the path leaves the repository
            ! 111: `/etc/passwd` is not a valid path: the path is absolute and lies outside the repository
            ! 211: `a/../../up` is not a valid path: the path leaves the repository
            ! 311: `.GIT/hooks/x` is not a valid path: the path is inside of `.git`
            - => a/b [- +1-1]
              "x\n"
        "#]],
    );
}

#[test]
fn a_mailed_diff_is_read() {
    let diff = "From abc\nSubject: [PATCH] x\n\nmessage\n---\n a.txt | 2 +-\n\ndiff --git a/a.txt b/a.txt\n\
                index 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n-- \n2.47.0\n\n";
    check(
        &[("a.txt", "one\n")],
        &[diff],
        expect![[r#"
            a.txt => a.txt [-1-1 +1-1]
              "1\n"
        "#]],
    );
}

/// Checks that hostile diffs of any size end soon; the test would take hours otherwise.
#[test]
fn applying_hostile_diffs_terminates() {
    let equal = "x\n".repeat(20_000);
    let many: String = (0..20_000).map(|_| "@@ -90000,2 +1,2 @@\n x\n-y\n+z\n").collect();
    let many = format!("--- a/a.txt\n+++ b/a.txt\n{many}");
    let files: String =
        (0..20_000).map(|_| "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+x\n").collect();
    let huge = format!("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+{}\n", "y".repeat(4 << 20));
    let greedy: String = (0..50_000).map(|_| "@@ -1,4000000 +1,4000000 @@\n x\n\n\n").collect();
    let greedy = format!("--- a/a.txt\n+++ b/a.txt\n{greedy}");
    let limits = "--- a/a.txt\n+++ b/a.txt\n@@ -4294967295,4294967295 +4294967295,0 @@\n-x\n";
    for diff in [&many, &files, &huge, &greedy, limits] {
        applied(&[("a.txt", &equal)], &[diff]);
    }
}

mod any {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_crashes_the_diff_reader(
            text in r"(--- a/a\n|\+\+\+ b/a\n|@@ -1,2 \+1,2 @@\n|@@ -0,0 \+1 @@\r\n|[-+ ]x\n|\\ no\n|\n|diff --git a/a b/b\n|rename to c\n|é\r){0,24}"
        ) {
            super::applied(&[("a", "x\nx\ny\n")], &[&text]);
        }
    }

    proptest! {
        // Each case starts git several times.
        #![proptest_config(ProptestConfig::with_cases(assay_testenv::cases(32)))]

        /// Checks that the diff of git between two files turns the one into the other.
        #[test]
        fn a_diff_of_git_is_applied(
            before in "([abc]\n){0,12}([ab]\r?\n|[ab])?",
            after in "([abc]\n){0,12}([ab]\n|[ab])?",
        ) {
            let repository = assay_testkit::Repository::new();
            repository.write("a.txt", &before);
            repository.git(&["add", "a.txt"]);
            repository.write("a.txt", &after);
            // Trimming the output would remove lines of context.
            let diff = repository.try_git(&["diff", "--no-color"]).stdout;
            let diff = String::from_utf8(diff).unwrap();
            let plan = super::plan(&[&diff]);
            let patches = plan.patches();
            let tree = super::Files::new(&[("a.txt", &before)]);
            let patched = super::PatchedTree::of(&tree, super::files(&patches));
            if before != after && !before.contains('\r') {
                prop_assert_eq!(patched.text(&super::at("a.txt")), Some(after), "{}", diff);
            }
        }
    }
}
