//! Python: pytest, and `unittest`.

use super::{Files, Project, has};

const BAD: &str = "\
import os


def print_bill(name):
    os.system(f\"lpr {name}\")


def total(prices):
    return max(prices)
";

const GOOD: &str = "\
import subprocess


def print_bill(name):
    subprocess.run([\"lpr\", \"--\", name], check=True)


def total(prices):
    return sum(prices)


def discount(price):
    return price - price // 10
";

#[test]
fn a_project_with_pytest_is_rejected_fixed_and_approved() {
    if !has("pytest", &["--version"]) {
        return;
    }
    let tests = "import cart\n\n\ndef test_adds_prices():\n    assert cart.total([1, 2]) == 3\n";
    python(
        &[("pytest.ini", "[pytest]\npythonpath = .\n"), (".gitignore", ".pytest_cache/\n")],
        "pytest",
        tests,
        "Test fails: test_cart > test_adds_prices",
    );
}

#[test]
fn a_project_with_unittest_is_rejected_fixed_and_approved() {
    if !has("python3", &["--version"]) {
        return;
    }
    let tests = "import unittest\n\nimport cart\n\n\nclass Cart(unittest.TestCase):\n    def test_adds_prices(self):\n        self.assertEqual(cart.total([1, 2]), 3)\n";
    python(
        &[("setup.py", "")],
        "python3 -m unittest discover",
        tests,
        "Test fails: test_adds_prices (test_cart.Cart.test_adds_prices)",
    );
}

fn python(before: Files<'_>, command: &str, tests: &str, failing: &str) {
    let spec = format!(
        "# Cart\n\n## Acceptance Criteria\n\n- [ ] Prices are added up (`test_adds_prices`)\n- [ ] The function `discount` exists in `cart.py`\n\n## Verification\n\n**Unit Tests:**\n- `{command}` - All pass\n"
    );
    Project {
        before,
        spec: &spec,
        written: vec![("cart.py", BAD), ("test_cart.py", tests)],
        wrong: [
            ("acceptance_criteria", "Not met: Prices are added up (`test_adds_prices`)"),
            ("acceptance_criteria", "Not met: The function `discount` exists in `cart.py`"),
            ("security", "Shell command built from a value"),
            ("unit_test", failing),
        ],
        fixed: vec![("cart.py", GOOD)],
    }
    .goes_all_the_way();
}
