//! JavaScript and TypeScript: vitest, jest, mocha, Node's own runner, playwright and cypress, and
//! scripts of a package.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::file_index::{FileIndex, Language, around};
use super::node_reporter::with_node_reporter;
use super::{Build, CoverageRun, Discovery, Framework, ResultSource, TestKind};
use crate::command::{CommandLine, Program, REPORTS};
use crate::results::ResultFormat;

/// The script that `npm init` writes for a project without tests.
const PLACEHOLDER: &str = "no test specified";

/// A test runner: its name, its names in dependencies and in scripts, and the prefix of its
/// configuration files.
struct Runner {
    name: &'static str,
    package: &'static str,
    program: &'static str,
    config: &'static str,
    kind: TestKind,
}

const RUNNERS: [Runner; 5] = [
    Runner {
        name: "vitest",
        package: "vitest",
        program: "vitest",
        config: "vitest.config.",
        kind: TestKind::Unit,
    },
    Runner {
        name: "jest",
        package: "jest",
        program: "jest",
        config: "jest.config.",
        kind: TestKind::Unit,
    },
    Runner {
        name: "mocha",
        package: "mocha",
        program: "mocha",
        config: ".mocharc.",
        kind: TestKind::Unit,
    },
    Runner {
        name: "playwright",
        package: "@playwright/test",
        program: "playwright",
        config: "playwright.config.",
        kind: TestKind::E2e,
    },
    Runner {
        name: "cypress",
        package: "cypress",
        program: "cypress",
        config: "cypress.config.",
        kind: TestKind::E2e,
    },
];

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Manifest {
    scripts: BTreeMap<String, String>,
    dependencies: BTreeMap<String, serde::de::IgnoredAny>,
    dev_dependencies: BTreeMap<String, serde::de::IgnoredAny>,
    workspaces: Option<serde::de::IgnoredAny>,
}

impl Manifest {
    fn needs(&self, package: &str) -> bool {
        self.dependencies.contains_key(package) || self.dev_dependencies.contains_key(package)
    }

    fn script(&self, name: &str) -> Option<&str> {
        let script = self.scripts.get(name).map(String::as_str);
        script.filter(|script| !script.trim().is_empty() && !script.contains(PLACEHOLDER))
    }
}

/// A package with its manifest and its package manager.
struct Package<'s> {
    index: &'s FileIndex<'s>,
    folder: &'s str,
    manifest: Manifest,
    manager: &'static str,
}

pub(super) fn detect(index: &FileIndex<'_>, found: &mut Discovery) {
    let folders: Vec<&str> = index.folders_with("package.json").collect();
    let mut spaces: BTreeSet<&str> = BTreeSet::new();
    for folder in outermost_first(&folders) {
        let text = index.text(folder, "package.json");
        let manifest: Manifest = serde_json::from_str(&text).unwrap_or_default();
        let manager = manager(index, folder);
        let package = Package { index, folder, manifest, manager };
        // A workspace whose root has a test script covers its packages.
        if around(folder, &spaces).is_none() {
            package.detect(found);
        }
        let is_workspace =
            package.manifest.workspaces.is_some() || index.has(folder, "pnpm-workspace.yaml");
        if is_workspace && package.manifest.script("test").is_some() {
            spaces.insert(folder);
        }
    }
}

fn outermost_first<'a>(folders: &[&'a str]) -> Vec<&'a str> {
    let mut sorted = folders.to_vec();
    sorted.sort_by_key(|folder| (!folder.is_empty(), folder.matches('/').count()));
    sorted
}

