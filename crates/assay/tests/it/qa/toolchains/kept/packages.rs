//! Python: packages of tests, modules next to tests, and metadata of packages and environments.

use super::{Edit, Row, has};

const GOOD: &str = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n";

const BROKEN: &str = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a + b\n";

const ADD: &str = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n";

const SUB: &str = "from calc import sub\n\n\ndef test_sub():\n    assert sub(3, 2) == 1\n";

const IGNORE: (&str, &str) = (".gitignore", ".pytest_cache/\n__pycache__/\n");

const MAIN: &[(&str, &str)] =
    &[("calc.py", GOOD), ("test_add.py", ADD), ("unit/test_sub.py", SUB), IGNORE];

/// A plan whose risk requires only the named tests.
const LOW_RISK: &str = r#"{"feature": "Work", "verification_strategy": {"risk_level": "low"}, "phases": [{"name": "one", "subtasks": [{"id": "1.1", "status": "completed"}]}]}"#;

const FAILS: &str = "the version of main fails";

const GONE: &str = "is missing; the version of main fails";

fn row<'a>(name: &'a str, branch: &'a [Edit<'a>]) -> Row<'a> {
    let (criteria, command) = ("- [ ] All tests pass", "python3 -m pytest");
    Row { name, main: MAIN, branch, fixer: &[], criteria, command }
}

fn has_pytest() -> bool {
    has("python3", &["-m", "pytest", "--version"])
}

#[test]
fn files_that_mark_a_test_folder_as_a_virtual_environment_are_refused() {
    if !has_pytest() {
        return;
    }
    for path in ["unit/pyvenv.cfg", "unit/conda-meta/history"] {
        row(path, &[("calc.py", Some(BROKEN)), (path, Some("home = /usr/bin\n"))])
            .is_refused("Weakened test: unit.test_sub > test_sub", GONE);
    }
    let more = format!("{GOOD}\n\ndef mul(a, b):\n    return a * b\n");
    row(
        "a file of another name",
        &[("calc.py", Some(&more)), ("unit/settings.cfg", Some("home = /usr/bin\n"))],
    )
    .is_approved();
}

#[test]
fn tracked_metadata_that_adds_a_plugin_is_refused() {
    if !has_pytest() {
        return;
    }
    let plugin = "def pytest_pyfunc_call(pyfuncitem):\n    return True\n";
    let metadata = "Metadata-Version: 2.1\nName: more\nVersion: 1.0\n";
    for (name, about, points) in [
        ("a wheel", "more-1.0.dist-info/METADATA", "more-1.0.dist-info/entry_points.txt"),
        ("an egg", "more.egg-info/PKG-INFO", "more.egg-info/entry_points.txt"),
    ] {
        let branch = [
            ("calc.py", Some(BROKEN)),
            ("more.py", Some(plugin)),
            (about, Some(metadata)),
            (points, Some("[pytest11]\nmore = more\n")),
        ];
        let row = Row { criteria: "- [ ] `test_sub` passes", ..row(name, &branch) };
        let fixture = row.fixture();
        // Otherwise `pytest` runs as well, which does not search the tree for packages.
        fixture.repository.write("specs/001-work/implementation_plan.json", LOW_RISK);
        fixture.repository.commit("risk");
        row.is_refused_in(&fixture, "Weakened test: unit.test_sub > test_sub", FAILS);
    }
    let more = format!("{GOOD}\n\ndef main():\n    print(add(1, 2))\n");
    let branch = [
        ("calc.py", Some(more.as_str())),
        ("calc.egg-info/PKG-INFO", Some("Metadata-Version: 2.1\nName: calc\nVersion: 1.0\n")),
        ("calc.egg-info/entry_points.txt", Some("[console_scripts]\ncalc = calc:main\n")),
    ];
    row("a command of the package", &branch).is_approved();
}

