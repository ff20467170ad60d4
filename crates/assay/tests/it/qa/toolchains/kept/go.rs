//! Go: `go test`, and tests that `make` runs.

use super::{Edit, Row, has};

const MODULE: &str = "module example.com/calc\n\ngo 1.19\n";

const HEAD: &str = "// Package calc counts.\npackage calc\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n\n// Sub subtracts.\n";

const MUL: &str = "\n// Mul multiplies.\nfunc Mul(a, b int) int { return a * b }\n";

const TESTS: &str = "package calc\n\nimport (\n\t\"os\"\n\t\"strconv\"\n\t\"strings\"\n\t\"testing\"\n)\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"no sum\")\n\t}\n}\n\nfunc TestSub(t *testing.T) {\n\tgolden, _ := os.ReadFile(\"testdata/sub.txt\")\n\twanted, _ := strconv.Atoi(strings.TrimSpace(string(golden)))\n\tif got := Sub(3, 2); got != wanted {\n\t\tt.Fatalf(\"expected %d, got %d\", wanted, got)\n\t}\n}\n";

const SUB: &str = "Weakened test: example.com/calc > TestSub";

const FAILS: &str = "the version of main fails: ";

fn code(sub: &str, more: &str) -> String {
    format!("{HEAD}func Sub(a, b int) int {{ return {sub} }}\n{more}")
}

