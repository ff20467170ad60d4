//! Runs commands with limits: [`Command`], and its result [`CommandOutput`].
//!
//! This is the only crate that starts processes. A command gets a cleaned environment, a process
//! group of its own, a timeout after which the whole group is killed, a bound on the output that is
//! kept and, where the system offers it ([`limits()`]), bounds on the files and the network that it
//! reaches and on its processes and memory.
//!
//! The output is collected ([`Command::run`]), passed on piece by piece ([`Command::stream`]) or
//! read in answer to input ([`Command::spawn_piped`]). [`Command::watch`] passes on stdout and
//! stderr, and ends the processes that the command leaves running. The meaning of the output
//! belongs to the caller. A long-running process of assay itself is a [`SupervisedChild`], with our
//! whole environment and no limits.
//!
//! A command that is stopped leaves no process behind, and neither does one with
//! [`Command::kill_leftovers`] when it ends. A command has a process group (`process`), a control
//! group where bounds or leftovers need one (`cgroup`), and a variable that its descendants inherit
//! (`marker`), by which a daemon that left the group is found. The processes of all three are
//! killed together, by this process or, if this process was killed, by the `watchdog`. `scratch`
//! removes temporary folders.
//!
//! A [`Key`] may come from a command, so keys and the paths of secrets (`secrets`) are here as
//! well.

mod cgroup;
mod enforcement;
mod key;
mod limits;
mod marker;
#[cfg(target_os = "linux")]
mod path_trie;
mod piped_child;
mod process;
mod scratch;
mod secrets;
mod shutdown_hook;
mod supervised_child;
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

use crate::cgroup::ResourceLimits;
pub use crate::enforcement::Enforcement;
pub use crate::key::{Key, KeyError, KeySource, Keys};
use crate::limits::AccessRules;
pub use crate::limits::{Limits, limits};
pub use crate::piped_child::PipedChild;
pub use crate::process::{interrupt, stop_all};
pub use crate::scratch::{ScratchFolder, ScratchRegistration};
pub use crate::secrets::{secrets_by_variables, secrets_in_home};
pub use crate::shutdown_hook::ShutdownHook;
pub use crate::supervised_child::{SupervisedChild, is_running, terminate};

/// Stops every command, runs every [`ShutdownHook`] and removes every scratch folder of this
/// process, which is about to end: no command is started and no folder is created any more.
pub fn shut_down() {
    stop_all();
    shutdown_hook::run_all();
    scratch::remove_all();
}

/// The default timeout of a command.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// The maximum timeout of a command: a clock cannot represent an arbitrary time in the future.
const MAX_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The default maximum of the output that is kept, in bytes.
const DEFAULT_MAX_OUTPUT: usize = 256 << 20;

/// A command to run, with its limits.
#[derive(Clone)]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    folder: Option<PathBuf>,
    env: Vec<(OsString, OsString)>,
    inherited_env: Vec<&'static str>,
    prepended: Vec<(&'static str, OsString)>,
    input: Option<Arc<[u8]>>,
    time: Duration,
    silence: Option<Duration>,
    output: usize,
    reach: AccessRules,
    bounds: ResourceLimits,
    interruptible: bool,
    kills_leftovers: bool,
}

impl fmt::Debug for Command {
    /// Writes the command without secrets: of variables only the names, and of the input only its
    /// length.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Command {
            program,
            args,
            folder,
            env,
            inherited_env,
            prepended,
            input,
            time,
            silence,
            output,
            reach,
            bounds,
            interruptible,
            kills_leftovers,
        } = self;
        let names: Vec<&OsString> = env.iter().map(|(name, _)| name).collect();
        f.debug_struct("Command")
            .field("program", program)
            .field("args", args)
            .field("folder", folder)
            .field("env", &names)
            .field("passed_on", inherited_env)
            .field("prepended", prepended)
            .field("input", &input.as_ref().map(|input| input.len()))
            .field("time", time)
            .field("silence", silence)
            .field("output", output)
            .field("reach", reach)
            .field("bounds", bounds)
            .field("interruptible", interruptible)
            .field("ends_leftovers", kills_leftovers)
            .finish()
    }
}

