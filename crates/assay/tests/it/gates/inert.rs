//! Definitions that no run reaches and tests that cannot fail meet no criterion; correct ones that
//! look similar do.

use assay_testkit::Repository;

use super::gate;

const GO: &str = "package calc\n\nimport \"testing\"\n\n";

/// A file, its text, and the criterion that the file should meet.
type Row = (&'static str, &'static str, &'static str);

const FUNCTION: &str = "`calc.py` has a function `sub`";
const PY_TEST: &str = "`test_calc.py` has a test `test_sub`";
const JS_TEST: &str = "`calc.test.js` has a test `subtracts`";
const RS_TEST: &str = "`tests/calc.rs` has a test `test_sub`";

/// Files that do not meet their criterion.
const REFUSED: &[Row] = &[
    ("calc.py", "def sub(a, b):\n    return a - b\n\n\ndel sub\n", FUNCTION),
    ("calc.py", "def sub(a, b):\n    return a - b\n\n\ndel globals()[\"sub\"]\n", FUNCTION),
    ("calc.py", "def sub(a, b):\n    return a - b\n\n\nsub = None\n", FUNCTION),
    (
        "calc.py",
        "def add(a, b):\n    return a + b\n    def sub(a, b):\n        return a - b\n",
        FUNCTION,
    ),
    (
        "calc.py",
        "def add(a, b):\n    def sub(a, b):\n        return a - b\n    return a + b\n",
        FUNCTION,
    ),
    (
        "calc.py",
        "import sys\n\nif sys.platform == \"never\":\n    def sub(a, b):\n        return a - b\n",
        FUNCTION,
    ),
    ("calc.py", "import sys\n\nsys.exit(0)\n\n\ndef sub(a, b):\n    return a - b\n", FUNCTION),
    ("calc.py", "if 1 == 2:\n    def sub(a, b):\n        return a - b\n", FUNCTION),
    (
        "calc.py",
        "import os\n\nif os.environ.get(\"X\"):\n    def sub(a, b):\n        return a - b\n",
        FUNCTION,
    ),
    ("calc.py", "for x in []:\n    def sub(a, b):\n        return a - b\n", FUNCTION),
    (
        "calc.js",
        "exports.sub = (a, b) => a - b;\ndelete exports.sub;\n",
        "`calc.js` has a function `sub`",
    ),
    (
        "calc.js",
        "if (process.platform === 'never') {\n  exports.sub = (a, b) => a - b;\n}\n",
        "`calc.js` has a function `sub`",
    ),
    (
        "calc.rs",
        "#[cfg(target_os = \"never\")]\nfn sub(a: i32, b: i32) -> i32 {\n    a - b\n}\n",
        "`calc.rs` has a function `sub`",
    ),
    (
        "calc.rs",
        "#[cfg(not(all()))]\nmod m {\n    pub fn sub(a: i32, b: i32) -> i32 {\n        a - b\n    }\n}\n",
        "`calc.rs` has a function `sub`",
    ),
    ("calc.rb", "def sub(a, b)\n  a - b\nend\n\nundef sub\n", "`calc.rb` has a function `sub`"),
    ("test_calc.py", "def test_sub():\n    x = 1\n    assert x == x\n", PY_TEST),
    ("test_calc.py", "def test_sub():\n    return\n    assert sub(3, 2) == 1\n", PY_TEST),
    (
        "test_calc.py",
        "def test_sub():\n    try:\n        assert sub(3, 2) == 1\n    except Exception:\n        pass\n",
        PY_TEST,
    ),
    (
        "test_calc.py",
        "import pytest\n\n\n@pytest.mark.skip\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        PY_TEST,
    ),
    (
        "test_calc.py",
        "import pytest\n\n\n@pytest.mark.xfail\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        PY_TEST,
    ),
    ("test_calc.py", "__test__ = False\n\n\ndef test_sub():\n    assert sub(3, 2) == 1\n", PY_TEST),
    (
        "test_calc.py",
        "class Helper:\n    def test_sub(self):\n        assert sub(3, 2) == 1\n",
        PY_TEST,
    ),
    (
        "test_calc.py",
        "class TestSub:\n    def __init__(self):\n        self.x = 1\n\n    def test_sub(self):\n        assert sub(3, 2) == 1\n",
        PY_TEST,
    ),
    ("test_calc.py", "def test_sub():\n    assert sub(3, 2) == 1\n\n\ndel test_sub\n", PY_TEST),
    ("calc.test.js", "it.skip('subtracts', () => {\n  expect(sub(3, 2)).toBe(1);\n});\n", JS_TEST),
    ("calc.test.js", "xit('subtracts', () => {\n  expect(sub(3, 2)).toBe(1);\n});\n", JS_TEST),
    ("calc.test.js", "test.todo('subtracts');\n", JS_TEST),
    (
        "calc.test.js",
        "describe.skip('calc', () => {\n  it('subtracts', () => {\n    expect(sub(3, 2)).toBe(1);\n  });\n});\n",
        JS_TEST,
    ),
    ("calc.test.js", "it('subtracts', () => {\n  expect(true).toBe(true);\n});\n", JS_TEST),
    (
        "tests/calc.rs",
        "#[test]\n#[ignore]\nfn test_sub() {\n    assert_eq!(sub(3, 2), 1);\n}\n",
        RS_TEST,
    ),
    (
        "tests/calc.rs",
        "#[cfg(any())]\n#[test]\nfn test_sub() {\n    assert_eq!(sub(3, 2), 1);\n}\n",
        RS_TEST,
    ),
    ("tests/calc.rs", "fn test_sub() {\n    assert_eq!(sub(3, 2), 1);\n}\n", RS_TEST),
    (
        "calc_test.go",
        "func TestSub(t *testing.T) {\n\tt.Skip(\"later\")\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal(1)\n\t}\n}\n",
        "`calc_test.go` has a test `TestSub`",
    ),
];

/// Files that look similar and meet their criterion.
const MET: &[Row] = &[
    ("calc.py", "def sub(a, b):\n    tmp = a\n    del tmp\n    return a - b\n", FUNCTION),
    ("calc.py", "def sub(a, b):\n    return a - b\n\n\nsub = cached(sub)\n", FUNCTION),
    (
        "calc.py",
        "def make():\n    def sub(a, b):\n        return a - b\n    return sub\n",
        FUNCTION,
    ),
    (
        "calc.py",
        "def make(app):\n    @app.route(\"/\")\n    def sub(a, b):\n        return a - b\n",
        FUNCTION,
    ),
    (
        "calc.py",
        "import sys\n\nif sys.platform == \"win32\":\n    def sub(a, b):\n        return a - b\n",
        FUNCTION,
    ),
    (
        "calc.py",
        "if FAST:\n    def sub(a, b):\n        return a - b\nelse:\n    def sub(a, b):\n        return a + -b\n",
        FUNCTION,
    ),
    (
        "calc.js",
        "module.exports = { sub };\n\nfunction sub(a, b) {\n  return a - b;\n}\n",
        "`calc.js` has a function `sub`",
    ),
    (
        "calc.rs",
        "#[cfg(unix)]\nfn sub(a: i32, b: i32) -> i32 {\n    a - b\n}\n",
        "`calc.rs` has a function `sub`",
    ),
    ("test_calc.py", "def test_sub():\n    x = sub(3, 2)\n    assert x == 1\n", PY_TEST),
    (
        "test_calc.py",
        "def test_sub():\n    try:\n        assert sub(3, 2) == 1\n    finally:\n        close()\n",
        PY_TEST,
    ),
    (
        "test_calc.py",
        "import unittest\n\n\nclass Sub(unittest.TestCase):\n    def __init__(self, name):\n        super().__init__(name)\n\n    def test_sub(self):\n        self.assertEqual(sub(3, 2), 1)\n",
        PY_TEST,
    ),
    (
        "test_calc.py",
        "import sys\nimport pytest\n\n\n@pytest.mark.skipif(sys.platform == \"win32\", reason=\"x\")\ndef test_sub():\n    assert sub(3, 2) == 1\n",
        PY_TEST,
    ),
    (
        "calc.test.js",
        "describe('calc', () => {\n  it('subtracts', () => {\n    expect(sub(3, 2)).toBe(1);\n  });\n});\n",
        JS_TEST,
    ),
    (
        "tests/calc.rs",
        "#[cfg(test)]\nmod tests {\n    #[test]\n    fn test_sub() {\n        assert_eq!(sub(3, 2), 1);\n    }\n}\n",
        RS_TEST,
    ),
    (
        "calc_test.go",
        "func TestSub(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip()\n\t}\n\tif Sub(3, 2) != 1 {\n\t\tt.Fatal(1)\n\t}\n}\n",
        "`calc_test.go` has a test `TestSub`",
    ),
];

/// Returns the exit code of `reconcile` for a row, and its output.
fn reconciled((path, text, criterion): &Row) -> (i32, String) {
    let repository = Repository::new();
    let plan = format!(
        "# Plan\n\n## Milestone M1: Subtract\n\n### Acceptance Criteria\n\n- {criterion}\n"
    );
    repository.write("plan.md", plan);
    let head = if path.ends_with(".go") { GO } else { "" };
    repository.write(path, format!("{head}{text}"));
    repository.commit("all");
    let ran = gate(&repository, &["reconcile", "--plan", "plan.md"]);
    (ran.code, format!("{text}{}{}", ran.stdout, ran.stderr))
}

#[test]
fn unreachable_code_and_tests_that_cannot_fail_meet_no_criterion() {
    let passed: Vec<String> = REFUSED
        .iter()
        .map(reconciled)
        .filter(|(code, _)| *code == 0)
        .map(|(_, shown)| shown)
        .collect();
    assert!(passed.is_empty(), "{}", passed.join("\n"));
}

#[test]
fn working_definitions_and_tests_that_resemble_inert_ones_meet_their_criterion() {
    let refused: Vec<String> =
        MET.iter().map(reconciled).filter(|(code, _)| *code != 0).map(|(_, shown)| shown).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
