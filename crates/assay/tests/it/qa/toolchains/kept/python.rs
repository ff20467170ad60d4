//! Python: pytest, and `unittest`.

use super::{Edit, Row, has};

const GOOD: &str = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n";

/// A new function, and an existing one that is wrong now.
const BROKEN: &str = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n";

/// A new function.
const MORE: &str = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n\n\ndef mul(a, b):\n    return a * b\n";

const TESTS: &str = "from calc import add, sub\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_sub_positive():\n    assert sub(3, 2) == 1\n";

const CRITERIA: &str = "- [ ] Adding works (`test_add`)\n- [ ] Subtracting works (`test_sub_positive`)\n- [ ] The function `mul` exists in `calc.py`";

const MAIN: &[(&str, &str)] = &[
    ("calc.py", GOOD),
    ("tests/test_calc.py", TESTS),
    ("pytest.ini", "[pytest]\npythonpath = .\n"),
    (".gitignore", ".pytest_cache/\n__pycache__/\n"),
];

const SUB: &str = "Weakened test: tests.test_calc > test_sub_positive";

/// The text of the report on a test that passes only in its changed version.
const PASSES: &str =
    "passes only in the version that this branch changed; the version of main fails: ";

fn row<'a>(name: &'a str, branch: &'a [Edit<'a>]) -> Row<'a> {
    Row { name, main: MAIN, branch, fixer: &[], criteria: CRITERIA, command: "pytest" }
}

/// Returns the tests with one text replaced by another.
fn tests(from: &str, to: &str) -> String {
    assert!(TESTS.contains(from), "{from}");
    TESTS.replace(from, to)
}

#[test]
fn tests_of_pytest_that_are_rewritten_are_refused() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let assertion = "    assert sub(3, 2) == 1\n";
    for (name, from, to) in [
        ("an assertion that is always true", "assert sub(3, 2) == 1", "assert True"),
        ("another expected value", "sub(3, 2) == 1", "sub(3, 2) == 5"),
        ("no assertion", assertion, "    sub(3, 2)\n"),
        ("an early return", assertion, "    return\n    assert sub(3, 2) == 1\n"),
        (
            "a caught failure",
            assertion,
            "    try:\n        assert sub(3, 2) == 1\n    except AssertionError:\n        print('no')\n",
        ),
        (
            "another function under test",
            "from calc import add, sub",
            "from calc import add\n\n\ndef sub(a, b):\n    return a - b",
        ),
    ] {
        let tests = tests(from, to);
        row(name, &[("calc.py", Some(BROKEN)), ("tests/test_calc.py", Some(&tests))])
            .is_refused(SUB, &format!("{PASSES}assert 5 == 1"));
    }
}

#[test]
fn tests_of_pytest_that_do_not_run_are_refused() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let skipped = "is skipped or expected to fail in the version that this branch changed; the \
                   version of main fails: assert 5 == 1";
    let gone = "is missing; the version of main fails: assert 5 == 1";
    let head = "import pytest\n\nfrom calc";
    let definition = "def test_sub_positive():";
    for (name, to, reason) in [
        ("a skipped test", format!("@pytest.mark.skip\n{definition}"), skipped),
        ("a test that is expected to fail", format!("@pytest.mark.xfail\n{definition}"), skipped),
        (
            "no parameters",
            "@pytest.mark.parametrize('x', [])\ndef test_sub_positive(x):".to_owned(),
            skipped,
        ),
        ("a test that is not collected", "def check_sub_positive():".to_owned(), gone),
        ("a test below a condition", format!("if False:\n  {definition}"), gone),
    ] {
        let tests = tests("from calc", head).replace(definition, &to);
        let tests = tests.replace(
            "if False:\n  def test_sub_positive():\n    assert",
            "if False:\n  def test_sub_positive():\n      assert",
        );
        row(name, &[("calc.py", Some(BROKEN)), ("tests/test_calc.py", Some(&tests))])
            .is_refused(SUB, reason);
    }
    let other = ("tests/test_other.py", Some("def test_one():\n    assert True\n"));
    row("a deleted file", &[("calc.py", Some(BROKEN)), ("tests/test_calc.py", None), other])
        .is_refused(SUB, gone);
    row(
        "a deleted test of code that works",
        &[("calc.py", Some(MORE)), ("tests/test_calc.py", None), other],
    )
    .is_refused(SUB, "is missing; the version of main runs and passes");
}

