//! JavaScript: Node's own runner, and vitest.

use super::super::javascript::Vitest;
use super::{Edit, Row, has};

const GOOD: &str = "export const add = (a, b) => a + b;\nexport const sub = (a, b) => a - b;\n";

const BROKEN: &str = "export const add = (a, b) => a + b;\nexport const sub = (a, b) => a + b;\nexport function mul(a, b) {\n  return a * b;\n}\n";

const MORE: &str = "export const add = (a, b) => a + b;\nexport const sub = (a, b) => a - b;\nexport function mul(a, b) {\n  return a * b;\n}\n";

const TESTS: &str = "import assert from 'node:assert';\nimport test from 'node:test';\n\nimport { add, sub } from './calc.js';\n\ntest('adds', () => {\n  assert.equal(add(1, 2), 3);\n});\n\ntest('subtracts', () => {\n  assert.equal(sub(3, 2), 1);\n});\n";

const MANIFEST: &str =
    "{\"name\": \"calc\", \"type\": \"module\", \"scripts\": {\"test\": \"node --test\"}}\n";

const CRITERIA: &str = "- [ ] The function `mul` exists in `calc.js`";

const MAIN: &[(&str, &str)] =
    &[("package.json", MANIFEST), ("calc.js", GOOD), ("calc.test.js", TESTS)];

const SUB: &str = "Weakened test: subtracts";

const FAILS: &str = "the version of main fails";

fn row<'a>(name: &'a str, branch: &'a [Edit<'a>]) -> Row<'a> {
    Row { name, main: MAIN, branch, fixer: &[], criteria: CRITERIA, command: "npm test" }
}

fn has_node() -> bool {
    has("node", &["--test", "--test-reporter=tap", "/dev/null"])
}

#[test]
fn tests_of_node_that_are_rewritten_are_refused() {
    if !has_node() {
        return;
    }
    for (name, from, to) in [
        ("an assertion that is always true", "assert.equal(sub(3, 2), 1)", "assert.ok(true)"),
        ("another expected value", "sub(3, 2), 1", "sub(3, 2), 5"),
        ("a skipped test", "test('subtracts', ", "test.skip('subtracts', "),
        ("a test for later", "test('subtracts', ", "test.todo('subtracts', "),
        ("a skipped test by option", "test('subtracts', ", "test('subtracts', { skip: true }, "),
    ] {
        let tests = TESTS.replace(from, to);
        assert_ne!(tests, TESTS, "{name}");
        row(name, &[("calc.js", Some(BROKEN)), ("calc.test.js", Some(&tests))])
            .is_refused(SUB, FAILS);
    }
    let other =
        ("other.test.js", Some("import test from 'node:test';\n\ntest('nothing', () => {});\n"));
    row("a deleted file", &[("calc.js", Some(BROKEN)), ("calc.test.js", None), other])
        .is_refused(SUB, "is missing; the version of main fails");
}

#[test]
fn scripts_of_a_package_that_are_rewritten_are_refused() {
    if !has_node() {
        return;
    }
    for (name, script) in [
        (
            "a script that prints results",
            "echo 'TAP version 13'; echo 'ok 1 - adds'; echo 'ok 2 - subtracts'; echo '1..2'",
        ),
        ("a script that does nothing", "exit 0"),
        ("a script that runs some", "node --test --test-name-pattern=adds"),
        ("a script that runs another file", "node --test other.test.js"),
    ] {
        let manifest = MANIFEST.replace("node --test", script);
        let other = (
            "other.test.js",
            Some("import test from 'node:test';\n\ntest('nothing', () => {});\n"),
        );
        row(name, &[("calc.js", Some(BROKEN)), ("package.json", Some(&manifest)), other])
            .is_refused(SUB, FAILS);
    }
    let manifest =
        MANIFEST.replace("node --test", "echo 1..2; echo 'ok 1 - adds'; echo 'ok 2 - subtracts'");
    let fixer = [("package.json", Some(manifest.as_str()))];
    Row { fixer: &fixer, ..row("the fixer prints results", &[("calc.js", Some(BROKEN))]) }
        .is_refused(SUB, FAILS);
}

