//! Runs a command with limits: [`Command`] and what it [`Finished`] with.
//!
//! This is the only crate that starts processes. A command gets a cleaned environment, a process
//! group of its own, a timeout after which the whole group is killed, a bound on the output that is
//! kept and, where the system offers it ([`limits()`]), bounds on the files and the network that it
//! reaches and on its processes and memory.
//!
//! The output is collected ([`Command::run`]), handed on piece by piece ([`Command::stream`]) or
//! read in answer to input ([`Command::converse`]). For [`Command::watch`] both outputs are handed
//! on, and the processes that the command leaves running are ended. The meaning of the output
//! belongs to the caller. A long-lived process of assay itself is a [`Companion`], with our whole
//! environment and no limits.
//!
//! A command that is stopped leaves no process behind, and neither does one with
//! [`Command::end_leftovers`] when it ends. A command has a process group (`process`), a control
//! group where bounds or leftovers need one (`bounds`), and a variable that its descendants inherit
//! (`marker`), by which a daemon that left the group is found. The processes of all three are
//! killed together, by this process or, if this process was killed, by the `watchdog`. `scratch`
//! removes temporary folders.
//!
//! A [`Key`] may come from a command, so keys and the places of secrets (`secrets`) are here as
//! well.

mod bounds;
mod companion;
mod conversation;
mod enforcement;
#[cfg(target_os = "linux")]
mod hiding;
mod hook;
mod key;
mod limits;
mod marker;
mod process;
mod scratch;
mod secrets;
mod watchdog;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use assay_base::clock::Stopwatch;

use crate::bounds::Bounds;
pub use crate::companion::{Companion, ask_to_end, is_running};
pub use crate::conversation::Conversation;
pub use crate::enforcement::Enforcement;
pub use crate::hook::ShutDownHook;
pub use crate::key::{Key, KeyError, KeySource, Keys};
use crate::limits::Reach;
pub use crate::limits::{Limits, limits};
pub use crate::process::{interrupt, stop_all};
pub use crate::scratch::{ScratchFolder, ScratchNote};
pub use crate::secrets::{secrets_elsewhere, secrets_of};

/// Stops every command, runs every [`ShutDownHook`] and removes every scratch folder of this process,
/// which is about to end: nothing is started or made any more.
pub fn shut_down() {
    stop_all();
    hook::run_all();
    scratch::remove_all();
}

/// How long a command may run unless told otherwise.
const DEFAULT_TIME: Duration = Duration::from_secs(120);

/// How long a command may run at the most: a clock cannot count to more than it holds.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How much of its output is kept unless told otherwise.
const DEFAULT_OUTPUT: usize = 256 << 20;

/// A command to run, with its limits.
#[derive(Clone)]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    folder: Option<PathBuf>,
    env: Vec<(OsString, OsString)>,
    passed_on: Vec<&'static str>,
    prepended: Vec<(&'static str, OsString)>,
    input: Option<Arc<[u8]>>,
    time: Duration,
    silence: Option<Duration>,
    output: usize,
    reach: Reach,
    bounds: Bounds,
    interruptible: bool,
    ends_leftovers: bool,
}

impl fmt::Debug for Command {
    /// Writes what is run. Variables can hold secrets, so only their names are told, and of the
    /// input only how much it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Command {
            program,
            args,
            folder,
            env,
            passed_on,
            prepended,
            input,
            time,
            silence,
            output,
            reach,
            bounds,
            interruptible,
            ends_leftovers,
        } = self;
        let names: Vec<&OsString> = env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Command")
            .field("program", program)
            .field("args", args)
            .field("folder", folder)
            .field("env", &names)
            .field("passed_on", passed_on)
            .field("prepended", prepended)
            .field("input", &input.as_ref().map(|input| input.len()))
            .field("time", time)
            .field("silence", silence)
            .field("output", output)
            .field("reach", reach)
            .field("bounds", bounds)
            .field("interruptible", interruptible)
            .field("ends_leftovers", ends_leftovers)
            .finish()
    }
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

/// How a command ended whose output was handed on.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub status: ExitStatus,
    /// What it complained about.
    pub stderr: Vec<u8>,
}

