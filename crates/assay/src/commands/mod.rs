//! The commands, one file each, and their shared functions.

pub(crate) mod agent;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod findings;
pub(crate) mod fix;
pub(crate) mod gate;
pub(crate) mod github_command;
pub(crate) mod github_token;
pub(crate) mod init;
mod ledger;
pub(crate) mod ledger_maintenance;
pub(crate) mod lsp;
pub(crate) mod man_pages;
pub(crate) mod mcp;
pub(crate) mod qa;
pub(crate) mod queue;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod review;
pub(crate) mod rules;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod shell;
mod statistics;
mod templates;
pub(crate) mod watch_prs;

use assay_findings::gate::ReviewMode;
use clap::ValueEnum;

use crate::input::{read_file, read_stdin};
pub(crate) use crate::messages::{note, warn};
use crate::output;
pub(crate) use crate::process::user_name;
pub(crate) use assay_engine::config::severity::parse_severity;

/// The mode of a review, as an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Ask for a decision on each finding
    Interactive,
    /// Write nothing, not even the run
    ReportOnly,
    /// Apply the safe fixes, and review the change again
    Autofix,
    /// Print JSON, and on the last line whether the review is complete
    Headless,
}

impl From<ModeArg> for ReviewMode {
    fn from(mode: ModeArg) -> ReviewMode {
        match mode {
            ModeArg::Interactive => ReviewMode::Interactive,
            ModeArg::ReportOnly => ReviewMode::ReportOnly,
            ModeArg::Autofix => ReviewMode::Autofix,
            ModeArg::Headless => ReviewMode::Headless,
        }
    }
}

/// Prints text to stdout unchanged, for programs. Never fails: the result of a command does not
/// depend on whether its output is read.
fn print(text: &str) -> anyhow::Result<()> {
    output::write(text.as_bytes());
    Ok(())
}

/// Prints redacted text to stdout.
fn print_safely(text: &str) -> anyhow::Result<()> {
    print(&assay_rules::redact(text))
}

/// Prints a value as redacted JSON.
fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print_safely(&assay_findings::write::pretty(value))
}
