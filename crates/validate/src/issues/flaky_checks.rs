//! Finds checks that failed on a tree and pass later on the same tree: [`from_flaky_checks`].
//!
//! The same tree has the same result, unless something outside of it decides. This may be a file
//! that the code writes when it first runs, so the second result is no better than the first.

use assay_checks::check::{CheckOutcome, CheckState};
use assay_checks::results::{TestOutcome, TestReport};

use crate::issue::{Issue, IssueKind, Remedy};
use crate::loop_state::Round;
use crate::tree_hash::TreeHash;

/// Returns an issue for each test that failed on the same tree in an earlier round and passes now.
/// A check that could not run or timed out is no evidence against the tree.
pub(crate) fn from_flaky_checks(
    tree: &TreeHash,
    checks: &[CheckOutcome],
    before: &[Round],
) -> Vec<Issue> {
    let mut issues: Vec<Issue> = Vec::new();
    for round in before.iter().filter(|round| round.tree == *tree) {
        for earlier in &round.checks {
            let now = checks.iter().find(|now| now.name == earlier.name && now.is_pass());
            let (Some(now), CheckState::Failed { .. }) = (now, &earlier.state) else { continue };
            for name in failed_then(earlier, now) {
                let issue = issue(&name, round.number, now);
                if issues.iter().all(|known| known.key != issue.key) {
                    issues.push(issue);
                }
            }
        }
    }
    issues
}

/// Returns the names of the tests that failed and pass now, or of the check if there are no such
/// tests.
fn failed_then(earlier: &CheckOutcome, now: &CheckOutcome) -> Vec<String> {
    let passes = |name: &str| {
        let results = now.tests.iter().flat_map(|tests| &tests.results);
        results.into_iter().any(|test| test.name == name && test.outcome == TestOutcome::Passed)
    };
    let failed = earlier.tests.iter().flat_map(TestReport::failed).map(|test| test.name.clone());
    let failed: Vec<String> = failed.filter(|name| passes(name)).collect();
    if failed.is_empty() { vec![earlier.name.clone()] } else { failed }
}

fn issue(name: &str, round: u32, check: &CheckOutcome) -> Issue {
    let why = format!(
        "`{name}` failed on the same tree in round {round}, and passes now: the result depends on \
         something outside the tree, such as a leftover file, or on chance; fix the flaky check, \
         or ask a person to decide"
    );
    Issue::new(format!("Failed before on the same tree: {name}"), IssueKind::from(check.kind))
        .with_key(format!("again:{name}"))
        .with_description(why)
        .with_remedy(Remedy::Decision)
}
