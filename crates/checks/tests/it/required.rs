//! The checks that a risk requires.

use assay_checks::check::CheckKind;
use assay_checks::check_plan::{PlannedCheck, Risk, plan_checks};
use assay_checks::discovery::discover;
use assay_checks::verification::Verification;
use expect_test::{Expect, expect};

use crate::discovery::MemoryFiles;

const SPEC: &str = r#"{
    "unit": {"commands": [
        {"command": "pytest tests/test_auth.py", "expect": "All pass"},
        {"command": "pytest tests/test_cart.py"}
    ]},
    "integration": {"commands": [{"command": "cd api && pytest", "expect": "All pass"}]},
    "e2e": {"by_hand": [["Register", "Logout"]]},
    "minimum_coverage": 80
}"#;

const SHOP: &str = r#"Cargo.toml | [package]
    src/lib.rs | #[test]
    web/package.json | {"devDependencies": {"vitest": "1", "@playwright/test": "1"}, "scripts": {"build": "x"}}
    web/a.test.ts
    tools/go.mod"#;

fn parse_verification(spec: &str) -> Verification {
    serde_json::from_str(spec).unwrap()
}

fn check(risk: Risk, spec: &str, files: &str, expect: Expect) {
    let found = discover(&MemoryFiles::of(files));
    let all = plan_checks(risk, &parse_verification(spec), &found);
    expect.assert_eq(&all.iter().map(shown).collect::<String>());
}

fn shown(required: &PlannedCheck) -> String {
    match required {
        PlannedCheck::Unavailable { kind, why } => format!("{}: NOT RUN: {why}\n", kind.name()),
        PlannedCheck::TryOut { flow } => format!("e2e: try out {flow}\n"),
        PlannedCheck::ByHand { kind, steps } => format!("{}: by hand {steps:?}\n", kind.name()),
        PlannedCheck::Run(check) => {
            let also: String = check.also.iter().map(|kind| format!("+{}", kind.name())).collect();
            let folder = if check.folder.is_empty() { "." } else { &check.folder };
            let minimum = check.minimum_coverage.map(|it| format!(", at least {it}%"));
            let expect = check.expect.as_ref().map(|it| format!(", expecting `{it}`"));
            format!(
                "{}{also}: {} in {folder}{}{}\n",
                check.kind.name(),
                check.command,
                minimum.unwrap_or_default(),
                expect.unwrap_or_default()
            )
        }
    }
}

#[test]
fn a_risk_requires_its_kinds_of_check() {
    let names = |risk: &str| -> Vec<&str> {
        Risk::parse(risk).unwrap().requires().iter().map(|kind| kind.name()).collect()
    };
    assert!(names("trivial").is_empty());
    assert_eq!(names("low"), ["smoke"]);
    assert_eq!(names("medium"), ["unit", "integration"]);
    assert_eq!(names("high"), ["unit", "integration", "full_suite", "coverage"]);
    let all = ["unit", "integration", "full_suite", "coverage", "e2e", "manual"];
    assert_eq!(names(" Critical "), all);
    assert_eq!(Risk::parse("unknown"), None);
}

