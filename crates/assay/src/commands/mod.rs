//! The commands, one file each, and what they share.

pub(crate) mod agent;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod findings;
pub(crate) mod fix;
pub(crate) mod gate;
pub(crate) mod init;
mod ledger;
pub(crate) mod mcp;
pub(crate) mod qa;
pub(crate) mod queue;
pub(crate) mod replay;
pub(crate) mod review;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod watch_prs;

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::Context;
use assay_findings::gate::Mode;
use assay_findings::grade::Grade;
use assay_findings::identity::Day;
use assay_findings::write::plain;
use clap::ValueEnum;

use crate::environment::variable;
use crate::output;

/// How a review is run, as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Ask what to do with each finding
    Interactive,
    /// Write nothing, not even the run
    ReportOnly,
    /// Apply the safe fixes and review once more
    Autofix,
    /// Print JSON, and at the end whether the review is complete
    Headless,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Mode {
        match mode {
            ModeArg::Interactive => Mode::Interactive,
            ModeArg::ReportOnly => Mode::ReportOnly,
            ModeArg::Autofix => Mode::Autofix,
            ModeArg::Headless => Mode::Headless,
        }
    }
}

/// Prints to stdout as it is: what a program reads. It does not fail: whether the output was read
/// changes nothing about what the command comes to.
fn print(text: &str) -> anyhow::Result<()> {
    output::write(text.as_bytes());
    Ok(())
}

/// Prints what a review came to: no secret of the change leaves in it.
fn print_safely(text: &str) -> anyhow::Result<()> {
    print(&assay_rules::redact(text))
}

/// Warns on stderr of what does not stop the work.
pub(crate) fn warn(text: &str) {
    note(&format!("warning: {text}"));
}

/// Writes a line about progress to stderr, without credentials and with control characters visible.
pub(crate) fn note(text: &str) {
    let text = assay_rules::redact(text);
    // Whoever closed stderr does not want to hear of it.
    let _ = writeln!(io::stderr(), "{}", plain::visible(&text));
}

/// Prints a value as JSON, without credentials.
fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print_safely(&assay_findings::write::pretty(value))
}

/// Reads stdin, up to a little more than any command takes.
fn read_stdin() -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = assay_findings::read::MAX_TEXT as u64 + 1;
    io::stdin().lock().take(most).read_to_end(&mut bytes).context("could not read stdin")?;
    Ok(bytes)
}

fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("could not read `{}`", path.display()))
}

/// Gives today's date, as dismissals are written.
pub(crate) fn today() -> Option<Day> {
    Day::try_from(jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()).ok()
}

/// Reads a severity in any of the vocabularies.
pub(crate) fn known_severity(word: &str) -> Result<Grade, String> {
    let grade = Grade::from_word(word);
    if grade.is_unmapped() {
        return Err("expected one of CRITICAL, HIGH, MAJOR, MEDIUM, LOW, MINOR, SUGGESTION, \
                    P0 to P3, MUST, SHOULD, MAY"
            .to_owned());
    }
    Ok(grade)
}

/// Gives the name of whoever runs this, for the record of a decision: as git knows it, or else the
/// system.
pub(crate) fn user_name(root: &Path) -> String {
    let named = || variable("USER").or_else(|| variable("LOGNAME"));
    assay_change::user_name(root).or_else(named).unwrap_or_else(|| "somebody".to_owned())
}
