//! A long-lived process of ours beside this one: [`Companion`].

use std::io;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, test_kill_process, waitid,
};

use crate::process::Group;
use crate::{Command, RunError};

/// A process that goes on until it is asked to end, or until nobody holds this any more: then it
/// reads the end of its input, and is expected to end by itself. So it outlives a crash of ours by
/// no more than it needs to put things in order.
#[derive(Debug)]
pub struct Companion {
    pid: Pid,
    child: Mutex<Child>,
    _group: Group,
    _lifeline: ChildStdin,
}

impl Command {
    /// Starts it as a companion, with all of our environment. What it complains about goes where
    /// our complaints go; it prints nothing.
    pub fn accompany(&self) -> Result<Companion, RunError> {
        let (mut child, group) = self.start_beside(Stdio::piped(), Stdio::inherit())?;
        let lifeline = child.stdin.take().expect("stdin is piped");
        let pid = Pid::from_child(&child);
        Ok(Companion { pid, child: Mutex::new(child), _group: group, _lifeline: lifeline })
    }

    /// Starts it for good, to go on when we are gone, with all of our environment. Both what it
    /// prints and what it complains about go to a file.
    pub fn detach(&self, log: &std::fs::File) -> Result<u32, RunError> {
        let fail = |source| RunError::Start { program: self.name(), source };
        let to = || log.try_clone().map(Stdio::from).map_err(fail);
        let mut command = self.prepared_beside(Stdio::null(), to()?, to()?);
        Ok(command.spawn().map_err(fail)?.id())
    }
}

impl Companion {
    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits until it has ended.
    pub fn wait(&self) -> io::Result<ExitStatus> {
        // It is not reaped before the lock is held: until then nobody else has its number.
        waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
        self.child().wait()
    }

    /// Asks it to end, as a person would.
    pub fn ask_to_end(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends it at once.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        let mut child = self.child();
        if matches!(child.try_wait(), Ok(None)) {
            // It may end just now, which is as good.
            let _ = kill_process(self.pid, signal);
        }
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks a process that somebody else started to end. Says whether there is one.
pub fn ask_to_end(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok())
}

/// Says whether there is a process of that number.
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
    fn a_companion_goes_on_until_it_is_asked_to_end() {
        let companion = shell("exec sleep 600").accompany().unwrap();
        assert!(is_running(companion.id()));
        companion.ask_to_end();
        assert_eq!(companion.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
        companion.kill();
    }

    #[test]
    fn a_companion_learns_that_nobody_holds_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = format!("cat; echo over > '{}'", file.path().display());
        let Companion { child, _lifeline, .. } = shell(&script).accompany().unwrap();
        drop(_lifeline);
        child.into_inner().unwrap().wait().unwrap();
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "over\n");
    }
}
