//! The command line: parses arguments, calls `engine` and `serve`, and prints the results.
//!
//! Each command is one file under [`commands`]; nothing is decided here.

mod accepted_findings;
mod change_args;
mod commands;
mod diagnostics;
mod exit;
mod hyperlink;
mod input;
mod interactive;
mod messages;
mod model_args;
mod output;
mod process;
mod progress;
mod review_output;
mod signals;
mod terminal;
mod token;

use std::io::{self, Write};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstream::ColorChoice;
use anyhow::Context as _;
use assay_base::nearest::nearest;
use assay_change::GitError;
use assay_findings::grounding::TreeError;
use assay_findings::write::escape;
use assay_review::ledger::LedgerUseError;
use assay_services::http::ServiceError;
use assay_store::ledger::LedgerError;
use assay_store::queue::QueueError;
use clap::error::ContextValue;
use clap::{Parser, Subcommand, ValueEnum};

use crate::diagnostics::{CommandDuration, Diagnostics};
use crate::exit::{Exit, UnusableInput};

/// The quality gate for code that agents and people write.
#[derive(Parser)]
#[command(name = "assay", version, long_version = LONG_VERSION, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Run the command as if started in this folder
    #[arg(short = 'C', value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Use colours: always, never, or only on a terminal
    #[arg(long, value_enum, value_name = "WHEN", global = true, default_value = "auto")]
    color: ColorArg,
    #[command(flatten)]
    diagnostics: diagnostics::Args,
}

/// The version with the commit and the target of the build.
const LONG_VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("ASSAY_COMMIT"), ", ", env!("ASSAY_TARGET"), ")");

/// The use of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ColorArg {
    Auto,
    Always,
    Never,
}

impl From<ColorArg> for ColorChoice {
    fn from(color: ColorArg) -> ColorChoice {
        match color {
            ColorArg::Auto => ColorChoice::Auto,
            ColorArg::Always => ColorChoice::Always,
            ColorArg::Never => ColorChoice::Never,
        }
    }
}

#[derive(Subcommand)]
enum Command {
    /// Review a change and report whether it is ready
    Review(Box<commands::review::Args>),
    /// Apply the safe fixes of a review, and nothing else
    Fix(commands::fix::Args),
    /// List and explain the rules, and test the rules of the repository
    #[command(subcommand)]
    Rules(commands::rules::Rules),
    /// Show and check the configuration
    #[command(subcommand)]
    Config(commands::config::Config),
    /// Replay a recorded run offline
    Replay(commands::replay::Args),
    /// Write a stored review as an HTML page, such as for a pull request
    Report(commands::report::Args),
    /// Show the differences between two runs, and their causes
    Diff(commands::diff::Args),
    /// Start, stop and show worker agents
    #[command(subcommand)]
    Agent(commands::agent::Agent),
    /// Run quality gates on a plan or a change
    Gate(commands::gate::Args),
    /// Validate the implementation of a spec, and fix it until it is approved
    Qa(commands::qa::Args),
    /// Write a commented configuration
    Init(commands::init::Args),
    /// Show installed and missing programs and settings, and how to get them
    Doctor(commands::doctor::Args),
    /// Measure reviewers on changes whose defects are known
    Eval(Box<commands::eval::Eval>),
    /// Create a small flawed change in a throw-away repository and review it
    Demo,
    /// List and manage findings; low-level commands for scripts
    #[command(subcommand)]
    Findings(commands::findings::Step),
    /// Copy, export and prune the ledger of findings
    Ledger(commands::ledger_maintenance::Args),
    /// Show findings in an editor over the Language Server Protocol
    Lsp(commands::lsp::Args),
    /// Serve tools to agents and editors over MCP
    Mcp(commands::mcp::Args),
    /// Manage tasks for agents
    Queue(commands::queue::Args),
    /// Serve the dashboard and the HTTP API, and listen for webhooks and builds that request reviews
    Serve(commands::serve::Args),
    /// Poll for open pull requests, and queue their reviews
    WatchPrs(commands::watch_prs::Args),
    /// Carry out the commands in a comment on a pull request, in a workflow of GitHub
    #[command(name = "github-command")]
    GithubComment(commands::github_command::Args),
    /// Print a token of a GitHub App, for `github.token_command`
    GithubToken(commands::github_token::Args),
    /// Print the JSON Schema of the configuration, or of a command for scripts
    Schema(commands::schema::Args),
    /// Print a completion script for a shell
    Completions(commands::shell::CompletionArgs),
    /// Print a manual page, or write all of them
    Man(commands::man_pages::Args),
}

