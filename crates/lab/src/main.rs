//! Chores that take too long, or need too much, to be tests. `cargo xtask CHORE` starts them.
//!
//! Everything that is fetched or written stays below `target/`. Nothing here is part of the product.

#![allow(
    clippy::disallowed_methods,
    reason = "chores start cargo, npm and python, and look at the environment they run in"
)]
#![allow(clippy::print_stdout, reason = "what a chore prints is what was asked for")]

mod bench;
mod conformance;
mod example;
mod fake_model;
mod measure;
mod peers;
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
    /// Holds what assay writes against other people's validators
    Conformance {
        /// One suite instead of all: sarif, commands, hooks, agents, mcp, services
        name: Option<String>,
        /// The folder with what services publish of themselves, for `services`
        /// [default: ASSAY_API_DESCRIPTIONS]
        #[arg(long, value_name = "DIR")]
        descriptions: Option<PathBuf>,
    },
    /// Runs counted suites at full size
    Soak {
        /// One suite instead of all: reading, damage, posting, changes, hostile, agents, gates, qa, queue, webhooks
        name: Option<String>,
        /// Where what is left to chance starts from
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Measures how well something is done, beside other programs
    Measure {
        /// What to measure: recovery, diffs, cases, secrets, synthesis, scoring, grounding
        name: String,
        /// The folder with the data, for measurements that need some
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// Where the generated cases start from
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Makes the recorded review under `examples/` anew, and carries recorded answers over
    RecordExample,
    /// Times the parts that have to be fast, beside other programs
    Bench {
        /// One bench instead of all: findings, rules, personas, queue, webhooks
        name: Option<String>,
    },
    /// Serves a model that is none, for trying out what asks one
    FakeModel {
        /// The port; any that is free if none is given
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// A JSON list of what to say when; without it, a small review of every change
        #[arg(long, value_name = "FILE")]
        script: Option<PathBuf>,
        /// Whom to speak like: any, messages, chat, responses
        #[arg(long, default_value = "any")]
        dialect: String,
    },
    /// Works a queue off, and may be killed while doing so
    #[command(hide = true)]
    QueueWorker {
        /// The queue
        place: String,
        /// Its name
        agent: String,
        /// Where it writes what it completed
        log: PathBuf,
    },
    /// Does whole tasks on files, for counting what that takes
    #[command(hide = true)]
    BenchWholeTasks {
        /// The folder of the queue
        place: PathBuf,
        /// How many
        tasks: usize,
    },
    /// Keeps bodies in a file and does nothing else, to be timed beside `assay serve`
    #[command(hide = true)]
    BareWebhooks {
        /// The file
        file: PathBuf,
    },
    /// Reads one hostile text and prints what that took
    #[command(hide = true)]
    BenchChild {
        /// The kind of text
        kind: String,
        /// How many bytes of it
        bytes: usize,
        /// How often it is timed
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
        Chore::Bench { name } => bench::run(name.as_deref()),
        Chore::FakeModel { port, script, dialect } => {
            fake_model::run(port, script.as_deref(), &dialect)
        }
        Chore::BenchWholeTasks { place, tasks } => bench::whole_tasks(&place, tasks),
        Chore::BareWebhooks { file } => bench::serve_bare(&file),
        Chore::BenchChild { kind, bytes, runs } => bench::child(&kind, bytes, runs),
    }?;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
