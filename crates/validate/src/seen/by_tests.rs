//! Criteria that name a test: whether it passed shows whether they are met.

use assay_checks::check::CheckOutcome;
use assay_checks::results::{Outcome, TestResult};
use assay_gates::reconcile::Answer;

use crate::spec::criteria;

/// Words of a criterion that wants something not to be there, of which a test that passes may show the
/// opposite.
const GONE: [&str; 19] = [
    "remove", "removed", "removes", "delete", "deleted", "deletes", "gone", "drop", "dropped",
    "longer", "not", "no", "never", "nothing", "nobody", "none", "without", "cannot", "nor",
];

/// Answers for a criterion that names tests in back-ticks, where each of them ran in this round.
pub(super) fn answer(criterion: &str, checks: &[CheckOutcome]) -> Option<Answer> {
    let named: Vec<&str> = criterion.split('`').skip(1).step_by(2).collect();
    let said = criterion.split('`').step_by(2).flat_map(|part| part.split(char::is_whitespace));
    let mut words = said.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    if words.any(|word| GONE.iter().any(|gone| word.eq_ignore_ascii_case(gone))) {
        return None;
    }
    // A test shows what its own sentence says, and nothing of the others.
    let names_one = |part: &String| part.contains('`');
    if !criteria::sentences(criterion).iter().all(names_one) {
        return None;
    }
    let found: Vec<Vec<(&CheckOutcome, &TestResult)>> =
        named.iter().map(|name| tests(name.trim(), checks)).filter(|it| !it.is_empty()).collect();
    let all = || found.iter().flatten();
    if found.is_empty() || found.len() < named.len() {
        return None;
    }
    let failed = all().find(|(_, test)| matches!(test.outcome, Outcome::Failed { .. }));
    if let Some((check, test)) = failed {
        return Some(Answer::NotMet { why: format!("`{}` fails in `{}`", test.name, check.name) });
    }
    let skipped = all().find(|(_, test)| test.outcome == Outcome::Skipped);
    if let Some((check, test)) = skipped {
        let why = format!("`{}` is skipped in `{}`", test.name, check.name);
        return Some(Answer::CannotTell { why });
    }
    let (check, test) = all().next()?;
    Some(Answer::Met { at: None, seen: format!("`{}` passed in `{}`", test.name, check.name) })
}

/// Finds the tests of a name: the whole one, or what they are called within their suite.
fn tests<'a>(name: &str, checks: &'a [CheckOutcome]) -> Vec<(&'a CheckOutcome, &'a TestResult)> {
    let of_check = |check: &'a CheckOutcome| {
        let results = check.tests.iter().flat_map(|tests| &tests.results);
        results.filter(|test| is_named(&test.name, name)).map(move |test| (check, test))
    };
    checks.iter().flat_map(of_check).collect()
}

/// Says whether a test goes by a name. That what it is called ends alike is not enough: `adds` is
/// not `never adds`.
fn is_named(test: &str, name: &str) -> bool {
    let ends = ["::", " > ", "."]
        .iter()
        .any(|mark| test.strip_suffix(name).is_some_and(|before| before.ends_with(mark)));
    !name.is_empty() && (test == name || ends || of_class(test) == Some(name))
}

/// Gives what a test is called that has its class behind it, such as `test_adds (tests.Cart)`.
fn of_class(test: &str) -> Option<&str> {
    let (name, class) = test.strip_suffix(')')?.split_once(" (")?;
    (!name.contains(' ') && !class.contains(' ') && class.contains('.')).then_some(name)
}