/// The result of a command that ended: its output and its exit status.
#[derive(Debug)]
pub struct CommandOutput {
    /// The exit status.
    pub status: ExitStatus,
    /// The stdout of the command.
    pub stdout: Vec<u8>,
    /// The stderr of the command.
    pub stderr: Vec<u8>,
}

/// The result of a command whose output was passed on.
#[derive(Debug)]
pub struct StreamedOutput {
    /// The exit status.
    pub status: ExitStatus,
    /// The stderr of the command.
    pub stderr: Vec<u8>,
}

/// An output stream of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// The standard output.
    Stdout,
    /// The standard error.
    Stderr,
}

/// The reason why a command did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The command could not be started.
    #[error("cannot start `{program}`")]
    Start {
        /// The program.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The command ran longer than its timeout and was killed.
    #[error("`{program}` ran longer than {seconds} s and was stopped")]
    TimedOut {
        /// The program.
        program: String,
        /// The timeout, in seconds.
        seconds: u64,
    },
    /// The command printed nothing for too long and was killed.
    #[error("`{program}` printed nothing for {seconds} s and was stopped")]
    Stalled {
        /// The program.
        program: String,
        /// The maximum time without output, in seconds.
        seconds: u64,
    },
    /// The command printed too much and was killed.
    #[error("`{program}` printed more than {bytes} bytes and was stopped")]
    TooMuchOutput {
        /// The program.
        program: String,
        /// The maximum output, in bytes.
        bytes: usize,
    },
    /// The exit status could not be read.
    #[error("cannot read the exit status of `{program}`")]
    StatusUnavailable {
        /// The program.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Command {
    /// Creates a command that runs a program, with the default limits.
    pub fn new(program: impl AsRef<OsStr>) -> Command {
        Command {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            folder: None,
            env: Vec::new(),
            inherited_env: Vec::new(),
            prepended: Vec::new(),
            input: None,
            time: DEFAULT_TIMEOUT,
            silence: None,
            output: DEFAULT_MAX_OUTPUT,
            reach: AccessRules::default(),
            bounds: ResourceLimits::default(),
            interruptible: false,
            kills_leftovers: false,
        }
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Command {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets the folder in which the command runs.
    pub fn folder(mut self, folder: &Path) -> Command {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Command {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Passes on variables of our own environment, if they are set.
    pub fn inherit_env(mut self, names: impl IntoIterator<Item = &'static str>) -> Command {
        self.inherited_env.extend(names);
        self
    }

    /// Prepends a folder to the list of folders in a variable, however else the variable is set.
    pub fn prepend_path(mut self, name: &'static str, folder: impl AsRef<OsStr>) -> Command {
        self.prepended.push((name, folder.as_ref().to_owned()));
        self
    }

    /// Sets the stdin of the command. A command that does not read the input is not waited for. A
    /// conversation ignores the input.
    pub fn input(mut self, bytes: impl Into<Arc<[u8]>>) -> Command {
        self.input = Some(bytes.into());
        self
    }

    /// Sets the timeout; in a conversation, the timeout of each write and read.
    pub fn time(mut self, time: Duration) -> Command {
        self.time = time.min(MAX_TIMEOUT);
        self
    }

    /// Limits the time for which the command may print nothing to stdout, in `run` and `stream`.
    pub fn silence(mut self, time: Duration) -> Command {
        self.silence = Some(time.min(MAX_TIMEOUT));
        self
    }

    /// Limits the output, in bytes. A command that prints more is stopped.
    pub fn output(mut self, bytes: usize) -> Command {
        self.output = bytes;
        self
    }

    /// Restricts writes to these files and folders, and signals to the command's own processes, if
    /// the kernel offers that.
    pub fn writable<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Command {
        self.reach.writable = Some(owned(paths));
        self
    }

    /// Hides more files and folders, if the kernel offers that: neither the command nor its
    /// children can read, list or run them, by whatever links. A path in a hidden folder that is
    /// writable is also readable. A path that does not exist is not hidden.
    ///
    /// Folders on the way to a hidden path cannot be listed, and files that appear in them later
    /// cannot be read. Names, sizes and dates stay visible if the command asks for a path. A hard
    /// link or a mount that was made elsewhere before is another path, and is not hidden; an agent
    /// that listens at a socket is not hidden either. The command cannot inspect processes that it
    /// did not start. A command that runs as root loses the capabilities that bypass file
    /// permissions: `CAP_SYS_ADMIN`, `CAP_PERFMON`, `CAP_SYS_RAWIO` and `CAP_DAC_READ_SEARCH`.
    pub fn hidden<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Command {
        self.reach.hidden.extend(owned(paths));
        self
    }

    /// Forbids the command to connect or listen over TCP, if the kernel offers that.
    pub fn offline(mut self) -> Command {
        self.reach.offline = true;
        self
    }

    /// Limits the number of processes and threads at a time, if the system offers that.
    pub fn processes(mut self, most: u32) -> Command {
        self.bounds.processes = Some(most);
        self
    }

    /// Limits the memory in bytes, if the system offers that: of all processes together with
    /// control groups, else of each process.
    pub fn memory(mut self, bytes: u64) -> Command {
        self.bounds.memory = Some(bytes);
        self
    }

    /// Makes [`interrupt`] stop the command: for a reviewer whose answer is no longer waited for.
    pub fn interruptible(mut self) -> Command {
        self.interruptible = true;
        self
    }

    /// Kills the processes that are left when the command ends by itself. If the command is
    /// stopped, or this process is killed, they are killed in any case.
    pub fn kill_leftovers(mut self) -> Command {
        self.kills_leftovers = true;
        self
    }

    /// Runs the command until it ends or reaches a limit.
    pub fn run(&self) -> Result<CommandOutput, RunError> {
        let mut stdout: Vec<u8> = Vec::new();
        let mut take = |piece: Vec<u8>| {
            if stdout.len() + piece.len() > self.output {
                return ControlFlow::Break(self.output_limit_error());
            }
            stdout.extend(piece);
            ControlFlow::Continue(())
        };
        let ended = self.traced(|| self.run_capturing(&mut take))?;
        Ok(CommandOutput { status: ended.status, stdout, stderr: ended.stderr })
    }

    /// Runs the command until it ends or a timeout passes, and calls `take` with each piece of
    /// stdout, of any total length. Pieces are not kept; the command waits while `take` runs.
    pub fn stream(&self, mut take: impl FnMut(&[u8])) -> Result<StreamedOutput, RunError> {
        let mut take = |piece: Vec<u8>| {
            take(&piece);
            ControlFlow::Continue(())
        };
        self.traced(|| self.run_capturing(&mut take))
    }

    /// Runs the command until it ends or reaches a limit, and calls `take` with each piece of
    /// stdout and stderr as it arrives. Pieces are not kept; the command waits while `take` runs.
    /// The processes that the command leaves running are killed.
    pub fn watch(&self, mut take: impl FnMut(Stream, &[u8])) -> Result<ExitStatus, RunError> {
        self.traced(|| self.run_streaming(&mut take))
    }

    /// Starts the command as a `PipedChild`, to be written to and read from. Its stderr is
    /// discarded.
    pub fn spawn_piped(&self) -> Result<PipedChild, RunError> {
        let (child, group) = self.start(true, Stdio::null())?;
        Ok(PipedChild::new(child, group, self.time))
    }

    /// Runs the command, with one event before and one with its result. Arguments are left out of
    /// both: a credential may be among them.
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
    fn a_time_limit_of_the_maximal_duration_is_accepted() {
        let echo = shell("read -r line; echo \"$line\"").time(Duration::MAX);
        assert_eq!(echo.clone().input(*b"hello\n").run().unwrap().stdout, b"hello\n");
        let mut conversation = echo.spawn_piped().unwrap();
        conversation.write_all(b"hello\n").unwrap();
        let mut answer = String::new();
        conversation.read_line(&mut answer).unwrap();
        assert_eq!(answer, "hello\n");
    }

    #[test]
    fn a_command_that_exceeds_its_output_limit_is_stopped() {
        let error = shell("yes").output(1_000).run().unwrap_err();
        assert!(matches!(error, RunError::TooMuchOutput { .. }), "{error}");
    }

    #[test]
    fn a_missing_program_is_named_in_the_error() {
        let error = Command::new("no-such-program").run().unwrap_err();
        assert_eq!(error.to_string(), "cannot start `no-such-program`");
    }

    #[test]
    fn a_program_is_found_in_the_folders_of_the_given_path_in_order() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        for (folder, mode) in [("first", 0o755), ("second", 0o755), ("not-executable", 0o644)] {
            let program = root.path().join(folder).join("greet");
            std::fs::create_dir(program.parent().unwrap()).unwrap();
            std::fs::write(&program, format!("#!/bin/sh\necho {folder} $1\n")).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        std::fs::create_dir_all(root.path().join("folder/greet")).unwrap();
        let cases = [
            ("first:second", "first x\n"),
            ("second:first", "second x\n"),
            ("missing:not-executable:folder:second", "second x\n"),
            ("missing:folder", "cannot start `greet`: No such file or directory"),
            ("missing:not-executable", "cannot start `greet`: Permission denied"),
        ];
        for (path, expected) in cases {
            let absolute = path.split(':').map(|name| root.path().join(name));
            for path in [std::env::join_paths(absolute).unwrap(), path.into()] {
                let greet = Command::new("greet").args(["x"]).folder(root.path());
                for greet in [greet.clone(), greet.interruptible()] {
                    let shown = match greet.env("PATH", &path).run() {
                        Ok(finished) => String::from_utf8(finished.stdout).unwrap(),
                        Err(RunError::Start { program, source }) => {
                            let cause = source.to_string();
                            let cause = cause.split(" (os").next().unwrap().to_owned();
                            format!("cannot start `{program}`: {cause}")
                        }
                        Err(error) => error.to_string(),
                    };
                    assert_eq!(shown, expected, "{path:?}");
                }
            }
        }
    }

    #[test]
    fn a_program_is_told_its_bare_name() {
        let shown = shell("tr '\\0' '\\n' < /proc/$$/cmdline | head -n 1").run().unwrap();
        assert_eq!(shown.stdout, b"sh\n");
    }

    #[test]
    fn streamed_output_has_no_length_limit() {
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
    fn a_command_reads_its_given_input() {
        let much = vec![b'x'; 1 << 20];
        assert_eq!(shell("cat").input(much.clone()).run().unwrap().stdout, much);
        assert_eq!(shell("cat").input([]).run().unwrap().stdout, b"");
    }

    #[test]
    fn a_command_that_does_not_read_its_input_is_not_waited_for() {
        let much = vec![b'x'; 1 << 20];
        let finished = shell("exec 0<&-; echo done").input(much.clone()).run().unwrap();
        assert_eq!(finished.stdout, b"done\n");
        let error = shell("sleep 600").input(much).time(Duration::from_millis(50)).run();
        assert!(matches!(error, Err(RunError::TimedOut { .. })), "{error:?}");
    }

    #[test]
    fn debug_output_of_a_command_shows_arguments_and_variable_names_but_no_secrets() {
        let shown = format!("{:?}", shell("true").env("TOKEN", "sesame").input(*b"private"));
        assert!(shown.contains("\"true\"") && shown.contains("\"TOKEN\""), "{shown}");
        assert!(!shown.contains("sesame") && shown.contains("Some(7)"), "{shown}");
    }

    #[test]
    fn a_folder_is_prepended_to_a_path_list_whether_the_list_is_set_or_not() {
        let shown = |command: Command| command.run().unwrap().stdout;
        let print = shell("printf %s \"$LIST\"").prepend_path("LIST", "/first");
        assert_eq!(shown(print.clone()), b"/first");
        assert_eq!(shown(print.env("LIST", "/a:/b")), b"/first:/a:/b");
    }

    #[test]
    fn environment_variables_are_inherited_only_if_named() {
        let shown = |command: Command| command.run().unwrap().stdout;
        let print = shell("printf %s \"$CARGO_MANIFEST_DIR\"");
        assert_eq!(shown(print.clone()), b"");
        assert_eq!(
            shown(print.inherit_env(["CARGO_MANIFEST_DIR"])),
            env!("CARGO_MANIFEST_DIR").as_bytes()
        );
    }
}
