//! Commands as people write them into a spec, on the real runners: tests are known by name, and
//! files of a first build or a redirected output cost no round.

use std::fs::File;
use std::process::Command;

use super::toolchains::has;
use super::{FIX, PLAN, QaFixture, SPEC};

/// Approves a small project in one round, whose only criterion names its only test.
fn approved(command: &str, test: &str, files: &[(&str, &str)]) -> QaFixture {
    let fixture = QaFixture::bare();
    fixture.configure("true\n", "");
    fixture.repository.write(".gitignore", "target/\n__pycache__/\nnode_modules/\n");
    fixture.repository.commit("before");
    let spec = format!(
        "## Acceptance Criteria\n\n- [ ] It adds: `{test}`\n\n## Verification\n\n**Unit Tests:**\n- `{command}` - All pass\n"
    );
    fixture.repository.write("specs/001-cart/spec.md", spec);
    fixture.repository.write("specs/001-cart/implementation_plan.json", PLAN);
    files.iter().for_each(|(path, text)| fixture.repository.write(path, text));
    let ran = fixture.ends(0, &[]);
    assert!(ran.stdout.contains("APPROVED after 1 round "), "{command}: {}", ran.stdout);
    assert!(fixture.events_of("failed").is_empty(), "{command}: {}", ran.stdout);
    fixture
}

#[test]
fn a_lock_file_that_the_first_build_writes_costs_no_round() {
    let fixture = approved(
        "cargo test",
        "adds",
        &[
            ("Cargo.toml", "[package]\nname = \"cart\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            (
                "src/lib.rs",
                "//! A cart.\n\n/// Adds two prices.\npub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(super::add(1, 2), 3);\n    }\n}\n",
            ),
        ],
    );
    assert!(fixture.repository.file("Cargo.lock").exists());
    let again = fixture.ends(0, &[]);
    assert!(again.stdout.starts_with("APPROVED already"), "{}", again.stdout);
}

#[test]
fn tests_of_a_unittest_module_are_recognized_by_name() {
    if !has("python3", &["--version"]) {
        return;
    }
    approved(
        "python3 -m unittest tests.test_cart",
        "test_adds",
        &[
            ("cart.py", "def add(a, b):\n    return a + b\n"),
            ("tests/__init__.py", ""),
            (
                "tests/test_cart.py",
                "import unittest\n\nimport cart\n\n\nclass Cart(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(cart.add(1, 2), 3)\n",
            ),
        ],
    );
}

#[test]
fn tests_of_one_go_package_are_recognized_by_name() {
    if !has("go", &["version"]) {
        return;
    }
    approved(
        "go test .",
        "TestAdds",
        &[
            ("go.mod", "module cart\n\ngo 1.18\n"),
            (
                "cart.go",
                "package cart\n\n// Add adds two prices.\nfunc Add(a, b int) int { return a + b }\n",
            ),
            (
                "cart_test.go",
                "package cart\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"wrong\")\n\t}\n}\n",
            ),
        ],
    );
}

#[test]
fn tests_of_the_node_runner_are_recognized_by_name() {
    if !has("node", &["--version"]) {
        return;
    }
    approved(
        "node --test",
        "adds two prices",
        &[
            ("cart.js", "exports.add = (a, b) => a + b;\n"),
            (
                "cart.test.js",
                "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('./cart.js');\n\ntest('adds two prices', () => {\n  assert.strictEqual(add(1, 2), 3);\n});\n",
            ),
        ],
    );
}

#[test]
fn output_that_goes_into_a_file_of_the_repository_costs_no_round() {
    let fixture = QaFixture::with(SPEC, PLAN, &format!("{FIX}\n"), "");
    let log = File::create(fixture.repository.file("out.log")).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["qa", "--spec", "001"])
        .current_dir(fixture.repository.path())
        .env("XDG_STATE_HOME", crate::state_home())
        .env("NO_COLOR", "1")
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .status()
        .unwrap();
    let said = std::fs::read_to_string(fixture.repository.file("out.log")).unwrap();
    assert!(status.success(), "{said}");
    assert!(fixture.events_of("failed").is_empty(), "{said}");
    fixture.is_approved();
}

/// Nine criteria as people write them for a feature: definitions, tests, documents, removals, and
/// two that only a person can decide.
const FEATURE: &str = "\
## Acceptance Criteria

- [ ] The test `greets` passes
- [ ] Guests are let go kindly (`leaves`)
- [ ] The function `farewell` exists in `farewell.py`
- [ ] The file `docs/farewell.md` exists
- [ ] The change log mentions `farewell`
- [ ] The readme mentions farewells
- [ ] The class `Greeter` is defined in `farewell.py`
- [ ] The tone is friendly
- [ ] It is fast enough for large parties

## Verification

**Unit Tests:**
- `sh test.sh` - All pass
";

#[test]
fn most_criteria_of_a_real_feature_are_decided_without_a_model() {
    let fixture = QaFixture::with(FEATURE, PLAN, "true\n", "");
    fixture.repository.write("greeting.txt", "hello, goodbye\n");
    fixture.repository.write(
        "farewell.py",
        "class Greeter:\n    pass\n\n\ndef farewell(name):\n    return f\"Goodbye, {name}\"\n",
    );
    fixture.repository.write("docs/farewell.md", "# Farewells\n\nHow guests are let go.\n");
    fixture.repository.write("CHANGELOG.md", "# Changes\n\n- `farewell` lets guests go\n");
    fixture.repository.write("README.md", "# Greeting\n\nGreetings and farewells.\n");
    fixture.ends(4, &[]);
    let reviewed = fixture.events_of("reviewed");
    let criteria = reviewed.last().unwrap()["criteria"].as_array().unwrap().clone();
    let met = criteria.iter().filter(|line| line["answer"] == "met").count();
    assert_eq!((criteria.len(), met), (9, 7), "{criteria:#?}");
    let why = "read it aloud at a party of three hundred";
    let for_both = ["--for", "The tone is friendly", "--for", "9"];
    fixture.ends(0, &[&["--sign-off", "Ada", "--because", why], &for_both[..]].concat());
    fixture.is_approved();
}