#[test]
fn commands_of_the_spec_are_required_at_the_levels_of_risk_that_need_them() {
    check(Risk::Trivial, SPEC, SHOP, expect![""]);
    check(
        Risk::Low,
        SPEC,
        SHOP,
        expect![[r#"
            smoke: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml pytest tests/test_auth.py in ., expecting `All pass`
        "#]],
    );
    check(
        Risk::Medium,
        SPEC,
        SHOP,
        expect![[r#"
            unit: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml pytest tests/test_auth.py in ., expecting `All pass`
            unit: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml pytest tests/test_cart.py in .
            integration: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml cd api && pytest in ., expecting `All pass`
            coverage: cargo llvm-cov --json --output-path {reports}/llvm.json in ., at least 80%
            coverage: npx vitest run --coverage --coverage.reporter=json --coverage.reportsDirectory={reports} in web, at least 80%
        "#]],
    );
    check(
        Risk::High,
        SPEC,
        SHOP,
        expect![[r#"
            unit+full_suite: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml pytest tests/test_auth.py in ., expecting `All pass`
            unit+full_suite: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml pytest tests/test_cart.py in .
            integration+full_suite: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml cd api && pytest in ., expecting `All pass`
            full_suite: cargo test --no-fail-fast in .
            full_suite: npx vitest run --reporter=json --outputFile={reports}/vitest.json in web
            coverage: cargo llvm-cov --json --output-path {reports}/llvm.json in ., at least 80%
            coverage: npx vitest run --coverage --coverage.reporter=json --coverage.reportsDirectory={reports} in web, at least 80%
        "#]],
    );
    check(
        Risk::Critical,
        SPEC,
        SHOP,
        expect![[r#"
            unit+full_suite: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml pytest tests/test_auth.py in ., expecting `All pass`
            unit+full_suite: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml pytest tests/test_cart.py in .
            integration+full_suite: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml cd api && pytest in ., expecting `All pass`
            full_suite: cargo test --no-fail-fast in .
            full_suite: npx vitest run --reporter=json --outputFile={reports}/vitest.json in web
            coverage: cargo llvm-cov --json --output-path {reports}/llvm.json in ., at least 80%
            coverage: npx vitest run --coverage --coverage.reporter=json --coverage.reportsDirectory={reports} in web, at least 80%
            e2e: PLAYWRIGHT_JUNIT_OUTPUT_NAME={reports}/playwright.xml npx playwright test --reporter=junit in web
            e2e: by hand [["Register", "Logout"]]
            manual: by hand [["Register", "Logout"]]
        "#]],
    );
}

#[test]
fn discovered_commands_replace_those_that_the_spec_omits() {
    check(
        Risk::Low,
        "{}",
        SHOP,
        expect![[r#"
        smoke: cargo build in .
    "#]],
    );
    check(
        Risk::Medium,
        "{}",
        SHOP,
        expect![[r#"
        unit+integration: cargo test --no-fail-fast in .
        unit: npx vitest run --reporter=json --outputFile={reports}/vitest.json in web
    "#]],
    );
    check(
        Risk::Critical,
        "{}",
        SHOP,
        expect![[r#"
            unit+integration+full_suite: cargo test --no-fail-fast in .
            unit+full_suite: npx vitest run --reporter=json --outputFile={reports}/vitest.json in web
            coverage: cargo llvm-cov --json --output-path {reports}/llvm.json in .
            coverage: npx vitest run --coverage --coverage.reporter=json --coverage.reportsDirectory={reports} in web
            e2e: PLAYWRIGHT_JUNIT_OUTPUT_NAME={reports}/playwright.xml npx playwright test --reporter=junit in web
            manual: by hand []
        "#]],
    );
}

#[test]
fn a_smoke_test_is_the_outermost_build_or_else_the_tests() {
    for (files, expected) in [
        (r#"package.json | {"scripts": {"test": "mocha", "build": "x"}}"#, "npm run build in ."),
        (r#"package.json | {"scripts": {"test": "sh t.sh"}}"#, "npm test in ."),
        ("Makefile | test:", "make test in ."),
        ("Makefile | build:", "make build in ."),
        ("GNUmakefile | all:", "make all in ."),
        ("Cargo.toml | [package]", "cargo build in ."),
        ("go.mod", "go build ./... in ."),
        // A build in a deeper folder is no evidence for the whole project.
        ("package.json | {\"scripts\": {\"test\": \"sh t.sh\"}}\ntools/setup.py", "npm test in ."),
    ] {
        let found = discover(&MemoryFiles::of(files));
        let all = plan_checks(Risk::Low, &parse_verification("{}"), &found);
        let all: String = all.iter().map(shown).collect();
        assert_eq!(all, format!("smoke: {expected}\n"), "{files}");
    }
}

#[test]
fn equivalent_commands_are_run_once() {
    let project = "pytest.ini\ntests/integration/test_api.py";
    for (unit, files, is_same) in [
        ("pytest", project, true),
        ("pytest -q", project, true),
        ("python3 -m pytest -v", project, true),
        ("pytest tests/unit", project, false),
        ("pytest -k fast", project, false),
        ("PYTHONHASHSEED=1 pytest", project, false),
        ("uv run pytest", project, false),
        ("go test -v ./...", "go.mod\nintegration/a_test.go", true),
        ("go test -short ./...", "go.mod\nintegration/a_test.go", false),
        ("cargo test -q", "Cargo.toml | [package]\ntests/a.rs", true),
        ("cargo test -- -q", "Cargo.toml | [package]\ntests/a.rs", false),
        ("cargo test --lib", "Cargo.toml | [package]\ntests/a.rs", false),
        ("npm run test", "package.json | {\"scripts\": {\"test\": \"sh t.sh\"}}", true),
    ] {
        let spec = serde_json::json!({"unit": {"commands": [{"command": unit}]}}).to_string();
        let all = plan_checks(
            Risk::Medium,
            &parse_verification(&spec),
            &discover(&MemoryFiles::of(files)),
        );
        let runs = all.iter().filter(|it| matches!(it, PlannedCheck::Run(_))).count();
        assert_eq!(runs == 1, is_same, "{unit}: {}", all.iter().map(shown).collect::<String>());
    }
}

#[test]
fn a_required_check_without_a_command_is_reported_as_not_run() {
    check(
        Risk::Low,
        "{}",
        "README.md",
        expect![[r#"
            smoke: NOT RUN: the spec names no unit test, and neither a build nor tests were found in the project; name a command below `Unit Tests` in the section `Verification` of `spec.md`, or under `qa.frameworks` in the configuration
        "#]],
    );
    check(
        Risk::Critical,
        "{}",
        "README.md",
        expect![[r#"
        unit: NOT RUN: the spec names no unit tests, and none were found in the project; name a command below `Unit Tests` in the section `Verification` of `spec.md`, or under `qa.frameworks` in the configuration
        integration: NOT RUN: the spec names no integration tests, and none were found in the project; a test file with `integration` in its path counts, such as `tests/integration/test_api.py` (in Rust any file in `tests/`), and so does a command below `Integration Tests` in the section `Verification` of `spec.md` or under `integration_tests.commands` in the plan
        full_suite: NOT RUN: the spec names no tests, and none were found in the project; name a command below `Unit Tests` in the section `Verification` of `spec.md`, or under `qa.frameworks` in the configuration
        coverage: NOT RUN: no command of the spec measures coverage, and there is no standard coverage command for this project
        e2e: NOT RUN: the spec names no end-to-end tests, and none were found in the project; name a command below `E2E Tests` in the section `Verification` of `spec.md` or under `e2e_tests.commands` in the plan, or steps for a person (`Manual: A → B`)
        manual: by hand []
    "#]],
    );
    check(
        Risk::Medium,
        "{}",
        "package.json | {\"devDependencies\": {\"jest\": \"1\"}}\na.test.js",
        expect![[r#"
            unit: npx jest --json --outputFile={reports}/jest.json in .
            integration: NOT RUN: the spec names no integration tests, and none were found in the project; a test file with `integration` in its path counts, such as `tests/integration/test_api.py` (in Rust any file in `tests/`), and so does a command below `Integration Tests` in the section `Verification` of `spec.md` or under `integration_tests.commands` in the plan
        "#]],
    );
    check(
        Risk::Medium,
        r#"{"unit": {"commands": [{"command": "pytest 'x"}]},
            "integration": {"commands": [{"command": "a"}]}}"#,
        "",
        expect![[r#"
            unit: NOT RUN: cannot run `pytest 'x`: a quote is not closed
            integration: a in .
        "#]],
    );
}

#[test]
fn a_spec_command_that_measures_coverage_is_the_coverage_check() {
    let spec =
        r#"{"unit": {"commands": [{"command": "pytest --cov=src"}]}, "minimum_coverage": 90}"#;
    let go = r#"{"unit": {"commands": [{"command": "go test -coverprofile=c.out ./..."}]}}"#;
    let found = discover(&MemoryFiles::of(""));
    let all = plan_checks(Risk::High, &parse_verification(go), &found);
    assert!(all.iter().any(
        |it| matches!(it, PlannedCheck::Run(check) if check.coverage.contains(&"c.out".to_owned()))
    ));
    check(
        Risk::High,
        spec,
        "pytest.ini",
        expect![[r#"
            unit+full_suite: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml pytest --cov=src in .
            integration+full_suite: pytest --junitxml={reports}/pytest.xml in .
            coverage: PYTEST_ADDOPTS='--junitxml={reports}/pytest.xml --cov-report=json:{reports}/coverage.json' pytest --cov=src in ., at least 90%
        "#]],
    );
}

#[test]
fn a_plan_can_require_a_check_beyond_its_risk() {
    let spec = parse_verification(r#"{"e2e": {"is_required": true}}"#);
    let kinds: Vec<CheckKind> = plan_checks(Risk::Trivial, &spec, &discover(&MemoryFiles::of("")))
        .iter()
        .map(|it| match it {
            PlannedCheck::Unavailable { kind, .. } | PlannedCheck::ByHand { kind, .. } => *kind,
            PlannedCheck::TryOut { .. } => CheckKind::E2e,
            PlannedCheck::Run(check) => check.kind,
        })
        .collect();
    assert_eq!(kinds, [CheckKind::E2e]);
}

#[test]
fn commands_have_no_network_unless_the_spec_allows_it() {
    let allowed = |spec: &str| {
        let all = plan_checks(
            Risk::Low,
            &parse_verification(spec),
            &discover(&MemoryFiles::of("Cargo.toml")),
        );
        all.iter().any(|it| matches!(it, PlannedCheck::Run(check) if check.network))
    };
    assert!(!allowed("{}"));
    assert!(allowed(r#"{"network": true}"#));
}

#[test]
fn runners_of_the_spec_get_options_for_a_readable_report() {
    let spec = r#"{"unit": {"commands": [
        {"command": "npx vitest run cart"}, {"command": "jest --silent"},
        {"command": "pnpm exec vitest run --reporter=verbose"}, {"command": "npm test"},
        {"command": "vitest run && echo done"}
    ]}}"#;
    check(
        Risk::Medium,
        spec,
        "README",
        expect![[r#"
        unit: npx vitest run cart --reporter=json --outputFile={reports}/vitest.json in .
        unit: jest --silent --json --outputFile={reports}/jest.json in .
        unit: pnpm exec vitest run --reporter=verbose in .
        unit: npm test in .
        unit: vitest run && echo done in .
        integration: NOT RUN: the spec names no integration tests, and none were found in the project; a test file with `integration` in its path counts, such as `tests/integration/test_api.py` (in Rust any file in `tests/`), and so does a command below `Integration Tests` in the section `Verification` of `spec.md` or under `integration_tests.commands` in the plan
    "#]],
    );
}

#[test]
fn spec_commands_stay_unchanged_and_write_reports_by_documented_options() {
    let spec = r#"{"unit": {"commands": [
        {"command": "pytest tests/test_auth.py"}, {"command": "pytest tests/test_feature.py -v"},
        {"command": "python3 -m pytest tests"}, {"command": "uv run pytest -q"},
        {"command": "PYTEST_ADDOPTS=-x pytest tests"}, {"command": "cd backend && pytest tests"},
        {"command": "pytest --junitxml=out.xml"}, {"command": "pytest a && pytest b"},
        {"command": "python -m unittest tests.x"}, {"command": "python3 -m unittest -v"},
        {"command": "go test ."}, {"command": "go test -json ./..."},
        {"command": "node --test"}, {"command": "node --test test/a.js"},
        {"command": "cargo test --lib"}, {"command": "npx jest"}, {"command": "npm run pytest"}
    ]}}"#;
    check(
        Risk::Medium,
        spec,
        "README",
        expect![[r#"
            unit: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml pytest tests/test_auth.py in .
            unit: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml pytest tests/test_feature.py -v in .
            unit: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml python3 -m pytest tests in .
            unit: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml uv run pytest -q in .
            unit: PYTEST_ADDOPTS='-x --junitxml={reports}/pytest.xml' pytest tests in .
            unit: PYTEST_ADDOPTS=--junitxml={reports}/pytest.xml cd backend && pytest tests in .
            unit: pytest --junitxml=out.xml in .
            unit: pytest a && pytest b in .
            unit: python -m unittest tests.x -v in .
            unit: python3 -m unittest -v in .
            unit: go test -json . in .
            unit: go test -json ./... in .
            unit: NODE_OPTIONS='--test-reporter="{support}/reporter.mjs" --test-reporter-destination=/dev/null --test-reporter=tap --test-reporter-destination=stdout' node --test in .
            unit: NODE_OPTIONS='--test-reporter="{support}/reporter.mjs" --test-reporter-destination=/dev/null --test-reporter=tap --test-reporter-destination=stdout' node --test test/a.js in .
            unit: cargo test --lib in .
            unit: npx jest --json --outputFile={reports}/jest.json in .
            unit: npm run pytest in .
            integration: NOT RUN: the spec names no integration tests, and none were found in the project; a test file with `integration` in its path counts, such as `tests/integration/test_api.py` (in Rust any file in `tests/`), and so does a command below `Integration Tests` in the section `Verification` of `spec.md` or under `integration_tests.commands` in the plan
        "#]],
    );
}

#[test]
fn flows_and_pages_of_a_plan_are_end_to_end_checks() {
    let spec = r#"{"e2e": {"is_required": true, "flows": ["user_login", "/dashboard"]}}"#;
    check(
        Risk::Low,
        spec,
        "Cargo.toml | [package]",
        expect![[r#"
        smoke: cargo build in .
        e2e: try out user_login
        e2e: try out /dashboard
    "#]],
    );
}
