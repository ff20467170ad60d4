//! Starts a command, supervises it, and registers its process group so that `stop_all` and
//! `interrupt` can stop it.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use assay_base::clock::{Deadline, Stopwatch};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::cgroup::{self, Cgroup};
use crate::marker::{self, ProcessMarker};
use crate::watchdog::Watchdog;
use crate::{Command, RunError, Stream, StreamedOutput};

/// The variables that every command needs to find its programs, home and time zone.
const DEFAULT_VARIABLES: [&str; 6] = ["PATH", "HOME", "TMPDIR", "TZ", "USER", "SYSTEMROOT"];

/// The folders of programs if the variable `PATH` is not set, as in the C library.
const DEFAULT_SEARCH_PATH: &str = "/bin:/usr/bin";

/// The maximum size of one piece of output, in bytes.
const MAX_CHUNK_BYTES: usize = 64 << 10;

/// The timeout for the rest of the output after a command has ended and its group was killed.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of pieces that are buffered.
const MAX_BUFFERED_CHUNKS: usize = 4;

/// The process groups that run, so that they can be stopped when this process ends.
static REGISTRY: ProcessRegistry = ProcessRegistry(Mutex::new(Groups::new()));

/// Stops every running command, with its descendants. No command can be started afterwards.
pub fn stop_all() {
    REGISTRY.stop_all();
}

/// Stops every running command that is [interruptible](Command::interruptible), with its
/// descendants. No such command can be started afterwards. Other commands go on.
pub fn interrupt() {
    REGISTRY.interrupt();
}

/// The process groups that run. The lock is held while a command is started, so none starts while
/// others are stopped.
struct ProcessRegistry(Mutex<Groups>);

struct Groups {
    leaders: Vec<(Pid, Leader)>,
    /// The commands that can no longer be started.
    refused: RefusedKinds,
    /// The process that kills all groups if this one is killed; `None` before the first command,
    /// and if no watchdog can be started.
    watchdog: Option<Watchdog>,
}

/// The first process of a group.
#[derive(Debug, Clone)]
struct Leader {
    /// The control group that limits it; `None` without limits.
    cgroup: Option<Arc<Cgroup>>,
    /// The marker of its descendants.
    marker: ProcessMarker,
    kind: LeaderKind,
}

/// The fate of a group when this process is interrupted or killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeaderKind {
    /// The group continues when the process is interrupted, and is killed when the process ends.
    Command,
    /// The group is killed when the process is interrupted or ends.
    Interruptible,
    /// The group ends by itself, after it has cleaned up.
    SupervisedChild,
}

/// The commands that can no longer be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefusedKinds {
    None,
    Interruptible,
    All,
}

impl Groups {
    const fn new() -> Groups {
        Groups { leaders: Vec::new(), refused: RefusedKinds::None, watchdog: None }
    }

    /// Starts the watchdog, so that it runs before the first command does.
    fn ensure_watchdog(&mut self) {
        if self.watchdog.is_none() {
            self.watchdog = self.start_watchdog();
        }
    }

    fn start_watchdog(&self) -> Option<Watchdog> {
        let mut watchdog = Watchdog::start(marker::process_prefix()).ok()?;
        let mut leaders = self.leaders.iter();
        leaders.try_for_each(|(pid, leader)| register_with(&mut watchdog, *pid, leader)).ok()?;
        Some(watchdog)
    }

    fn add(&mut self, pid: Pid, leader: Leader) {
        let told = self.watchdog.as_mut().map(|watchdog| register_with(watchdog, pid, &leader));
        self.leaders.push((pid, leader));
        if matches!(told, Some(Ok(()))) {
            return;
        }
        // No watchdog was running, or it has ended.
        self.watchdog = self.start_watchdog();
    }

    fn remove(&mut self, pid: Pid) {
        let Some(at) = self.leaders.iter().position(|(leader, _)| *leader == pid) else { return };
        let (_, leader) = self.leaders.swap_remove(at);
        if let (Some(watchdog), true) =
            (&mut self.watchdog, leader.kind != LeaderKind::SupervisedChild)
            && watchdog.remove(pid, leader.cgroup_path()).is_err()
        {
            self.watchdog = None;
        }
    }

    fn kill(&self, is_meant: impl Fn(&Leader) -> bool) {
        for (pid, leader) in self.leaders.iter().filter(|(_, leader)| is_meant(leader)) {
            kill_everything(*pid, leader.cgroup.as_deref(), &leader.marker);
        }
    }
}

