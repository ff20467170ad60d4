//! Programs that run the checks.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use assay_testenv::not_run;

use super::{BROKEN, CALC, MORE, has, is_approved, is_refused, program, project, python};

/// A runner that requires a word in a file, and prints TAP.
const CHECKER: &str = "#!/bin/sh\nif grep -q goodbye greeting.txt; then echo 'ok 1 - leaves'; else echo 'not ok 1 - leaves'; fi\necho 1..1\ngrep -q goodbye greeting.txt\n";

/// A runner that always passes.
const FORGED: &str = "#!/bin/sh\necho 'ok 1 - leaves'\necho 1..1\n";

const CRITERION: &str = "`leaves` passes";

const FOLDERS: [&str; 4] = ["node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin"];

#[test]
fn a_toolchain_in_the_tree_forges_nothing() {
    if !has("make", &["--version"]) {
        return;
    }
    for folder in FOLDERS {
        for (name, command) in
            [("make", "make test"), ("sh", "sh check.sh"), ("env", "env sh check.sh")]
        {
            let main = [
                ("Makefile", "test:\n\tsh check.sh\n"),
                ("check.sh", CHECKER),
                ("greeting.txt", "goodbye\n"),
            ];
            let fixture = project(&main, command, CRITERION);
            fixture.repository.write("greeting.txt", "hello\n");
            program(&fixture, &format!("{folder}/{name}"), FORGED);
            fixture.repository.commit("work");
            let reason = format!("`{folder}/{name}` was not used");
            is_refused(&fixture, &[], "1", "Test fails: leaves", &reason);
        }
    }
}

#[test]
fn an_interpreter_of_the_tree_forges_nothing() {
    let forged = "#!/bin/sh\necho 'test_sub (tests.test_calc.T.test_sub) ... ok' >&2\necho >&2\necho 'Ran 1 test in 0.1s' >&2\necho >&2\necho OK >&2\n";
    let fixture = python(&[(".gitignore", ".venv/\n__pycache__/\n")]);
    fixture.repository.write("calc.py", BROKEN);
    fixture.repository.commit("work");
    program(&fixture, ".venv/bin/python3", forged);
    fixture.repository.write(".venv/pyvenv.cfg", "home = /usr/bin\n");
    is_refused(
        &fixture,
        &[],
        "1",
        "Test fails: ",
        "`.venv/bin/python3` was not used: it is not in a virtual environment",
    );
}

#[test]
fn node_and_cargo_of_the_tree_forge_nothing() {
    let tap = "#!/bin/sh\necho 'TAP version 13'\necho 'ok 1 - test_sub'\necho '1..1'\necho '# tests 1'\necho '# pass 1'\necho '# fail 0'\n";
    let main = [
        ("calc.js", "exports.sub = (a, b) => a - b;\n"),
        (
            "test/calc.test.js",
            "const test = require('node:test');\nconst assert = require('node:assert');\nconst { sub } = require('../calc.js');\n\ntest('test_sub', () => assert.strictEqual(sub(2, 3), -1));\n",
        ),
        (
            "package.json",
            r#"{"name": "calc", "version": "1.0.0", "scripts": {"test": "node --test"}}"#,
        ),
    ];
    if has("node", &["--version"]) {
        for command in ["node --test", "npm test"] {
            let fixture = project(&main, command, "`test_sub` passes");
            fixture.repository.write("calc.js", "exports.sub = (a, b) => a + b;\n");
            program(&fixture, "node_modules/.bin/node", tap);
            fixture.repository.commit("work");
            is_refused(
                &fixture,
                &[],
                "1",
                "Program in the tree replaces a toolchain: node_modules/.bin/node",
                "run `node_modules/.bin/node` instead of `node`",
            );
        }
    }
    if has("cargo", &["--version"]) {
        let test = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn test_sub() {\n        assert_eq!(super::sub(2, 3), -1);\n    }\n}\n";
        let body = |sign: &str| {
            format!("pub fn sub(a: i32, b: i32) -> i32 {{\n    a {sign} b\n}}\n\n{test}")
        };
        let main = [
            ("Cargo.toml", "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"calc\"\nversion = \"0.1.0\"\n"),
            ("src/lib.rs", &body("-")),
            (".gitignore", "target/\n"),
        ];
        let fixture = project(&main, "cargo test --offline", "`test_sub` passes");
        fixture.repository.write("src/lib.rs", body("+"));
        let forged = "#!/bin/sh\necho\necho 'running 1 test'\necho 'test tests::test_sub ... ok'\necho\necho 'test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s'\n";
        program(&fixture, ".venv/bin/cargo", forged);
        fixture.repository.commit("work");
        is_refused(&fixture, &[], "1", "Test fails: ", "`.venv/bin/cargo` was not used");
    }
}