impl Command {
    /// Returns true if a command handles signals itself.
    fn handles_signals(&self) -> bool {
        let is_server = matches!(
            self,
            Command::Lsp(_) | Command::Mcp(_) | Command::Serve(_) | Command::Review(_)
        );
        let watches = matches!(self, Command::WatchPrs(args) if args.handles_signals());
        is_server || watches || matches!(self, Command::Agent(agent) if agent.handles_signals())
    }

    /// Returns whether a command runs until it is stopped.
    fn duration(&self) -> CommandDuration {
        let runs_until_stopped = match self {
            Command::Lsp(_) | Command::Mcp(_) | Command::Serve(_) => true,
            Command::Agent(agent) => agent.handles_signals(),
            Command::WatchPrs(args) => args.handles_signals(),
            _ => false,
        };
        match runs_until_stopped {
            true => CommandDuration::RunsUntilStopped,
            false => CommandDuration::Ends,
        }
    }
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(report_bug));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return print_usage(error).into(),
    };
    ColorChoice::from(cli.color).write_global();
    if let Err(error) = change_folder(cli.folder.as_deref()) {
        return fail(&error).into();
    }
    let diagnostics = match Diagnostics::install(cli.diagnostics, cli.command.duration()) {
        Ok(diagnostics) => diagnostics,
        Err(error) => return fail(&error).into(),
    };
    // A server answers running requests before it exits, agents finish their tasks, and a review
    // shows its findings so far.
    if !cli.command.handles_signals() {
        signals::stop_commands_on_signal();
    }
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| match cli.command {
        Command::Review(args) => commands::review::run(&args),
        Command::Fix(args) => commands::fix::run(&args),
        Command::Rules(rules) => commands::rules::run(&rules),
        Command::Config(config) => commands::config::run(&config),
        Command::Replay(args) => commands::replay::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Diff(args) => commands::diff::run(&args),
        Command::Agent(agent) => commands::agent::run(&agent, &diagnostics),
        Command::Gate(args) => commands::gate::run(&args),
        Command::Qa(args) => commands::qa::run(&args, &diagnostics),
        Command::Init(args) => commands::init::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Eval(eval) => commands::eval::run(&eval),
        Command::Demo => commands::demo::run(),
        Command::Findings(step) => commands::findings::run(step),
        Command::Lsp(args) => commands::lsp::run(&args),
        Command::Mcp(args) => commands::mcp::run(&args),
        Command::Ledger(args) => commands::ledger_maintenance::run(&args),
        Command::Queue(args) => commands::queue::run(args),
        Command::Serve(args) => commands::serve::run(&args, &diagnostics),
        Command::WatchPrs(args) => commands::watch_prs::run(&args),
        Command::GithubComment(args) => commands::github_command::run(&args),
        Command::GithubToken(args) => commands::github_token::run(&args),
        Command::Schema(args) => commands::schema::run(&args),
        Command::Completions(args) => commands::shell::completions(&args),
        Command::Man(args) => commands::man_pages::run(&args),
    }));
    let exit = match result {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) => fail(&error),
        Err(_) => Exit::Bug,
    };
    let exit = output::final_exit(exit);
    diagnostics.shut_down();
    // Commands of an abandoned task may still run.
    assay_sandbox::shut_down();
    exit.into()
}

