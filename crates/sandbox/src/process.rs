//! Starting a command and seeing it to its end.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::{Command, Ended, RunError};

/// The variables that every command needs to find its programs, home and time zone.
const PASSED_ON: [&str; 6] = ["PATH", "HOME", "TMPDIR", "TZ", "USER", "SYSTEMROOT"];

/// How much output is handed on at once.
const PIECE: usize = 64 << 10;

/// How many pieces may wait to be taken.
const WAITING: usize = 4;

/// The groups that run at the moment, so that they can be stopped when we are.
static RUNNING: Running = Running(Mutex::new(Groups { leaders: BTreeSet::new(), stopped: false }));

/// Stops every command that runs at the moment, with all that it started, for good: none is started
/// any more.
pub fn stop_all() {
    RUNNING.stop_all();
}

/// The groups that run, one after the other: nothing is started while they are stopped.
struct Running(Mutex<Groups>);

struct Groups {
    leaders: BTreeSet<i32>,
    stopped: bool,
}

impl Running {
    /// Starts a child and takes note of the group that it leads, unless all are stopped.
    fn start(&self, spawn: impl FnOnce() -> io::Result<Child>) -> io::Result<(Child, Pid)> {
        let mut groups = self.groups();
        if groups.stopped {
            let why = "everything is being stopped";
            return Err(io::Error::new(io::ErrorKind::Interrupted, why));
        }
        let child = spawn()?;
        let pid = Pid::from_child(&child);
        groups.leaders.insert(pid.as_raw_nonzero().get());
        Ok((child, pid))
    }

    fn stop_all(&self) {
        let mut groups = self.groups();
        groups.stopped = true;
        for pid in groups.leaders.iter().copied().filter_map(Pid::from_raw) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }

    fn groups(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A process group, noted among those that run.
#[derive(Debug)]
pub(crate) struct Group(Pid);

impl Drop for Group {
    fn drop(&mut self) {
        RUNNING.groups().leaders.remove(&self.0.as_raw_nonzero().get());
    }
}

impl Group {
    pub(crate) fn kill(&self) {
        // The group may be gone already, which is as good.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

/// Kills a group unless it came to its own end, whichever way the watch over it ends.
struct Watch {
    group: Group,
    ended: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.ended {
            self.group.kill();
        }
    }
}

enum Event {
    Printed(Vec<u8>),
    PrintedAll,
    Complained(Output),
    Ended(io::Result<ExitStatus>),
}

enum Output {
    Whole(Vec<u8>),
    TooMuch,
}

impl Command {
    /// Runs it and hands on what it prints, until it ends, is told to break off, or is at a limit.
    pub(crate) fn supervise(
        &self,
        take: &mut dyn FnMut(Vec<u8>) -> ControlFlow<RunError>,
    ) -> Result<Ended, RunError> {
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        let (mut child, group) = self.start(stdin, Stdio::piped())?;
        let mut watch = Watch { group, ended: false };
        self.write_input(&mut child);
        let inbox = self.listen(child);
        let ended = self.await_end(&inbox, take)?;
        watch.ended = true;
        Ok(ended)
    }

    pub(crate) fn start(&self, stdin: Stdio, stderr: Stdio) -> Result<(Child, Group), RunError> {
        let mut command = self.prepared(stdin, stderr);
        match RUNNING.start(|| self.reach.start(&mut command)) {
            Ok((child, pid)) => Ok((child, Group(pid))),
            Err(source) => Err(RunError::Start { program: self.name(), source }),
        }
    }

    /// Starts it as one that goes on beside us.
    pub(crate) fn start_beside(
        &self,
        stdin: Stdio,
        stderr: Stdio,
    ) -> Result<(Child, Group), RunError> {
        let mut command = self.prepared_beside(stdin, Stdio::null(), stderr);
        match RUNNING.start(|| command.spawn()) {
            Ok((child, pid)) => Ok((child, Group(pid))),
            Err(source) => Err(RunError::Start { program: self.name(), source }),
        }
    }

    /// Prepares it with all of our environment.
    pub(crate) fn prepared_beside(
        &self,
        stdin: Stdio,
        stdout: Stdio,
        stderr: Stdio,
    ) -> std::process::Command {
        let mut command = self.bare();
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        command
    }

    #[expect(clippy::disallowed_methods, reason = "every command needs a few variables of ours")]
    fn prepared(&self, stdin: Stdio, stderr: Stdio) -> std::process::Command {
        let mut command = self.bare();
        command.env_clear();
        for name in PASSED_ON.iter().chain(&self.passed_on) {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(stdin).stdout(Stdio::piped()).stderr(stderr);
        command
    }

    /// The program in its folder, in a process group of its own.
    #[expect(clippy::disallowed_methods, reason = "this is the room that starts processes")]
    fn bare(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args).process_group(0);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    /// Writes the input, in a thread of its own: a child that does not read keeps it waiting, until
    /// that child is gone.
    fn write_input(&self, child: &mut Child) {
        if let (Some(input), Some(mut stdin)) = (self.input.clone(), child.stdin.take()) {
            // A child that has enough may close its end.
            thread::spawn(move || stdin.write_all(&input));
        }
    }

    /// Collects a child's events, as fast as they are taken.
    fn listen(&self, mut child: Child) -> Receiver<Event> {
        let (events, inbox) = mpsc::sync_channel(WAITING);
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        let limit = self.output;
        let sender = events.clone();
        thread::spawn(move || hand_on(stdout, &sender));
        let sender = events.clone();
        thread::spawn(move || sender.send(Event::Complained(read_up_to(stderr, limit))));
        thread::spawn(move || events.send(Event::Ended(child.wait())));
        inbox
    }

    fn await_end(
        &self,
        inbox: &Receiver<Event>,
        take: &mut dyn FnMut(Vec<u8>) -> ControlFlow<RunError>,
    ) -> Result<Ended, RunError> {
        let deadline = Instant::now() + self.time;
        let (mut status, mut stderr, mut printed_all) = (None, None, false);
        loop {
            if let (Some(status), Some(_), true) = (status, &stderr, printed_all) {
                return Ok(Ended { status, stderr: stderr.unwrap_or_default() });
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match inbox.recv_timeout(left) {
                Ok(Event::Printed(piece)) => {
                    if let ControlFlow::Break(error) = take(piece) {
                        return Err(error);
                    }
                }
                Ok(Event::PrintedAll) => printed_all = true,
                Ok(Event::Complained(Output::Whole(bytes))) => stderr = Some(bytes),
                Ok(Event::Complained(Output::TooMuch)) => return Err(self.too_much()),
                Ok(Event::Ended(end)) => {
                    let lost = |source| RunError::Lost { program: self.name(), source };
                    status = Some(end.map_err(lost)?);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let seconds = self.time.as_secs();
                    return Err(RunError::TimedOut { program: self.name(), seconds });
                }
            }
        }
    }

    pub(crate) fn too_much(&self) -> RunError {
        RunError::TooMuchOutput { program: self.name(), bytes: self.output }
    }
}

/// Sends what is printed, until it ends or nobody listens any more.
fn hand_on(mut source: impl Read, events: &SyncSender<Event>) {
    let mut buffer = vec![0; PIECE];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                if events.send(Event::Printed(buffer[..count].to_vec())).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    // Nobody listens any more once the command was given up.
    let _ = events.send(Event::PrintedAll);
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
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;
    use crate::tests::shell;

    #[test]
    fn nothing_is_started_once_all_is_stopped() {
        let running = Running(Mutex::new(Groups { leaders: BTreeSet::new(), stopped: false }));
        let mut sleep = shell("sleep 600").prepared(Stdio::null(), Stdio::null());
        let (mut child, _) = running.start(|| sleep.spawn()).unwrap();
        running.stop_all();
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
        let error = running.start(|| unreachable!("nothing is started")).unwrap_err();
        assert_eq!(error.to_string(), "everything is being stopped");
    }
}