/// Returns the package manager of a package: the nearest lock file decides.
fn manager(index: &FileIndex<'_>, folder: &str) -> &'static str {
    let mut at = folder;
    loop {
        let known = super::package_manager(index, at);
        if let Some(manager @ ("pnpm" | "yarn" | "npm" | "bun")) = known {
            return manager;
        }
        match at.rsplit_once('/') {
            Some((above, _)) => at = above,
            None if at.is_empty() => return "npm",
            None => at = "",
        }
    }
}

impl Package<'_> {
    fn detect(&self, found: &mut Discovery) {
        let before = found.frameworks.len();
        for runner in &RUNNERS {
            let is_configured =
                self.index.names(self.folder).any(|name| name.starts_with(runner.config));
            if is_configured || self.manifest.needs(runner.package) {
                found.frameworks.push(self.by(runner));
            }
        }
        for (script, kind) in [
            ("test:integration", TestKind::Integration),
            ("integration", TestKind::Integration),
            ("test:e2e", TestKind::E2e),
            ("e2e", TestKind::E2e),
        ] {
            let has = |kind| found.frameworks[before..].iter().any(|it| it.kind == kind);
            if self.manifest.script(script).is_some() && !has(kind) {
                let command = CommandLine::words([self.manager, "run", script]);
                found.frameworks.push(self.framework("script", kind, command));
            }
        }
        let is_tested = |it: &Framework| matches!(it.kind, TestKind::Unit | TestKind::All);
        if let Some(script) = self.manifest.script("test")
            && !found.frameworks[before..].iter().any(is_tested)
        {
            found.frameworks.push(self.by_script(script));
        } else if found.frameworks.len() == before {
            found.frameworks.extend(self.by_files());
        }
        found.builds.extend(self.build());
    }

    fn framework(&self, name: &str, kind: TestKind, command: CommandLine) -> Framework {
        Framework {
            name: name.to_owned(),
            kind,
            folder: self.folder.to_owned(),
            run: command.clone(),
            command,
            reading: ResultSource::Guess,
            coverage: None,
            is_set_up: true,
            has_tests: self.index.has_tests(Language::JavaScript, self.folder),
            has_integration: self.index.has_integration(Language::JavaScript, self.folder),
        }
    }

    fn test_script(&self) -> CommandLine {
        // `bun test` is a runner of its own.
        match self.manager {
            "bun" => CommandLine::words(["bun", "run", "test"]),
            manager => CommandLine::words([manager, "test"]),
        }
    }

    /// Returns the tests of a runner: run by the test script of the package if it mentions the
    /// runner, else by the runner itself.
    fn by(&self, runner: &Runner) -> Framework {
        let script = if runner.kind == TestKind::E2e { "test:e2e" } else { "test" };
        let script = self.manifest.script(script).filter(|text| text.contains(runner.program));
        let command = match (script, runner.kind) {
            (Some(_), TestKind::E2e) => CommandLine::words([self.manager, "run", "test:e2e"]),
            (Some(_), _) => self.test_script(),
            (None, _) => bare(runner),
        };
        let own = script.map_or_else(|| Some(bare(runner)), |script| simple(script, runner));
        let mut framework = self.framework(runner.name, runner.kind, command);
        if let Some(own) = own {
            (framework.run, framework.reading) = readable(own, runner);
        }
        framework.coverage = self.coverage(runner);
        framework
    }

    fn by_script(&self, script: &str) -> Framework {
        let mut framework = self.framework("script", TestKind::All, self.test_script());
        let words: Vec<&str> = script.split_whitespace().collect();
        let runs = words.windows(2).filter(|pair| *pair == ["node", "--test"]).count();
        if runs > 0 {
            framework.name = "node_test".to_owned();
        }
        // The words of the script contain its reporters, no matter which program runs the script.
        if runs == 1
            && let Some(run) = with_node_reporter(framework.run.clone(), &words)
        {
            framework.run = run;
            framework.reading = ResultSource::of_node();
        }
        framework
    }

    /// Returns the tests of Node's own runner, for test files without a configured runner.
    fn by_files(&self) -> Option<Framework> {
        self.index.tests(Language::JavaScript, self.folder).next()?;
        let mut framework =
            self.framework("node_test", TestKind::Unit, CommandLine::words(["node", "--test"]));
        framework.run = with_node_reporter(framework.run, &[])?;
        framework.reading = ResultSource::of_node();
        framework.is_set_up = false;
        Some(framework)
    }

    fn coverage(&self, runner: &Runner) -> Option<CoverageRun> {
        let folder = |option: &str| format!("{option}={REPORTS}");
        let command = match runner.name {
            "jest" => CommandLine::words(["npx", "jest", "--coverage"])
                .with(["--coverageReporters=json", &folder("--coverageDirectory")]),
            "vitest" => CommandLine::words(["npx", "vitest", "run", "--coverage"])
                .with(["--coverage.reporter=json", &folder("--coverage.reportsDirectory")]),
            "mocha" => {
                let by = ["nyc", "c8"].into_iter().find(|by| self.manifest.needs(by))?;
                let report = folder(if by == "nyc" { "--report-dir" } else { "--reports-dir" });
                CommandLine::words(["npx", by, "--reporter=json", &report, "mocha"])
            }
            _ => return None,
        };
        Some(CoverageRun { command, glob: format!("{REPORTS}/coverage-final.json") })
    }

    fn build(&self) -> Option<Build> {
        let command = if self.manifest.script("build").is_some() {
            CommandLine::words([self.manager, "run", "build"])
        } else if self.index.has(self.folder, "tsconfig.json") {
            CommandLine::words(["npx", "tsc", "--noEmit"])
        } else {
            return None;
        };
        Some(Build { folder: self.folder.to_owned(), command })
    }
}