impl Leader {
    fn cgroup_path(&self) -> Option<&Path> {
        self.cgroup.as_ref().and_then(|cgroup| cgroup.path())
    }
}

fn register_with(watchdog: &mut Watchdog, pid: Pid, leader: &Leader) -> io::Result<()> {
    match leader.kind {
        LeaderKind::SupervisedChild => Ok(()),
        LeaderKind::Command | LeaderKind::Interruptible => watchdog.add(pid, leader.cgroup_path()),
    }
}

impl ProcessRegistry {
    /// Starts a child and registers the group that it leads. Fails if commands of this kind can no
    /// longer be started.
    fn start(
        &self,
        kind: LeaderKind,
        marker: ProcessMarker,
        spawn: impl FnOnce() -> io::Result<(Child, Option<Arc<Cgroup>>)>,
    ) -> io::Result<(Child, Group)> {
        let mut groups = self.groups();
        let why = match (groups.refused, kind) {
            (RefusedKinds::All, _) => Some("assay is shutting down"),
            (RefusedKinds::Interruptible, LeaderKind::Interruptible) => {
                Some("the run was interrupted")
            }
            (RefusedKinds::None | RefusedKinds::Interruptible, _) => None,
        };
        if let Some(why) = why {
            return Err(io::Error::new(io::ErrorKind::Interrupted, why));
        }
        groups.ensure_watchdog();
        let (child, cgroup) = spawn()?;
        let pid = Pid::from_child(&child);
        groups.add(pid, Leader { cgroup: cgroup.clone(), marker: marker.clone(), kind });
        Ok((child, Group { pid, cgroup, marker }))
    }

    fn stop_all(&self) {
        let mut groups = self.groups();
        groups.refused = RefusedKinds::All;
        groups.kill(|_| true);
        for cgroup in groups.leaders.iter().filter_map(|(_, leader)| leader.cgroup.as_ref()) {
            cgroup.remove();
        }
    }

    fn interrupt(&self) {
        let mut groups = self.groups();
        if groups.refused == RefusedKinds::None {
            groups.refused = RefusedKinds::Interruptible;
        }
        groups.kill(|leader| leader.kind == LeaderKind::Interruptible);
    }

