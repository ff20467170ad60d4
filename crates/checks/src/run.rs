//! Runs required checks: [`Runner`] returns a [`CheckOutcome`] for each.
//!
//! A check runs code of the repository. It gets the environment that tools need and no secrets,
//! neither in variables nor in the home. It may write to a folder for temporary files, one for
//! caches, and the tree only. It has no network unless allowed, and it is killed with all processes
//! that it started. Its exit code alone decides nothing: there must be evidence of the tests.
//!
//! `environment` prepares the environment of a check, `channel` installs our own reporters in test
//! runners, `capture` stores the output, `reports` reads the written files, `unreported` finds
//! tests without a result in the files that ran, and `judge` decides the state.

mod capture;
mod channel;
mod environment;
mod judge;
mod reports;
mod unreported;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_base::clock::{Deadline, Stopwatch};
use assay_sandbox::{Command, RunError, ScratchFolder, secrets_in_home};

use self::capture::Capture;
use self::judge::{RunEvidence, judge};
use self::reports::Reports;
use crate::check::{CheckKind, CheckOutcome, CheckState, RequiredCheck};
use crate::command::{Program, REPORTS, SUPPORT};
use crate::coverage::{LineRanges, PathIndex};
use crate::programs::{OwnPrograms, own_programs};
use crate::results::TestReport;

/// The limits of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckLimits {
    /// The timeout.
    pub time: Duration,
    /// The end of the run that the check belongs to. A check that starts shortly before the end
    /// gets the time that is left, but at least one second; `None` for no end.
    pub deadline: Option<Deadline>,
    /// The maximum number of bytes of output.
    pub output: usize,
    /// The maximum number of processes and threads at a time.
    pub processes: u32,
    /// The maximum memory in bytes; `None` for no limit.
    pub memory: Option<u64>,
}

impl Default for CheckLimits {
    fn default() -> CheckLimits {
        CheckLimits {
            time: Duration::from_secs(20 * 60),
            deadline: None,
            output: 1 << 30,
            processes: 4_096,
            memory: None,
        }
    }
}

impl CheckLimits {
    /// Returns the timeout of a check that starts now.
    fn timeout(self) -> Duration {
        let left = self.deadline.map(|end| end.left().max(MIN_TIMEOUT));
        left.map_or(self.time, |left| self.time.min(left))
    }
}

/// The shortest timeout that a deadline leaves to a check.
const MIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs checks in a tree.
#[derive(Debug, Clone)]
pub struct Runner {
    root: PathBuf,
    limits: CheckLimits,
    caches: Option<PathBuf>,
    search_path: Option<OsString>,
    writable: Vec<PathBuf>,
    home: Option<PathBuf>,
    hidden: Vec<PathBuf>,
    paths: PathIndex,
    changed: BTreeMap<String, LineRanges>,
}

impl Runner {
    /// Creates a runner for a tree, with default limits.
    pub fn new(root: &Path) -> Runner {
        Runner {
            root: root.to_owned(),
            limits: CheckLimits::default(),
            caches: None,
            search_path: None,
            writable: Vec::new(),
            home: None,
            hidden: Vec::new(),
            paths: PathIndex::default(),
            changed: BTreeMap::new(),
        }
    }

    /// Sets the limits of each check.
    pub fn limits(mut self, limits: CheckLimits) -> Runner {
        self.limits = limits;
        self
    }

    /// Stores the caches of tools in a permanent folder, so that not every run builds everything
    /// again.
    pub fn caches(mut self, folder: &Path) -> Runner {
        self.caches = Some(folder.to_owned());
        self
    }

    /// Sets the search path for programs. Tools that the project installed for itself come first,
    /// see [`Runner::own_programs`].
    pub fn search_path(mut self, path: impl Into<OsString>) -> Runner {
        self.search_path = Some(path.into());
        self
    }

    /// Returns the programs of the tree that a check in a folder, named from the root, uses.
    pub fn own_programs(&self, folder: &str) -> OwnPrograms {
        own_programs(&self.root, &self.root.join(folder), self.search_path.as_deref())
    }

