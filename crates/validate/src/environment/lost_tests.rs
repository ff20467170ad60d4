//! Finds Rust tests that the sources of a version contain and that have no result in any run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use assay_change::{StoredFile, StoredFiles};
use assay_checks::check::{CheckKind, CheckOutcome, RequiredCheck};
use assay_checks::kept::{RustTest, rust_tests, tested_packages, tests_of_root};
use assay_checks::results::TestReport;

use super::LocalEnvironment;
use super::kept_files::TestVersion;
use super::kept_test_runs::{WorkFiles, check_of};
use super::surroundings::broken;
use crate::kept_tests::KeptTestRun;
use crate::kept_tests::excuse::excusing_criterion;
use crate::kept_tests::lost_tests::lost_tests;
use crate::kept_tests::test_sources::TestSources;
use crate::loop_state::LoopState;
use crate::run::StepError;

impl LocalEnvironment<'_> {
    /// Returns the tests of a version without a result in a run of all tests of a crate: a module
    /// that is no longer compiled loses its tests. `runs` are the runs with kept tests so far.
    pub(super) fn lost_tests(
        &self,
        stored: &StoredFiles,
        loop_state: &LoopState,
        version: &TestVersion,
        work: &WorkFiles,
        runs: &[KeptTestRun],
    ) -> Result<Option<KeptTestRun>, StepError> {
        let Some(round) = &loop_state.open else { return Ok(None) };
        let required = self.required().0;
        let checks = required.iter().filter_map(check_of).filter_map(|check| {
            let outcome = round.checks.iter().find(|outcome| outcome.name == check.name)?;
            Some((check, complete_results(check, outcome)?))
        });
        let checks: Vec<(&RequiredCheck, &TestReport)> = checks.collect();
        if checks.is_empty() || !changes_sources(version, work) {
            return Ok(None);
        }
        let before = texts(stored, version)?;
        let read_before = |path: &str| before.get(path).cloned();
        let read_now = |path: &str| match work.get(path) {
            Some(Some(_)) => fs::read_to_string(self.root.join(path)).ok(),
            Some(None) | None => None,
        };
        let now: BTreeSet<String> = work.keys().cloned().collect();
        let paths: BTreeSet<String> = before.keys().cloned().collect();
        let (mut lost, mut sources) = (Vec::new(), TestSources::default());
        for (check, tests) in checks {
            let Some(packages) = tested_packages(check, &paths, &read_before) else { continue };
            let old: Vec<RustTest> =
                packages.iter().flat_map(|package| rust_tests(package, &read_before)).collect();
            let packages = tested_packages(check, &now, &read_now).unwrap_or_default();
            let new = packages.iter().flat_map(|package| {
                let roots = roots_of_tests(package, &now);
                let roots = roots.into_iter().flat_map(|root| tests_of_root(root, &read_now));
                rust_tests(package, &read_now).into_iter().chain(roots).collect::<Vec<_>>()
            });
            let new: Vec<RustTest> = new.collect();
            let names = tests.results.iter().map(|result| result.name.as_str());
            lost.extend(lost_tests(&old, &new, names));
        }
        let is_renamed = |name: &String| runs.iter().any(|run| run.renamed.contains(name));
        lost.retain(|it| !is_renamed(&it.test));
        if lost.is_empty() {
            return Ok(None);
        }
        let files: BTreeSet<String> = lost.iter().filter_map(|it| it.file.clone()).collect();
        sources.kept = files.iter().filter_map(|file| read_before(file)).collect();
        let criteria = self.first_criteria(loop_state);
        let mut run = KeptTestRun {
            version: version.name.clone(),
            files: files.into_iter().collect(),
            ran: 0,
            weakened: Vec::new(),
            renamed: Vec::new(),
            excused: Vec::new(),
            unresolved: Vec::new(),
        };
        for test in lost {
            match excusing_criterion(&test.test, &criteria, &sources) {
                Some(criterion) => run.excused.push((test.test, criterion.to_owned())),
                None => run.weakened.push(test),
            }
        }
        Ok(Some(run))
    }
}

/// Returns the results of a check that passed; `None` if they do not name all tests that ran.
fn complete_results<'a>(
    check: &RequiredCheck,
    outcome: &'a CheckOutcome,
) -> Option<&'a TestReport> {
    let tests = outcome.tests.as_ref()?;
    let counted = tests.totals.ran().saturating_add(tests.totals.skipped);
    let is_complete = !tests.is_cut && tests.results.len() >= counted;
    (check.kind != CheckKind::Coverage && outcome.is_pass() && is_complete).then_some(tests)
}

/// Returns true if the work tree has another version of a Rust source or of a manifest.
fn changes_sources(version: &TestVersion, work: &WorkFiles) -> bool {
    let mut sources = version.tree.files.iter().filter(|(path, _)| is_source(path));
    sources.any(|(path, file)| work.get(path) != Some(&Some(file.id.clone())))
}

fn is_source(path: &str) -> bool {
    path.ends_with(".rs") || path == "Cargo.toml" || path.ends_with("/Cargo.toml")
}

/// Returns the texts of the sources and manifests of a version.
fn texts(
    stored: &StoredFiles,
    version: &TestVersion,
) -> Result<BTreeMap<String, String>, StepError> {
    let files = version.tree.files.iter().filter(|(path, _)| is_source(path));
    let (paths, files): (Vec<&String>, Vec<&StoredFile>) = files.unzip();
    let contents = stored.read_all(&files).map_err(broken)?;
    let texts = contents.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Ok(paths.into_iter().cloned().zip(texts).collect())
}

/// Returns the files of a package that are roots of test crates.
fn roots_of_tests<'a>(package: &str, paths: &'a BTreeSet<String>) -> Vec<&'a String> {
    let folder = if package.is_empty() { "tests/".to_owned() } else { format!("{package}/tests/") };
    let is_root = |path: &&String| {
        path.strip_prefix(&folder).is_some_and(|name| name.ends_with(".rs") && !name.contains('/'))
    };
    paths.iter().filter(is_root).collect()
}