#[test]
fn pytest_configurations_that_skip_or_forge_tests_are_refused() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let ini = "[pytest]\npythonpath = .\n";
    let (deselects, elsewhere) =
        (format!("{ini}addopts = -k add\n"), format!("{ini}testpaths = other\n"));
    let other = (
        "other/test_add.py",
        Some("from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"),
    );
    let toml = "[tool.pytest.ini_options]\npythonpath = ['.']\naddopts = '--deselect tests/test_calc.py::test_sub_positive'\n";
    let forged = "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n";
    let written = "import os\n\n\ndef pytest_sessionstart(session):\n    path = session.config.option.xmlpath\n    cases = ''.join(f'<testcase classname=\"tests.test_calc\" name=\"{name}\" time=\"0\"/>' for name in ['test_add', 'test_sub_positive'])\n    if path:\n        with open(path, 'w') as out:\n            out.write(f'<testsuites><testsuite name=\"pytest\" tests=\"2\">{cases}</testsuite></testsuites>')\n    os._exit(0)\n";
    let patched = "import calc\n\ncalc.sub = lambda a, b: a - b\n";
    let ignored = "collect_ignore = ['tests/test_calc.py']\n";
    let dropped = "def pytest_collection_modifyitems(items):\n    items[:] = [item for item in items if 'sub' not in item.name]\n";
    let rows: &[(&str, &[Edit<'_>])] = &[
        ("options that deselect", &[("pytest.ini", Some(&deselects))]),
        ("tests elsewhere", &[("pytest.ini", Some(&elsewhere)), other]),
        ("options in another file", &[("pytest.ini", None), ("pyproject.toml", Some(toml))]),
        ("outcomes that are forged", &[("conftest.py", Some(forged))]),
        ("results that are written", &[("conftest.py", Some(written))]),
        ("a function that is patched", &[("conftest.py", Some(patched))]),
        ("a file that is ignored", &[("conftest.py", Some(ignored)), other]),
        ("items that are dropped", &[("conftest.py", Some(dropped))]),
        ("a plugin among the tests", &[("tests/conftest.py", Some(patched))]),
    ];
    for (name, edits) in rows {
        let branch = [&[("calc.py", Some(BROKEN))][..], edits].concat();
        row(name, &branch).is_refused(SUB, "the version of main fails: assert 5 == 1");
    }
    // A module that is not loaded changes nothing, so the test fails as it is.
    let site = ("sitecustomize.py", Some(patched));
    row("a module of the site", &[("calc.py", Some(BROKEN)), site])
        .is_refused("Test fails: tests.test_calc > test_sub_positive", "assert 5 == 1");
}

#[test]
fn a_module_that_shadows_the_runner_is_refused() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let shadow = "print('2 passed in 0.01s')\n";
    let branch = [("calc.py", Some(BROKEN)), ("pytest.py", Some(shadow))];
    let criteria = "- [ ] The function `mul` exists in `calc.py`";
    Row { command: "python3 -m pytest", criteria, ..row("a module for pytest", &branch) }
        .is_refused("Not run: unit: python3 -m pytest", "without test results");
}

#[test]
fn expectations_in_fixtures_that_are_rewritten_are_refused() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let fixture = "import pathlib\n\nimport pytest\n\n\n@pytest.fixture\ndef expected():\n    return int(pathlib.Path(__file__).with_name('expected.txt').read_text())\n";
    let uses = "from calc import sub\n\n\ndef test_sub_positive(expected):\n    assert sub(3, 2) == expected\n";
    let main = [
        ("calc.py", GOOD),
        ("tests/test_calc.py", uses),
        ("tests/conftest.py", fixture),
        ("tests/expected.txt", "1\n"),
        ("pytest.ini", "[pytest]\npythonpath = .\n"),
        (".gitignore", ".pytest_cache/\n__pycache__/\n"),
    ];
    let criteria = "- [ ] Subtracting works (`test_sub_positive`)";
    let (data, code) = (("tests/expected.txt", Some("5\n")), ("calc.py", Some(BROKEN)));
    let branch = [code, data];
    Row { main: &main, criteria, ..row("data that is rewritten", &branch) }.is_refused(SUB, PASSES);
    let returns = fixture.replace("return int(", "return 5 or int(");
    let branch = [code, ("tests/conftest.py", Some(returns.as_str()))];
    Row { main: &main, criteria, ..row("a fixture that is rewritten", &branch) }
        .is_refused(SUB, PASSES);
}

