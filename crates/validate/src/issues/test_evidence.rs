//! Judges criteria by tests and commands: [`judge`] finds the results that a criterion names.

use assay_checks::check::{CheckKind, CheckOutcome, CheckState};
use assay_checks::command::CommandLine;
use assay_checks::results::{TestOutcome, TestResult};
use assay_gates::reconcile::Answer;

use super::test_id::TestId;
use crate::spec::claim::TestClaim;

/// A result that a criterion depends on.
enum NamedResult<'a> {
    Test(&'a CheckOutcome, &'a TestResult),
    Command(&'a CheckOutcome),
}

/// Returns the answer to a criterion. Returns `None` if a word of the criterion is not understood,
/// or if something that it names did not run in this round.
pub(super) fn judge(criterion: &str, checks: &[CheckOutcome]) -> Option<Answer> {
    let (names, beside, says_pass) = match TestClaim::read(criterion)? {
        TestClaim::All { kind, at_least } => return Some(all(kind, at_least, checks)),
        TestClaim::Named { names, beside, says_pass } => (names, beside, says_pass),
    };
    let mut found = Vec::new();
    for name in &names {
        let results = results(name, checks, says_pass);
        if results.is_empty() {
            return None;
        }
        found.extend(results);
    }
    found.extend(beside.iter().flat_map(|name| results(name, checks, false)));
    Some(answer_of(&found))
}

/// Returns true if results of tests or commands decide a criterion, even if none ran yet.
pub(super) fn is_about_tests(criterion: &str) -> bool {
    TestClaim::read(criterion).is_some()
}

/// Returns the answer to a criterion that all tests of a kind pass. The criterion is met if at
/// least one test ran, and at least `at_least` passed.
fn all(kind: CheckKind, at_least: usize, checks: &[CheckOutcome]) -> Answer {
    let is_of_kind = |check: &&CheckOutcome| check.kind == kind || check.also.contains(&kind);
    let of_kind: Vec<&CheckOutcome> = checks.iter().filter(is_of_kind).collect();
    let bad = of_kind.iter().find(|check| !check.is_pass());
    if let Some(check) = bad {
        return of_command(check);
    }
    let ran: usize =
        of_kind.iter().filter_map(|check| check.tests.as_ref()).map(|it| it.totals.passed).sum();
    let names: Vec<String> = of_kind.iter().map(|check| format!("`{}`", check.name)).collect();
    match ran {
        0 => Answer::CannotTell { why: "no test of that kind ran in this round".to_owned() },
        ran if ran < at_least => {
            Answer::NotMet { why: format!("{ran} tests passed in {}", names.join(", ")) }
        }
        ran => {
            Answer::Met { at: None, seen: format!("{ran} tests passed in {}", names.join(", ")) }
        }
    }
}

/// Returns the results for a name: tests with that name, all tests of a suite, or a command.
fn results<'a>(name: &str, checks: &'a [CheckOutcome], says_pass: bool) -> Vec<NamedResult<'a>> {
    let wanted = TestId::of_criterion(name);
    let all = || {
        checks.iter().flat_map(|check| {
            let tests = check.tests.iter().flat_map(|tests| &tests.results);
            tests.map(move |test| (check, test, TestId::of_result(&test.name)))
        })
    };
    let chosen = |is_meant: &dyn Fn(&TestId) -> bool| -> Vec<NamedResult<'a>> {
        let meant = all().filter(|(_, _, id)| is_meant(id));
        meant.map(|(check, test, _)| NamedResult::Test(check, test)).collect()
    };
    let mut found = chosen(&|id| id.ends_with(&wanted));
    if found.is_empty() {
        let ids = all().filter(|(_, _, id)| wanted.ends_with(id) && wanted.has_path());
        // The path before the name cannot be verified, so the name must be unique.
        let only: Vec<NamedResult<'a>> =
            ids.map(|(check, test, _)| NamedResult::Test(check, test)).collect();
        let mut names: Vec<&str> = only.iter().filter_map(NamedResult::test_name).collect();
        names.dedup();
        found = if names.len() == 1 { only } else { Vec::new() };
    }
    if found.is_empty() && (says_pass || wanted.looks_like_suite()) {
        found = chosen(&|id| id.is_within(&wanted));
    }
    if found.is_empty()
        && let Ok(command) = CommandLine::parse(name)
    {
        let command = command.to_string();
        let is_run = |check: &&CheckOutcome| {
            check.name.split_once(": ").is_some_and(|(_, run)| run == command)
        };
        found = checks.iter().filter(is_run).map(NamedResult::Command).collect();
    }
    found
}

impl<'a> NamedResult<'a> {
    fn test_name(&self) -> Option<&'a str> {
        match self {
            NamedResult::Test(_, test) => Some(test.name.as_str()),
            NamedResult::Command(_) => None,
        }
    }

    fn answer(&self) -> Answer {
        match self {
            NamedResult::Command(check) => of_command(check),
            NamedResult::Test(check, test) => {
                let (name, check) = (&test.name, &check.name);
                match test.outcome {
                    TestOutcome::Passed => {
                        Answer::Met { at: None, seen: format!("`{name}` passed in `{check}`") }
                    }
                    TestOutcome::Failed { .. } => {
                        Answer::NotMet { why: format!("`{name}` fails in `{check}`") }
                    }
                    TestOutcome::Skipped => {
                        Answer::CannotTell { why: format!("`{name}` is skipped in `{check}`") }
                    }
                }
            }
        }
    }
}

/// Returns the worst answer of all results.
fn answer_of(found: &[NamedResult<'_>]) -> Answer {
    let answers: Vec<Answer> = found.iter().map(NamedResult::answer).collect();
    let not_met = answers.iter().find(|it| matches!(it, Answer::NotMet { .. }));
    let unclear = answers.iter().find(|it| matches!(it, Answer::CannotTell { .. }));
    let nothing = || Answer::CannotTell { why: "no test that the criterion names ran".to_owned() };
    not_met.or(unclear).or(answers.first()).cloned().unwrap_or_else(nothing)
}

fn of_command(check: &CheckOutcome) -> Answer {
    let name = &check.name;
    match &check.state {
        CheckState::Passed => Answer::Met { at: None, seen: format!("`{name}` passed") },
        CheckState::Failed { why } => Answer::NotMet { why: format!("`{name}` failed: {why}") },
        CheckState::TimedOut => Answer::NotMet { why: format!("`{name}` timed out") },
        CheckState::NotRun { why } => {
            Answer::CannotTell { why: format!("`{name}` did not run: {why}") }
        }
    }
}
