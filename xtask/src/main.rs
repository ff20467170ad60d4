//! `cargo xtask`: runs the tests here, and passes every other chore on to `assay-lab`.
//!
//! This crate depends on no crate of the product, so that it is built in seconds, and compiles
//! nothing that the workspace's own tests compile again with other features.

#![allow(
    clippy::disallowed_methods,
    reason = "chores start cargo, npm and python, and look at the environment they run in"
)]
#![allow(clippy::print_stdout, reason = "what a chore prints is what was asked for")]

mod code_names;
mod links;
mod test;
mod toolchains;
mod wording;

use std::process::{Command, ExitCode};

use anyhow::{Context, bail};
use assay_testenv::workspace::{package_variables, root};

use crate::test::Mode;

const HELP: &str = "\
Chores of the assay workspace

Usage: cargo xtask CHORE

Chores:
  test             Run the checks that a change has to pass
                     --lint    with clippy, which compiles all dependencies once more
                     --strict  with clippy; a test that could not run fails
";

/// A chore of `assay-lab`.
struct LabChore {
    name: &'static str,
    help: &'static str,
    /// Debug builds of this chore say nothing about the product.
    is_release: bool,
}

const LAB_CHORES: [LabChore; 8] = [
    LabChore {
        name: "conformance",
        help: "Compare the output of assay with the validators of other projects",
        is_release: false,
    },
    LabChore { name: "soak", help: "Run counted suites at full size", is_release: false },
    LabChore {
        name: "measure",
        help: "Measure the quality of results, beside other programs",
        is_release: false,
    },
    LabChore {
        name: "record-example",
        help: "Make the recorded reviews below `examples/` anew",
        is_release: false,
    },
    LabChore {
        name: "pictures",
        help: "Render the terminal output in the manual as SVG",
        is_release: false,
    },
    LabChore {
        name: "bench",
        help: "Measure speed and memory, beside other programs",
        is_release: true,
    },
    LabChore { name: "dist", help: "Build the packages of the release binary", is_release: false },
    LabChore {
        name: "fake-model",
        help: "Serve a fake model, to try out its clients",
        is_release: false,
    },
];

fn main() -> anyhow::Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let passed = match args.split_first() {
        None => help(),
        Some((chore, _)) if ["help", "--help", "-h"].contains(&chore.as_str()) => help(),
        Some((chore, rest)) if chore == "test" => match rest {
            [] => test::run(Mode::Plain),
            [flag] if flag == "--lint" => test::run(Mode::Lint),
            [flag] if flag == "--strict" => test::run(Mode::Strict),
            _ => bail!("`test` takes `--lint` or `--strict`, and nothing else"),
        },
        Some((chore, _)) => match LAB_CHORES.iter().find(|known| known.name == chore) {
            Some(known) => return run_in_lab(known, &args),
            None => bail!("there is no chore `{chore}`; `cargo xtask` lists them"),
        },
    };
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn help() -> bool {
    print!("{HELP}");
    for LabChore { name, help, .. } in &LAB_CHORES {
        println!("  {name:15}  {help}");
    }
    println!("\nEach chore but `test` has options: `cargo xtask CHORE --help`");
    true
}

/// Builds `assay-lab` and becomes one of its chores, in the folder of the caller: the chore has the
/// exit code and gets the signals. Returns only if cargo cannot be started.
#[cfg(unix)]
fn run_in_lab(chore: &LabChore, args: &[String]) -> anyhow::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(in_lab(chore, args).exec()).context("could not start `cargo`")
}

/// Builds `assay-lab` and runs one of its chores, in the folder of the caller.
#[cfg(not(unix))]
fn run_in_lab(chore: &LabChore, args: &[String]) -> anyhow::Result<ExitCode> {
    let status = in_lab(chore, args).status().context("could not start `cargo`")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn in_lab(chore: &LabChore, args: &[String]) -> Command {
    let profile = if chore.is_release { "release" } else { "dev" };
    let mut command = Command::new("cargo");
    for name in package_variables() {
        command.env_remove(name);
    }
    command.args(["run", "--quiet", "--package", "assay-lab", "--profile", profile]);
    command.arg("--manifest-path").arg(root().join("Cargo.toml")).arg("--").args(args);
    command
}
