//! Finds the descendants of a command, in whatever session they are: [`ProcessMarker`].
//!
//! A process group holds only the processes that stay in it; a daemon or an agent's tool often
//! starts its own session. Every command therefore gets a variable that its descendants inherit,
//! and that the kernel shows for each process. The variable grows with each level, so a process
//! that an `assay` inside of a command starts is found from both.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that names the commands that a process descends from.
pub(crate) const VARIABLE: &str = "ASSAY_STARTED_BY";

/// The name of one command, which no other command of this machine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessMarker(String);

impl ProcessMarker {
    /// Returns a new marker.
    pub(crate) fn new() -> ProcessMarker {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        ProcessMarker(format!("{}{};", process_prefix(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Returns the value of the variable for the command.
    #[expect(clippy::disallowed_methods, reason = "the variable goes from process to process")]
    pub(crate) fn value(&self) -> String {
        let outer = std::env::var(VARIABLE).unwrap_or_default();
        format!("{outer}{}", self.0)
    }

    /// Kills every process that carries the marker, where the kernel shows that.
    pub(crate) fn kill_all(&self) {
        kernel::kill_all(&self.0);
    }
}

/// Returns the prefix that the markers of all commands of this process share.
pub(crate) fn process_prefix() -> &'static str {
    static START: OnceLock<String> = OnceLock::new();
    START.get_or_init(|| {
        format!("{}-{:016x}:", std::process::id(), RandomState::new().hash_one("assay"))
    })
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::fs;

    use rustix::process::{Pid, Signal, kill_process};

    /// The maximum number of searches for processes that another one may have just started.
    const MAX_ROUNDS: usize = 100;

    pub(super) fn kill_all(marker: &str) {
        for _ in 0..MAX_ROUNDS {
            let found = carriers(marker);
            if found.is_empty() {
                return;
            }
            for pid in found {
                let _ = kill_process(pid, Signal::KILL);
            }
            std::thread::yield_now();
        }
    }

    /// Returns the processes that carry a marker. A process that has ended and was not waited for
    /// shows no variables.
    fn carriers(marker: &str) -> Vec<Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let carries = |pid: &i32| {
            let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let own = variables.split(|byte| *byte == 0).find_map(|variable| {
                variable.strip_prefix(super::VARIABLE.as_bytes())?.strip_prefix(b"=")
            });
            own.is_some_and(|value| value.windows(marker.len()).any(|at| at == marker.as_bytes()))
        };
        numbers.filter(carries).filter_map(Pid::from_raw).collect()
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    /// Does nothing: other kernels show no variables of a process, so only process groups are
    /// killed.
    pub(super) fn kill_all(_marker: &str) {}
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use rustix::fs::{CWD, Mode, mkfifoat};
    use tempfile::TempDir;

    use crate::tests::shell;
    use crate::watchdog::Watchdog;
    use crate::{Command, RunError};

    /// A pipe that a process in its own session reads from for as long as it runs. The process ends
    /// with the pipe.
    struct Escape {
        _folder: TempDir,
        fifo: PathBuf,
    }

    impl Escape {
        fn new() -> Escape {
            let folder = tempfile::tempdir().unwrap();
            let fifo = folder.path().join("alive");
            mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).unwrap();
            Escape { _folder: folder, fifo }
        }

        /// Returns a command that starts such a process, waits until the process runs, and runs
        /// `then`.
        fn command(&self, then: &str) -> Command {
            let (fifo, ready) = (self.fifo.display(), self.fifo.with_extension("ready"));
            let escape = format!("exec 3<{fifo}; : >{}; exec cat <&3", ready.display());
            let wait = format!("while [ ! -e {} ]; do :; done", ready.display());
            shell(&format!("setsid sh -c '{escape}' >/dev/null 2>&1 & {wait}; {then}"))
        }

        /// Waits until the process, which reads all that is written, is gone.
        fn wait_until_exit(mut alive: File) {
            while alive.write_all(&[0; 4096]).is_ok() {}
        }
    }

    fn open(fifo: &Path) -> File {
        File::options().write(true).open(fifo).unwrap()
    }

    #[test]
    fn a_process_in_its_own_session_is_killed_when_its_command_times_out() {
        let escape = Escape::new();
        let command = escape.command("sleep 600").time(Duration::from_millis(500));
        let alive = std::thread::scope(|scope| {
            let alive = scope.spawn(|| open(&escape.fifo));
            let error = command.run().unwrap_err();
            assert!(matches!(error, RunError::TimedOut { .. }), "{error}");
            alive.join().unwrap()
        });
        Escape::wait_until_exit(alive);
    }

    #[test]
    fn leftover_processes_are_killed_only_by_commands_that_kill_leftovers() {
        for ends in [true, false] {
            let escape = Escape::new();
            let command = escape.command("echo done");
            let command = if ends { command.kill_leftovers() } else { command };
            let mut alive = std::thread::scope(|scope| {
                let alive = scope.spawn(|| open(&escape.fifo));
                assert_eq!(command.run().unwrap().stdout, b"done\n");
                alive.join().unwrap()
            });
            if ends {
                Escape::wait_until_exit(alive);
            } else {
                alive.write_all(b"x").unwrap();
            }
        }
    }

    #[test]
    fn a_watchdog_kills_marked_processes_of_unregistered_groups() {
        let escape = Escape::new();
        let marker = format!("test-{}:", std::process::id());
        let watchdog = Watchdog::start(&marker).unwrap();
        let command = escape.command("echo done");
        let alive = std::thread::scope(|scope| {
            let alive = scope.spawn(|| open(&escape.fifo));
            let script = command.args.last().unwrap().to_str().unwrap();
            // The process carries the marker of this test in place of its command's.
            let script = format!("export {}='{marker}'; {script}", super::VARIABLE);
            assert_eq!(shell(&script).run().unwrap().stdout, b"done\n");
            alive.join().unwrap()
        });
        drop(watchdog);
        Escape::wait_until_exit(alive);
    }
}
