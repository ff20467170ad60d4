//! `cargo xtask test`: every check that a change has to pass, one after the other.
//!
//! A step that fails does not stop the ones behind it. No tool is ever compiled here: one that is
//! missing is named in the summary, with how to get it. Tests that need more than a Rust toolchain
//! are in modules whose name is the name of their [`Group`]. Tests that could not run record the
//! reason (see `assay_testenv::not_run`); the summary has every record.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_testenv::postgres::{self, PrivatePostgres, ServerDurability};
use assay_testenv::workspace::{answers, command, target, target_folder};
use assay_testenv::{chromium, not_run};

use crate::toolchains::{Missing, Toolchains};
use crate::{links, wording};

/// Tests that need a program which not every machine has.
struct Group {
    /// The name of the modules that the tests are in, at any depth.
    module: &'static str,
    /// The minimum number of tests, so that the tests of a renamed module are not lost unnoticed.
    min_tests: usize,
}

const ON_POSTGRES: Group = Group { module: "on_postgres", min_tests: 95 };
const ON_TOOLCHAINS: Group = Group { module: "toolchains", min_tests: 70 };
const ON_CHROMIUM: Group = Group { module: "on_chromium", min_tests: 47 };
const GROUPS: [Group; 3] = [ON_POSTGRES, ON_TOOLCHAINS, ON_CHROMIUM];

impl Group {
    /// Returns the filter of nextest for the tests of this group.
    fn filter(&self) -> String {
        format!("test(/(^|::){}::/)", self.module)
    }

    /// Returns true if a test is in this group, by its path.
    fn has(&self, test: &str) -> bool {
        let mut modules = test.rsplit("::").skip(1);
        modules.any(|module| module == self.module)
    }
}

/// The extent of the checks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// No lints, which take another pass over all dependencies; a test that could not run is named.
    Plain,
    /// Lints too.
    Lint,
    /// Lints too, and a test that could not run fails.
    Strict,
}

/// The result of a step.
enum Outcome {
    Passed(String),
    Failed(String),
    /// A tool or a feature of the kernel is missing: the reasons.
    NotRun(Vec<String>),
    /// The reason why a step that is not required did not run.
    Optional(&'static str),
}

impl Outcome {
    fn line(&self) -> String {
        match self {
            Outcome::Passed(note) if note.is_empty() => "passed".to_owned(),
            Outcome::Passed(note) => format!("passed ({note})"),
            Outcome::Failed(reason) => format!("FAILED: {reason}"),
            Outcome::NotRun(reasons) => format!("NOT RUN: {}", reasons.join("; ")),
            Outcome::Optional(what) => format!("not run (optional): {what}"),
        }
    }