/// What a command says something on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Its standard output.
    Printed,
    /// Its standard error.
    Complained,
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
    /// It printed nothing for too long and was killed.
    #[error("`{program}` printed nothing for {seconds} s and was stopped")]
    Stalled {
        /// The program.
        program: String,
        /// How long it may print nothing.
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
            passed_on: Vec::new(),
            prepended: Vec::new(),
            input: None,
            time: DEFAULT_TIME,
            silence: None,
            output: DEFAULT_OUTPUT,
            reach: Reach::default(),
            bounds: Bounds::default(),
            interruptible: false,
            ends_leftovers: false,
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

    /// Passes on variables of our own environment, where they are set.
    pub fn pass_on(mut self, names: impl IntoIterator<Item = &'static str>) -> Command {
        self.passed_on.extend(names);
        self
    }

    /// Puts a folder in front of a list of folders that a variable holds, whatever else sets the variable.
    pub fn prepend_path(mut self, name: &'static str, folder: impl AsRef<OsStr>) -> Command {
        self.prepended.push((name, folder.as_ref().to_owned()));
        self
    }

    /// Gives it something to read. A command that does not read it is not waited for. In a
    /// conversation it is not given.
    pub fn input(mut self, bytes: impl Into<Arc<[u8]>>) -> Command {
        self.input = Some(bytes.into());
        self
    }

    /// Limits its time; in a conversation, the time for each answer.
    pub fn time(mut self, time: Duration) -> Command {
        self.time = time.min(LONGEST);
        self
    }

    /// Limits how long it may print nothing to stdout while it is run or streamed.
    pub fn silence(mut self, time: Duration) -> Command {
        self.silence = Some(time.min(LONGEST));
        self
    }

    /// Limits its output; what goes beyond stops it.
    pub fn output(mut self, bytes: usize) -> Command {
        self.output = bytes;
        self
    }

    /// Lets it write nowhere but in these files and folders, and end no processes but its own, where
    /// the kernel offers that.
    pub fn writable<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Command {
        self.reach.writable = Some(owned(paths));
        self
    }

    /// Hides more files and folders from it, where the kernel offers that: neither it nor what it
    /// starts can read, list or run them, by whatever links. What it may write to in a hidden folder it
    /// may read there, too. What does not exist is not hidden.
    ///
    /// Folders on the way to a hidden place cannot be listed, and what appears in them later cannot be
    /// read. Names, sizes and dates stay visible to who asks for a path. A hard link or a mount that
    /// was made elsewhere before is another place; an agent that listens at a socket is none. Nor can
    /// it look into processes that it did not start, and as root it loses what opens ways past files:
    /// `CAP_SYS_ADMIN`, `CAP_PERFMON`, `CAP_SYS_RAWIO` and `CAP_DAC_READ_SEARCH`.
    pub fn hidden<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Command {
        self.reach.hidden.extend(owned(paths));
        self
    }

    /// Keeps it from connecting or listening over TCP, where the kernel offers that.
    pub fn offline(mut self) -> Command {
        self.reach.offline = true;
        self
    }

    /// Limits how many processes and threads it has at a time, where the system offers that.
    pub fn processes(mut self, most: u32) -> Command {
        self.bounds.processes = Some(most);
        self
    }

    /// Limits its memory in bytes, where the system offers that; where it has no control groups,
    /// that of each process.
    pub fn memory(mut self, bytes: u64) -> Command {
        self.bounds.memory = Some(bytes);
        self
    }

    /// Has [`interrupt`] stop the command: a reader whose answer is no longer waited for.
    pub fn interruptible(mut self) -> Command {
        self.interruptible = true;
        self
    }

    /// Ends all that the command leaves running when it ends by itself. What it leaves running when it
    /// is stopped, or when this process is killed, ends in any case.
    pub fn end_leftovers(mut self) -> Command {
        self.ends_leftovers = true;
        self
    }

    /// Runs it to its end, or to its limits.
    pub fn run(&self) -> Result<Finished, RunError> {
        let mut stdout: Vec<u8> = Vec::new();
        let mut take = |piece: Vec<u8>| {
            if stdout.len() + piece.len() > self.output {
                return ControlFlow::Break(self.too_much());
            }
            stdout.extend(piece);
            ControlFlow::Continue(())
        };
        let ended = self.traced(|| self.supervise(&mut take))?;
        Ok(Finished { status: ended.status, stdout, stderr: ended.stderr })
    }

    /// Runs it to its end, or to its time, and hands on what it prints, of any length. What was
    /// handed on is not kept; the command waits while it is taken.
    pub fn stream(&self, mut take: impl FnMut(&[u8])) -> Result<Ended, RunError> {
        let mut take = |piece: Vec<u8>| {
            take(&piece);
            ControlFlow::Continue(())
        };
        self.traced(|| self.supervise(&mut take))
    }

    /// Runs it to its end, or to its limits, and hands on what it prints and what it complains about,
    /// as both come. Nothing is kept; the command waits while it is taken. What it leaves running is
    /// ended with it.
    pub fn watch(&self, mut take: impl FnMut(Stream, &[u8])) -> Result<ExitStatus, RunError> {
        self.traced(|| self.oversee(&mut take))
    }

    /// Starts it to be written to and read from. What it complains about is not kept.
    pub fn converse(&self) -> Result<Conversation, RunError> {
        let (child, group) = self.start(true, Stdio::null())?;
        Ok(Conversation::new(child, group, self.time))
    }

    /// Runs the command, and emits an event before it and one with how it ended. Arguments are left
    /// out: a credential may be among them.
    fn traced<T>(&self, run: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
        let program = &*self.program.to_string_lossy();
        tracing::debug!(program, "starting the command");
        let started = Stopwatch::start();
        let result = run();
        let elapsed = started.elapsed();
        match &result {
            Ok(_) => tracing::debug!(program, ?elapsed, "the command ended"),
            Err(error) => tracing::debug!(program, ?elapsed, %error, "the command failed"),
        }
        result
    }

    fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }
}

