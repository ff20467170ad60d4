//! Results that the code under test writes, runs that it ends, and tests that it skips: all refused
//! with the reason. Tests and settings are unchanged here.

use super::{Edit, Row, has};

const CALC: &str = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n";

const MUL: &str = "\n\ndef mul(a, b):\n    return a * b\n";

const CRITERIA: &str = "- [ ] The function `mul` exists in `calc.py`";

const IGNORED: (&str, &str) = (".gitignore", ".pytest_cache/\n__pycache__/\n");

/// Tests for `unittest`: the first has a docstring and writes to the stream of the runner.
const UNITTEST: &str = "import sys\nimport unittest\n\nfrom calc import add, sub\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        \"\"\"Sums are right.\"\"\"\n        sys.stderr.write('adding\\n')\n        self.assertEqual(add(1, 2), 3)\n\n    def test_sub(self):\n        self.assertEqual(sub(3, 2), 1)\n";

const PYTEST: &str = "from calc import add, sub\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_sub():\n    assert sub(3, 2) == 1\n";

/// Returns code with another statement as its subtraction, and with lines at the top.
fn code(head: &str, sub: &str) -> String {
    format!("{head}{}{MUL}", CALC.replace("return a - b", sub))
}

fn unittest<'a>(name: &'a str, main: &'a [(&'a str, &'a str)], branch: &'a [Edit<'a>]) -> Row<'a> {
    let command = "python3 -m unittest discover";
    Row { name, main, branch, fixer: &[], criteria: CRITERIA, command }
}

fn has_pytest() -> bool {
    has("pytest", &["--version"])
}

const OF_UNITTEST: &[(&str, &str)] =
    &[("calc.py", CALC), ("setup.py", ""), ("test_calc.py", UNITTEST), IGNORED];

const OF_PYTEST: &[(&str, &str)] = &[
    ("calc.py", CALC),
    ("tests/test_calc.py", PYTEST),
    ("pytest.ini", "[pytest]\npythonpath = .\n"),
    IGNORED,
];

#[test]
fn unittest_runs_ended_by_the_code_under_test_are_refused() {
    if !has("python3", &["--version"]) {
        return;
    }
    let forged = "os.write(2, b'ok\\n\\nRan 2 tests in 0.1s\\n\\nOK\\n')\n    os._exit(0)";
    for (name, sub) in [("a run that ends", "os._exit(0)"), ("results that are printed", forged)] {
        let calc = code("import os\n\n\n", sub);
        unittest(name, OF_UNITTEST, &[("calc.py", Some(&calc))]).is_refused(
            "Test fails: test_sub (test_calc.Calc.test_sub)",
            "started and did not finish",
        );
    }
    let exits = code("import os\n\nos._exit(0)\n\n\n", "return a + b");
    unittest("a run that ends before it begins", OF_UNITTEST, &[("calc.py", Some(&exits))])
        .is_refused("Not run: unit: python3 -m unittest discover", "without a report");
}

#[test]
fn unittest_tests_skipped_or_removed_by_the_code_under_test_are_refused() {
    if !has("python3", &["--version"]) {
        return;
    }
    let name = "Skipped by the code under test: test_sub (test_calc.Calc.test_sub)";
    let skips = code("import unittest\n\n\n", "raise unittest.SkipTest('later')");
    unittest("a test that the code skips", OF_UNITTEST, &[("calc.py", Some(&skips))])
        .is_refused(name, "`calc.py:9` skips the test");
    let prefix = "import unittest\n\nunittest.TestLoader.testMethodPrefix = 'test_add'\n\n\n";
    let fewer = code(prefix, "return a + b");
    unittest("a test that the code leaves out", OF_UNITTEST, &[("calc.py", Some(&fewer))])
        .is_refused("Test has no result: Calc.test_sub", "the test is in `test_calc.py`");
    let own = "import unittest\n\n\nclass Fake(unittest.TestCase):\n    def test_sub(self):\n        pass\n\n\nunittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Fake))\n\n\n";
    let twice = code(own, "return a - b");
    unittest("a run of its own", OF_UNITTEST, &[("calc.py", Some(&twice))]).is_refused(
        "Not run: unit: python3 -m unittest discover",
        "the test results are invalid: one process reports two runs",
    );
}

#[test]
fn a_module_that_shadows_an_import_of_the_runner_is_refused() {
    if !has("python3", &["--version"]) {
        return;
    }
    let broken = code("", "return a + b");
    let patch = "import sys\n\n\nclass Lazy:\n    def find_spec(self, name, path=None, target=None):\n        if name == 'test_calc':\n            import unittest\n            unittest.TestCase.assertEqual = lambda self, left, right: None\n        return None\n\n\nsys.meta_path.insert(0, Lazy())\n";
    let title = "Weakened test: test_sub (test_calc.Calc.test_sub)";
    for path in ["difflib.py", "pprint.py", "difflib/__init__.py"] {
        let branch = [("calc.py", Some(broken.as_str())), (path, Some(patch))];
        unittest(path, OF_UNITTEST, &branch).is_refused(title, "the version of main fails");
    }
    let branch = [("calc.py", Some(broken.as_str()))];
    let fixer = [("difflib.py", Some(patch))];
    Row { fixer: &fixer, ..unittest("the fixer adds a module", OF_UNITTEST, &branch) }
        .is_refused(title, "the version of main fails");
}

#[test]
fn pytest_runs_ended_or_skipped_by_the_code_under_test_are_refused() {
    if !has_pytest() {
        return;
    }
    let skipped = "Skipped by the code under test: tests.test_calc > test_sub";
    let missing = "Not run: unit: pytest";
    let printed = "print('<testsuite><testcase classname=\"tests.test_calc\" name=\"test_sub\"/></testsuite>')\n    sys.stdout.flush()\n    os._exit(0)";
    for (name, head, sub, title, reason) in [
        (
            "a skip of unittest",
            "import unittest",
            "raise unittest.SkipTest('later')",
            skipped,
            "`calc.py:9` skips the test",
        ),
        (
            "a skip of pytest", "import pytest", "pytest.skip('later')", skipped,
            "`calc.py:9` skips the test",
        ),
        ("a run that ends", "import os", "os._exit(0)", missing, "without a report"),
        ("results that are printed", "import os, sys", printed, missing, "without a report"),
    ] {
        let calc = code(&format!("{head}\n\n\n"), sub);
        let branch = [("calc.py", Some(calc.as_str()))];
        Row { command: "pytest", ..unittest(name, OF_PYTEST, &branch) }.is_refused(title, reason);
    }
}

#[test]
fn node_runs_ended_by_the_code_under_test_are_refused() {
    if !has("node", &["--test", "--test-reporter=tap", "/dev/null"]) {
        return;
    }
    let tests = "const assert = require('node:assert');\nconst test = require('node:test');\n\nconst { sub } = require('./calc.js');\n\ntest('subtracts', () => {\n  assert.equal(sub(3, 2), 1);\n});\n";
    let add = "const test = require('node:test');\n\ntest('adds', () => {});\n";
    let manifest = "{\"name\": \"calc\", \"scripts\": {\"test\": \"node --test\"}}\n";
    let main = [
        ("calc.js", "exports.sub = (a, b) => a - b;\n"),
        ("calc.test.js", tests),
        ("add.test.js", add),
        ("package.json", manifest),
    ];
    let exits = "exports.sub = () => process.exit(0);\nexports.mul = (a, b) => a * b;\n";
    let printed = "exports.sub = () => {\n  process.stdout.write('TAP version 13\\nok 1 - adds\\nok 2 - subtracts\\n1..2\\n');\n  process.exit(0);\n};\nexports.mul = (a, b) => a * b;\n";
    for (name, calc) in [("a run that ends", exits), ("results that are printed", printed)] {
        for command in ["node --test", "npm test"] {
            let branch = [("calc.js", Some(calc))];
            let criteria = "- [ ] The test `adds` passes";
            Row { criteria, command, ..unittest(name, &main, &branch) }
                .is_refused("Test has no result: subtracts", "the test is in `calc.test.js`");
        }
    }
    let noisy = "console.log('ok 1 - nothing');\nexports.sub = (a, b) => a - b;\nexports.mul = (a, b) => a * b;\n";
    let helper = ("test/helper.js", Some("exports.one = 1;\n"));
    let branch = [("calc.js", Some(noisy)), helper];
    Row {
        criteria: "- [ ] The test `adds` passes",
        command: "npm test",
        ..unittest("code that prints, and a helper without tests", &main, &branch)
    }
    .is_approved();
}

#[test]
fn a_go_run_ended_by_the_code_under_test_is_refused() {
    if !has("go", &["version"]) {
        return;
    }
    let calc = |imports: &str, sub: &str| {
        format!(
            "// Package calc counts.\npackage calc\n\n{imports}// Sub subtracts.\nfunc Sub(a, b int) int {{ {sub} }}\n"
        )
    };
    let tests = "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {}\n\nfunc TestSub(t *testing.T) {\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal(\"wrong\")\n\t}\n}\n";
    let good = calc("", "return a - b");
    let main = [
        ("go.mod", "module example.com/calc\n\ngo 1.19\n"),
        ("calc.go", good.as_str()),
        ("calc_test.go", tests),
    ];
    let exits = calc("import \"syscall\"\n\n", "syscall.Exit(0); return a + b");
    let branch = [("calc.go", Some(exits.as_str()))];
    let criteria = "- [ ] The test `TestAdd` passes";
    Row { criteria, command: "go test ./...", ..unittest("a run that ends", &main, &branch) }
        .is_refused("Test fails: example.com/calc > TestSub", "started and did not finish");
}

#[test]
fn cargo_runs_ended_by_the_code_under_test_are_refused() {
    let lib = |sub: &str| {
        format!(
            "/// Subtracts.\npub fn sub(a: i32, b: i32) -> i32 {{\n    {sub}\n}}\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn adds() {{}}\n\n    #[test]\n    fn subtracts() {{\n        assert_eq!(super::sub(3, 2), 1);\n    }}\n}}\n"
        )
    };
    let good = lib("a - b");
    let main = [
        ("Cargo.toml", "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        (
            "Cargo.lock",
            "# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 4\n\n[[package]]\nname = \"calc\"\nversion = \"0.1.0\"\n",
        ),
        (".gitignore", "target/\n"),
        ("src/lib.rs", good.as_str()),
    ];
    let criteria = "- [ ] The function `sub` exists in `src/lib.rs`";
    let exits = "std::process::exit(a - a * b / b)";
    let printed = "use std::io::Write;\n    let total = \"\\ntest result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\\n\";\n    std::io::stdout().write_all(total.as_bytes()).ok();\n    std::process::exit(a - a * b / b)";
    for (name, sub, title, reason) in [
        ("a run that ends", exits, "Fails: unit: cargo test", "the test results are truncated"),
        (
            "a total that is printed", printed, "Not run: unit: cargo test",
            "the test results are invalid",
        ),
    ] {
        let lib = lib(sub);
        let branch = [("src/lib.rs", Some(lib.as_str()))];
        Row { criteria, command: "cargo test", ..unittest(name, &main, &branch) }
            .is_refused(title, reason);
    }
}

#[test]
fn honest_skips_modules_and_prints_are_approved() {
    if !has("python3", &["--version"]) {
        return;
    }
    let good = code("", "return a - b");
    let code = ("calc.py", Some(good.as_str()));
    let skipping = format!(
        "{UNITTEST}\n    def test_later(self):\n        self.skipTest('later')\n\n    @unittest.skip('never')\n    def test_never(self):\n        self.fail()\n"
    );
    let noisy = good
        .replace("    return a + b", "    print('test_x (a.B.test_x) ... ok')\n    return a + b");
    let renamed = UNITTEST.replace("from calc", "from sums");
    let rows: &[(&str, &[Edit<'_>])] = &[
        ("tests that skip themselves", &[code, ("test_calc.py", Some(&skipping))]),
        ("code that prints", &[("calc.py", Some(&noisy))]),
        ("a module of another name", &[code, ("shop/logging.py", Some("NAME = 'shop'\n"))]),
    ];
    for (name, branch) in rows {
        unittest(name, OF_UNITTEST, branch).is_approved();
    }
    let branch = [
        ("calc.py", None),
        ("sums.py", Some(good.as_str())),
        ("test_calc.py", Some(renamed.as_str())),
    ];
    let criteria = "- [ ] The function `mul` exists in `sums.py`\n- [ ] The test `test_add` passes";
    Row { criteria, ..unittest("a renamed module", OF_UNITTEST, &branch) }.is_approved();
    // A project may change its own module that has the name of a standard one.
    let main = [OF_UNITTEST, &[("queue.py", "LIMIT = 1\n")]].concat();
    let branch = [code, ("queue.py", Some("LIMIT = 2\n"))];
    unittest("a module that was there", &main, &branch).is_approved();
}

#[test]
fn honest_changes_of_cases_of_pytest_are_approved() {
    if !has_pytest() {
        return;
    }
    let cases = |values: &str| {
        format!(
            "import pytest\n\nfrom calc import sub\n\n\n@pytest.mark.parametrize('text, wanted', {values})\ndef test_sub(text, wanted):\n    assert sub(*map(int, text.split('::'))) == wanted\n"
        )
    };
    let (before, after) =
        (cases("[('3::2', 1), ('5::1', 4)]"), cases("[('3::2', 1), ('6::1', 5), ('7::1', 6)]"));
    let helper = "import pytest\n\n\ndef skip_now():\n    pytest.skip('not here')\n";
    let uses = "from tests.helper import skip_now\n\n\ndef test_later():\n    skip_now()\n";
    let main = [
        ("calc.py", CALC),
        ("tests/__init__.py", ""),
        ("tests/test_calc.py", before.as_str()),
        ("tests/helper.py", helper),
        IGNORED,
    ];
    let good = code("", "return a - b");
    let branch = [
        ("calc.py", Some(good.as_str())),
        ("tests/test_calc.py", Some(after.as_str())),
        ("tests/test_later.py", Some(uses)),
    ];
    Row { command: "python3 -m pytest", ..unittest("cases with other values", &main, &branch) }
        .is_approved();
}