fn row<'a>(name: &'a str, main: &'a [(&'a str, &'a str)], branch: &'a [Edit<'a>]) -> Row<'a> {
    let criteria = "- [ ] The function `Mul` exists in `calc.go`";
    Row { name, main, branch, fixer: &[], criteria, command: "go test ./..." }
}

fn main(good: &str) -> [(&str, &str); 4] {
    [("go.mod", MODULE), ("calc.go", good), ("calc_test.go", TESTS), ("testdata/sub.txt", "1\n")]
}

#[test]
fn tests_of_go_that_are_rewritten_are_refused() {
    if !has("go", &["version"]) {
        return;
    }
    let (good, broken) = (code("a - b", ""), code("a + b", MUL));
    let main = main(&good);
    let begins = "func TestSub(t *testing.T) {\n";
    let skipped = TESTS.replace(begins, &format!("{begins}\tt.Skip(\"later\")\n"));
    let returns = TESTS.replace("t.Fatalf(", "t.Logf(");
    let renamed = TESTS.replace("func TestSub(", "func testSub(");
    let ends = format!("{TESTS}\nfunc TestMain(m *testing.M) {{\n\tm.Run()\n\tos.Exit(0)\n}}\n");
    let tagged = format!("//go:build slow\n\n{}", TESTS);
    let other = (
        "add_test.go",
        Some("package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {}\n"),
    );
    let rows: &[(&str, &[Edit<'_>])] = &[
        ("a skipped test", &[("calc_test.go", Some(&skipped))]),
        ("a test that only logs", &[("calc_test.go", Some(&returns))]),
        ("a function that is no test", &[("calc_test.go", Some(&renamed))]),
        ("a file behind a tag", &[("calc_test.go", Some(&tagged)), other]),
        ("data that is rewritten", &[("testdata/sub.txt", Some("5\n"))]),
        ("a deleted file", &[("calc_test.go", None), other]),
    ];
    for (name, edits) in rows {
        let branch = [&[("calc.go", Some(broken.as_str()))][..], edits].concat();
        row(name, &main, &branch).is_refused(SUB, FAILS);
    }
    // A run that exits with 0 whatever its tests return still names the failing test.
    let branch = [("calc.go", Some(broken.as_str())), ("calc_test.go", Some(ends.as_str()))];
    row("a main function that ends well", &main, &branch)
        .is_refused("Test fails: example.com/calc > TestSub", "expected 1, got 5");
}

#[test]
fn honest_changes_of_tests_of_go_are_approved() {
    if !has("go", &["version"]) {
        return;
    }
    let (good, more) = (code("a - b", ""), code("a - b", MUL));
    let main = main(&good);
    let renamed = TESTS.replace("func TestAdd(", "func TestSum(");
    let added = format!(
        "{TESTS}\nfunc TestMul(t *testing.T) {{\n\tif Mul(2, 3) != 6 {{\n\t\tt.Fatal(\"no product\")\n\t}}\n}}\n"
    );
    for (name, tests) in [("a renamed test", &renamed), ("a test more", &added)] {
        let branch = [("calc.go", Some(more.as_str())), ("calc_test.go", Some(tests.as_str()))];
        row(name, &main, &branch).is_approved();
    }
}

#[test]
fn a_target_of_make_that_is_rewritten_is_refused() {
    if !has("make", &["--version"]) {
        return;
    }
    let script = "echo 1..1; grep -q hello greeting.txt && echo 'ok 1 - greets' || { echo 'not ok 1 - greets'; exit 1; }\n";
    let main = [
        ("Makefile", "check:\n\t@sh check.sh\n"),
        ("check.sh", script),
        ("greeting.txt", "hello\n"),
    ];
    let criteria = "- [ ] `greets` passes";
    let title = "Weakened test: greets";
    let broken = ("greeting.txt", Some("nothing\n"));
    let forged = ("Makefile", Some("check:\n\t@echo 1..1; echo 'ok 1 - greets'\n"));
    let branch = [broken, forged];
    Row { criteria, command: "make check", ..row("a target that prints", &main, &branch) }
        .is_refused(title, FAILS.trim_end_matches(": "));
    for command in ["sh check.sh", "make check"] {
        let forged = ("check.sh", Some("echo 1..1; echo 'ok 1 - greets'\n"));
        let branch = [broken, forged];
        Row { criteria, command, ..row("a script that prints", &main, &branch) }
            .is_refused(title, FAILS.trim_end_matches(": "));
    }
}

#[test]
fn a_package_that_only_tests_of_go_import_is_kept() {
    if !has("go", &["version"]) {
        return;
    }
    let (good, broken) = (code("a - b", ""), code("a + b", MUL));
    let tests = "package calc\n\nimport (\n\t\"testing\"\n\n\t\"example.com/calc/internal/check\"\n)\n\nfunc TestSub(t *testing.T) {\n\tcheck.Same(t, Sub(3, 2), 1)\n}\n";
    let check = "// Package check compares.\npackage check\n\nimport \"testing\"\n\n// Same compares.\nfunc Same(t *testing.T, a, b int) {\n\tif a != b {\n\t\tt.Fatalf(\"expected %d, got %d\", b, a)\n\t}\n}\n";
    let main = [
        ("go.mod", MODULE),
        ("calc.go", good.as_str()),
        ("calc_test.go", tests),
        ("internal/check/check.go", check),
    ];
    let empty = check.replace("a != b", "a != a");
    let branch =
        [("calc.go", Some(broken.as_str())), ("internal/check/check.go", Some(empty.as_str()))];
    row("a package that compares nothing", &main, &branch).is_refused(SUB, FAILS);
}

/// A test as a shell script, which `make` runs.
const GREETS: &str = "echo 1..1; grep -q hello greeting.txt && echo 'ok 1 - greets' || { echo 'not ok 1 - greets'; exit 1; }\n";

const PRINTS: &str = "echo 1..1; echo 'ok 1 - greets'\n";

/// Asserts that a project with a broken greeting is refused, with files of the main branch and of
/// the branch.
fn greeting_is_refused(name: &str, command: &str, files: &[(&str, &str)], edits: &[Edit<'_>]) {
    let main = [&[("greeting.txt", "hello\n")][..], files].concat();
    let branch = [&[("greeting.txt", Some("nothing\n"))][..], edits].concat();
    Row { criteria: "- [ ] `greets` passes", command, ..row(name, &main, &branch) }
        .is_refused("Weakened test: greets", FAILS.trim_end_matches(": "));
}

#[test]
fn files_that_make_prefers_or_includes_are_kept() {
    if !has("make", &["--version"]) {
        return;
    }
    let makefile = ("Makefile", "check:\n\t@sh check.sh\n");
    let script = ("check.sh", GREETS);
    let forged = format!("check:\n\t@{PRINTS}");
    for name in ["GNUmakefile", "makefile"] {
        greeting_is_refused(name, "make check", &[makefile, script], &[(name, Some(&forged))]);
    }
    let included = [("Makefile", "include build/rules\n"), ("build/rules", makefile.1), script];
    let edits = [("build/rules", Some(forged.as_str()))];
    greeting_is_refused("an included file", "make check", &included, &edits);
}

#[test]
fn scripts_behind_variables_globs_and_links_are_kept() {
    if !has("make", &["--version"]) {
        return;
    }
    let prints = Some(PRINTS);
    let variable = [("Makefile", "C = run\ncheck:\n\t@sh $(C).sh\n"), ("run.sh", GREETS)];
    greeting_is_refused("a variable of make", "make check", &variable, &[("run.sh", prints)]);
    let other = [("Makefile", "check:\n\t@sh ci/all.sh\n"), ("ci/all.sh", GREETS)];
    greeting_is_refused("a script of make", "make check", &other, &[("ci/all.sh", prints)]);
    let looped = [
        ("run.sh", "here=$(dirname \"$0\")\nfor t in \"$here\"/ci/che*.sh; do sh \"$t\"; done\n"),
        ("ci/check.sh", GREETS),
    ];
    greeting_is_refused("a loop", "sh run.sh", &looped, &[("ci/check.sh", prints)]);
    let linked = [("run.sh", "link to bin/real"), ("bin/real", GREETS)];
    greeting_is_refused("the script behind a link", "sh run.sh", &linked, &[("bin/real", prints)]);
}

#[test]
fn a_command_with_an_unknown_script_is_named_in_the_report() {
    if !has("make", &["--version"]) {
        return;
    }
    let main = [
        ("Makefile", "check:\n\t@sh $(SCRIPT)\n"),
        ("first.sh", GREETS),
        ("greeting.txt", "hello\n"),
    ];
    let branch = [("Makefile", Some("# Checks.\nSCRIPT ?= first.sh\ncheck:\n\t@sh $(SCRIPT)\n"))];
    let command = "make check SCRIPT=first.sh";
    let fixture =
        Row { criteria: "- [ ] `greets` passes", command, ..row("a variable", &main, &branch) }
            .is_approved();
    let report = fixture.artifact("qa_report.md").replace('\\', "");
    assert!(report.contains("The scripts of these commands are unknown"), "{report}");
}