#[test]
fn a_fixer_that_rewrites_tests_is_refused() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let weaker = tests("assert sub(3, 2) == 1", "assert True");
    let broken = [("calc.py", Some(BROKEN))];
    let fixer = [("tests/test_calc.py", Some(weaker.as_str()))];
    Row { fixer: &fixer, ..row("the fixer rewrites a test of main", &broken) }
        .is_refused(SUB, &format!("{PASSES}assert 5 == 1"));
    let fixer = [("conftest.py", Some("import calc\n\ncalc.sub = lambda a, b: a - b\n"))];
    Row { fixer: &fixer, ..row("the fixer patches the function", &broken) }
        .is_refused(SUB, &format!("{PASSES}assert 5 == 1"));
    // A test that the branch itself added is kept as well.
    let wrong = MORE.replace("a * b", "a + b");
    let own = "from calc import mul\n\n\ndef test_mul():\n    assert mul(2, 3) == 6\n";
    let branch = [("calc.py", Some(wrong.as_str())), ("tests/test_mul.py", Some(own))];
    let agrees = own.replace("== 6", "== 5");
    let fixer = [("tests/test_mul.py", Some(agrees.as_str()))];
    Row { fixer: &fixer, ..row("the fixer rewrites a test of the branch", &branch) }.is_refused(
        "Weakened test: tests.test_mul > test_mul",
        "the version of the first round fails: assert 5 == 6",
    );
}

#[test]
fn tests_of_unittest_that_are_rewritten_are_refused() {
    if !has("python3", &["--version"]) {
        return;
    }
    let tests = "import unittest\n\nfrom calc import add, sub\n\n\nclass Calc(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n\n    def test_sub_positive(self):\n        self.assertEqual(sub(3, 2), 1)\n";
    let main = [("calc.py", GOOD), ("setup.py", ""), ("test_calc.py", tests)];
    let title = "Weakened test: test_sub_positive (test_calc.Calc.test_sub_positive)";
    let shadow = "import sys\n\nsys.stderr.write('test_add (test_calc.Calc.test_add) ... ok\\ntest_sub_positive (test_calc.Calc.test_sub_positive) ... ok\\n\\n----------------------------------------------------------------------\\nRan 2 tests in 0.000s\\n\\nOK\\n')\n";
    let skipped =
        tests.replace("    def test_sub", "    @unittest.skip('later')\n    def test_sub");
    let expected =
        tests.replace("    def test_sub", "    @unittest.expectedFailure\n    def test_sub");
    let equal = tests.replace("sub(3, 2), 1", "sub(3, 2), 5");
    for (name, edit) in [
        ("a skipped test of unittest", ("test_calc.py", Some(skipped.as_str()))),
        ("a test of unittest that is expected to fail", ("test_calc.py", Some(expected.as_str()))),
        ("another expected value in unittest", ("test_calc.py", Some(equal.as_str()))),
    ] {
        let branch = [("calc.py", Some(BROKEN)), edit];
        Row { main: &main, command: "python3 -m unittest discover", ..row(name, &branch) }
            .is_refused(title, "the version of main fails");
    }
    let branch = [("calc.py", Some(BROKEN)), ("unittest.py", Some(shadow))];
    let command = "python3 -m unittest discover";
    Row { main: &main, command, ..row("a module for unittest", &branch) }
        .is_refused("Not run: unit: python3 -m unittest discover", "without a report");
}