/// Changes to the folder in which the command runs.
fn change_folder(folder: Option<&Path>) -> anyhow::Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    std::env::set_current_dir(folder)
        .with_context(|| format!("cannot change to the folder `{}`", folder.display()))
}

/// Prints the requested help or version, or the usage error.
fn print_usage(mut error: clap::Error) -> Exit {
    remove_misleading_tips(&mut error);
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        let _ = write!(anstream::stderr().lock(), "{text}");
        return Exit::Usage;
    }
    output::write_styled(text.as_bytes());
    output::final_exit(Exit::Ready)
}

/// Removes tips that lead away: `-- --option` for an unknown option, which would be taken as a path,
/// and names that hardly resemble the typed one.
fn remove_misleading_tips(error: &mut clap::Error) {
    use clap::error::ContextKind::{
        InvalidArg, InvalidSubcommand, InvalidValue, Suggested, SuggestedArg, SuggestedSubcommand,
        SuggestedValue,
    };
    error.remove(Suggested);
    for (typed, suggested) in [
        (InvalidArg, SuggestedArg),
        (InvalidSubcommand, SuggestedSubcommand),
        (InvalidValue, SuggestedValue),
    ] {
        let names = error.get(suggested).map(context_strings).unwrap_or_default();
        let typed = error.get(typed).map(context_strings).unwrap_or_default();
        let is_near = |name: &str| {
            typed.iter().any(|typed| {
                !nearest(typed, [name.trim_start_matches('-')]).is_empty()
                    || !nearest(typed, [name]).is_empty()
            })
        };
        let mut near: Vec<String> = names.into_iter().filter(|name| is_near(name)).collect();
        match near.len() {
            0 => error.remove(suggested),
            1 => error.insert(suggested, ContextValue::String(near.swap_remove(0))),
            _ => error.insert(suggested, ContextValue::Strings(near)),
        };
    }
}

fn context_strings(value: &ContextValue) -> Vec<String> {
    match value {
        ContextValue::String(text) => vec![text.clone()],
        ContextValue::Strings(texts) => texts.clone(),
        _ => Vec::new(),
    }
}

/// Prints an error with its causes, and returns the exit code.
fn fail(error: &anyhow::Error) -> Exit {
    if let Some(UnusableInput(reason)) = error.downcast_ref() {
        let answer = serde_json::json!({ "error": reason });
        output::write(format!("{answer:#}\n").as_bytes());
        return Exit::Incomplete;
    }
    let mut message = format!("error: {error}");
    for cause in error.chain().skip(1) {
        message.push_str(&format!("\n  because: {cause}"));
    }
    let message = assay_rules::redact(&message);
    let _ = writeln!(io::stderr(), "{}", escape::escape_hidden(&message));
    let from_ledger = matches!(error.downcast_ref(), Some(LedgerUseError::Ledger(_)));
    // The state of the ledger, a gate or a service is unknown, which is not a mistake of the user.
    let is_unknown = from_ledger
        || error.is::<LedgerError>()
        || commands::gate::is_unknown(error)
        || error.downcast_ref().is_some_and(ServiceError::is_transient)
        || error.chain().any(is_unread_repository)
        || error.chain().any(is_failing_queue);
    if is_unknown { Exit::Incomplete } else { Exit::Usage }
}

/// Returns true if git or the file system failed to return an input of a verdict, which says
/// nothing about the change.
fn is_unread_repository(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<TreeError>() || cause.downcast_ref().is_some_and(GitError::is_git_failure)
}

/// Returns true if the disk or the database of the queue failed, which is not a mistake of the
/// user.
fn is_failing_queue(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref().is_some_and(|error| match error {
        QueueError::File(_) | QueueError::Index { .. } => true,
        error => error.is_transient(),
    })
}

fn report_bug(panic: &std::panic::PanicHookInfo<'_>) {
    let _ = writeln!(
        io::stderr(),
        "error: assay has a bug: {panic}\nhint: please report it with the command that you ran"
    );
}