fn owned<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Vec<PathBuf> {
    paths.into_iter().map(|path| path.as_ref().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, Write};

    use super::*;

    pub(crate) fn shell(script: &str) -> Command {
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
    fn a_command_may_have_all_the_time_in_the_world() {
        let echo = shell("read -r line; echo \"$line\"").time(Duration::MAX);
        assert_eq!(echo.clone().input(*b"hello\n").run().unwrap().stdout, b"hello\n");
        let mut conversation = echo.converse().unwrap();
        conversation.write_all(b"hello\n").unwrap();
        let mut answer = String::new();
        conversation.read_line(&mut answer).unwrap();
        assert_eq!(answer, "hello\n");
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

    #[test]
    fn output_of_any_length_is_handed_on() {
        let mut count = 0;
        let flood = shell("head -c 10000000 /dev/zero; exit 3").output(1_000);
        let ended = flood.stream(|piece| count += piece.len()).unwrap();
        assert_eq!((count, ended.status.code()), (10_000_000, Some(3)));
    }

    #[test]
    fn a_stream_that_never_ends_is_stopped() {
        let error = shell("yes").time(Duration::from_millis(50)).stream(|_| {}).unwrap_err();
        assert!(matches!(error, RunError::TimedOut { .. }), "{error}");
    }

    #[test]
    fn a_command_that_prints_nothing_for_too_long_is_stopped() {
        let silence = Duration::from_millis(50);
        for script in ["sleep 600", "echo begun; sleep 600", "while :; do echo x >&2; done"] {
            let error = shell(script).silence(silence).run().unwrap_err();
            assert!(matches!(error, RunError::Stalled { .. }), "{script}: {error}");
        }
        let talks = shell("yes").silence(Duration::from_secs(60)).output(1_000).run().unwrap_err();
        assert!(matches!(talks, RunError::TooMuchOutput { .. }), "{talks}");
    }

    #[test]
    fn a_command_reads_what_it_is_given() {
        let much = vec![b'x'; 1 << 20];
        assert_eq!(shell("cat").input(much.clone()).run().unwrap().stdout, much);
        assert_eq!(shell("cat").input([]).run().unwrap().stdout, b"");
    }

    #[test]
    fn a_command_that_does_not_read_is_not_waited_for() {
        let much = vec![b'x'; 1 << 20];
        let finished = shell("exec 0<&-; echo done").input(much.clone()).run().unwrap();
        assert_eq!(finished.stdout, b"done\n");
        let error = shell("sleep 600").input(much).time(Duration::from_millis(50)).run();
        assert!(matches!(error, Err(RunError::TimedOut { .. })), "{error:?}");
    }

    #[test]
    fn a_command_shows_what_is_run_and_no_secret() {
        let shown = format!("{:?}", shell("true").env("TOKEN", "sesame").input(*b"private"));
        assert!(shown.contains("\"true\"") && shown.contains("\"TOKEN\""), "{shown}");
        assert!(!shown.contains("sesame") && shown.contains("Some(7)"), "{shown}");
    }

    #[test]
    fn a_folder_is_put_in_front_of_a_list_that_something_else_sets() {
        let shown = |command: Command| command.run().unwrap().stdout;
        let print = shell("printf %s \"$LIST\"").prepend_path("LIST", "/first");
        assert_eq!(shown(print.clone()), b"/first");
        assert_eq!(shown(print.env("LIST", "/a:/b")), b"/first:/a:/b");
    }

    #[test]
    fn variables_are_passed_on_by_name_alone() {
        let shown = |command: Command| command.run().unwrap().stdout;
        let print = shell("printf %s \"$CARGO_MANIFEST_DIR\"");
        assert_eq!(shown(print.clone()), b"");
        assert_eq!(
            shown(print.pass_on(["CARGO_MANIFEST_DIR"])),
            env!("CARGO_MANIFEST_DIR").as_bytes()
        );
    }
}
