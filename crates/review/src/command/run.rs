//! A run of an analyser: its exit status and its output.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use assay_findings::path::RepoPath;
use assay_findings::report::Report;
use assay_sandbox::{Command, CommandOutput, RunError, ScratchFolder};

use super::checkout::Checkout;
use super::draft::one_line;
use super::format::{AnalyserFormat, ParsedOutput};
use super::{CommandReviewer, FILES_PLACEHOLDER, known_analysers};

/// The maximum number of bytes of output.
const MAX_OUTPUT: usize = 64 << 20;

/// The maximum number of characters of an error message that are shown.
const MAX_ERROR_CHARS: usize = 200;

/// A run of an analyser on some files.
pub(super) struct AnalyserRun<'a> {
    pub(super) reviewer: &'a CommandReviewer,
    pub(super) root: &'a Path,
    pub(super) names: &'a [&'a RepoPath],
    pub(super) time: Duration,
}

impl AnalyserRun<'_> {
    /// Runs the analyser, and parses its output.
    pub(super) fn report(&self, checkout: &Checkout<'_>) -> Report {
        // Files that the analyser leaves behind are removed with the folder.
        let scratch = match ScratchFolder::new("assay-scratch-") {
            Ok(scratch) => scratch,
            Err(error) => {
                let why = format!("cannot create a scratch folder for the analyser: {error}");
                return Report::unusable(self.reviewer.reviewer(), why);
            }
        };
        match self.command(scratch.path()).run() {
            Ok(finished) => self.read(&finished, checkout),
            Err(error) => Report::unusable(self.reviewer.reviewer(), self.explain(&error)),
        }
    }

    fn command(&self, scratch: &Path) -> Command {
        let command = Command::new(self.program())
            .args(self.args())
            .folder(self.root)
            .time(self.time)
            .output(MAX_OUTPUT)
            .interruptible();
        let command = match self.reviewer.runs_code {
            true => command,
            false => {
                command.offline().writable([scratch]).env("HOME", scratch).env("TMPDIR", scratch)
            }
        };
        let vars = self.reviewer.env.iter();
        vars.fold(command, |command, (name, value)| command.env(name, value))
    }

    fn program(&self) -> PathBuf {
        let program = &self.reviewer.program;
        let own = self.reviewer.own_folder.as_ref().map(|own| self.root.join(own).join(program));
        own.filter(|own| own.is_file())
            .and_then(|own| std::path::absolute(own).ok())
            .unwrap_or_else(|| program.into())
    }

    fn args(&self) -> Vec<String> {
        let mut args = Vec::new();
        for arg in &self.reviewer.args {
            match arg == FILES_PLACEHOLDER {
                true => args.extend(self.names.iter().map(|name| as_argument(name))),
                false => args.push(arg.clone()),
            }
        }
        args
    }

    /// Returns a message for users about a run that did not finish.
    fn explain(&self, error: &RunError) -> String {
        let CommandReviewer { name, program, .. } = self.reviewer;
        match error {
            RunError::Start { source, .. } if source.kind() == ErrorKind::NotFound => {
                let how = known_analysers::find(name).map(|known| known.how_to_get);
                let how = how.map(|how| format!("; install it with {how}")).unwrap_or_default();
                format!("{program} is not installed or not on PATH{how}")
            }
            RunError::Start { source, .. } => format!("{program} cannot be started: {source}"),
            RunError::TimedOut { .. } => {
                format!("{name} ran longer than {:?} and was stopped", self.reviewer.time)
            }
            RunError::Stalled { seconds, .. } => {
                format!("{name} printed nothing for {seconds} s and was stopped")
            }
            RunError::TooMuchOutput { bytes, .. } => {
                format!("{name} printed more than {} MiB and was stopped", bytes >> 20)
            }
            RunError::StatusUnavailable { source, .. } => {
                format!("cannot read the exit status of {name}: {source}")
            }
        }
    }

    fn read(&self, finished: &CommandOutput, checkout: &Checkout<'_>) -> Report {
        let format = self.reviewer.format;
        let reading = format.read_output(&finished.stdout, &self.reviewer.name, checkout);
        let failure = failure(format, finished, &reading).or_else(|| self.unread_message(&reading));
        let mut report = reading.report;
        if let Some(failure) = failure {
            report.unusable = Some(format!("{} {failure}", self.reviewer.name));
        }
        let stderr = String::from_utf8_lossy(&finished.stderr);
        if format == AnalyserFormat::Ruff && stderr.contains("No Python files found") {
            let why = "ruff found none of its files: the ruff configuration excludes them";
            report.remarks.not_covered.push(why.to_owned());
        }
        report
    }

    /// Returns a message if the analyser could read none of its files, and found nothing.
    fn unread_message(&self, reading: &ParsedOutput) -> Option<String> {
        let saw_none = |name: &&RepoPath| reading.uncovered.contains(*name);
        let found = !reading.report.votes.is_empty();
        if found || self.names.is_empty() || !self.names.iter().all(saw_none) {
            return None;
        }
        let why = reading.report.remarks.not_covered.first().map_or("", String::as_str);
        Some(format!("could not read any of its files ({why})"))
    }
}

