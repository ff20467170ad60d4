//! The checks that a risk requires: [`plan_checks`].
//!
//! Commands that the spec names come first; for kinds that it leaves out, the tests that were found
//! in the project are used. A check that is required and not available is reported as such: it is
//! not run, and is never a pass.

use serde::{Deserialize, Serialize};

use crate::check::{CheckKind, RequiredCheck};
use crate::command::{CommandLine, REPORTS};
use crate::discovery::{
    Discovery, Framework, ResultSource, TestKind, readable_command, with_pytest_option,
    without_reporting,
};
use crate::verification::{Group, NamedCommand, Verification};

/// The default paths of coverage reports of common tools.
const COMMON_REPORTS: [&str; 14] = [
    "coverage.xml",
    "coverage.json",
    "coverage.lcov",
    "lcov.info",
    "coverage/lcov.info",
    "coverage/coverage-final.json",
    "coverage/cobertura-coverage.xml",
    "cobertura.xml",
    "target/site/jacoco/jacoco.xml",
    "build/reports/jacoco/test/jacocoTestReport.xml",
    "cover.out",
    "coverage.out",
    "coverage.txt",
    "target/llvm-cov/coverage.json",
];

/// Parts of commands that measure coverage.
const COVERAGE_COMMANDS: [&str; 7] =
    ["--cov", "cover", "llvm-cov", "tarpaulin", "jacoco", "nyc", "c8"];

/// The risk of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// No check is required.
    Trivial,
    /// A smoke test is required.
    Low,
    /// Tests of single parts and of parts together are required.
    Medium,
    /// All tests and a sufficient coverage are required.
    High,
    /// The checks of high risk, tests of the whole as its users see it, and the confirmation of a
    /// person are required.
    Critical,
}

impl Risk {
    /// Returns the kinds of checks that the risk requires.
    pub fn requires(self) -> &'static [CheckKind] {
        use CheckKind::{Coverage, E2e, FullSuite, Integration, Manual, Smoke, Unit};
        match self {
            Risk::Trivial => &[],
            Risk::Low => &[Smoke],
            Risk::Medium => &[Unit, Integration],
            Risk::High => &[Unit, Integration, FullSuite, Coverage],
            Risk::Critical => &[Unit, Integration, FullSuite, Coverage, E2e, Manual],
        }
    }

    /// Parses the name of a risk, ignoring case.
    pub fn parse(name: &str) -> Option<Risk> {
        match name.trim().to_ascii_lowercase().as_str() {
            "trivial" => Some(Risk::Trivial),
            "low" => Some(Risk::Low),
            "medium" => Some(Risk::Medium),
            "high" => Some(Risk::High),
            "critical" => Some(Risk::Critical),
            _ => None,
        }
    }
}

/// A required check, and the way to run it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedCheck {
    /// A check that can be run.
    Run(Box<RequiredCheck>),
    /// A check that a person performs and confirms.
    ByHand {
        /// The kind of check.
        kind: CheckKind,
        /// The steps, if the spec names them.
        steps: Vec<Vec<String>>,
    },
    /// A flow that is tried out in the app, or a page that is opened.
    TryOut {
        /// The name of the flow, or the path of the page.
        flow: String,
    },
    /// A check for which no command exists, so that it is not run.
    Unavailable {
        /// The kind of check.
        kind: CheckKind,
        /// The reason.
        why: String,
    },
}

/// Returns the checks that a risk requires, from the commands of a spec and the tests of a project.
/// A command that serves several purposes occurs once.
pub fn plan_checks(risk: Risk, spec: &Verification, found: &Discovery) -> Vec<PlannedCheck> {
    let wanted = CommandSources { spec, found };
    let all: Vec<PlannedCheck> =
        kinds(risk, spec).into_iter().flat_map(|kind| wanted.of(kind)).collect();
    deduplicate(all)
}

/// Returns the kinds of checks: those of the risk, and those that the plan requires in addition. A
/// minimum coverage in the spec counts from medium risk on.
fn kinds(risk: Risk, spec: &Verification) -> Vec<CheckKind> {
    let mut kinds = risk.requires().to_vec();
    let asked = [
        (spec.unit.is_required, CheckKind::Unit),
        (spec.integration.is_required, CheckKind::Integration),
        (spec.minimum_coverage.is_some() && risk >= Risk::Medium, CheckKind::Coverage),
        (spec.e2e.is_required, CheckKind::E2e),
    ];
    kinds.extend(asked.iter().filter(|(is_asked, _)| *is_asked).map(|(_, kind)| *kind));
    kinds.extend(&spec.criterion_kinds);
    kinds.extend((!spec.criterion_commands.is_empty()).then_some(CheckKind::Criterion));
    kinds.sort();
    kinds.dedup();
    kinds
}

