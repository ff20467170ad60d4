//! `go test`, as lines of JSON and as text.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;

use super::results_builder::{ResultsBuilder, failed, in_suite, say};
use super::{TestOutcome, TestReport};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    #[serde(borrow)]
    package: Option<Cow<'a, str>>,
    #[serde(borrow)]
    test: Option<Cow<'a, str>>,
    #[serde(borrow)]
    import_path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    failed_build: Option<Cow<'a, str>>,
    elapsed: Option<f64>,
    #[serde(borrow)]
    output: Option<Cow<'a, str>>,
}

/// The output of a package, of one of its tests, or of a build.
type Output = HashMap<(String, String), String>;

/// The number of times that each test of a package has begun and not ended.
type Running = BTreeMap<(String, String), usize>;

fn has_begun(running: &Running, package: &str, test: &str) -> bool {
    running.get(&(package.to_owned(), test.to_owned())).is_some_and(|begun| *begun > 0)
}

/// The message of a test that ended the process of its package.
const NOT_ENDED: &str = "the test started and did not finish: the code under test ended the whole \
                         run";

/// Parses the events, one after the other.
pub(super) fn read_json(text: &str) -> Option<TestReport> {
    let mut builder = ResultsBuilder::default();
    let mut said = Output::new();
    let (mut open, mut with_failure) = (HashSet::new(), HashSet::new());
    let mut running = Running::new();
    let mut ended = HashSet::new();
    for line in text.lines().filter(|line| line.starts_with('{') && line.contains("\"Action\":")) {
        let Ok(event) = serde_json::from_str::<Event<'_>>(line) else { continue };
        builder.mark_recognized();
        let package = event.package.as_deref().or(event.import_path.as_deref());
        let package = package.unwrap_or_default().to_owned();
        let test = event.test.as_deref().unwrap_or_default().to_owned();
        let outcome = match &*event.action {
            "start" => {
                open.insert(package);
                continue;
            }
            "run" => {
                *running.entry((package, test)).or_default() += 1;
                continue;
            }
            "output" | "build-output" => {
                let output = event.output.as_deref().unwrap_or_default().trim_end();
                let is_frame = ["=== ", "--- "].iter().any(|mark| output.starts_with(mark));
                if output.trim_start().starts_with("--- ") && output.contains(&test) {
                    ended.insert((package.clone(), test.clone()));
                }
                if !is_frame {
                    say(said.entry((package, test)).or_default(), output);
                }
                continue;
            }
            // If a program exits too early, some versions of Go report that as the end of its last
            // test.
            "pass"
                if has_begun(&running, &package, &test)
                    && !ended.contains(&(package.clone(), test.clone())) =>
            {
                failed(NOT_ENDED)
            }
            "pass" | "bench" => TestOutcome::Passed,
            "skip" => TestOutcome::Skipped,
            "fail" => failed(&output_of(&said, &package, &test, event.failed_build.as_deref())),
            _ => continue,
        };
        if !test.is_empty() {
            if let Some(begun) = running.get_mut(&(package.clone(), test.clone())) {
                *begun = begun.saturating_sub(1);
            }
            if matches!(outcome, TestOutcome::Failed { .. }) {
                with_failure.insert(package.clone());
            }
            said.remove(&(package.clone(), test.clone()));
            builder.add_test(&in_suite(&package, &test), None, outcome, event.elapsed);
            continue;
        }
        open.remove(&package);
        // A package that passes may have exited before the end of its tests.
        let unfinished = running.extract_if(.., |(of, _), begun| *of == package && *begun > 0);
        for ((_, test), _) in unfinished {
            with_failure.insert(package.clone());
            builder.add_test(&in_suite(&package, &test), None, failed(NOT_ENDED), None);
        }
        // A package itself fails if it cannot be built, or crashes.
        if matches!(outcome, TestOutcome::Failed { .. }) && !with_failure.contains(&package) {
            builder.add_test(&package, None, outcome, event.elapsed);
        }
    }
    if !open.is_empty() {
        builder.mark_truncated();
    }
    builder.finish()
}