    fn passes(&self, mode: Mode) -> bool {
        match self {
            Outcome::Passed(_) | Outcome::Optional(_) => true,
            Outcome::Failed(_) => false,
            Outcome::NotRun(_) => mode != Mode::Strict,
        }
    }
}

/// A step by its name.
type Step = (&'static str, fn(Mode) -> Outcome);

// Clippy needs a pass over all dependencies that the tests do not share, so the tests come first.
const STEPS: [Step; 11] = [
    ("formatting", |_| formatting()),
    ("documentation links", |_| documentation_links()),
    ("wording", |_| wording()),
    ("build of tests", |_| build_of_tests()),
    ("tests", |_| tests()),
    ("tests on PostgreSQL", |_| tests_on_postgres()),
    ("tests on toolchains", |_| tests_on_toolchains()),
    ("tests on Chromium", |_| tests_on_chromium()),
    ("clippy", clippy),
    ("links in doc comments", doc_comment_links),
    ("licences and sources", |_| licences()),
];

/// Runs all steps. Returns true if the change passes.
pub(crate) fn run(mode: Mode) -> bool {
    let mut outcomes = Vec::new();
    for (number, (name, step)) in (1..).zip(STEPS) {
        println!("=== {name} (step {number} of {})", STEPS.len());
        let start = Instant::now();
        let outcome = step(mode);
        let time = start.elapsed();
        println!("=== {name}: {} in {}\n", outcome.line(), shown(time));
        outcomes.push((name, outcome, time));
    }
    println!("summary");
    for (name, outcome, time) in &outcomes {
        println!("  {name:22}{:>8}  {}", shown(*time), outcome.line());
    }
    outcomes.iter().all(|(_, outcome, _)| outcome.passes(mode))
}

fn shown(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Runs cargo with its output shown as it comes.
fn cargo(args: &[&str]) -> Outcome {
    result_of(&mut command("cargo", args), "")
}

fn result_of(command: &mut Command, note: &str) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Outcome::Passed(note.to_owned()),
        Ok(status) => Outcome::Failed(format!("`cargo` ended with {status}")),
        Err(error) => Outcome::Failed(format!("`cargo` could not be started: {error}")),
    }
}

/// Returns the outcome of a step for which a tool is missing.
fn missing(what: &str, how: &str) -> Outcome {
    Outcome::NotRun(vec![format!("{what}: {how}")])
}

fn formatting() -> Outcome {
    if !answers("cargo", &["fmt", "--version"]) {
        return missing("rustfmt", "rustup component add rustfmt");
    }
    cargo(&["fmt", "--all", "--check"])
}

fn clippy(mode: Mode) -> Outcome {
    if mode == Mode::Plain {
        return Outcome::Optional("`--lint` runs clippy");
    }
    if !answers("cargo", &["clippy", "--version"]) {
        return missing("clippy", "rustup component add clippy");
    }
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

/// Looks for links in doc comments to items that do not exist.
fn doc_comment_links(mode: Mode) -> Outcome {
    if mode == Mode::Plain {
        return Outcome::Optional("`--lint` looks for broken links");
    }
    let args = ["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"];
    let flags = "-A warnings -D rustdoc::broken_intra_doc_links";
    result_of(command("cargo", &args).env("RUSTDOCFLAGS", flags), "")
}

/// Checks the words of comments, and the names of code in documents.
fn wording() -> Outcome {
    let checked = match wording::check() {
        Ok(checked) => checked,
        Err(error) => return Outcome::Failed(format!("{error:#}")),
    };
    for fault in &checked.faults {
        println!("{fault}");
    }
    match checked.faults.len() {
        0 => Outcome::Passed(format!(
            "{} doc comments in {} files",
            checked.summaries, checked.files
        )),
        faults => Outcome::Failed(format!("{faults} faults, see CONTRIBUTING.md")),
    }
}

fn has_nextest() -> bool {
    answers("cargo", &["nextest", "--version"])
}

/// Builds all tests and counts those of each group.
fn build_of_tests() -> Outcome {
    let args: &[&str] = match has_nextest() {
        true => &["nextest", "list", "--workspace", "--message-format", "oneline"],
        false => &["test", "--workspace", "--all-targets", "--", "--list", "--format", "terse"],
    };
    // The progress of the build is on stderr.
    let listed = match command("cargo", args).stderr(Stdio::inherit()).output() {
        Ok(output) if output.status.success() => output.stdout,
        Ok(output) => return Outcome::Failed(format!("`cargo` ended with {}", output.status)),
        Err(error) => return Outcome::Failed(format!("`cargo` could not be started: {error}")),
    };
    count(&String::from_utf8_lossy(&listed))
}

/// Counts the tests in a list of nextest (`binary path`) or libtest (`path: test`).
fn count(listed: &str) -> Outcome {
    let tests: Vec<&str> = listed
        .lines()
        .map(|line| line.strip_suffix(": test").unwrap_or(line))
        .filter_map(|line| line.split_whitespace().last())
        .collect();
    let counts = GROUPS.map(|group| (tests.iter().filter(|test| group.has(test)).count(), group));
    for (count, Group { module, min_tests }) in &counts {
        if count < min_tests {
            return Outcome::Failed(format!(
                "{count} tests are in modules `{module}`, and at least {min_tests} were expected"
            ));
        }
    }
    let groups = counts.map(|(count, group)| format!("{count} {}", group.module));
    Outcome::Passed(format!("{} tests, of which {}", tests.len(), groups.join(", ")))
}

fn tests() -> Outcome {
    if has_nextest() {
        let others = GROUPS.map(|group| format!("not {}", group.filter())).join(" and ");
        return test_run(&mut nextest(&others), "");
    }
    let mut command = cargo_test("");
    for group in GROUPS {
        command.args(["--skip", &format!("{}::", group.module)]);
    }
    test_run(&mut command, "with `cargo test`; cargo-nextest is not installed")
}

/// Runs the tests that need a server with one that is gone afterwards.
fn tests_on_postgres() -> Outcome {
    if postgres::programs().is_none() {
        return missing("initdb and postgres", postgres::INSTALL_HINT);
    }
    let server = target_folder("postgres");
    let server = match server.and_then(|below| PrivatePostgres::start(&below, ServerDurability::No))
    {
        Ok(server) => server,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    test_run(only(&ON_POSTGRES).env(postgres::SERVER, server.url()), "")
}

/// Runs the tests that need tools of other languages, with those that are there. Each that is
/// missing is named, and counts as not run.
fn tests_on_toolchains() -> Outcome {
    let tools = match Toolchains::set_up() {
        Ok(tools) => tools,
        Err(error) => return Outcome::Failed(format!("{error:#}")),
    };
    let mut command = only(&ON_TOOLCHAINS);
    let outcome = match tools.given_to(&mut command) {
        Ok(command) => test_run(command, ""),
        Err(error) => return Outcome::Failed(format!("{error:#}")),
    };
    let missing = tools.missing.iter().map(|Missing { what, how }| format!("{what}: {how}"));
    let missing: Vec<String> = missing.collect();
    match outcome {
        Outcome::NotRun(tests) => Outcome::NotRun([missing, tests].concat()),
        Outcome::Passed(_) if !missing.is_empty() => Outcome::NotRun(missing),
        other => other,
    }
}

/// Runs the tests that need a browser, each with one of its own.
fn tests_on_chromium() -> Outcome {
    if chromium::program().is_none() {
        return missing("chromium", chromium::INSTALL_HINT);
    }
    test_run(&mut only(&ON_CHROMIUM), "")
}

/// Runs tests and reads which of them could not run.
fn test_run(command: &mut Command, note: &str) -> Outcome {
    let records = records();
    let outcome = match result_of(command.env(not_run::FILE, &records), note) {
        Outcome::Passed(note) => match fs::read_to_string(&records) {
            Ok(text) => recorded(&text),
            Err(error) if error.kind() == ErrorKind::NotFound => Outcome::Passed(note),
            Err(error) => Outcome::Failed(format!("{}: {error}", records.display())),
        },
        other => other,
    };
    let _ = fs::remove_file(&records);
    outcome
}

/// Returns the path of the file to which tests write why they could not run.
fn records() -> PathBuf {
    target().join(format!("not-run-{}.txt", std::process::id()))
}

/// Returns the outcome of tests that recorded reasons, each of which is on a line.
fn recorded(records: &str) -> Outcome {
    let mut reasons: Vec<String> = records.lines().map(str::to_owned).collect();
    reasons.sort();
    reasons.dedup();
    Outcome::NotRun(reasons)
}

/// Prepares to run the tests of a group.
fn only(group: &Group) -> Command {
    if has_nextest() {
        return nextest(&group.filter());
    }
    cargo_test(&format!("{}::", group.module))
}

fn nextest(filter: &str) -> Command {
    command("cargo", &["nextest", "run", "--workspace", "-E", filter])
}

fn cargo_test(filter: &str) -> Command {
    let args = ["test", "--workspace", "--all-targets", "--no-fail-fast", "--", filter];
    command("cargo", &args)
}

fn documentation_links() -> Outcome {
    match links::check() {
        Ok(checked) if checked.broken.is_empty() => {
            Outcome::Passed(format!("{} links in {} files", checked.links, checked.files))
        }
        Ok(checked) => {
            for broken in &checked.broken {
                println!("{broken}");
            }
            Outcome::Failed(format!("{} of {} links", checked.broken.len(), checked.links))
        }
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}

fn licences() -> Outcome {
    if !answers("cargo", &["deny", "--version"]) {
        return Outcome::Optional("cargo-deny is not installed");
    }
    cargo(&["deny", "check", "licenses", "bans", "sources"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_in_a_group_by_its_module_and_not_by_its_name() {
        for inside in ["on_postgres::a", "x::on_postgres::y::a"] {
            assert!(ON_POSTGRES.has(inside), "{inside}");
        }
        for outside in ["on_postgres", "x::on_postgres", "x::not_on_postgres::a", "postgres::a"] {
            assert!(!ON_POSTGRES.has(outside), "{outside}");
        }
    }

    #[test]
    fn a_group_with_fewer_tests_than_its_minimum_fails() {
        let listed: String = GROUPS
            .iter()
            .flat_map(|group| (0..group.min_tests).map(|n| format!("it {}::t{n}\n", group.module)))
            .collect();
        assert!(count(&listed).passes(Mode::Strict), "{}", count(&listed).line());
        let renamed = listed.replacen("on_postgres::", "on_postgresql::", 1);
        assert!(!count(&renamed).passes(Mode::Plain));
    }

    #[test]
    fn a_test_that_could_not_run_fails_a_strict_run_and_is_named() {
        let outcome = recorded("it b: no files\nit a: no network\nit b: no files\n");
        assert_eq!(outcome.line(), "NOT RUN: it a: no network; it b: no files");
        assert!(outcome.passes(Mode::Plain) && !outcome.passes(Mode::Strict));
    }
}