    fn groups(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A registered process group; dropping the value removes the registration.
#[derive(Debug)]
pub(crate) struct Group {
    pid: Pid,
    cgroup: Option<Arc<Cgroup>>,
    marker: ProcessMarker,
}

impl Drop for Group {
    fn drop(&mut self) {
        REGISTRY.groups().remove(self.pid);
    }
}

impl Group {
    pub(crate) fn kill(&self) {
        kill_everything(self.pid, self.cgroup.as_deref(), &self.marker);
    }
}

/// Kills a process group, its control group, and every process that carries its marker.
fn kill_everything(group: Pid, cgroup: Option<&Cgroup>, marker: &ProcessMarker) {
    // The group may have ended already, so a failure is ignored.
    let _ = kill_process_group(group, Signal::KILL);
    if let Some(cgroup) = cgroup {
        cgroup.kill();
    }
    marker.kill_all();
}

/// A guard that kills a group when it is dropped, unless the command has ended.
struct KillGuard {
    group: Group,
    ended: bool,
}

impl Drop for KillGuard {
    fn drop(&mut self) {
        if !self.ended {
            self.group.kill();
        }
    }
}

enum Event {
    StdoutChunk(Vec<u8>),
    StdoutEnd,
    StderrChunk(Vec<u8>),
    StderrEnd(CollectedOutput),
    Exited(io::Result<ExitStatus>),
}

/// The handling of a command's stderr.
enum StderrMode {
    /// Collected, up to this number of bytes.
    Collect(usize),
    Forward,
}

enum CollectedOutput {
    Complete(Vec<u8>),
    TooMuch,
}

impl Command {
    /// Runs the command and calls `take` with each piece of stdout, until the command ends, `take`
    /// breaks off, or a limit is reached.
    pub(crate) fn run_capturing(
        &self,
        take: &mut dyn FnMut(Vec<u8>) -> ControlFlow<RunError>,
    ) -> Result<StreamedOutput, RunError> {
        let (mut child, group) = self.start(self.input.is_some(), Stdio::piped())?;
        let mut watch = KillGuard { group, ended: false };
        self.write_input(&mut child);
        let inbox = self.spawn_readers(child, StderrMode::Collect(self.output));
        let ended = self.wait_for_end(&inbox, &watch.group, take)?;
        watch.ended = !self.kills_leftovers;
        Ok(ended)
    }

    /// Runs the command and passes on stdout and stderr, until the command ends or a limit is
    /// reached.
    pub(crate) fn run_streaming(
        &self,
        take: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<ExitStatus, RunError> {
        let (mut child, group) = self.start(self.input.is_some(), Stdio::piped())?;
        // The processes that are left are killed in every case.
        let watch = KillGuard { group, ended: false };
        self.write_input(&mut child);
        let inbox = self.spawn_readers(child, StderrMode::Forward);
        let mut deadline = Deadline::after(self.time);
        let (mut status, mut open, mut taken) = (None, 2, 0_usize);
        loop {
            if let (Some(status), 0) = (status, open) {
                return Ok(status);
            }
            let (stream, piece) = match inbox.recv_timeout(deadline.left()) {
                Ok(Event::StdoutChunk(piece)) => (Stream::Stdout, piece),
                Ok(Event::StderrChunk(piece)) => (Stream::Stderr, piece),
                Ok(Event::StdoutEnd | Event::StderrEnd(_)) => {
                    open -= 1;
                    continue;
                }
                Ok(Event::Exited(end)) => {
                    let lost =
                        |source| RunError::StatusUnavailable { program: self.name(), source };
                    status = Some(end.map_err(lost)?);
                    // Processes that are left hold the outputs open.
                    watch.group.kill();
                    deadline = deadline.min(Deadline::after(DRAIN_TIMEOUT));
                    continue;
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return status.ok_or_else(|| self.timeout_error());
                }
            };
            // A piece that has arrived is received even after the deadline.
            if status.is_none() && deadline.has_passed() {
                return Err(self.timeout_error());
            }
            taken = taken.saturating_add(piece.len());
            if taken > self.output {
                return Err(self.output_limit_error());
            }
            take(stream, &piece);
        }
    }

    /// Starts the command, with its stdin open for writing or empty.
    pub(crate) fn start(
        &self,
        is_written_to: bool,
        stderr: Stdio,
    ) -> Result<(Child, Group), RunError> {
        let fail = |source| RunError::Start { program: self.name(), source };
        let marker = ProcessMarker::new();
        let has_cgroup = self.bounds.is_some() || self.kills_leftovers;
        if !has_cgroup && !self.interruptible {
            let stdin = if is_written_to { Stdio::piped() } else { Stdio::null() };
            let located = self.located_command().map_err(fail)?;
            let mut command = self.prepare(located, stdin, stderr);
            command.env(marker::VARIABLE, marker.value());
            let start = || Ok((self.reach.start(&mut command)?, None));
            return REGISTRY.start(self.kind(), marker, start).map_err(fail);
        }
        // The shell of the start barrier could report a missing program only in its output.
        self.program_path().map_err(fail)?;
        let gated = self.with_folder(cgroup::start_barrier(&self.program, is_written_to));
        let mut command = self.prepare(gated, Stdio::piped(), stderr);
        command.env(marker::VARIABLE, marker.value());
        let start = || {
            let child = self.reach.start(&mut command)?;
            // If the control group fails, the command ends at its start barrier, since its stdin is
            // closed.
            let cgroup = match has_cgroup {
                true => Some(Arc::new(Cgroup::for_child(self.bounds, &child)?)),
                false => None,
            };
            Ok((child, cgroup))
        };
        // The command is released once the watchdog knows it. If this process were killed before,
        // the command would read the end of its stdin and end.
        let (mut child, group) = REGISTRY.start(self.kind(), marker, start).map_err(fail)?;
        cgroup::release(&mut child, is_written_to);
        Ok((child, group))
    }

    fn kind(&self) -> LeaderKind {
        if self.interruptible { LeaderKind::Interruptible } else { LeaderKind::Command }
    }

    /// Returns the path of the program, found as a shell would find it. Fails if the program does
    /// not exist or is not executable.
    fn program_path(&self) -> io::Result<PathBuf> {
        let folder = self.folder.as_deref().unwrap_or(Path::new(""));
        let can_be_run = |path: &Path| access(folder.join(path), Access::EXEC_OK);
        let program = Path::new(&self.program);
        if program.components().count() > 1 {
            can_be_run(program)?;
            return Ok(program.to_owned());
        }
        let mut error = Errno::NOENT;
        for path in std::env::split_paths(&self.search_path()) {
            // A dot keeps a name in the folder itself from being looked up once more.
            let path = Path::new(".").join(path).join(program);
            if !folder.join(&path).is_file() {
                continue;
            }
            match can_be_run(&path) {
                Ok(()) => return Ok(path),
                Err(not_executable) => error = not_executable,
            }
        }
        Err(error.into())
    }

    /// Returns the variable `PATH` of the command.
    #[expect(clippy::disallowed_methods, reason = "every command needs a few variables of ours")]
    fn search_path(&self) -> OsString {
        let set = self.env.iter().rev().find(|(name, _)| name == "PATH");
        let path = set.map(|(_, value)| value.clone()).or_else(|| std::env::var_os("PATH"));
        path.unwrap_or_else(|| OsString::from(DEFAULT_SEARCH_PATH))
    }

    /// Starts the command as a companion: with our whole environment and without limits.
    pub(crate) fn spawn_inheriting(
        &self,
        stdin: Stdio,
        stderr: Stdio,
    ) -> Result<(Child, Group), RunError> {
        let mut command = self.prepare_inheriting(stdin, Stdio::null(), stderr);
        let fail = |source| RunError::Start { program: self.name(), source };
        let start = || Ok((command.spawn()?, None));
        REGISTRY.start(LeaderKind::SupervisedChild, ProcessMarker::new(), start).map_err(fail)
    }

    /// Prepares the command with our whole environment.
    pub(crate) fn prepare_inheriting(
        &self,
        stdin: Stdio,
        stdout: Stdio,
        stderr: Stdio,
    ) -> std::process::Command {
        let mut command = self.base_command();
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        command
    }

    #[expect(clippy::disallowed_methods, reason = "every command needs a few variables of ours")]
    fn prepare(
        &self,
        mut command: std::process::Command,
        stdin: Stdio,
        stderr: Stdio,
    ) -> std::process::Command {
        command.env_clear();
        for name in DEFAULT_VARIABLES.iter().chain(&self.inherited_env) {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        for (name, folder) in &self.prepended {
            let is_set = |(known, _): &(&OsStr, Option<&OsStr>)| known == name;
            let set = command.get_envs().find(is_set).and_then(|(_, value)| value);
            let mut list = folder.clone();
            if let Some(rest) = set.filter(|rest| !rest.is_empty()) {
                list.push(":");
                list.push(rest);
            }
            command.env(name, list);
        }
        command.stdin(stdin).stdout(Stdio::piped()).stderr(stderr);
        command
    }

    #[expect(clippy::disallowed_methods, reason = "this is the room that starts processes")]
    fn base_command(&self) -> std::process::Command {
        self.with_folder(std::process::Command::new(&self.program))
    }

    /// Returns the command with the path of its program. With a bare name and a changed environment,
    /// the standard library copies the page tables of this process for each command (`fork`).
    #[expect(clippy::disallowed_methods, reason = "this is the room that starts processes")]
    fn located_command(&self) -> io::Result<std::process::Command> {
        let mut command = std::process::Command::new(self.program_path()?);
        command.arg0(&self.program);
        Ok(self.with_folder(command))
    }

    /// Adds the arguments, the folder, and a new process group.
    fn with_folder(&self, mut command: std::process::Command) -> std::process::Command {
        command.args(&self.args).process_group(0);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    /// Writes the input in a separate thread: a child that does not read blocks the thread until
    /// the child is gone.
    fn write_input(&self, child: &mut Child) {
        if let (Some(input), Some(mut stdin)) = (self.input.clone(), child.stdin.take()) {
            // A child that needs no more input may close its stdin.
            thread::spawn(move || stdin.write_all(&input));
        }
    }

    /// Starts threads that send the events of a child. A full channel blocks them.
    fn spawn_readers(&self, mut child: Child, stderr_mode: StderrMode) -> Receiver<Event> {
        let (events, inbox) = mpsc::sync_channel(MAX_BUFFERED_CHUNKS);
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        let sender = events.clone();
        thread::spawn(move || {
            forward(stdout, &sender, Event::StdoutChunk);
            // The receiver is gone if the command was given up.
            let _ = sender.send(Event::StdoutEnd);
        });
        let sender = events.clone();
        thread::spawn(move || {
            let output = match stderr_mode {
                StderrMode::Collect(limit) => read_up_to(stderr, limit),
                StderrMode::Forward => {
                    forward(stderr, &sender, Event::StderrChunk);
                    CollectedOutput::Complete(Vec::new())
                }
            };
            sender.send(Event::StderrEnd(output))
        });
        thread::spawn(move || events.send(Event::Exited(child.wait())));
        inbox
    }

    fn wait_for_end(
        &self,
        inbox: &Receiver<Event>,
        group: &Group,
        take: &mut dyn FnMut(Vec<u8>) -> ControlFlow<RunError>,
    ) -> Result<StreamedOutput, RunError> {
        let deadline = Deadline::after(self.time);
        let mut last_output = Stopwatch::start();
        let (mut status, mut stderr, mut printed_all) = (None, None, false);
        loop {
            if let (Some(status), Some(_), true) = (status, &stderr, printed_all) {
                return Ok(StreamedOutput { status, stderr: stderr.unwrap_or_default() });
            }
            let silence = self.silence.map(|silence| last_output.deadline(silence));
            let until = silence.map_or(deadline, |silence| silence.min(deadline));
            match inbox.recv_timeout(until.left()) {
                Ok(Event::StdoutChunk(piece)) => {
                    // A piece that has arrived is received even after the deadline.
                    if deadline.has_passed() {
                        return Err(self.timeout_error());
                    }
                    last_output = Stopwatch::start();
                    if let ControlFlow::Break(error) = take(piece) {
                        return Err(error);
                    }
                }
                Ok(Event::StdoutEnd) => printed_all = true,
                Ok(Event::StderrEnd(CollectedOutput::Complete(bytes))) => stderr = Some(bytes),
                Ok(Event::StderrEnd(CollectedOutput::TooMuch)) => {
                    return Err(self.output_limit_error());
                }
                Ok(Event::Exited(end)) => {
                    let lost =
                        |source| RunError::StatusUnavailable { program: self.name(), source };
                    status = Some(end.map_err(lost)?);
                    if self.kills_leftovers {
                        // Processes that are left hold the outputs open.
                        group.kill();
                    }
                }
                // Pieces of stderr are sent only for `watch`.
                Ok(Event::StderrChunk(_)) => {}
                Err(RecvTimeoutError::Timeout) if until < deadline => {
                    return Err(self.stall_error());
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(self.timeout_error());
                }
            }
        }
    }

    fn stall_error(&self) -> RunError {
        let seconds = self.silence.unwrap_or_default().as_secs();
        RunError::Stalled { program: self.name(), seconds }
    }

    fn timeout_error(&self) -> RunError {
        RunError::TimedOut { program: self.name(), seconds: self.time.as_secs() }
    }

    pub(crate) fn output_limit_error(&self) -> RunError {
        RunError::TooMuchOutput { program: self.name(), bytes: self.output }
    }
}

/// Sends an output piece by piece, until it ends or the receiver is gone.
fn forward(mut source: impl Read, events: &SyncSender<Event>, event: fn(Vec<u8>) -> Event) {
    let mut buffer = vec![0; MAX_CHUNK_BYTES];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                if events.send(event(buffer[..count].to_vec())).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
}

fn read_up_to(source: impl Read, limit: usize) -> CollectedOutput {
    let mut bytes = Vec::new();
    // One byte more than the limit shows that the output is longer.
    let read = source.take(limit as u64 + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() > limit => CollectedOutput::TooMuch,
        _ => CollectedOutput::Complete(bytes),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;
    use crate::tests::shell;

    #[test]
    fn no_process_is_started_after_all_processes_were_stopped() {
        let running = ProcessRegistry(Mutex::new(Groups::new()));
        let sleep = shell("sleep 600");
        let mut sleep = sleep.prepare(sleep.base_command(), Stdio::null(), Stdio::null());
        let start = || Ok((sleep.spawn()?, None));
        let (mut child, _) =
            running.start(LeaderKind::Command, ProcessMarker::new(), start).unwrap();
        running.stop_all();
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
        let never = || unreachable!("nothing is started");
        let error = running.start(LeaderKind::Command, ProcessMarker::new(), never).unwrap_err();
        assert_eq!(error.to_string(), "assay is shutting down");
    }

    #[test]
    fn an_interrupt_stops_interruptible_processes_and_no_others() {
        let running = ProcessRegistry(Mutex::new(Groups::new()));
        let sleep = shell("sleep 600");
        let mut sleep = sleep.prepare(sleep.base_command(), Stdio::null(), Stdio::null());
        let mut start =
            |kind| running.start(kind, ProcessMarker::new(), || Ok((sleep.spawn()?, None)));
        let (mut reader, _) = start(LeaderKind::Interruptible).unwrap();
        let (mut other, _) = start(LeaderKind::Command).unwrap();
        running.interrupt();
        assert_eq!(reader.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
        assert!(other.try_wait().unwrap().is_none());
        let (mut later, _) = start(LeaderKind::Command).unwrap();
        let error = start(LeaderKind::Interruptible).unwrap_err();
        assert_eq!(error.to_string(), "the run was interrupted");
        running.stop_all();
        other.wait().unwrap();
        later.wait().unwrap();
    }
}