/// Removes repeated commands: each stays for the first purpose that it serves, with the others
/// added. Coverage is measured in a run of its own: a coverage below the minimum is no evidence
/// against the tests.
fn deduplicate(all: Vec<PlannedCheck>) -> Vec<PlannedCheck> {
    let mut kept: Vec<PlannedCheck> = Vec::new();
    for required in all {
        let check = match &required {
            PlannedCheck::Run(check) if check.kind != CheckKind::Coverage => check,
            PlannedCheck::Run(_)
            | PlannedCheck::ByHand { .. }
            | PlannedCheck::TryOut { .. }
            | PlannedCheck::Unavailable { .. } => {
                kept.push(required);
                continue;
            }
        };
        let same = kept.iter_mut().find_map(|known| match known {
            PlannedCheck::Run(before) if is_same_run(before, check) => Some(before),
            PlannedCheck::Run(_)
            | PlannedCheck::ByHand { .. }
            | PlannedCheck::TryOut { .. }
            | PlannedCheck::Unavailable { .. } => None,
        });
        match same {
            Some(before) => {
                if before.kind != check.kind && !before.also.contains(&check.kind) {
                    before.also.push(check.kind);
                }
            }
            None => kept.push(required),
        }
    }
    kept
}

/// Returns true if two checks run the same tests, so that one run serves both. The command of a
/// criterion is compared literally; elsewhere two spellings of one run are the same.
fn is_same_run(before: &RequiredCheck, check: &RequiredCheck) -> bool {
    let kinds = [before.kind, check.kind];
    let is_comparable = before.folder == check.folder && !kinds.contains(&CheckKind::Coverage);
    let is_spelt_alike = || {
        !kinds.contains(&CheckKind::Criterion)
            && without_reporting(&before.command) == without_reporting(&check.command)
    };
    is_comparable && (before.command == check.command || is_spelt_alike())
}

/// Makes a command that measures coverage write a report, and sets the paths of the report. pytest
/// prints the coverage only, unless a variable requests a file; Go names a file.
fn report_coverage(check: &mut RequiredCheck) {
    check.coverage = COMMON_REPORTS.map(str::to_owned).to_vec();
    let text = check.command.to_string();
    if text.contains("pytest") && text.contains("--cov") {
        let report = format!("{REPORTS}/coverage.json");
        let option = format!("--cov-report=json:{report}");
        check.command = with_pytest_option(check.command.clone(), &option);
        check.coverage.push(report);
    }
    let profile =
        text.split_once("-coverprofile").map(|(_, rest)| rest.trim_start_matches(['=', ' ']));
    let profile = profile.and_then(|rest| rest.split_whitespace().next());
    check.coverage.extend(profile.map(str::to_owned));
}

/// The commands to choose from: those of the spec and those of the project.
struct CommandSources<'a> {
    spec: &'a Verification,
    found: &'a Discovery,
}

