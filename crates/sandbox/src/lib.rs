//! Runs a command with limits: [`Command`] and what it [`Finished`] with. It gets nothing to read.
//!
//! This is the only room that starts processes. A command gets a cleaned environment, a process
//! group of its own, a time after which the whole group is killed, and a bound on what is kept of
//! its output. What the output means is the caller's business.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// How long a command may run unless told otherwise.
const DEFAULT_TIME: Duration = Duration::from_secs(120);

/// How much of its output is kept unless told otherwise.
const DEFAULT_OUTPUT: usize = 256 << 20;

/// The variables that every command needs to find its programs, home and time zone.
const PASSED_ON: [&str; 6] = ["PATH", "HOME", "TMPDIR", "TZ", "USER", "SYSTEMROOT"];

/// A command to run, with its limits.
#[derive(Debug, Clone)]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    folder: Option<PathBuf>,
    env: Vec<(OsString, OsString)>,
    time: Duration,
    output: usize,
}

/// What a command that came to its end printed, and how it ended.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it complained about.
    pub stderr: Vec<u8>,
}

/// Why a command did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It could not be started.
    #[error("could not start `{program}`")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// It took too long and was killed.
    #[error("`{program}` ran longer than {seconds} s and was stopped")]
    TimedOut {
        /// The program.
        program: String,
        /// How long it had.
        seconds: u64,
    },
    /// It printed too much and was killed.
    #[error("`{program}` printed more than {bytes} bytes and was stopped")]
    TooMuchOutput {
        /// The program.
        program: String,
        /// How much it could.
        bytes: usize,
    },
    /// Its end could not be seen.
    #[error("lost sight of `{program}`")]
    Lost {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
}

impl Command {
    /// Prepares a program.
    pub fn new(program: impl AsRef<OsStr>) -> Command {
        Command {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            folder: None,
            env: Vec::new(),
            time: DEFAULT_TIME,
            output: DEFAULT_OUTPUT,
        }
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Command {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Runs it in a folder.
    pub fn folder(mut self, folder: &Path) -> Command {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Command {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Limits its time.
    pub fn time(mut self, time: Duration) -> Command {
        self.time = time;
        self
    }

    /// Limits its output; what goes beyond stops it.
    pub fn output(mut self, bytes: usize) -> Command {
        self.output = bytes;
        self
    }

    fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// Runs it to its end, or to its limits.
    pub fn run(&self) -> Result<Finished, RunError> {
        let mut child =
            self.start().map_err(|source| RunError::Start { program: self.name(), source })?;
        let group = Pid::from_child(&child);
        let (events, inbox) = mpsc::channel();
        let limit = self.output;
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        // The channel holds three events at most: two outputs and one end.
        let sender = events.clone();
        thread::spawn(move || sender.send(Event::Stdout(read_up_to(stdout, limit))));
        let sender = events.clone();
        thread::spawn(move || sender.send(Event::Stderr(read_up_to(stderr, limit))));
        thread::spawn(move || events.send(Event::Ended(child.wait())));
        let finished = self.await_end(&inbox);
        if finished.is_err() {
            // The group may be gone already, which is as good.
            let _ = kill_process_group(group, Signal::KILL);
        }
        finished
    }

    #[expect(clippy::disallowed_methods, reason = "this is the room that starts processes")]
    fn start(&self) -> io::Result<Child> {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args).env_clear().process_group(0);
        for name in PASSED_ON {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        for (name, value) in &self.env {
            command.env(name, value);
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    }

    fn await_end(&self, inbox: &mpsc::Receiver<Event>) -> Result<Finished, RunError> {
        let deadline = std::time::Instant::now() + self.time;
        let (mut status, mut stdout, mut stderr) = (None, None, None);
        loop {
            if let (Some(_), Some(_), Some(_)) = (&status, &stdout, &stderr) {
                break;
            }
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            match inbox.recv_timeout(left) {
                Ok(Event::Stdout(output)) => stdout = Some(self.within_limit(output)?),
                Ok(Event::Stderr(output)) => stderr = Some(self.within_limit(output)?),
                Ok(Event::Ended(end)) => {
                    status = Some(
                        end.map_err(|source| RunError::Lost { program: self.name(), source })?,
                    );
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(RunError::TimedOut {
                        program: self.name(),
                        seconds: self.time.as_secs(),
                    });
                }
            }
        }
        Ok(Finished {
            status: status.expect("the loop ends with a status"),
            stdout: stdout.expect("the loop ends with an output"),
            stderr: stderr.expect("the loop ends with an output"),
        })
    }

    fn within_limit(&self, output: Output) -> Result<Vec<u8>, RunError> {
        match output {
            Output::Whole(bytes) => Ok(bytes),
            Output::TooMuch => {
                Err(RunError::TooMuchOutput { program: self.name(), bytes: self.output })
            }
        }
    }
}

enum Event {
    Stdout(Output),
    Stderr(Output),
    Ended(io::Result<ExitStatus>),
}

enum Output {
    Whole(Vec<u8>),
    TooMuch,
}

fn read_up_to(source: impl Read, limit: usize) -> Output {
    let mut bytes = Vec::new();
    // One byte more than the limit tells that there is more.
    let read = source.take(limit as u64 + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() > limit => Output::TooMuch,
        _ => Output::Whole(bytes),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        Command::new("sh").args(["-c", script])
    }

    #[test]
    fn output_and_status_come_back() {
        let finished = shell("printf hello; echo oops >&2; exit 3").run().unwrap();
        assert_eq!(finished.stdout, b"hello");
        assert_eq!(finished.stderr, b"oops\n");
        assert_eq!(finished.status.code(), Some(3));
    }

    #[test]
    fn a_command_that_takes_too_long_is_stopped_with_its_children() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = format!("(sleep 600; echo late > {}) & wait", file.path().display());
        let error = shell(&script).time(Duration::from_millis(50)).run().unwrap_err();
        assert!(matches!(error, RunError::TimedOut { .. }), "{error}");
    }

    #[test]
    fn a_command_that_floods_is_stopped() {
        let error = shell("yes").output(1_000).run().unwrap_err();
        assert!(matches!(error, RunError::TooMuchOutput { .. }), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = Command::new("no-such-program").run().unwrap_err();
        assert_eq!(error.to_string(), "could not start `no-such-program`");
    }
}
