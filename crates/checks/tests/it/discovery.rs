//! Discovery of tests by the files of a project.

use std::collections::BTreeMap;

use assay_checks::discovery::{
    Discovery, ProjectFiles, ProjectFolder, ResultSource, TestKind, discover,
};
use expect_test::{Expect, expect};

/// Files in memory.
pub(crate) struct MemoryFiles(BTreeMap<String, String>);

impl MemoryFiles {
    /// Parses files from a text: one path on each line, with its content after a bar.
    pub(crate) fn of(text: &str) -> MemoryFiles {
        let line = |line: &str| {
            let (path, content) = line.split_once('|').unwrap_or((line, ""));
            (path.trim().to_owned(), content.trim().replace("\\n", "\n"))
        };
        MemoryFiles(text.lines().filter(|line| !line.trim().is_empty()).map(line).collect())
    }
}

impl ProjectFiles for MemoryFiles {
    fn paths(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn read(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned()
    }
}

fn check(files: &str, expect: Expect) {
    expect.assert_eq(&shown(&discover(&MemoryFiles::of(files))));
}

fn shown(found: &Discovery) -> String {
    let mut text = String::new();
    for framework in &found.frameworks {
        let kind = match framework.kind {
            TestKind::Unit => "unit",
            TestKind::Integration => "integration",
            TestKind::E2e => "e2e",
            TestKind::All => "all",
        };
        let at = if framework.folder.is_empty() { "." } else { &framework.folder };
        let none = if framework.is_live() { "" } else { ", nothing to run" };
        let command = &framework.command;
        text.push_str(&format!("{} ({kind}) in {at}: {command}{none}\n", framework.name));
        let reading = match &framework.reading {
            ResultSource::Guess => "guessed".to_owned(),
            ResultSource::Nothing => "nowhere".to_owned(),
            ResultSource::Printed(form) => format!("{} in its output", form.name()),
            ResultSource::Files { form, glob } => format!("{} in {glob}", form.name()),
        };
        text.push_str(&format!("  run {}; results: {reading}\n", framework.run));
        if let Some(coverage) = &framework.coverage {
            text.push_str(&format!("  coverage {} in {}\n", coverage.command, coverage.glob));
        }
    }
    for build in &found.builds {
        let at = if build.folder.is_empty() { "." } else { &build.folder };
        text.push_str(&format!("build in {at}: {}\n", build.command));
    }
    if let Some(manager) = &found.package_manager {
        text.push_str(&format!("by {manager}\n"));
    }
    let tests = if found.is_without_tests() { "no tests at all" } else { "tests" };
    text.push_str(&format!("{tests}: {}\n", found.test_files.join(" ")));
    text
}

#[test]
fn a_test_script_that_calls_its_runner_is_the_command() {
    check(
        r#"package.json | {"devDependencies": {"jest": "^29.1.0"}, "scripts": {"test": "jest --ci"}}
           pnpm-lock.yaml"#,
        expect![[r#"
            jest (unit) in .: pnpm test
              run npx jest --ci --json --outputFile={reports}/jest.json; results: jest in {reports}/jest.json
              coverage npx jest --coverage --coverageReporters=json --coverageDirectory={reports} in {reports}/coverage-final.json
            by pnpm
            tests: 
        "#]],
    );
}

#[test]
fn the_placeholder_of_npm_is_no_test() {
    check(
        r#"package.json | {"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#,
        expect![[r#"
            no tests at all: 
        "#]],
    );
}

#[test]
fn pytest_is_recognized_by_its_configuration() {
    check(
        "pyproject.toml | [tool.pytest.ini_options]\\n",
        expect![[r#"
        pytest (all) in .: pytest
          run pytest --junitxml={reports}/pytest.xml; results: junit in {reports}/pytest.xml
          coverage pytest --cov --cov-report=json:{reports}/coverage.json in {reports}/coverage.json
        build in .: python3 -m compileall -q .
        tests: 
    "#]],
    );
    check(
        "pytest.ini",
        expect![[r#"
        pytest (all) in .: pytest
          run pytest --junitxml={reports}/pytest.xml; results: junit in {reports}/pytest.xml
          coverage pytest --cov --cov-report=json:{reports}/coverage.json in {reports}/coverage.json
        build in .: python3 -m compileall -q .
        tests: 
    "#]],
    );
}

#[test]
fn cargo_and_go_projects_are_recognized_by_their_manifests() {
    check(
        "Cargo.toml | [package]\\n",
        expect![[r#"
            cargo_test (all) in .: cargo test, nothing to run
              run cargo test --no-fail-fast; results: cargo in its output
              coverage cargo llvm-cov --json --output-path {reports}/llvm.json in {reports}/llvm.json
            build in .: cargo build
            no tests at all: 
        "#]],
    );
    check(
        "go.mod | module m\\n\na_test.go",
        expect![[r#"
        go_test (all) in .: go test ./...
          run go test -json ./...; results: go-json in its output
          coverage go test -coverprofile={reports}/go.cover ./... in {reports}/go.cover
        build in .: go build ./...
        tests: a_test.go
    "#]],
    );
}

#[test]
fn a_lock_file_determines_the_package_manager() {
    check(
        "yarn.lock\npackage-lock.json\nCargo.lock",
        expect![[r#"
        by yarn
        no tests at all: 
    "#]],
    );
}

#[test]
fn a_project_without_tests_is_recognized() {
    let is_without = |files: &str| discover(&MemoryFiles::of(files)).is_without_tests();
    assert!(is_without(""));
    assert!(is_without("README.md\nsrc/main.c"));
    assert!(is_without("Cargo.toml\nsrc/lib.rs | fn main() {}"));
    assert!(!is_without("Cargo.toml\nsrc/lib.rs\ntests/it.rs"));
    assert!(!is_without("Cargo.toml\nsrc/lib.rs | #[cfg(test)] mod t { #[test] fn a() {} }"));
    assert!(!is_without("go.mod\nmain_test.go"));
    assert!(!is_without("package.json\nsrc/a.test.ts"));
    assert!(!is_without("__tests__/a.test.tsx"));
    assert!(!is_without("pytest.ini"));
    assert!(is_without("node_modules/x/a.test.js\nvendor/m/a_test.go\ntests/fixtures/test_a.py"));
}

#[test]
fn packages_below_the_root_are_found() {
    check(
        r#"Cargo.toml | [workspace]\nmembers = ["crates/*"]
           crates/a/Cargo.toml | [package]
           crates/a/src/lib.rs | #[test]
           fuzz/Cargo.toml | [package]
           .config/nextest.toml
           backend/pyproject.toml | [project]\ndependencies = ["pytest"]
           backend/uv.lock
           backend/tests/integration/test_api.py
           frontend/package.json | {"devDependencies": {"vitest": "1", "@playwright/test": "1"}, "scripts": {"test": "vitest", "build": "vite build", "test:integration": "./it.sh"}}
           frontend/package-lock.json
           frontend/src/a.spec.ts
           tools/x/go.mod"#,
        expect![[r#"
            nextest (all) in .: cargo nextest run --workspace
              run cargo nextest run --workspace --no-fail-fast; results: nextest in its output
              coverage cargo llvm-cov --workspace --json --output-path {reports}/llvm.json in {reports}/llvm.json
            pytest (all) in backend: uv run pytest
              run uv run pytest --junitxml={reports}/pytest.xml; results: junit in {reports}/pytest.xml
              coverage uv run pytest --cov --cov-report=json:{reports}/coverage.json in {reports}/coverage.json
            vitest (unit) in frontend: npm test
              run npx vitest run --reporter=json --outputFile={reports}/vitest.json; results: jest in {reports}/vitest.json
              coverage npx vitest run --coverage --coverage.reporter=json --coverage.reportsDirectory={reports} in {reports}/coverage-final.json
            playwright (e2e) in frontend: npx playwright test
              run PLAYWRIGHT_JUNIT_OUTPUT_NAME={reports}/playwright.xml npx playwright test --reporter=junit; results: junit in {reports}/playwright.xml
            script (integration) in frontend: npm run test:integration
              run npm run test:integration; results: guessed
            go_test (all) in tools/x: go test ./..., nothing to run
              run go test -json ./...; results: go-json in its output
              coverage go test -coverprofile={reports}/go.cover ./... in {reports}/go.cover
            build in .: cargo build
            build in backend: python3 -m compileall -q .
            build in frontend: npm run build
            build in tools/x: go build ./...
            tests: backend/tests/integration/test_api.py crates/a/src/lib.rs frontend/src/a.spec.ts
        "#]],
    );
}

#[test]
fn tests_written_for_unittest_are_run_by_it() {
    check(
        "tests/test_a.py | import unittest\\nclass A(unittest.TestCase):\\n    def test_a(self): pass\nsetup.py",
        expect![[r#"
            unittest (all) in .: python3 -m unittest discover -s tests
              run python3 -m unittest discover -s tests -v; results: report in {reports}/unittest-*.jsonl
            build in .: python3 -m compileall -q .
            tests: tests/test_a.py
        "#]],
    );
    check(
        "app/pyproject.toml\napp/a_test.py | from unittest import TestCase\\nclass A(TestCase): pass",
        expect![[r#"
            unittest (all) in app: python3 -m unittest discover -p '*_test.py'
              run python3 -m unittest discover -p '*_test.py' -v; results: report in {reports}/unittest-*.jsonl
            build in app: python3 -m compileall -q .
            tests: app/a_test.py
        "#]],
    );
    check(
        "test_a.py | def test_a():\\n    pass",
        expect![[r#"
        pytest (all) in .: pytest
          run pytest --junitxml={reports}/pytest.xml; results: junit in {reports}/pytest.xml
          coverage pytest --cov --cov-report=json:{reports}/coverage.json in {reports}/coverage.json
        tests: test_a.py
    "#]],
    );
}

#[test]
fn scripts_are_run_for_unknown_test_runners() {
    check(
        r#"package.json | {"scripts": {"test": "ava && tsd", "e2e": "./e2e.sh"}, "workspaces": ["a"]}
           a/package.json | {"devDependencies": {"jest": "1"}}
           bun.lock
           tsconfig.json"#,
        expect![[r#"
            script (e2e) in .: bun run e2e
              run bun run e2e; results: guessed
            script (all) in .: bun run test
              run bun run test; results: guessed
            build in .: npx tsc --noEmit
            by bun
            tests: 
        "#]],
    );
    check(
        r#"package.json | {"scripts": {"test": "node --test src/"}}"#,
        expect![[r#"
            node_test (all) in .: npm test
              run NODE_OPTIONS='--test-reporter="{support}/reporter.mjs" --test-reporter-destination=/dev/null --test-reporter=tap --test-reporter-destination=stdout' npm test; results: report in {reports}/node-*.jsonl
            tests: 
        "#]],
    );
    check(
        "package.json | {}\na.test.js",
        expect![[r#"
            node_test (unit) in .: node --test
              run NODE_OPTIONS='--test-reporter="{support}/reporter.mjs" --test-reporter-destination=/dev/null --test-reporter=tap --test-reporter-destination=stdout' node --test; results: report in {reports}/node-*.jsonl
            tests: a.test.js
        "#]],
    );
}

#[test]
fn a_script_with_more_than_its_runner_is_run_unchanged() {
    check(
        r#"package.json | {"devDependencies": {"mocha": "1", "nyc": "1"}, "scripts": {"test": "mocha && eslint ."}}"#,
        expect![[r#"
            mocha (unit) in .: npm test
              run npm test; results: guessed
              coverage npx nyc --reporter=json --report-dir={reports} mocha in {reports}/coverage-final.json
            tests: 
        "#]],
    );
    check(
        r#"package.json | {"devDependencies": {"vitest": "1"}, "scripts": {"test": "TZ=UTC npx vitest --bail"}}"#,
        expect![[r#"
            vitest (unit) in .: npm test
              run TZ=UTC npx vitest run --bail --reporter=json --outputFile={reports}/vitest.json; results: jest in {reports}/vitest.json
              coverage npx vitest run --coverage --coverage.reporter=json --coverage.reportsDirectory={reports} in {reports}/coverage-final.json
            tests: 
        "#]],
    );
}

#[test]
fn projects_of_the_jvm_are_found() {
    check(
        "pom.xml | <artifactId>jacoco-maven-plugin</artifactId> maven-failsafe-plugin
         core/pom.xml
         core/src/test/java/com/shop/MoneyTest.java
         mvnw",
        expect![[r#"
            maven (all) in .: ./mvnw verify
              run ./mvnw -B verify; results: junit in **/target/{surefire,failsafe}-reports/TEST-*.xml
              coverage ./mvnw -B verify jacoco:report in **/target/site/jacoco/jacoco.xml
            build in .: ./mvnw -B compile
            tests: core/src/test/java/com/shop/MoneyTest.java
        "#]],
    );
    check(
        "settings.gradle.kts\ngradlew\napp/build.gradle.kts | plugins { jacoco }\napp/src/test/kotlin/MoneyTest.kt",
        expect![[r#"
            gradle (all) in .: ./gradlew test
              run ./gradlew cleanTest test --continue; results: junit in **/build/test-results/**/TEST-*.xml
              coverage ./gradlew cleanTest test jacocoTestReport in **/build/reports/jacoco/**/*.xml
            build in .: ./gradlew assemble
            tests: app/src/test/kotlin/MoneyTest.kt
        "#]],
    );
}

#[test]
fn ruby_php_and_dotnet_are_found() {
    check(
        "Gemfile | gem 'rspec'\nspec/money_spec.rb\ntest/money_test.rb\nGemfile.lock",
        expect![[r#"
            rspec (all) in .: bundle exec rspec
              run bundle exec rspec; results: guessed
            minitest (all) in .: bundle exec rake test
              run bundle exec rake test; results: guessed
            by bundler
            tests: spec/money_spec.rb test/money_test.rb
        "#]],
    );
    check(
        "composer.json | {\"require-dev\": {\"pestphp/pest\": \"2\"}}\ntests/MoneyTest.php",
        expect![[r#"
            pest (all) in .: vendor/bin/pest
              run vendor/bin/pest --log-junit {reports}/php.xml; results: junit in {reports}/php.xml
              coverage vendor/bin/pest --coverage-cobertura {reports}/cobertura.xml in {reports}/cobertura.xml
            tests: tests/MoneyTest.php
        "#]],
    );
    check(
        "phpunit.xml.dist",
        expect![[r#"
        phpunit (all) in .: vendor/bin/phpunit
          run vendor/bin/phpunit --log-junit {reports}/php.xml; results: junit in {reports}/php.xml
          coverage vendor/bin/phpunit --coverage-cobertura {reports}/cobertura.xml in {reports}/cobertura.xml
        tests: 
    "#]],
    );
    check(
        "shop.sln\nShop/Shop.csproj\nShop.Tests/Shop.Tests.csproj | Microsoft.NET.Test.Sdk\nShop.Tests/MoneyTests.cs",
        expect![[r#"
            dotnet_test (all) in .: dotnet test
              run dotnet test; results: guessed
              coverage dotnet test --collect 'XPlat Code Coverage' --results-directory {reports} in {reports}/**/coverage.cobertura.xml
            build in .: dotnet build
            tests: Shop.Tests/MoneyTests.cs
        "#]],
    );
}

#[test]
fn c_projects_are_built_outside_the_tree() {
    check(
        "CMakeLists.txt | enable_testing()\nadd_test(x)\ntests/test_money.cpp",
        expect![[r#"
        ctest (all) in .: ctest
          run cmake -S . -B {reports}/build && cmake --build {reports}/build && ctest --test-dir {reports}/build --output-junit {reports}/ctest.xml; results: junit in {reports}/ctest.xml
        build in .: cmake -S . -B {reports}/build && cmake --build {reports}/build
        tests: tests/test_money.cpp
    "#]],
    );
    check(
        "meson.build | project('a')\\nsubdir('t')\nt/meson.build | test('a', exe)",
        expect![[r#"
        meson (all) in .: meson test
          run meson setup {reports}/build && meson test -C {reports}/build; results: junit in {reports}/build/meson-logs/testlog.junit.xml
        build in .: meson setup {reports}/build && meson compile -C {reports}/build
        tests: 
    "#]],
    );
    check(
        "Makefile | all:\\n\\tcc a.c\\ntest: all\\n\\t./a",
        expect![[r#"
            make (all) in .: make test
              run make test; results: guessed
            build in .: make all
            tests: 
        "#]],
    );
}

#[test]
fn a_manifest_that_cannot_be_read_hides_nothing_else() {
    check(
        "package.json | {broken\ngo.mod\na_test.go",
        expect![[r#"
        go_test (all) in .: go test ./...
          run go test -json ./...; results: go-json in its output
          coverage go test -coverprofile={reports}/go.cover ./... in {reports}/go.cover
        build in .: go build ./...
        tests: a_test.go
    "#]],
    );
}

#[test]
fn discovery_ignores_installed_dependencies_and_symlinks() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("a/go.mod", "module a\n");
    write("a/a_test.go", "");
    write("node_modules/b/package.json", "{\"scripts\": {\"test\": \"b\"}}");
    std::os::unix::fs::symlink("/", folder.path().join("link")).unwrap();
    expect![[r#"
        go_test (all) in a: go test ./...
          run go test -json ./...; results: go-json in its output
          coverage go test -coverprofile={reports}/go.cover ./... in {reports}/go.cover
        build in a: go build ./...
        tests: a/a_test.go
    "#]]
    .assert_eq(&shown(&discover(&ProjectFolder::new(folder.path()))));
}

#[test]
fn very_many_packages_are_discovered() {
    let files: String = (0..5_000)
        .map(|n| format!("p{n}/Cargo.toml\np{n}/package.json | {{}}\np{n}/go.mod\np{n}/pyproject.toml\np{n}/test_a.py\n"))
        .collect();
    assert_eq!(discover(&MemoryFiles::of(&files)).frameworks.len(), 15_000);
}