impl CommandSources<'_> {
    fn of(&self, kind: CheckKind) -> Vec<PlannedCheck> {
        match kind {
            CheckKind::Smoke => vec![self.smoke()],
            CheckKind::Unit => {
                self.group(kind, &self.spec.unit, |it| it.kind != TestKind::Integration)
            }
            CheckKind::Integration => self.group(kind, &self.spec.integration, |it| {
                it.has_integration || matches!(it.kind, TestKind::Integration | TestKind::All)
            }),
            CheckKind::FullSuite => self.full_suite(),
            CheckKind::Coverage => self.coverage(),
            CheckKind::E2e => self.e2e(),
            CheckKind::Manual => {
                let steps = self.spec.e2e.by_hand.iter().chain(&self.spec.unit.by_hand);
                let steps = steps.chain(&self.spec.integration.by_hand).cloned().collect();
                vec![PlannedCheck::ByHand { kind, steps }]
            }
            CheckKind::Criterion => {
                self.spec.criterion_commands.iter().map(|it| self.parse(kind, it)).collect()
            }
        }
    }

    /// Returns the smoke test: the first unit command of the spec, else the outermost build, else
    /// the outermost suite. A suite comes before a build in a deeper folder, since such a build is
    /// no evidence for the whole project.
    fn smoke(&self) -> PlannedCheck {
        let kind = CheckKind::Smoke;
        if let Some(command) = self.spec.unit.commands.first() {
            return self.parse(kind, command);
        }
        let depth = |folder: &str| folder.split('/').filter(|part| !part.is_empty()).count();
        let build = self.found.builds.iter().min_by_key(|it| depth(&it.folder));
        let suite =
            self.suites().min_by_key(|it| (it.kind == TestKind::Integration, depth(&it.folder)));
        let build =
            build.filter(|build| suite.is_none_or(|it| depth(&build.folder) <= depth(&it.folder)));
        match (build, suite) {
            (Some(build), _) => PlannedCheck::Run(Box::new(RequiredCheck {
                folder: build.folder.clone(),
                reading: ResultSource::Nothing,
                ..self.check(kind, build.command.clone())
            })),
            (None, Some(suite)) => self.framework(kind, suite),
            (None, None) => {
                let why = format!(
                    "the spec names no unit test, and neither a build nor tests were found in the \
                     project{}",
                    remedy(kind)
                );
                PlannedCheck::Unavailable { kind, why }
            }
        }
    }

    /// Returns the commands of a group in the spec, or else the frameworks that match.
    fn group(
        &self,
        kind: CheckKind,
        group: &Group,
        fits: impl Fn(&Framework) -> bool,
    ) -> Vec<PlannedCheck> {
        let named: Vec<PlannedCheck> =
            group.commands.iter().map(|command| self.parse(kind, command)).collect();
        if !named.is_empty() {
            return named;
        }
        let fitting: Vec<PlannedCheck> =
            self.suites().filter(|it| fits(it)).map(|it| self.framework(kind, it)).collect();
        match fitting.is_empty() {
            false => fitting,
            true => vec![self.missing_check(kind)],
        }
    }

    /// Returns every suite of the project, and the commands that the spec names in addition.
    fn full_suite(&self) -> Vec<PlannedCheck> {
        let kind = CheckKind::FullSuite;
        let suites = self.suites().map(|it| self.framework(kind, it));
        let groups = [&self.spec.unit, &self.spec.integration];
        let named = groups.into_iter().flat_map(|group| &group.commands);
        let all: Vec<PlannedCheck> =
            suites.chain(named.map(|command| self.parse(kind, command))).collect();
        if all.is_empty() { vec![self.missing_check(kind)] } else { all }
    }

    /// Returns the commands of the spec that measure coverage, or else the common ones for the
    /// frameworks.
    fn coverage(&self) -> Vec<PlannedCheck> {
        let kind = CheckKind::Coverage;
        let minimum = self.spec.minimum_coverage;
        let groups = [&self.spec.unit, &self.spec.integration];
        let measures =
            |it: &&NamedCommand| COVERAGE_COMMANDS.iter().any(|mark| it.command.contains(mark));
        let named = groups.into_iter().flat_map(|group| &group.commands).filter(measures);
        let mut all: Vec<PlannedCheck> = named.map(|command| self.parse(kind, command)).collect();
        for required in &mut all {
            if let PlannedCheck::Run(check) = required {
                report_coverage(check);
                check.minimum_coverage = minimum;
            }
        }
        if !all.is_empty() {
            return all;
        }
        let runs = self.suites().filter_map(|it| Some((it, it.coverage.as_ref()?)));
        all.extend(runs.map(|(framework, run)| {
            PlannedCheck::Run(Box::new(RequiredCheck {
                folder: framework.folder.clone(),
                coverage: vec![run.glob.clone()],
                minimum_coverage: minimum,
                ..self.check(kind, run.command.clone())
            }))
        }));
        if all.is_empty() {
            let why = "no command of the spec measures coverage, and there is no standard \
                       coverage command for this project";
            all.push(PlannedCheck::Unavailable { kind, why: why.to_owned() });
        }
        all
    }

    /// Returns the commands of the spec, or else the frameworks for the whole. Steps for a person
    /// are added as such.
    fn e2e(&self) -> Vec<PlannedCheck> {
        let kind = CheckKind::E2e;
        let group = &self.spec.e2e;
        let live = self.found.frameworks.iter().filter(|it| it.is_live());
        let found = live.filter(|it| it.kind == TestKind::E2e);
        let named = group.commands.iter().map(|command| self.parse(kind, command));
        let mut all: Vec<PlannedCheck> = named.collect();
        if all.is_empty() {
            all.extend(found.map(|it| self.framework(kind, it)));
        }
        all.extend(group.flows.iter().map(|flow| PlannedCheck::TryOut { flow: flow.clone() }));
        if !group.by_hand.is_empty() {
            all.push(PlannedCheck::ByHand { kind, steps: group.by_hand.clone() });
        }
        if all.is_empty() { vec![self.missing_check(kind)] } else { all }
    }

    /// Returns the suites that can be run, without those for the whole.
    fn suites(&self) -> impl Iterator<Item = &Framework> {
        let live = self.found.frameworks.iter().filter(|it| it.is_live());
        live.filter(|it| it.kind != TestKind::E2e)
    }

    fn check(&self, kind: CheckKind, command: CommandLine) -> RequiredCheck {
        RequiredCheck {
            name: format!("{}: {command}", kind.name()),
            kind,
            also: Vec::new(),
            command,
            folder: String::new(),
            reading: ResultSource::Guess,
            coverage: Vec::new(),
            minimum_coverage: None,
            expect: None,
            network: self.spec.network,
        }
    }

    fn parse(&self, kind: CheckKind, named: &NamedCommand) -> PlannedCheck {
        let expect = named.expect.clone();
        match CommandLine::parse(&named.command) {
            Ok(command) => {
                // A known command is run with a readable report.
                let known = self.suites().find(|it| it.folder.is_empty() && it.command == command);
                let check = match known {
                    Some(framework) => self.of_framework(kind, framework),
                    None => match readable_command(&command) {
                        Some((run, reading)) => {
                            RequiredCheck { reading, command: run, ..self.check(kind, command) }
                        }
                        None => self.check(kind, command),
                    },
                };
                PlannedCheck::Run(Box::new(RequiredCheck { expect, ..check }))
            }
            Err(error) => {
                let why = format!("cannot run `{}`: {error}", named.command);
                PlannedCheck::Unavailable { kind, why }
            }
        }
    }

    fn framework(&self, kind: CheckKind, framework: &Framework) -> PlannedCheck {
        PlannedCheck::Run(Box::new(self.of_framework(kind, framework)))
    }

    fn of_framework(&self, kind: CheckKind, framework: &Framework) -> RequiredCheck {
        RequiredCheck {
            name: match framework.folder.as_str() {
                "" => format!("{}: {}", kind.name(), framework.command),
                folder => format!("{}: {} in {folder}", kind.name(), framework.command),
            },
            folder: framework.folder.clone(),
            reading: framework.reading.clone(),
            ..self.check(kind, framework.run.clone())
        }
    }

    fn missing_check(&self, kind: CheckKind) -> PlannedCheck {
        let what = match kind {
            CheckKind::Integration => "integration tests",
            CheckKind::E2e => "end-to-end tests",
            CheckKind::Unit => "unit tests",
            CheckKind::Smoke
            | CheckKind::FullSuite
            | CheckKind::Coverage
            | CheckKind::Manual
            | CheckKind::Criterion => "tests",
        };
        let why =
            format!("the spec names no {what}, and none were found in the project{}", remedy(kind));
        PlannedCheck::Unavailable { kind, why }
    }
}

/// Returns the remedy for missing tests of a kind, for the message that reports them.
fn remedy(kind: CheckKind) -> &'static str {
    match kind {
        CheckKind::Integration => {
            "; a test file with `integration` in its path counts, such as \
             `tests/integration/test_api.py` (in Rust any file in `tests/`), and so does a command \
             below `Integration Tests` in the section `Verification` of `spec.md` or under \
             `integration_tests.commands` in the plan"
        }
        CheckKind::E2e => {
            "; name a command below `E2E Tests` in the section `Verification` of `spec.md` or \
             under `e2e_tests.commands` in the plan, or steps for a person (`Manual: A → B`)"
        }
        CheckKind::Unit
        | CheckKind::Smoke
        | CheckKind::FullSuite
        | CheckKind::Coverage
        | CheckKind::Manual
        | CheckKind::Criterion => {
            "; name a command below `Unit Tests` in the section `Verification` of `spec.md`, or \
             under `qa.frameworks` in the configuration"
        }
    }
}
