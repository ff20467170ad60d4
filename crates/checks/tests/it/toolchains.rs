//! Small projects, found and run with the tools of their languages.
//!
//! Rust is always installed. For the other languages, a test that did not run records that.

use std::fs;

use assay_checks::check::{CheckKind, RequiredCheck};
use assay_checks::discovery::{Framework, ProjectFolder, discover};
use assay_sandbox::Command;
use assay_testenv::not_run;
use expect_test::{Expect, expect};

use crate::run::{check_of, home, runner, shown};

/// Creates files, finds the framework, runs it in a home whose secrets are hidden, and compares the
/// outcome.
fn check(files: &[(&str, &str)], expect: Expect) {
    let (tree, home) = (tempfile::tempdir().unwrap(), home());
    for (path, text) in files {
        let path = tree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let found = discover(&ProjectFolder::new(tree.path()));
    let mut report = String::new();
    for framework in &found.frameworks {
        let outcome = runner(tree.path()).home(home.path()).run(&required(framework));
        let tail = if outcome.tests.is_none() { outcome.tail.as_str() } else { "" };
        report.push_str(&format!("{}: {}{tail}", framework.name, shown(&outcome)));
        let tests = outcome.tests.iter().flat_map(|tests| tests.results.iter());
        // Other parts of a name depend on the version of a tool.
        let name = |name: &str| name.split(" (").next().unwrap_or(name).to_owned();
        let mut names: Vec<String> = tests.map(|test| name(&test.name)).collect();
        names.sort();
        names.iter().for_each(|name| report.push_str(&format!("  {name}\n")));
    }
    expect.assert_eq(&report);
}

fn required(framework: &Framework) -> RequiredCheck {
    RequiredCheck {
        kind: CheckKind::FullSuite,
        command: framework.run.clone(),
        folder: framework.folder.clone(),
        reading: framework.reading.clone(),
        ..check_of("true")
    }
}

/// Returns true if a tool works; otherwise records that a test did not run.
fn has(program: &str, args: &[&str]) -> bool {
    let found = Command::new(program).args(args).run().is_ok_and(|it| it.status.success());
    if !found {
        not_run::record(&format!("{program} is not there"));
    }
    found
}

const MANIFEST: &str = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

#[test]
fn a_crate_is_tested_offline_without_writing_anywhere_else() {
    let lib =
        "#[test]\nfn adds() { assert_eq!(1 + 2, 3); }\n#[test]\nfn fails() { panic!(\"off\"); }\n";
    check(
        &[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)],
        expect![[r#"
            cargo_test: FAILED: 1 of 2 tests failed
              1 passed, 1 failed, 0 skipped
              adds
              fails
        "#]],
    );
}

#[test]
fn a_crate_that_does_not_build_fails_its_check() {
    let check = RequiredCheck { kind: CheckKind::FullSuite, ..check_of("cargo test") };
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir(tree.path().join("src")).unwrap();
    fs::write(tree.path().join("Cargo.toml"), MANIFEST).unwrap();
    fs::write(tree.path().join("src/lib.rs"), "fn a() -> u8 { }").unwrap();
    let outcome = runner(tree.path()).run(&check);
    assert!(
        shown(&outcome).starts_with("FAILED: the command exited with code 101: "),
        "{}",
        shown(&outcome)
    );
}

#[test]
fn a_missing_cargo_command_is_reported_as_not_run() {
    let tree = tempfile::tempdir().unwrap();
    let outcome = runner(tree.path()).run(&check_of("cargo no-such-command"));
    expect![[r#"
        NOT RUN: a dependency of the command is missing: error: no such command: `no-such-command`
    "#]]
    .assert_eq(&shown(&outcome));
}

#[test]
fn tests_of_unittest_are_run() {
    if !has("python3", &["--version"]) {
        return;
    }
    let test = "import unittest\n\nclass Shop(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(1 + 2, 3)\n\n    def test_fails(self):\n        self.assertEqual(1 + 2, 4)\n";
    check(
        &[("setup.py", ""), ("tests/test_shop.py", test)],
        expect![[r#"
            unittest: FAILED: 1 of 2 tests failed
              1 passed, 1 failed, 0 skipped
              test_adds
              test_fails
        "#]],
    );
}

#[test]
fn tests_of_pytest_are_run() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let test =
        "def test_adds():\n    assert 1 + 2 == 3\n\ndef test_fails():\n    assert 1 + 2 == 4\n";
    check(
        &[("pytest.ini", "[pytest]\n"), ("test_shop.py", test)],
        expect![[r#"
            pytest: FAILED: 1 of 2 tests failed
              1 passed, 1 failed, 0 skipped
              test_shop > test_adds
              test_shop > test_fails
        "#]],
    );
}

#[test]
fn tests_of_node_are_run() {
    if !has("node", &["--test", "--test-reporter=tap", "/dev/null"]) {
        return;
    }
    let test = "const test = require('node:test'); const assert = require('node:assert');\ntest('adds', () => assert.equal(1 + 2, 3));\ntest('fails', () => assert.equal(1 + 2, 4));\n";
    let manifest = "{\"scripts\": {\"test\": \"node --test shop.test.js\"}}";
    check(
        &[("package.json", manifest), ("shop.test.js", test)],
        expect![[r#"
        node_test: FAILED: 1 of 2 tests failed
          1 passed, 1 failed, 0 skipped
          adds
          fails
    "#]],
    );
}

#[test]
fn npm_runs_without_its_hidden_settings() {
    if !has("npm", &["--version"]) {
        return;
    }
    let (tree, home) = (tempfile::tempdir().unwrap(), home());
    let manifest = "{\"scripts\": {\"test\": \"echo tested\"}}";
    fs::write(tree.path().join("package.json"), manifest).unwrap();
    let outcome = runner(tree.path()).home(home.path()).run(&check_of("npm test"));
    assert!(outcome.is_pass() && outcome.tail.ends_with("tested\n"), "{}", outcome.tail);
}

#[test]
fn tests_of_go_are_run() {
    if !has("go", &["version"]) {
        return;
    }
    let test = "package shop\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {\n\tif 1+2 != 3 {\n\t\tt.Fatal()\n\t}\n}\n\nfunc TestFails(t *testing.T) { t.Fatal(\"off\") }\n";
    check(
        &[("go.mod", "module example.com/shop\n\ngo 1.21\n"), ("shop_test.go", test)],
        expect![[r#"
            go_test: FAILED: 1 of 2 tests failed
              1 passed, 1 failed, 0 skipped
              example.com/shop > TestAdds
              example.com/shop > TestFails
        "#]],
    );
}
