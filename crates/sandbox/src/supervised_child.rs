//! A long-running child process of assay itself: [`SupervisedChild`].

use std::io;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, test_kill_process, waitid,
};

use crate::process::Group;
use crate::{Command, RunError};

/// A child process that runs until it is asked to end, or until this value is dropped: then the
/// process reads the end of its stdin, and is expected to end by itself. So after a crash of this
/// process it runs only for as long as it needs to clean up.
#[derive(Debug)]
pub struct SupervisedChild {
    pid: Pid,
    child: Mutex<Child>,
    _group: Group,
    _lifeline: ChildStdin,
}

impl Command {
    /// Starts the command as a companion, with our whole environment. Its stderr is our stderr; its
    /// stdout is discarded.
    pub fn spawn_supervised(&self) -> Result<SupervisedChild, RunError> {
        let (mut child, group) = self.spawn_inheriting(Stdio::piped(), Stdio::inherit())?;
        let lifeline = child.stdin.take().expect("stdin is piped");
        let pid = Pid::from_child(&child);
        Ok(SupervisedChild { pid, child: Mutex::new(child), _group: group, _lifeline: lifeline })
    }

    /// Starts the command detached, with our whole environment: it goes on when this process ends.
    /// Its stdout and stderr go to a file. Returns its process id.
    pub fn spawn_detached(&self, log: &std::fs::File) -> Result<u32, RunError> {
        let fail = |source| RunError::Start { program: self.name(), source };
        let to = || log.try_clone().map(Stdio::from).map_err(fail);
        let mut command = self.prepare_inheriting(Stdio::null(), to()?, to()?);
        Ok(command.spawn().map_err(fail)?.id())
    }
}

impl SupervisedChild {
    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits until the process has ended.
    pub fn wait(&self) -> io::Result<ExitStatus> {
        // The process is not reaped before the lock is held, so its id cannot be reused until then.
        waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
        self.child().wait()
    }

    /// Sends `SIGTERM` to the process.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends `SIGKILL` to the process.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        let mut child = self.child();
        if matches!(child.try_wait(), Ok(None)) {
            // The process may end just now, so a failure is ignored.
            let _ = kill_process(self.pid, signal);
        }
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends `SIGTERM` to a process that another process started. Returns true if the process exists.
pub fn terminate(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok())
}

/// Returns true if a process with this id exists.
pub fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid).is_ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;
    use crate::tests::shell;

    #[test]
    fn a_supervised_child_runs_until_it_is_terminated() {
        let companion = shell("exec sleep 600").spawn_supervised().unwrap();
        assert!(is_running(companion.id()));
        companion.terminate();
        assert_eq!(companion.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
        companion.kill();
    }

    #[test]
    fn a_supervised_child_reads_end_of_file_when_its_lifeline_is_dropped() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = format!("cat; echo over > '{}'", file.path().display());
        let SupervisedChild { child, _lifeline, .. } = shell(&script).spawn_supervised().unwrap();
        drop(_lifeline);
        child.into_inner().unwrap().wait().unwrap();
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "over\n");
    }
}