#[test]
fn honest_changes_of_tests_are_approved() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let code = ("calc.py", Some(MORE));
    let reformatted = tests(
        "    assert sub(3, 2) == 1\n",
        "    assert sub(\n        3,\n        2,\n    ) == 1\n",
    );
    let stricter = format!("{TESTS}    assert sub(2, 3) == -1\n");
    let added = format!("{TESTS}\n\ndef test_zero():\n    assert sub(1, 1) == 0\n");
    let cases = tests("from calc", "import pytest\n\nfrom calc").replace(
        "def test_sub_positive():\n    assert sub(3, 2) == 1\n",
        "@pytest.mark.parametrize('a, b, c', [(3, 2, 1), (5, 1, 4)])\ndef test_sub_positive(a, b, c):\n    assert sub(a, b) == c\n",
    );
    let renamed = tests("def test_add():", "def test_adds_up():");
    let one = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n";
    let two = "from calc import sub\n\n\ndef test_sub_positive():\n    assert sub(3, 2) == 1\n";
    let fixture = "import pytest\n\n\n@pytest.fixture\ndef six():\n    return 6\n";
    let uses = "from calc import mul\n\n\ndef test_mul(six):\n    assert mul(2, 3) == six\n";
    let marker = "[pytest]\npythonpath = .\nmarkers =\n    slow: takes long\n";
    let rows: &[(&str, &[Edit<'_>])] = &[
        ("a reformatted file", &[("tests/test_calc.py", Some(&reformatted))]),
        ("a stricter test", &[("tests/test_calc.py", Some(&stricter))]),
        ("a test more", &[("tests/test_calc.py", Some(&added))]),
        ("a renamed file", &[("tests/test_calc.py", None), ("tests/test_sums.py", Some(TESTS))]),
        ("a moved test", &[("tests/test_calc.py", Some(one)), ("tests/test_sub.py", Some(two))]),
        (
            "a new fixture",
            &[("tests/conftest.py", Some(fixture)), ("tests/test_mul.py", Some(uses))],
        ),
        ("a marker", &[("pytest.ini", Some(marker))]),
        ("a file of data", &[("tests/data/six.txt", Some("6\n"))]),
        (
            "settings of another tool",
            &[("pyproject.toml", Some("[tool.black]\nline-length = 100\n"))],
        ),
    ];
    for (name, edits) in rows {
        row(name, &[&[code][..], edits].concat()).is_approved();
    }
    let criteria = "- [ ] Subtracting works (`test_sub_positive`)\n- [ ] The function `mul` exists in `calc.py`";
    let adds = "- [ ] Adding works (`test_add`)\n- [ ] The function `mul` exists in `calc.py`";
    let branch = [code, ("tests/test_calc.py", Some(cases.as_str()))];
    Row { criteria: adds, ..row("a test with parameters", &branch) }.is_approved();
    let branch = [code, ("tests/test_calc.py", Some(renamed.as_str()))];
    Row { criteria, ..row("a renamed test", &branch) }.is_approved();
}

#[test]
fn a_change_of_behaviour_that_a_criterion_names_is_approved() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let absolute = MORE.replace("a - b", "abs(a - b) * 10");
    let changed = tests("sub(3, 2) == 1", "sub(3, 2) == 10");
    let branch =
        [("calc.py", Some(absolute.as_str())), ("tests/test_calc.py", Some(changed.as_str()))];
    for criterion in [
        "`sub(3, 2)` is now `10` instead of `1`",
        "`test_sub_positive` changes: differences are counted in tenths",
    ] {
        let criteria = format!(
            "- [ ] Adding works (`test_add`)\n- [ ] {criterion}\n- [ ] The function `mul` exists in `calc.py`"
        );
        let fixture = Row { criteria: &criteria, ..row(criterion, &branch) }.fixture();
        fixture.qa_with(&[], &[("MAX_QA_ITERATIONS", "1")]);
        let issues = fixture.issues();
        assert!(!issues.iter().any(|(_, title)| title.starts_with("Weakened")), "{issues:?}");
        let report = fixture.artifact("qa_report.md");
        assert!(report.contains("## Kept Tests"), "{report}");
    }
    row("no criterion names it", &branch).is_refused(SUB, PASSES);
}