fn output_of(said: &Output, package: &str, test: &str, build: Option<&str>) -> String {
    let of = |package: &str, test: &str| said.get(&(package.to_owned(), test.to_owned())).cloned();
    let build = build.and_then(|build| of(build, ""));
    build.or_else(|| of(package, test)).unwrap_or_default()
}

/// Parses the text of `go test`, with and without `-v`. A package without named tests counts as
/// one.
pub(super) fn read_text(text: &str) -> Option<TestReport> {
    let mut builder = ResultsBuilder::default();
    let (mut names, mut failures, mut said) = (0_usize, 0_usize, String::new());
    // With `-v`, the output of a test comes before its failure, without it after.
    let (mut is_verbose, mut is_ended) = (false, true);
    for line in text.lines() {
        if line.starts_with("=== RUN ") {
            is_verbose = true;
            said.clear();
        } else if let Some((name, mut outcome, seconds)) = test(line.trim_start()) {
            if let (true, TestOutcome::Failed { message }) = (is_verbose, &mut outcome) {
                *message = said.trim().to_owned();
            } else {
                settle(&mut builder, &said);
            }
            said.clear();
            (names, is_ended) = (names + 1, false);
            failures += usize::from(matches!(outcome, TestOutcome::Failed { .. }));
            builder.add_test(name, None, outcome, seconds);
        } else if let Some((name, ended)) = package(line) {
            builder.mark_recognized();
            match ended {
                Package::Passed if names == 0 => {
                    builder.add_test(name, None, TestOutcome::Passed, None)
                }
                Package::Failed(why) if failures == 0 => {
                    say(&mut said, why);
                    builder.add_test(name, None, failed(&said), None);
                }
                Package::Passed | Package::Failed(_) | Package::Empty => {
                    settle(&mut builder, &said)
                }
            }
            said.clear();
            (names, failures, is_verbose, is_ended) = (0, 0, false, true);
        } else if matches!(line, "PASS" | "FAIL") {
            // The end of a test binary; a line about its package follows if `go` started it.
            is_ended = true;
        } else if !line.starts_with("=== ") {
            say(&mut said, line.strip_prefix("    ").unwrap_or(line));
        }
    }
    settle(&mut builder, &said);
    if !is_ended {
        builder.mark_truncated();
    }
    builder.finish()
}

fn settle(builder: &mut ResultsBuilder, said: &str) {
    if let Some(test) = builder.last()
        && let TestOutcome::Failed { message } = &mut test.outcome
        && message.is_empty()
    {
        *message = said.trim().to_owned();
    }
}

/// Parses `--- FAIL: TestFails (0.00s)`.
fn test(line: &str) -> Option<(&str, TestOutcome, Option<f64>)> {
    let (word, rest) = line.strip_prefix("--- ")?.split_once(": ")?;
    let outcome = match word {
        "PASS" => TestOutcome::Passed,
        "FAIL" => failed(""),
        "SKIP" => TestOutcome::Skipped,
        _ => return None,
    };
    let (name, time) = rest.rsplit_once(" (")?;
    let seconds = time.strip_suffix("s)")?;
    Some((name, outcome, Some(seconds.parse().ok()?)))
}

enum Package<'a> {
    Passed,
    Failed(&'a str),
    /// The package has no tests.
    Empty,
}

/// Parses `ok`, `FAIL` or `?`, followed by a tab and a package.
fn package(line: &str) -> Option<(&str, Package<'_>)> {
    let (word, rest) = line.split_once('\t')?;
    let (name, rest) = rest.split_once(['\t', ' ']).unwrap_or((rest, ""));
    let is_name = !name.is_empty() && !name.contains(' ');
    match word.trim_end() {
        _ if !is_name => None,
        "ok" if rest.contains("[no tests to run]") => Some((name, Package::Empty)),
        "ok" => Some((name, Package::Passed)),
        "FAIL" => Some((name, Package::Failed(rest))),
        "?" => Some((name, Package::Empty)),
        _ => None,
    }
}