    /// Allows checks to write to more files and folders.
    pub fn writable<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Runner {
        self.writable.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Sets the home of checks, with its secrets hidden. If the tree itself is the home, checks
    /// cannot list it, and cannot read files that they create at its top.
    pub fn home(mut self, home: &Path) -> Runner {
        self.home = Some(home.to_owned());
        self.hidden(secrets_in_home(home))
    }

    /// Hides more files and folders from checks.
    pub fn hidden<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Runner {
        self.hidden.extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Sets the change that coverage is measured for: the files of the repository, and the lines
    /// that each file gained.
    pub fn change(
        mut self,
        files: impl IntoIterator<Item = String>,
        changed: BTreeMap<String, LineRanges>,
    ) -> Runner {
        self.paths = PathIndex::new(self.root.to_str(), files);
        self.changed = changed;
        self
    }

    /// Runs a check. Every error is part of the outcome.
    pub fn run(&self, check: &RequiredCheck) -> CheckOutcome {
        let mut outcome = CheckOutcome {
            name: check.name.clone(),
            kind: check.kind,
            also: check.also.clone(),
            command: display_command(check),
            folder: check.folder.clone(),
            state: CheckState::Passed,
            exit_code: None,
            duration_ms: 0,
            output_digest: String::new(),
            output_bytes: 0,
            tail: String::new(),
            tests: None,
            coverage: None,
            notes: Vec::new(),
        };
        if let Err(error) = self.fill(check, &mut outcome) {
            outcome.state = CheckState::NotRun { why: error };
        }
        outcome
    }

    fn fill(&self, check: &RequiredCheck, outcome: &mut CheckOutcome) -> Result<(), String> {
        let folder = self.folder(check)?;
        let no_place = |error: io::Error| {
            format!("cannot create a folder for the reports of the check: {error}")
        };
        let scratch = scratch().map_err(no_place)?;
        let reports = Reports::snapshot(check, &folder, &scratch.path().join("reports"));
        let command = self.command(check, &folder, scratch.path()).map_err(no_place)?;

        let mut capture = Capture::default();
        tracing::info!(check = check.name, "running the check");
        let start = Stopwatch::start();
        let span = tracing::info_span!("check", otel.name = format!("check {}", check.name));
        let ended = span.in_scope(|| command.watch(|stream, piece| capture.take(stream, piece)));
        drop(span);
        tracing::info!(check = check.name, elapsed = ?start.elapsed(), "the check finished");
        outcome.duration_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        outcome.output_digest = capture.digest();
        outcome.output_bytes = capture.bytes();
        outcome.tail = capture.tail();

        outcome.notes.extend(self.unused_program_notes(check));
        let (tests, broke_off) = reports.tests(check, &capture, &mut outcome.notes);
        outcome.tests = tests;
        self.name_from_root(&folder, outcome.tests.as_mut());
        if let Some(tests) = &mut outcome.tests {
            tests.unreported = unreported::unreported(&self.root, check, tests);
        }
        let coverage = reports.coverage(&mut outcome.notes);
        outcome.coverage = coverage.map(|it| it.measure(&self.paths, &self.changed));
        let status = match ended {
            Ok(status) => status,
            Err(RunError::TimedOut { .. } | RunError::Stalled { .. }) => {
                outcome.state = CheckState::TimedOut;
                return Ok(());
            }
            Err(error @ RunError::TooMuchOutput { .. }) => {
                outcome.state = CheckState::Failed { why: error.to_string() };
                return Ok(());
            }
            Err(error) => return Err(explain(&error)),
        };
        outcome.exit_code = status.code();
        outcome.state = judge(
            check,
            &RunEvidence {
                status,
                tests: outcome.tests.as_ref(),
                broke_off,
                coverage: outcome.coverage.as_ref(),
                tail: &outcome.tail,
            },
        );
        outcome.notes.extend(check.expect.as_ref().map(|it| format!("the spec expects: {it}")));
        if outcome.is_pass() && outcome.tests.is_none() && runs_tests(check.kind) {
            let note = "the check reports no test results: only its exit code counts";
            outcome.notes.push(note.to_owned());
        }
        Ok(())
    }

    /// Returns a note for each program of the tree that the command names and that was not used.
    fn unused_program_notes(&self, check: &RequiredCheck) -> Vec<String> {
        let words = check.command.mentioned_words();
        let own = self.own_programs(&check.folder);
        let named = own.passed_over.iter().filter(|(it, _)| words.contains(&it.name.as_str()));
        let shown =
            |path: &Path| path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
        named
            .map(|(program, why)| format!("`{}` was not used: {why}", shown(&program.path)))
            .collect()
    }

    /// Converts the names of test files to paths from the root: runners write them relative to
    /// their folder, or absolute.
    fn name_from_root(&self, folder: &Path, tests: Option<&mut TestReport>) {
        let roots = [Some(self.root.clone()), self.root.canonicalize().ok()];
        let name = |file: &mut String| {
            let path = folder.join(&*file);
            let below = roots.iter().flatten().find_map(|root| path.strip_prefix(root).ok());
            if let Some(below) = below.and_then(Path::to_str) {
                *file = below.to_owned();
            }
        };
        let Some(tests) = tests else { return };
        tests.empty_files.iter_mut().for_each(name);
        for test in &mut tests.results {
            test.file.iter_mut().chain(&mut test.skipped_in).for_each(name);
        }
    }

    /// Returns the folder in which a check runs. Fails if it is not inside of the tree.
    fn folder(&self, check: &RequiredCheck) -> Result<PathBuf, String> {
        let outside = || format!("there is no folder `{}` in the tree", check.folder);
        let root = self.root.canonicalize().map_err(|_| outside())?;
        let folder = root.join(&check.folder).canonicalize().map_err(|_| outside())?;
        if !folder.starts_with(&root) || !folder.is_dir() {
            return Err(outside());
        }
        Ok(folder)
    }

    fn command(&self, check: &RequiredCheck, folder: &Path, scratch: &Path) -> io::Result<Command> {
        let place = |name: &str| scratch.join(name).to_string_lossy().into_owned();
        let (reports, support) = (place("reports"), place("support"));
        let filled = |text: &String| text.replace(REPORTS, &reports).replace(SUPPORT, &support);
        let command = match &check.command.program {
            Program::Words(words) => {
                let mut words = words.iter().map(filled);
                Command::new(words.next().unwrap_or_default()).args(words)
            }
            Program::Script(script) => Command::new("sh").args(["-c", &filled(script)]),
        };
        let CheckLimits { output, processes, memory, .. } = self.limits;
        let time = self.limits.timeout();
        let command = command.folder(folder).time(time).output(output).processes(processes);
        let command = match memory {
            Some(bytes) => command.memory(bytes),
            None => command,
        };
        let command = if check.network { command } else { command.offline() };
        let command = self.with_environment(command, check, scratch)?;
        let command = channel::with_reporters(command, check, &scratch.join("support"))?;
        let variables = check.command.variables.iter();
        Ok(variables.fold(command, |command, (name, value)| command.env(name, filled(value))))
    }
}

/// Returns true if the purpose of a check is to run tests.
fn runs_tests(kind: CheckKind) -> bool {
    matches!(kind, CheckKind::Unit | CheckKind::Integration | CheckKind::FullSuite | CheckKind::E2e)
}

/// Creates a scratch folder, with folders for reports, temporary files and our own reporters in it.
fn scratch() -> io::Result<ScratchFolder> {
    let scratch = ScratchFolder::new("assay-check-")?;
    for name in ["reports", "tmp", "support"] {
        std::fs::create_dir(scratch.path().join(name))?;
    }
    Ok(scratch)
}

/// Returns the command of a check for display, without folders that are removed after the run.
fn display_command(check: &RequiredCheck) -> String {
    check.command.to_string().replace(REPORTS, "reports").replace(SUPPORT, "support")
}

fn explain(error: &RunError) -> String {
    match std::error::Error::source(error) {
        Some(source) if is_missing(source) => {
            format!("{error}: it is not installed, or not on `PATH`")
        }
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn is_missing(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}