/// Returns the name of a file as an argument that cannot be parsed as an option.
fn as_argument(name: &RepoPath) -> String {
    let name = name.as_str();
    if name.starts_with(['-', '@', '+']) { format!("./{name}") } else { name.to_owned() }
}

/// The first exit code with which a shell reports that a program could not be started or was
/// killed.
const FIRST_SHELL_EXIT_CODE: i32 = 126;

/// The exit codes of a successful run, which depend on the format.
enum SuccessCodes {
    /// Exit code 0, or 1 with findings.
    OneWithFindings,
    /// Exit code 0, or with findings any code that is not one of a shell.
    AnyWithFindings,
    /// Exit code 0, or 101 for code that does not compile.
    Cargo,
}

fn success_codes(format: AnalyserFormat) -> SuccessCodes {
    match format {
        AnalyserFormat::Ruff
        | AnalyserFormat::Eslint
        | AnalyserFormat::Semgrep
        | AnalyserFormat::Bandit
        | AnalyserFormat::GolangciLint
        | AnalyserFormat::Pyright => SuccessCodes::OneWithFindings,
        AnalyserFormat::Sarif
        | AnalyserFormat::Rdjson
        | AnalyserFormat::Rdjsonl
        | AnalyserFormat::Checkstyle
        | AnalyserFormat::Lines => SuccessCodes::AnyWithFindings,
        AnalyserFormat::Clippy => SuccessCodes::Cargo,
    }
}

/// Returns the reason why a run failed; `None` if it succeeded.
fn failure(
    format: AnalyserFormat,
    finished: &CommandOutput,
    reading: &ParsedOutput,
) -> Option<String> {
    let report = &reading.report;
    let found = !report.votes.is_empty() || report.lost > 0;
    let said_why = !report.remarks.not_covered.is_empty();
    let worked = match (success_codes(format), finished.status.code()) {
        (_, Some(0)) => true,
        (SuccessCodes::OneWithFindings, Some(1)) => found || said_why,
        (SuccessCodes::AnyWithFindings, Some(..FIRST_SHELL_EXIT_CODE)) => found || said_why,
        (SuccessCodes::Cargo, Some(101)) => report.votes.iter().any(|vote| vote.grade.blocks()),
        (_, _) => false,
    };
    match &report.unusable {
        Some(why) if worked || reading.says_it_failed => Some(why.clone()),
        unusable if !worked => Some(explain_end(format, finished, unusable.as_deref())),
        _ => None,
    }
}

/// Returns the exit status with the error message, or with the problem of the output if there is
/// none.
fn explain_end(format: AnalyserFormat, finished: &CommandOutput, printed: Option<&str>) -> String {
    let end = describe_status(finished.status);
    let error_line = error_line(format, &String::from_utf8_lossy(&finished.stderr));
    match (error_line, printed) {
        (Some(error_line), _) => format!("{end}: {error_line}"),
        (None, Some(printed)) => format!("{end} and {printed}"),
        (None, None) => format!("{end} and reported no finding"),
    }
}

fn describe_status(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exited with code {code}"),
        None => "was killed by a signal".to_owned(),
    }
}

/// Returns the most useful line of stderr: the first that begins with `error` or similar, else the
/// last. That of ESLint is after its version and before advice.
fn error_line(format: AnalyserFormat, stderr: &str) -> Option<String> {
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| {
        let word = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        line.contains(':') && matches!(word.as_str(), "error" | "fatal" | "cause")
    };
    let after_version = || lines().skip_while(|line| !line.starts_with("ESLint:")).nth(1);
    let telling = match format {
        AnalyserFormat::Eslint => after_version(),
        _ => lines().find(is_error),
    };
    telling.or_else(|| lines().next_back()).map(|line| one_line(line, MAX_ERROR_CHARS))
}