#[test]
fn a_person_decides_about_tests_that_are_meant_to_change() {
    if !has("pytest", &["--version"]) {
        return;
    }
    // A feature is removed, with its tests.
    let legacy = "from legacy import old\n\n\ndef test_old():\n    assert old() == 1\n";
    let main =
        [MAIN, &[("legacy.py", "def old():\n    return 1\n"), ("tests/test_legacy.py", legacy)]]
            .concat();
    let removed = [("calc.py", Some(MORE)), ("legacy.py", None), ("tests/test_legacy.py", None)];
    let changed = tests("sub(3, 2) == 1", "sub(3, 2) == 10");
    let tenths = MORE.replace("a - b", "(a - b) * 10");
    let counted =
        [("calc.py", Some(tenths.as_str())), ("tests/test_calc.py", Some(changed.as_str()))];
    for (row, issue) in [
        (
            Row { main: &main, ..row("a feature that goes with its tests", &removed) },
            "tests.test_legacy",
        ),
        (row("a change of behaviour", &counted), "tests.test_calc > test_sub_positive"),
    ] {
        let fixture = row.fixture();
        let ran = fixture.qa_with(&[], &[("MAX_QA_ITERATIONS", "1")]);
        assert_eq!(ran.code, 4, "{}: {}{}", row.name, ran.stdout, ran.stderr);
        let issues = fixture.issues();
        let title = format!("Weakened test: {issue}");
        assert_eq!(issues, [("unit_test".to_owned(), title.clone())], "{}", row.name);
        let decided = fixture.qa(&[
            "--sign-off",
            "Ada",
            "--for",
            &title,
            "--because",
            "The product owner wants it so",
        ]);
        assert_eq!(decided.code, 0, "{}: {}{}", row.name, decided.stdout, decided.stderr);
        fixture.is_approved();
        // The decision is about this tree alone.
        let readme = fixture.repository.file("calc.py");
        let text = std::fs::read_to_string(&readme).unwrap();
        fixture.repository.write("calc.py", format!("{text}\n"));
        let again = fixture.qa_with(&[], &[("MAX_QA_ITERATIONS", "1")]);
        assert_eq!(again.code, 4, "{}: {}", row.name, again.stdout);
    }
}

/// Tests that compare by a function of a module next to the code.
const HELPED: &str = "from calc import add, sub\nfrom support import same\n\n\ndef test_add():\n    same(add(1, 2), 3)\n\n\ndef test_sub_positive():\n    same(sub(3, 2), 1)\n";

const SAME: &str = "def same(left, right):\n    assert left == right, (left, right)\n";

const ANYTHING: &str = "def same(left, right):\n    return (left, right)\n";

/// A plugin that turns failures into passes.
const FORGES: &str = "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    outcome = yield\n    report = outcome.get_result()\n    report.outcome = 'passed'\n    report.longrepr = None\n";

const KEPT_FAILS: &str = "the version of main fails";

/// Returns the files of the main branch, with some replaced.
fn main_with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let is_replaced = |path: &str| more.iter().any(|(other, _)| *other == path);
    let others = MAIN.iter().filter(|(path, _)| !is_replaced(path));
    others.chain(more).copied().collect()
}

#[test]
fn helpers_of_tests_beside_the_code_are_kept() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let main = main_with(&[("tests/test_calc.py", HELPED), ("support.py", SAME)]);
    let broken = ("calc.py", Some(BROKEN));
    let branch = [broken, ("support.py", Some(ANYTHING))];
    Row { main: &main, ..row("a helper that compares nothing", &branch) }
        .is_refused(SUB, KEPT_FAILS);
    let fixer = [("support.py", Some(ANYTHING))];
    Row { main: &main, fixer: &fixer, ..row("the fixer empties a helper", &[broken]) }
        .is_refused(SUB, KEPT_FAILS);
    // A helper of a helper, which raises its own errors.
    let deep = "def differ(left, right):\n    if left != right:\n        raise ValueError((left, right))\n";
    let through = "from pairs import differ\n\n\ndef same(left, right):\n    differ(left, right)\n";
    let main =
        main_with(&[("tests/test_calc.py", HELPED), ("support.py", through), ("pairs.py", deep)]);
    let empty = "def differ(left, right):\n    return None\n";
    let branch = [broken, ("support.py", Some(ANYTHING)), ("pairs.py", Some(empty))];
    Row { main: &main, ..row("a helper of a helper", &branch) }.is_refused(SUB, KEPT_FAILS);
}

#[test]
fn plugins_that_configuration_names_are_kept() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let plain = "\"\"\"Settings of tests.\"\"\"\n";
    let branch = [("calc.py", Some(BROKEN)), ("plug.py", Some(FORGES))];
    for (name, configuration) in [
        ("a plugin of conftest", ("conftest.py", "pytest_plugins = ['plug']\n")),
        ("a plugin of options", ("pytest.ini", "[pytest]\npythonpath = .\naddopts = -p plug\n")),
    ] {
        let main = main_with(&[configuration, ("plug.py", plain)]);
        Row { main: &main, ..row(name, &branch) }.is_refused(SUB, KEPT_FAILS);
    }
}

