//! Finds Rust tests of a version that have no result in a run: [`lost_tests`].

use std::collections::{BTreeMap, BTreeSet};

use assay_checks::check::CheckKind;
use assay_checks::kept::RustTest;

use super::{TestFate, WeakenedTest};

/// Returns the tests of a version of the sources that have no result in a run of all tests.
/// `results` are the names of tests with a result. A test that was renamed is not lost if its text
/// is the same and its new name has a result.
pub(crate) fn lost_tests<'a>(
    version: &[RustTest],
    now: &[RustTest],
    results: impl IntoIterator<Item = &'a str>,
) -> Vec<WeakenedTest> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for result in results {
        // Some runners put the name of the crate first.
        *counts.entry(result.rsplit([' ', '$']).next().unwrap_or(result)).or_default() += 1;
    }
    let names: BTreeSet<&str> = version.iter().map(|test| test.name.as_str()).collect();
    // A library and a program may share a module, and a workspace has many crates.
    let mut wanted: BTreeMap<&str, (usize, &RustTest)> = BTreeMap::new();
    for test in version {
        wanted.entry(&test.name).or_insert((0, test)).0 += 1;
    }
    let is_elsewhere = |test: &RustTest| {
        let is_it = |other: &&RustTest| {
            other.text == test.text
                && !names.contains(other.name.as_str())
                && counts.contains_key(other.name.as_str())
        };
        now.iter().any(|other| is_it(&other))
    };
    let lost = wanted.values().filter(|(count, test)| {
        counts.get(test.name.as_str()).copied().unwrap_or(0) < *count && !is_elsewhere(test)
    });
    lost.map(|(_, test)| WeakenedTest {
        test: test.name.clone(),
        file: Some(test.file.clone()),
        kind: CheckKind::Unit,
        now: TestFate::NoResult,
        fails: None,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(version: &[(&str, &str)], now: &[(&str, &str)], results: &[&str]) -> String {
        let of = |tests: &[(&str, &str)]| -> Vec<RustTest> {
            let test = |(name, text): &(&str, &str)| RustTest {
                name: (*name).to_owned(),
                file: "src/lib.rs".to_owned(),
                text: (*text).to_owned(),
            };
            tests.iter().map(test).collect()
        };
        let lost = lost_tests(&of(version), &of(now), results.iter().copied());
        lost.into_iter().map(|it| it.test).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_test_without_a_result_is_lost_unless_a_test_with_its_text_has_one() {
        let version = [("a::one", "x"), ("b::two", "y")];
        assert_eq!(lost(&version, &version, &["a::one", "calc b::two"]), "");
        assert_eq!(lost(&version, &version, &["a::one"]), "b::two");
        let moved = [("a::one", "x"), ("c::two", "y")];
        assert_eq!(lost(&version, &moved, &["a::one", "c::two"]), "");
        assert_eq!(lost(&version, &moved, &["a::one"]), "b::two");
        let changed = [("a::one", "x"), ("c::two", "z")];
        assert_eq!(lost(&version, &changed, &["a::one", "c::two"]), "b::two");
        // Two crates have a test of the same name.
        let twice = [("tests::one", "x"), ("tests::one", "x")];
        assert_eq!(lost(&twice, &twice, &["tests::one"]), "tests::one");
        assert_eq!(lost(&twice, &twice, &["tests::one", "tests::one"]), "");
    }
}