#[test]
fn a_program_that_the_branch_changes_is_kept() {
    let fixture = project(&[("greeting.txt", "goodbye\n")], "our-checker", CRITERION);
    fixture.repository.git(&["switch", "--quiet", "main"]);
    program(&fixture, "vendor/bin/our-checker", CHECKER);
    fixture.repository.commit("a checker");
    fixture.repository.git(&["switch", "--quiet", "work"]);
    fixture.repository.git(&["rebase", "--quiet", "main"]);
    fixture.repository.write("greeting.txt", "hello\n");
    program(&fixture, "vendor/bin/our-checker", FORGED);
    fixture.repository.commit("work");
    is_refused(
        &fixture,
        &[],
        "1",
        "Weakened test: leaves",
        "passes only in the version that this branch changed",
    );
}

#[test]
fn an_ignored_program_that_is_swapped_between_rounds_needs_a_person() {
    let main = [("greeting.txt", "goodbye\n"), (".gitignore", "node_modules/\n")];
    let fixture = project(&main, "our-checker", CRITERION);
    program(&fixture, "node_modules/.bin/our-checker", CHECKER);
    fixture.repository.write("greeting.txt", "hello\n");
    is_refused(&fixture, &[], "1", "Test fails: leaves", "");
    program(&fixture, "node_modules/.bin/our-checker", FORGED);
    let title = "Program was changed: node_modules/.bin/our-checker";
    let reason = "is not the program that the first round of the loop used";
    is_refused(&fixture, &["--resume"], "1", title, reason);
    let again = "Failed before on the same tree: leaves";
    let decided = fixture.qa(&[
        "--sign-off",
        "Ann",
        "--for",
        title,
        "--for",
        again,
        "--because",
        "the checker was upgraded by me",
    ]);
    assert_eq!(decided.code, 0, "{}{}", decided.stdout, decided.stderr);
    fixture.is_approved();
}

#[test]
fn tools_that_a_project_installed_are_used() {
    // A virtual environment.
    let made = Command::new("python3")
        .args(["-m", "venv", "--without-pip", "--help"])
        .output()
        .is_ok_and(|output| output.status.success());
    if made {
        let test = "import sys\nimport unittest\n\nfrom calc import sub\n\n\nclass T(unittest.TestCase):\n    def test_sub(self):\n        self.assertEqual(sub(2, 3), -1)\n        self.assertTrue(sys.prefix.endswith('.venv'), sys.prefix)\n";
        let main = [
            ("calc.py", CALC),
            ("tests/__init__.py", ""),
            ("tests/test_calc.py", test),
            (".gitignore", ".venv/\n__pycache__/\n"),
        ];
        let fixture = project(&main, super::UNITTEST, "`test_sub` passes");
        let folder = fixture.repository.path().join(".venv");
        let status =
            Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&folder).status();
        assert!(status.unwrap().success());
        fixture.repository.write("calc.py", MORE);
        is_approved(&fixture, &[]);
    } else {
        not_run::record("python3 makes no virtual environments");
    }
    // A JavaScript package next to another program in the folder.
    let main = [("greeting.txt", "hello\n"), (".gitignore", "node_modules/\n")];
    let fixture = project(&main, "our-checker", CRITERION);
    program(&fixture, "node_modules/our-checker/cli.sh", CHECKER);
    fs::create_dir_all(fixture.repository.path().join("node_modules/.bin")).unwrap();
    let link = fixture.repository.path().join("node_modules/.bin/our-checker");
    symlink("../our-checker/cli.sh", link).unwrap();
    program(&fixture, "node_modules/.bin/grep", "#!/bin/sh\nexit 1\n");
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    is_approved(&fixture, &[]);
}