#[test]
fn honest_changes_of_tests_of_node_are_approved() {
    if !has_node() {
        return;
    }
    let dependency =
        MANIFEST.replace("\"scripts\"", "\"dependencies\": {\"left-pad\": \"*\"}, \"scripts\"");
    let renamed = TESTS.replace("test('adds'", "test('sums up'");
    let added = format!("{TESTS}\ntest('is zero', () => {{\n  assert.equal(sub(1, 1), 0);\n}});\n");
    let rows: &[(&str, &[Edit<'_>])] = &[
        ("a new dependency", &[("package.json", Some(&dependency))]),
        ("a renamed test", &[("calc.test.js", Some(&renamed))]),
        ("a test more", &[("calc.test.js", Some(&added))]),
        ("a renamed file", &[("calc.test.js", None), ("sums.test.js", Some(TESTS))]),
    ];
    for (name, edits) in rows {
        row(name, &[&[("calc.js", Some(MORE))][..], edits].concat()).is_approved();
    }
}

#[test]
fn tests_of_vitest_that_do_not_run_are_refused() {
    let Some(vitest) = Vitest::find() else { return };
    let tests = "import { expect, it } from 'vitest';\n\nimport { add, sub } from './calc.js';\n\nit('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n\nit('subtracts', () => {\n  expect(sub(3, 2)).toBe(1);\n});\n";
    let manifest = "{\"name\": \"calc\", \"type\": \"module\", \"scripts\": {\"test\": \"vitest run\"}, \"devDependencies\": {\"vitest\": \"*\"}}\n";
    let main = [
        ("package.json", manifest),
        ("calc.js", GOOD),
        ("calc.test.js", tests),
        (".gitignore", "node_modules/\n"),
    ];
    let (only, skipped) =
        (tests.replace("it('adds'", "it.only('adds'"), tests.replace("it('sub", "it.skip('sub"));
    let config = "export default { test: { testNamePattern: 'adds' } };\n";
    let mocked = "import { vi } from 'vitest';\n\nvi.mock('./calc.js', () => ({ add: (a, b) => a + b, sub: (a, b) => a - b }));\n";
    let setup = "export default { test: { setupFiles: ['./vitest.setup.js'] } };\n";
    let rows: &[(&str, &[Edit<'_>])] = &[
        ("one test only", &[("calc.test.js", Some(&only))]),
        ("a skipped test of vitest", &[("calc.test.js", Some(&skipped))]),
        ("a pattern of names", &[("vitest.config.js", Some(config))]),
        (
            "a mock for all tests",
            &[("vitest.config.js", Some(setup)), ("vitest.setup.js", Some(mocked))],
        ),
    ];
    for (name, edits) in rows {
        let branch = [&[("calc.js", Some(BROKEN))][..], edits].concat();
        let row = Row { main: &main, ..row(name, &branch) };
        let fixture = row.fixture();
        vitest.link_into(&fixture);
        row.is_refused_in(&fixture, SUB, FAILS);
    }
}

#[test]
fn helpers_of_tests_of_node_are_kept() {
    if !has_node() {
        return;
    }
    let helped = |module: &str| {
        TESTS
            .replace(
                "import assert from 'node:assert';\n",
                &format!("import {{ same }} from '{module}';\n"),
            )
            .replace("assert.equal", "same")
    };
    let same =
        "import assert from 'node:assert';\n\nexport const same = (a, b) => assert.equal(a, b);\n";
    let anything = "export const same = (a, b) => [a, b];\n";
    let chk = "{\"name\": \"chk\", \"type\": \"module\", \"main\": \"index.js\"}\n";
    for (name, module, path) in [
        ("a helper that compares nothing", "./helper.js", "helper.js"),
        ("a dependency that compares nothing", "chk", "node_modules/chk/index.js"),
    ] {
        let tests = helped(module);
        let main = [
            ("package.json", MANIFEST),
            ("calc.js", GOOD),
            ("calc.test.js", tests.as_str()),
            ("node_modules/chk/package.json", chk),
            ("node_modules/chk/index.js", same),
            ("helper.js", same),
        ];
        let branch = [("calc.js", Some(BROKEN)), (path, Some(anything))];
        Row { main: &main, ..row(name, &branch) }.is_refused(SUB, FAILS);
    }
    let manifest = MANIFEST.replace("node --test", "node --import ./pre.js --test");
    let main = [
        ("package.json", manifest.as_str()),
        ("calc.js", GOOD),
        ("calc.test.js", TESTS),
        ("pre.js", "// Settings of tests.\n"),
    ];
    let patched = "import assert from 'node:assert';\n\nassert.equal = () => {};\n";
    let branch = [("calc.js", Some(BROKEN)), ("pre.js", Some(patched))];
    Row { main: &main, ..row("a module that is loaded first", &branch) }.is_refused(SUB, FAILS);
}

#[test]
fn a_module_that_code_of_node_imports_changes_with_the_code() {
    if !has_node() {
        return;
    }
    let good = format!("import {{ check }} from './helper.js';\n\n{GOOD}check(add);\n");
    let more = format!("import {{ check }} from './helper.js';\n\n{MORE}check(add, sub);\n");
    let main = [
        ("package.json", MANIFEST),
        ("calc.js", good.as_str()),
        ("calc.test.js", TESTS),
        ("helper.js", "export const check = (a) => a;\n"),
    ];
    let branch = [
        ("calc.js", Some(more.as_str())),
        ("helper.js", Some("export const check = (a, b) => [a, b];\n")),
    ];
    Row { main: &main, ..row("a helper of the code", &branch) }.is_approved();
}

#[test]
fn node_code_that_detects_a_test_run_is_refused() {
    if !has_node() {
        return;
    }
    let asks = MORE.replace(
        "sub = (a, b) => a - b",
        "sub = (a, b) => (process.env.NODE_TEST_CONTEXT ? a - b : a + b)",
    );
    row("code that asks for tests", &[("calc.js", Some(&asks))])
        .is_refused("Code that behaves differently under test", "The tests see another program");
}
