//! `cargo xtask test`: every check that a change has to pass, one after the other.
//!
//! A step that fails does not stop the ones behind it. No tool is ever compiled here: one that is
//! missing is named in the summary, with how to get it.

use std::io;
use std::process::{Command, ExitStatus};

use assay_testenv::chromium;
use assay_testenv::postgres::{self, Durable, PrivatePostgres};
use assay_testenv::workspace::{answers, command, target_folder};

use crate::links;
use crate::toolchains::{Missing, Toolchains};

/// What the tests are called that need a PostgreSQL.
const ON_POSTGRES: &str = "postgres";

/// What the tests are called that need the tools of other languages.
const ON_TOOLCHAINS: &str = "toolchains";

/// What the tests are called that need a Chromium.
const ON_CHROMIUM: &str = "on_chromium";

/// What became of a step.
enum Outcome {
    Passed(String),
    Failed(String),
    /// A tool is missing; `how` says where it comes from.
    NotRun {
        what: &'static str,
        how: &'static str,
    },
    /// A tool is missing that nobody has to have.
    Optional(&'static str),
}

impl Outcome {
    fn line(&self) -> String {
        match self {
            Outcome::Passed(note) if note.is_empty() => "passed".to_owned(),
            Outcome::Passed(note) => format!("passed ({note})"),
            Outcome::Failed(why) => format!("FAILED: {why}"),
            Outcome::NotRun { what, how } => format!("NOT RUN: {what}: {how}"),
            Outcome::Optional(what) => format!("not run (optional): {what}"),
        }
    }

    fn passes(&self, strict: bool) -> bool {
        match self {
            Outcome::Passed(_) | Outcome::Optional(_) => true,
            Outcome::Failed(_) => false,
            Outcome::NotRun { .. } => !strict,
        }
    }
}

/// A step by its name.
type Step = (&'static str, fn() -> Outcome);

const STEPS: [Step; 9] = [
    ("formatting", formatting),
    ("clippy", clippy),
    ("tests", tests),
    ("tests on PostgreSQL", tests_on_postgres),
    ("tests on toolchains", tests_on_toolchains),
    ("tests on Chromium", tests_on_chromium),
    ("doc tests", doc_tests),
    ("documentation links", documentation_links),
    ("licences and sources", licences),
];

/// Runs all steps. Returns true if the change passes.
pub(crate) fn run(strict: bool) -> bool {
    let mut outcomes = Vec::new();
    for (name, step) in STEPS {
        println!("=== {name}");
        let outcome = step();
        println!("=== {name}: {}\n", outcome.line());
        outcomes.push((name, outcome));
    }
    println!("summary");
    for (name, outcome) in &outcomes {
        println!("  {name:22}{}", outcome.line());
    }
    outcomes.iter().all(|(_, outcome)| outcome.passes(strict))
}

/// Runs cargo with its output shown as it comes.
fn cargo(args: &[&str], note: &str) -> Outcome {
    match command("cargo", args).status() {
        Ok(status) if status.success() => Outcome::Passed(note.to_owned()),
        Ok(status) => Outcome::Failed(format!("`cargo {}` ended with {status}", args.join(" "))),
        Err(error) => Outcome::Failed(format!("`cargo` could not be started: {error}")),
    }
}

fn formatting() -> Outcome {
    if !answers("cargo", &["fmt", "--version"]) {
        return Outcome::NotRun { what: "rustfmt", how: "rustup component add rustfmt" };
    }
    cargo(&["fmt", "--all", "--check"], "")
}

fn clippy() -> Outcome {
    if !answers("cargo", &["clippy", "--version"]) {
        return Outcome::NotRun { what: "clippy", how: "rustup component add clippy" };
    }
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], "")
}

fn tests() -> Outcome {
    if answers("cargo", &["nextest", "--version"]) {
        let others = format!(
            "not test({ON_POSTGRES}) and not test({ON_TOOLCHAINS}) and not test({ON_CHROMIUM})"
        );
        return cargo(&["nextest", "run", "--workspace", "-E", &others], "");
    }
    cargo(
        &[
            "test", "--workspace", "--all-targets", "--no-fail-fast", "--", "--skip", ON_POSTGRES,
            "--skip", ON_TOOLCHAINS, "--skip", ON_CHROMIUM,
        ],
        "with `cargo test`; cargo-nextest is not installed",
    )
}

/// Runs the tests that need a server with one that is gone afterwards.
fn tests_on_postgres() -> Outcome {
    if postgres::programs().is_none() {
        return Outcome::NotRun { what: "initdb and postgres", how: postgres::HOW };
    }
    let server = target_folder("postgres");
    let server = match server.and_then(|below| PrivatePostgres::start(&below, Durable::No)) {
        Ok(server) => server,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    ended(only(ON_POSTGRES).env(postgres::SERVER, server.url()).status())
}

/// Runs the tests that need tools of other languages, with those that are there. Each that is
/// missing is named, and counts as not run.
fn tests_on_toolchains() -> Outcome {
    let tools = match Toolchains::set_up() {
        Ok(tools) => tools,
        Err(error) => return Outcome::Failed(format!("{error:#}")),
    };
    let mut command = only(ON_TOOLCHAINS);
    let command = match tools.given_to(&mut command) {
        Ok(command) => command,
        Err(error) => return Outcome::Failed(format!("{error:#}")),
    };
    match (ended(command.status()), tools.missing.first()) {
        (Outcome::Passed(_), Some(Missing { what, how })) => Outcome::NotRun { what, how },
        (Outcome::Passed(_), None) if !tools.has_go => {
            Outcome::Passed("without Go, which is not installed".to_owned())
        }
        (outcome, _) => outcome,
    }
}

/// Runs the tests that need a browser, each with one of its own.
fn tests_on_chromium() -> Outcome {
    if chromium::program().is_none() {
        return Outcome::NotRun { what: "chromium", how: chromium::HOW };
    }
    ended(only(ON_CHROMIUM).status())
}

/// Says what became of tests.
fn ended(status: io::Result<ExitStatus>) -> Outcome {
    match status {
        Ok(status) if status.success() => Outcome::Passed(String::new()),
        Ok(status) => Outcome::Failed(format!("`cargo` ended with {status}")),
        Err(error) => Outcome::Failed(format!("`cargo` could not be started: {error}")),
    }
}

/// Prepares to run the tests with something in their names.
fn only(name: &str) -> Command {
    if answers("cargo", &["nextest", "--version"]) {
        return command(
            "cargo",
            &["nextest", "run", "--workspace", "-E", &format!("test({name})")],
        );
    }
    command("cargo", &["test", "--workspace", "--all-targets", "--no-fail-fast", name])
}

fn doc_tests() -> Outcome {
    cargo(&["test", "--workspace", "--doc", "--no-fail-fast"], "")
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
    cargo(&["deny", "check", "licenses", "bans", "sources"], "")
}
