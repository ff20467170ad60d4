//! The command line: reads arguments, calls `engine` and `serve`, prints.
//!
//! One file for each command under [`commands`]; nothing is decided here.

mod commands;
mod diagnostics;
mod doors;
mod exit;
mod interactive;
mod link;
mod messages;
mod model_args;
mod output;
mod process;
mod progress;
mod signals;
mod terminal;

use std::io::{self, Write};
use std::process::ExitCode;

use assay_change::GitError;
use assay_findings::ground::TreeError;
use assay_findings::write::plain;
use assay_review::ledger::UseError;
use assay_services::http::ServiceError;
use assay_store::ledger::LedgerError;
use assay_store::queue::QueueError;
use clap::{Parser, Subcommand};

use crate::diagnostics::Diagnostics;
use crate::exit::{Exit, Unusable};

/// The quality gate for code that agents and people write.
#[derive(Parser)]
#[command(name = "assay", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    diagnostics: diagnostics::Args,
}

#[derive(Subcommand)]
enum Command {
    /// Reviews a change and says whether it is ready
    Review(commands::review::Args),
    /// Applies the safe fixes of a review, and nothing else
    Fix(commands::fix::Args),
    /// Has a run again, offline
    Replay(commands::replay::Args),
    /// Says what is different between two runs, and why
    Diff(commands::diff::Args),
    /// Worker agents: starts, stops and shows them
    #[command(subcommand)]
    Agent(commands::agent::Agent),
    /// Quality-review gates: is this plan, or this change, good enough to go on?
    Gate(commands::gate::Args),
    /// Validates what was implemented for a spec, and has it fixed until it is approved
    Qa(commands::qa::Args),
    /// Writes a commented configuration
    Init(commands::init::Args),
    /// Says what is there, what is missing, and how to get it
    Doctor(commands::doctor::Args),
    /// Measures reviewers on changes whose defects are known
    Eval(Box<commands::eval::Eval>),
    /// Makes a small flawed change in a throw-away repository and reviews it
    Demo,
    /// What became of findings, and single steps over them for scripts
    #[command(subcommand)]
    Findings(commands::findings::Step),
    /// Serves tools to agents and editors over MCP
    Mcp(commands::mcp::Args),
    /// Tasks for agents
    Queue(commands::queue::Args),
    /// Listens for webhooks and builds that want a pull request reviewed
    Serve(commands::serve::Args),
    /// Looks for open pull requests, and queues their reviews
    WatchPrs(commands::watch_prs::Args),
    /// Prints the JSON Schema of what a plumbing command prints or reads
    Schema(commands::schema::Args),
    /// Prints a completion script for a shell
    Completions(commands::shell::CompletionArgs),
    /// Prints the manual page
    Man,
}

impl Command {
    /// Says whether a command does something about signals itself.
    fn sees_to_signals(&self) -> bool {
        let is_server = matches!(self, Command::Mcp(_) | Command::Serve(_) | Command::Review(_));
        let watches = matches!(self, Command::WatchPrs(args) if args.sees_to_signals());
        is_server || watches || matches!(self, Command::Agent(agent) if agent.sees_to_signals())
    }
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_bug));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return print_usage(&error).into(),
    };
    let diagnostics = match Diagnostics::install(cli.diagnostics) {
        Ok(diagnostics) => diagnostics,
        Err(error) => return fail(&error).into(),
    };
    // A server ends by itself, once it has answered; agents finish what they do; a review shows what
    // it has found so far.
    if !cli.command.sees_to_signals() {
        signals::stop_commands_too();
    }
    let result = std::panic::catch_unwind(|| match cli.command {
        Command::Review(args) => commands::review::run(&args),
        Command::Fix(args) => commands::fix::run(&args),
        Command::Replay(args) => commands::replay::run(&args),
        Command::Diff(args) => commands::diff::run(&args),
        Command::Agent(agent) => commands::agent::run(&agent, &diagnostics),
        Command::Gate(args) => commands::gate::run(&args),
        Command::Qa(args) => commands::qa::run(&args, &diagnostics),
        Command::Init(args) => commands::init::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Eval(eval) => commands::eval::run(&eval),
        Command::Demo => commands::demo::run(),
        Command::Findings(step) => commands::findings::run(step),
        Command::Mcp(args) => commands::mcp::run(&args),
        Command::Queue(args) => commands::queue::run(args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::WatchPrs(args) => commands::watch_prs::run(&args),
        Command::Schema(args) => commands::schema::run(&args),
        Command::Completions(args) => commands::shell::completions(&args),
        Command::Man => commands::shell::man(),
    });
    let exit = match result {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) => fail(&error),
        Err(_) => Exit::Bug,
    };
    let exit = output::settle(exit);
    // What was left in the middle may still run.
    assay_sandbox::shut_down();
    exit.into()
}

/// Prints what was asked about the command line, or what is wrong with it.
fn print_usage(error: &clap::Error) -> Exit {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        let _ = write!(anstream::stderr().lock(), "{text}");
        return Exit::Usage;
    }
    output::write_styled(text.as_bytes());
    output::settle(Exit::Ready)
}

/// Prints an error with its causes, and gives the code it exits with.
fn fail(error: &anyhow::Error) -> Exit {
    if let Some(Unusable(reason)) = error.downcast_ref() {
        let answer = serde_json::json!({ "error": reason });
        output::write(format!("{answer:#}\n").as_bytes());
        return Exit::Incomplete;
    }
    let mut message = format!("error: {error}");
    for cause in error.chain().skip(1) {
        message.push_str(&format!("\n  because: {cause}"));
    }
    let message = assay_rules::redact(&message);
    let _ = writeln!(io::stderr(), "{}", plain::visible(&message));
    let from_ledger = matches!(error.downcast_ref(), Some(UseError::Ledger(_)));
    // What is in the ledger, where a gate stands or what a service knows is not known, and that is no
    // mistake of whoever asks.
    let is_unknown = from_ledger
        || error.is::<LedgerError>()
        || commands::gate::is_unknown(error)
        || error.downcast_ref().is_some_and(ServiceError::is_passing)
        || error.chain().any(is_unread_repository)
        || error.chain().any(is_failing_queue);
    if is_unknown { Exit::Incomplete } else { Exit::Usage }
}

/// Returns true if git or the file system could not give what a verdict needs, which says nothing
/// of the change.
fn is_unread_repository(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<TreeError>() || cause.downcast_ref().is_some_and(GitError::is_unanswered)
}

/// Returns true if the disk or the database of the queue failed, which is no mistake of the user.
fn is_failing_queue(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref().is_some_and(|error| match error {
        QueueError::File(_) | QueueError::Index { .. } => true,
        error => error.is_passing(),
    })
}

fn report_bug(panic: &std::panic::PanicHookInfo<'_>) {
    let _ = writeln!(
        io::stderr(),
        "error: assay has a bug: {panic}\nhint: please report it with the command that you ran"
    );
}
