//! Chores that take too long, or need too much, to be tests. `cargo xtask CHORE` starts them.
//!
//! All downloads and outputs stay below `target/`. Nothing here is part of the product.

#![allow(
    clippy::disallowed_methods,
    reason = "chores start cargo, npm and python, and look at the environment they run in"
)]
#![allow(clippy::print_stdout, reason = "what a chore prints is what was asked for")]

mod bench;
mod conformance;
mod dist;
mod example;
mod fake_model;
mod measure;
mod peers;
mod pictures;
mod random;
mod repository;
mod soak;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Chores of the assay workspace
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Option<Chore>,
}

#[derive(Subcommand)]
enum Chore {
    /// Validates the output of assay with third-party validators
    Conformance {
        /// Run one suite instead of all: sarif, commands, hooks, agents, mcp, services, webhooks,
        /// browser, dashboard, api, editor, packages
        name: Option<String>,
        /// The folder with the API descriptions of services, for `services` [default:
        /// ASSAY_API_DESCRIPTIONS]
        #[arg(long, value_name = "DIR")]
        descriptions: Option<PathBuf>,
    },
    /// Runs counted suites at full size
    Soak {
        /// Run one suite instead of all: reading, damage, posting, changes, hostile, agents, gates,
        /// kept, qa, queue, webhooks
        name: Option<String>,
        /// The seed of random choices
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Measures the quality of results, compared with other programs
    Measure {
        /// The measurement: recovery, diffs, cases, secrets, synthesis, scoring, grounding,
        /// owasp
        name: String,
        /// The folder with the data, for measurements that need it
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// The seed of the generated cases
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Records the review under `examples/` again, and transfers recorded answers
    RecordExample,
    /// Renders the terminal output in the manual as SVG
    Pictures,
    /// Times the parts that have to be fast, compared with other programs
    Bench {
        /// Run one bench instead of all: editor, findings, rules, personas, queue, webhooks
        name: Option<String>,
    },
    /// Builds the packages of the release binary: archive, Python wheel, npm package
    Dist(dist::DistArgs),
    /// Serves a fake model, for trying out its clients
    FakeModel {
        /// The port; any free port if it is 0
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// A JSON list of rules for answers; without it, a small review of every change
        #[arg(long, value_name = "FILE")]
        script: Option<PathBuf>,
        /// The API to serve: any, messages, chat, responses
        #[arg(long, default_value = "any")]
        dialect: String,
    },
    /// Completes the tasks of a queue, and may be killed meanwhile
    #[command(hide = true)]
    QueueWorker {
        /// The folder of the queue, or the address of its database
        place: String,
        /// The name of the worker
        agent: String,
        /// The file for the ids of completed tasks
        log: PathBuf,
    },
    /// Pushes, claims and completes tasks on files, for a count of system calls
    #[command(hide = true)]
    BenchWholeTasks {
        /// The folder of the queue
        place: PathBuf,
        /// The number of tasks
        tasks: usize,
    },
    /// Stores bodies in a file, for a comparison with `assay serve`
    #[command(hide = true)]
    BareWebhooks {
        /// The file for the bodies
        file: PathBuf,
    },
    /// Parses one hostile text and prints the cost
    #[command(hide = true)]
    BenchChild {
        /// The kind of text
        kind: String,
        /// The size of the text, in bytes
        bytes: usize,
        /// The number of runs
        runs: usize,
    },
}

fn main() -> anyhow::Result<ExitCode> {
    let Some(chore) = Cli::parse().chore else {
        Cli::command().print_help()?;
        return Ok(ExitCode::SUCCESS);
    };
    let passed = match chore {
        Chore::Conformance { name, descriptions } => {
            conformance::run(name.as_deref(), descriptions.as_deref())
        }
        Chore::Soak { name, seed } => soak::run(name.as_deref(), seed),
        Chore::QueueWorker { place, agent, log } => soak::work(&place, &agent, &log),
        Chore::Measure { name, data, seed } => measure::run(&name, data.as_deref(), seed),
        Chore::RecordExample => example::record(),
        Chore::Pictures => pictures::make(),
        Chore::Bench { name } => bench::run(name.as_deref()),
        Chore::Dist(args) => dist::run(&args),
        Chore::FakeModel { port, script, dialect } => {
            fake_model::run(port, script.as_deref(), &dialect)
        }
        Chore::BenchWholeTasks { place, tasks } => bench::whole_tasks(&place, tasks),
        Chore::BareWebhooks { file } => bench::serve_bare(&file),
        Chore::BenchChild { kind, bytes, runs } => bench::child(&kind, bytes, runs),
    }?;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
