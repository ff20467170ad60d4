//! JavaScript: Node's own runner, and vitest.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use assay_testenv::not_run;

use super::super::QaFixture;
use super::{Files, Project, has};

/// The vitest that is installed for these tests.
pub(super) struct Vitest {
    packages: PathBuf,
}

impl Vitest {
    /// Returns vitest; `None` with a report of the skipped test if it is not installed.
    pub(super) fn find() -> Option<Vitest> {
        let tools = std::env::var_os("ASSAY_TEST_TOOLCHAINS");
        let packages = tools.map(|folder| Path::new(&folder).join("node_modules"));
        let found = packages.filter(|packages| packages.join("vitest").exists());
        if found.is_none() {
            not_run::record("vitest is not there");
        }
        found.map(|packages| Vitest { packages })
    }

    /// Links vitest into a project. The project has its own cache; installed packages are only
    /// read.
    pub(super) fn link_into(&self, fixture: &QaFixture) {
        let own = fixture.repository.path().join("node_modules");
        fs::create_dir_all(own.join(".bin")).unwrap();
        symlink(self.packages.join("vitest"), own.join("vitest")).unwrap();
        symlink("../vitest/vitest.mjs", own.join(".bin/vitest")).unwrap();
    }
}

const BAD: &str = "\
export function formula(text) {
  return eval(text);
}

export function total(prices) {
  return Math.max(...prices);
}
";

const GOOD: &str = "\
export function formula(text) {
  return JSON.parse(text);
}

export function total(prices) {
  return prices.reduce((sum, price) => sum + price, 0);
}

export function discount(price) {
  return price - Math.floor(price / 10);
}
";

#[test]
fn a_package_with_tests_of_node_is_rejected_fixed_and_approved() {
    if !has("node", &["--test", "--test-reporter=tap", "/dev/null"]) {
        return;
    }
    let manifest =
        "{\"name\": \"cart\", \"type\": \"module\", \"scripts\": {\"test\": \"node --test\"}}\n";
    let tests = "import assert from 'node:assert';\nimport test from 'node:test';\n\nimport { total } from './cart.js';\n\ntest('adds prices', () => assert.equal(total([1, 2]), 3));\n";
    let spec = spec("- `npm test` - All pass");
    javascript(&[("package.json", manifest)], &spec, tests, "Test fails: adds prices")
        .goes_all_the_way();
}

#[test]
fn a_package_with_vitest_is_rejected_fixed_and_approved() {
    let Some(vitest) = Vitest::find() else { return };
    let manifest = "{\"name\": \"cart\", \"type\": \"module\", \"scripts\": {\"test\": \"vitest run\"}, \"devDependencies\": {\"vitest\": \"*\"}}\n";
    let tests = "import { describe, expect, it } from 'vitest';\n\nimport { total } from './cart.js';\n\ndescribe('the cart', () => {\n  it('adds prices', () => expect(total([1, 2])).toBe(3));\n});\n";
    let spec = spec("- `npm test` - All pass\n\n**Integration Tests:**\n- `npm test` - All pass");
    let before = [("package.json", manifest), (".gitignore", "node_modules/\n")];
    let project = javascript(&before, &spec, tests, "Test fails: the cart > adds prices");
    let fixture = project.implemented();
    vitest.link_into(&fixture);
    project.goes_on(&fixture);
    let first = &fixture.plan()["qa_iteration_history"][0]["issues"];
    let files = first.as_array().unwrap().iter().map(|issue| issue["file"].as_str());
    assert!(files.flatten().any(|file| file == "cart.test.js"), "{first:#}");
}

fn spec(commands: &str) -> String {
    format!(
        "# Cart\n\n## Acceptance Criteria\n\n- [ ] The cart `adds prices`\n- [ ] The function \
         `discount` exists in `cart.js`\n\n## Verification\n\n**Unit Tests:**\n{commands}\n"
    )
}

fn javascript<'a>(
    before: Files<'a>,
    spec: &'a str,
    tests: &'a str,
    failing: &'a str,
) -> Project<'a> {
    Project {
        before,
        spec,
        written: vec![("cart.js", BAD), ("cart.test.js", tests)],
        wrong: [
            ("acceptance_criteria", "Not met: The cart `adds prices`"),
            ("acceptance_criteria", "Not met: The function `discount` exists in `cart.js`"),
            ("security", "Text run as a program"),
            ("unit_test", failing),
        ],
        fixed: vec![("cart.js", GOOD)],
    }
}