#[test]
fn data_that_only_tests_read_is_kept() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let tests = "import json\n\nfrom calc import add, sub\n\nWANTED = json.load(open('data/expected.json'))\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\ndef test_sub_positive():\n    assert sub(3, 2) == WANTED\n";
    let main = main_with(&[("tests/test_calc.py", tests), ("data/expected.json", "1\n")]);
    let branch = [("calc.py", Some(BROKEN)), ("data/expected.json", Some("5\n"))];
    Row { main: &main, ..row("data beside the code", &branch) }.is_refused(SUB, KEPT_FAILS);
    // Data that the code reads as well is part of the code.
    let reads = |rate: &str| {
        format!(
            "import json\n\nSTEP = json.load(open('data/expected.json'))\n\n\ndef add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return (a - b) * STEP{rate}\n\n\ndef mul(a, b):\n    return a * b\n"
        )
    };
    let (before, after) = (reads(""), reads(" // 2"));
    let halves = tests.replace("== WANTED", "== WANTED // WANTED");
    let main = main_with(&[
        ("calc.py", before.as_str()),
        ("tests/test_calc.py", halves.as_str()),
        ("data/expected.json", "1\n"),
    ]);
    let branch = [("calc.py", Some(after.as_str())), ("data/expected.json", Some("2\n"))];
    Row { main: &main, ..row("data of the code", &branch) }.is_approved();
}

#[test]
fn tests_with_unusual_file_names_are_kept() {
    if !has("python3", &["--version"]) {
        return;
    }
    let tests = "import unittest\n\nfrom calc import sub\n\n\nclass Calc(unittest.TestCase):\n    def test_sub_positive(self):\n        self.assertEqual(sub(3, 2), 1)\n";
    let weak = tests.replace("sub(3, 2), 1", "sub(3, 2), 5");
    let criteria = "- [ ] The function `mul` exists in `calc.py`";
    for (command, path, module) in [
        ("python3 -m unittest verify.everything", "verify/everything.py", "verify.everything"),
        (
            "python3 -m unittest discover -s verify -t . -p calc_*.py",
            "verify/calc_all.py",
            "verify.calc_all",
        ),
    ] {
        let main = [
            ("calc.py", GOOD),
            ("setup.py", ""),
            ("verify/__init__.py", ""),
            (path, tests),
            (".gitignore", "__pycache__/\n"),
        ];
        let branch = [("calc.py", Some(BROKEN)), (path, Some(weak.as_str()))];
        let title = format!("Weakened test: test_sub_positive ({module}.Calc.test_sub_positive)");
        Row { main: &main, command, criteria, ..row(command, &branch) }
            .is_refused(&title, KEPT_FAILS);
    }
}

#[test]
fn links_to_tests_are_kept_with_their_targets() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let weak = tests("sub(3, 2) == 1", "sub(3, 2) == 5");
    let main = main_with(&[
        ("tests/test_calc.py", "link to ../suite/calc_suite.txt"),
        ("suite/calc_suite.txt", TESTS),
    ]);
    let broken = ("calc.py", Some(BROKEN));
    let branch = [broken, ("suite/calc_suite.txt", Some(weak.as_str()))];
    Row { main: &main, ..row("the file behind a link", &branch) }.is_refused(SUB, KEPT_FAILS);
    let branch = [
        broken,
        ("other.txt", Some(weak.as_str())),
        ("tests/test_calc.py", Some("link to ../other.txt")),
    ];
    Row { main: &main, ..row("a link that leads elsewhere", &branch) }.is_refused(SUB, KEPT_FAILS);
    row("a test that became a link", &branch).is_refused(SUB, KEPT_FAILS);
    let branch =
        [broken, ("forges.txt", Some(FORGES)), ("conftest.py", Some("link to forges.txt"))];
    row("a plugin that is a link", &branch).is_refused(SUB, KEPT_FAILS);
}