#[test]
fn a_module_next_to_tests_that_shadows_the_module_under_test_is_refused() {
    if !has_pytest() {
        return;
    }
    let main = [
        ("calc.py", GOOD),
        ("unit/test_add.py", ADD),
        ("unit/test_sub.py", SUB),
        ("pytest.ini", "[pytest]\npythonpath = .\n"),
        IGNORE,
    ];
    let branch = [("calc.py", Some(BROKEN)), ("unit/calc.py", Some(GOOD))];
    Row { main: &main, ..row("a module beside tests", &branch) }
        .is_refused("Weakened test: unit.test_sub > test_sub", FAILS);
    let more = format!("{GOOD}\n\ndef mul(a, b):\n    return a * b\n");
    let branch = [("calc.py", Some(more.as_str())), ("unit/numbers_used.py", Some("ONE = 1\n"))];
    Row { main: &main, ..row("a module of its own beside tests", &branch) }.is_approved();
}

/// Returns a test module for `unittest`.
fn unittest(function: &str, call: &str) -> String {
    format!(
        "import unittest\n\nfrom calc import {function}\n\n\nclass T(unittest.TestCase):\n    def test_{function}(self):\n        self.assertEqual({call})\n"
    )
}

#[test]
fn a_test_package_that_no_longer_loads_its_tests_is_refused() {
    let (add, sub) = (unittest("add", "add(1, 2), 3"), unittest("sub", "sub(3, 2), 1"));
    let main = [
        ("calc.py", GOOD),
        ("test_add.py", add.as_str()),
        ("unit/__init__.py", "# Tests.\n"),
        ("unit/test_sub.py", &sub),
        IGNORE,
    ];
    let loads = "import unittest\n\n\ndef load_tests(loader, tests, pattern):\n    return unittest.TestSuite()\n";
    let command = "python3 -m unittest";
    for (name, init) in
        [("a package without its file", None), ("a package that loads nothing", Some(loads))]
    {
        let branch = [("calc.py", Some(BROKEN)), ("unit/__init__.py", init)];
        Row { main: &main, command, ..row(name, &branch) }
            .is_refused("Weakened test: test_sub (unit.test_sub.T.test_sub)", FAILS);
    }
    let more = format!("{GOOD}\n\ndef mul(a, b):\n    return a * b\n");
    let mul = unittest("mul", "mul(2, 3), 6");
    let branch = [
        ("calc.py", Some(more.as_str())),
        ("more/__init__.py", Some("")),
        ("more/test_mul.py", Some(mul.as_str())),
    ];
    Row { main: &main, command, ..row("a package more", &branch) }.is_approved();
}

#[test]
fn values_and_helpers_of_tests_that_change_with_a_renamed_module_are_refused() {
    if !has_pytest() {
        return;
    }
    let cases = "from calc import sub\n\nCASES = [(3, 2, 1)]\n\n\ndef test_sub():\n    for a, b, c in CASES:\n        assert sub(a, b) == c\n";
    let helper = "from calc import sub\n\n\ndef same(a, b):\n    assert a == b\n\n\ndef test_sub():\n    same(sub(3, 2), 1)\n";
    for (name, tests, from, to) in [
        ("values of tests", cases, "3, 2, 1", "3, 2, 5"),
        ("a helper of tests", helper, "assert a == b", "assert a is not b"),
    ] {
        let main = [("calc.py", GOOD), ("test_calc.py", tests), IGNORE];
        let moved = tests.replace("from calc ", "from sums ");
        let weak = moved.replace(from, to);
        let branch =
            [("calc.py", None), ("sums.py", Some(BROKEN)), ("test_calc.py", Some(weak.as_str()))];
        let title = "Weakened test: test_calc";
        Row { main: &main, ..row(name, &branch) }.is_refused(title, "of main cannot be loaded");
        let branch =
            [("calc.py", None), ("sums.py", Some(GOOD)), ("test_calc.py", Some(moved.as_str()))];
        Row { main: &main, ..row(name, &branch) }.is_approved();
    }
}