/// Returns a command that calls the runner without a script, and exits by itself.
fn bare(runner: &Runner) -> CommandLine {
    let command = CommandLine::words(["npx", runner.program]);
    match runner.name {
        "vitest" | "cypress" => command.with(["run"]),
        "playwright" => command.with(["test"]),
        _ => command,
    }
}

/// Returns a script that only calls the runner as a command; `None` for any other script.
fn simple(script: &str, runner: &Runner) -> Option<CommandLine> {
    let CommandLine { variables, program } = CommandLine::parse(script).ok()?;
    let Program::Words(mut words) = program else { return None };
    if words.first().is_some_and(|word| word == "npx") {
        words.remove(0);
    }
    (words.first().is_some_and(|word| word == runner.program)).then_some(())?;
    let is_option = words.get(1).is_none_or(|word| word.starts_with('-'));
    if runner.name == "vitest" && is_option {
        words.insert(1, "run".to_owned());
    }
    words.insert(0, "npx".to_owned());
    Some(CommandLine { variables, program: Program::Words(words) })
}

/// Adds a report to a command that a user wrote, if it calls one of the runners: directly, or
/// through `npx`, `pnpm` and similar programs.
pub(super) fn readable_command(command: &CommandLine) -> Option<(CommandLine, ResultSource)> {
    let Program::Words(words) = &command.program else { return None };
    let through = ["npx", "pnpm", "yarn", "bunx", "exec", "dlx"];
    let first = words.iter().find(|word| !through.contains(&word.as_str()))?;
    let runner = RUNNERS.iter().find(|runner| runner.program == first)?;
    // A command with reporting options is left as it is.
    let reports = ["--reporter", "--json", "--outputFile"];
    let says = |word: &String| reports.iter().any(|option| word.starts_with(option));
    let (command, reading) = readable(command.clone(), runner);
    (!words.iter().any(says) && reading != ResultSource::Guess).then_some((command, reading))
}

/// Adds options for a readable report to the command of a runner.
fn readable(command: CommandLine, runner: &Runner) -> (CommandLine, ResultSource) {
    let report = format!("{REPORTS}/{}.json", runner.name);
    match runner.name {
        "jest" => (
            command.with(["--json", &format!("--outputFile={report}")]),
            ResultSource::Files { form: ResultFormat::Jest, glob: report },
        ),
        "vitest" => (
            command.with(["--reporter=json", &format!("--outputFile={report}")]),
            ResultSource::Files { form: ResultFormat::Jest, glob: report },
        ),
        "mocha" => (command.with(["--reporter", "tap"]), ResultSource::Printed(ResultFormat::Tap)),
        "playwright" => {
            let report = format!("{REPORTS}/playwright.xml");
            let mut command = command.with(["--reporter=junit"]);
            command.variables.push(("PLAYWRIGHT_JUNIT_OUTPUT_NAME".to_owned(), report.clone()));
            (command, ResultSource::Files { form: ResultFormat::Junit, glob: report })
        }
        _ => (command, ResultSource::Guess),
    }
}