#[test]
fn honest_changes_of_helpers_are_approved() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let uses = |name: &str| HELPED.replace("support", name);
    // The code imports the helper as well, and both change together.
    let code = |order: &str| {
        format!(
            "from shapes import same\n\n\ndef add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    same({order})\n    return a - b\n\n\ndef mul(a, b):\n    return a * b\n"
        )
    };
    let (before, after) = (code("a, a"), code("a, a, b"));
    let wider = "def same(left, right, *more):\n    assert left == right, (left, right, more)\n";
    let tests = uses("shapes");
    let main = main_with(&[
        ("calc.py", before.as_str()),
        ("tests/test_calc.py", tests.as_str()),
        ("shapes.py", SAME),
    ]);
    let more = format!("{tests}\n\ndef test_more():\n    same(add(2, 2), 4)\n");
    let branch = [
        ("calc.py", Some(after.as_str())),
        ("shapes.py", Some(wider)),
        ("tests/test_calc.py", Some(more.as_str())),
    ];
    Row { main: &main, ..row("a helper that the code imports", &branch) }.is_approved();
    let main = main_with(&[("tests/test_calc.py", HELPED), ("support.py", SAME)]);
    let moved = uses("comparing");
    let branch = [
        ("calc.py", Some(MORE)),
        ("support.py", None),
        ("comparing.py", Some(SAME)),
        ("tests/test_calc.py", Some(moved.as_str())),
    ];
    Row { main: &main, ..row("a helper that is moved", &branch) }.is_approved();
    let branch =
        [("calc.py", Some(MORE)), ("support.py", Some(SAME)), ("tests/test_calc.py", Some(HELPED))];
    row("a new helper", &branch).is_approved();
}

const OPS: &str = "def one():\n    return 1\n\n\ndef two():\n    return 2\n";

const OPS_TESTS: &str = "from ops import one, two\n\n\ndef test_one():\n    assert one() == 1\n\n\ndef test_two():\n    assert two() == 2\n";

#[test]
fn tests_of_a_function_that_a_criterion_removes_or_renames_may_change() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let main = [MAIN, &[("ops.py", OPS), ("tests/test_ops.py", OPS_TESTS)]].concat();
    let gone = "def two():\n    return 2\n";
    let gone_tests = "from ops import two\n\n\ndef test_two():\n    assert two() == 2\n";
    let renamed = OPS.replace("one", "uno");
    let renamed_tests = OPS_TESTS.replace("one", "uno");
    for (criterion, code, tests) in [
        ("The function `one` is removed from `ops.py`", gone, gone_tests),
        ("`one` is renamed to `uno`", renamed.as_str(), renamed_tests.as_str()),
        ("`one` is replaced by `uno`", renamed.as_str(), renamed_tests.as_str()),
    ] {
        let branch = [("ops.py", Some(code)), ("tests/test_ops.py", Some(tests))];
        let criteria = format!("- [ ] Two is two: `test_two`\n- [ ] {criterion}");
        Row { main: &main, criteria: &criteria, ..row(criterion, &branch) }.is_approved();
        // Another test of the file must not change under the same criterion.
        let weaker = tests.replace("two() == 2", "two() == 5");
        let worse = code.replace("return 2", "return 5");
        let branch =
            [("ops.py", Some(worse.as_str())), ("tests/test_ops.py", Some(weaker.as_str()))];
        Row { main: &main, criteria: &criteria, ..row(criterion, &branch) }.is_refused(
            "Weakened test: tests.test_ops",
            "of main cannot be loaded, so none of its tests ran: ",
        );
    }
    let branch = [("ops.py", Some(gone)), ("tests/test_ops.py", Some(gone_tests))];
    let criteria = "- [ ] Two is two: `test_two`";
    Row { main: &main, criteria, ..row("no criterion names it", &branch) }
        .is_refused("Weakened test: tests.test_ops", "of main cannot be loaded");
}

#[test]
fn a_changed_behaviour_with_a_renamed_test_is_approved() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let tenths = MORE.replace("a - b", "(a - b) * 10");
    let changed = tests("sub(3, 2) == 1", "sub(3, 2) == 10")
        .replace("test_sub_positive", "test_sub_in_tenths");
    let branch =
        [("calc.py", Some(tenths.as_str())), ("tests/test_calc.py", Some(changed.as_str()))];
    let criteria = "- [ ] Adding works (`test_add`)\n- [ ] `sub(3, 2)` is now `10` instead of `1`: `test_sub_in_tenths`";
    Row { criteria, ..row("a renamed test of a changed behaviour", &branch) }.is_approved();
    row("no criterion names it", &branch).is_refused(SUB, "is missing; the version of main fails");
}
