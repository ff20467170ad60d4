//! Kept tests: the checks run again with tests that the work under test did not write.
//!
//! If a branch or a fixer touched a test file or the configuration of a test runner, the checks run
//! once more with the version of the merge base, and with that of the first tree that the loop
//! judged. A test that passes only in its changed version, or is gone or skipped, is a
//! [`WeakenedTest`].

pub(crate) mod compare;
pub(crate) mod excuse;
pub(crate) mod lost_tests;
pub(crate) mod removal;
pub(crate) mod resolve;
pub(crate) mod support;
pub(crate) mod swap;
pub(crate) mod test_sources;

use serde::{Deserialize, Serialize};

use assay_checks::check::CheckKind;

use crate::issue::{Issue, IssueKind, Remedy};

/// Maximum number of weakened tests that are reported, each as an issue.
const MAX_WEAKENED: usize = 50;

/// The results of the checks with kept tests in place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptTestRun {
    /// The version of the tests, such as `main` or `the first round`.
    pub version: String,
    /// The files that were replaced with their kept version.
    pub files: Vec<String>,
    /// The number of tests that ran, as far as the checks report it.
    pub ran: usize,
    /// The tests that prove less than before.
    pub weakened: Vec<WeakenedTest>,
    /// Tests that were renamed or moved, and prove the same as before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<String>,
    /// Tests that changed as a criterion of the spec demands, each with the criterion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excused: Vec<(String, String)>,
    /// Commands of kept files whose scripts cannot be determined, so that the scripts may have been
    /// changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unresolved: Vec<String>,
}

/// A test that proves less than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeakenedTest {
    /// The name of the test, or of the check if its tests have no names.
    pub test: String,
    /// The file of the test; `None` if the runner does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The kind of the check that runs the test.
    pub kind: CheckKind,
    /// The state of the test now.
    pub now: TestFate,
    /// The message of the kept version of the test; `None` if that version passes.
    pub fails: Option<String>,
}

/// The state of a test after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestFate {
    /// The changed version of the test passes.
    Passes,
    /// The test is skipped, or expected to fail.
    Skipped,
    /// The test is gone.
    Gone,
    /// The check passes, and reports no test by name.
    CheckPasses,
    /// The kept version of the file cannot be loaded, so that none of its tests ran.
    Unloadable,
    /// Fewer tests run than before.
    Fewer,
    /// The code under test overwrote the kept files.
    Overwritten,
    /// The work tree has another commit of a submodule with tests.
    Submodule,
    /// The sources of the version have the test, and no run has a result for it.
    NoResult,
}

impl WeakenedTest {
    /// Returns a sentence that explains how the test was weakened.
    fn explanation(&self, version: &str) -> String {
        let name = &self.test;
        let kept = match &self.fails {
            Some(said) if said.is_empty() => format!("the version of {version} fails"),
            Some(said) => format!("the version of {version} fails: {said}"),
            None => format!("the version of {version} runs and passes"),
        };
        match self.now {
            TestFate::Passes | TestFate::CheckPasses => {
                format!("`{name}` passes only in the version that this branch changed; {kept}")
            }
            TestFate::Skipped => {
                format!(
                    "`{name}` is skipped or expected to fail in the version that this branch changed; {kept}"
                )
            }
            TestFate::Gone => format!("`{name}` is missing; {kept}"),
            TestFate::Unloadable => {
                let said = self.fails.as_deref().unwrap_or_default();
                format!("`{name}` of {version} cannot be loaded, so none of its tests ran: {said}")
            }
            TestFate::Fewer => {
                format!("`{name}` runs fewer tests than the version of {version}")
            }
            TestFate::Overwritten => format!(
                "the code under test overwrote `{name}` while the version of {version} was in place"
            ),
            TestFate::NoResult => {
                let file = self.file.as_deref().unwrap_or("the sources");
                format!(
                    "`{name}` is a test in `{file}` of {version}, and no run reports a result for \
                     it: the crate no longer compiles it, or the test was deleted"
                )
            }
            TestFate::Submodule => format!(
                "tests are in the submodule `{name}`, or import from it, and the work tree and \
                 {version} have different commits of the submodule; tests of a submodule are not \
                 compared"
            ),
        }
    }

    /// Returns the issue of the weakened test. A fix of the code, the earlier version of the test
    /// or a person's decision resolves it.
    fn issue(&self, version: &str) -> Issue {
        let fix = "fix the code, or restore the test; if the change of the test is intended, a \
                   person must decide the issue";
        let issue = Issue::new(format!("Weakened test: {}", self.test), IssueKind::from(self.kind))
            .with_key(format!("weakened:{}", self.test))
            .with_description(self.explanation(version))
            .with_remedy(Remedy::FixOrDecision);
        Issue { file: self.file.clone(), fix: Some(fix.to_owned()), ..issue }
    }
}

/// Returns an issue for each weakened test of the runs, each once.
pub(crate) fn weakened_test_issues(runs: &[KeptTestRun]) -> Vec<Issue> {
    let mut issues: Vec<Issue> = Vec::new();
    for run in runs {
        for weakened in run.weakened.iter().take(MAX_WEAKENED) {
            let issue = weakened.issue(&run.version);
            if issues.iter().all(|known| known.key != issue.key) {
                issues.push(issue);
            }
        }
        let more = run.weakened.len().saturating_sub(MAX_WEAKENED);
        if let (Some(last), true) = (run.weakened.last(), more > 0) {
            let all = WeakenedTest { test: format!("{more} more"), ..last.clone() };
            issues.push(all.issue(&run.version));
        }
    }
    issues
}

/// Returns true if an issue reports a missing test, and a run with kept tests has more details on
/// that test.
pub(crate) fn explains(runs: &[KeptTestRun], issue: &Issue) -> bool {
    let gone = issue.key.as_deref().and_then(|key| key.strip_prefix("gone:"));
    let Some(gone) = gone else { return false };
    runs.iter().any(|run| {
        run.renamed.iter().any(|test| test == gone)
            || run.excused.iter().any(|(test, _)| test == gone)
            || run.weakened.iter().any(|weakened| weakened.test == gone)
    })
}
