//! Limits on the number of processes and the memory of a command: [`Cgroup`].
//!
//! A control group limits both for all processes of a command together, and also kills those that
//! left the command's process group. Without control groups, resource limits of the process apply
//! as far as they reach. A command waits at a start barrier until the limits apply: it is started
//! as a shell that reads a line first, so no part of it runs without limits, or unknown to the
//! watchdog.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command};

use rustix::process::Pid;

use crate::enforcement::Enforcement;

/// A shell script that waits for a line and then becomes the command, with an empty stdin.
const BARRIER_SCRIPT: &str = r#"read -r _ && exec "$@" </dev/null"#;

/// A shell script that waits for a line and then becomes the command, which reads the rest of
/// stdin.
const BARRIER_SCRIPT_WITH_INPUT: &str = r#"read -r _ && exec "$@""#;

/// The resource limits of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ResourceLimits {
    pub(crate) processes: Option<u32>,
    pub(crate) memory: Option<u64>,
}

impl ResourceLimits {
    /// Returns true if any limit is set.
    pub(crate) fn is_some(self) -> bool {
        self != ResourceLimits::default()
    }
}

/// Returns how far this machine can limit the processes and the memory of a command, in this order.
pub(crate) fn enforcement() -> (Enforcement, Enforcement) {
    kernel::enforcement()
}

/// The control group of a command. Dropping the value kills the processes inside.
#[derive(Debug)]
pub(crate) struct Cgroup(kernel::Group);

impl Cgroup {
    /// Applies limits to a command that waits at its start barrier.
    pub(crate) fn for_child(bounds: ResourceLimits, child: &Child) -> io::Result<Cgroup> {
        kernel::Group::for_child(bounds, Pid::from_child(child)).map(Cgroup)
    }

    /// Kills every process inside.
    pub(crate) fn kill(&self) {
        self.0.kill();
    }

    /// Removes the control group, once every process inside has ended.
    pub(crate) fn remove(&self) {
        self.0.remove();
    }

    /// Returns the folder of the control group, or `None` if there is none.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.0.path()
    }
}

/// Returns the shell command that waits at the start barrier and then becomes a program. The
/// arguments of the program are added by the caller.
#[expect(clippy::disallowed_methods, reason = "this is the room that starts processes")]
pub(crate) fn start_barrier(program: &OsStr, is_written_to: bool) -> Command {
    // The `PATH` of the command may have no shell.
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(if is_written_to { BARRIER_SCRIPT_WITH_INPUT } else { BARRIER_SCRIPT });
    command.arg("sh").arg(program);
    command
}

/// Releases a command from its start barrier. A command that has already ended has closed its
/// stdin, so a failed write is ignored.
pub(crate) fn release(child: &mut Child, is_written_to: bool) {
    if let Some(stdin) = &mut child.stdin {
        let _ = stdin.write_all(b"\n");
    }
    if !is_written_to {
        drop(child.stdin.take());
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::fs;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    use rustix::process::{
        Pid, Resource, Rlimit, Signal, geteuid, getpid, getuid, kill_process, prlimit,
        test_kill_process,
    };

    use super::{Enforcement, ResourceLimits};

    /// The prefix of the names of our control groups; the process id and a number for each group
    /// follow.
    const NAME: &str = "assay-";

    /// The maximum number of times that a control group is polled while its processes end.
    const MAX_POLLS: usize = 10_000;

    /// A folder in which control groups can be created.
    #[derive(Debug, Clone)]
    struct CgroupParent {
        folder: PathBuf,
        /// True if memory can be limited there, too.
        memory: bool,
    }

    /// A control group of this process; `None` if control groups are not available.
    #[derive(Debug)]
    pub(super) struct Group(Option<PathBuf>);

    pub(super) fn enforcement() -> (Enforcement, Enforcement) {
        let processes = match cgroup_parent() {
            Some(_) => Enforcement::Full,
            // `RLIMIT_NPROC` does not apply to root.
            None if geteuid().is_root() => Enforcement::None,
            None => Enforcement::Partial,
        };
        let memory = match cgroup_parent() {
            Some(CgroupParent { memory: true, .. }) => Enforcement::Full,
            // The limit applies to each process separately.
            Some(_) | None => Enforcement::Partial,
        };
        (processes, memory)
    }

    impl Group {
        pub(super) fn for_child(bounds: ResourceLimits, pid: Pid) -> io::Result<Group> {
            let group = cgroup_parent().map(|place| Group::new(place, bounds)).transpose()?;
            let group = group.unwrap_or(Group(None));
            if let Some(folder) = &group.0 {
                fs::write(folder.join("cgroup.procs"), pid.as_raw_nonzero().to_string())?;
            } else if let Some(most) = bounds.processes {
                limit(pid, Resource::Nproc, u64::from(most).saturating_add(tasks_of_user()))?;
            }
            if let (Some(most), false) =
                (bounds.memory, cgroup_parent().is_some_and(|it| it.memory))
            {
                limit(pid, Resource::Data, most)?;
            }
            Ok(group)
        }

        fn new(place: &CgroupParent, bounds: ResourceLimits) -> io::Result<Group> {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let own = getpid().as_raw_nonzero();
            let folder = place.folder.join(format!("{NAME}{own}-{number}"));
            fs::create_dir(&folder)?;
            let group = Group(Some(folder.clone()));
            if let Some(most) = bounds.processes {
                fs::write(folder.join("pids.max"), most.to_string())?;
            }
            if let (Some(most), true) = (bounds.memory, place.memory) {
                fs::write(folder.join("memory.max"), most.to_string())?;
                // Swap is not used, and the whole group is killed at once; not every kernel has
                // these files.
                let _ = fs::write(folder.join("memory.swap.max"), "0");
                let _ = fs::write(folder.join("memory.oom.group"), "1");
            }
            Ok(group)
        }

        pub(super) fn kill(&self) {
            let Some(folder) = &self.0 else { return };
            if fs::write(folder.join("cgroup.kill"), "1").is_ok() {
                return;
            }
            // A killed process starts no other process, so each round leaves fewer.
            for _ in 0..MAX_POLLS {
                let inside = members(folder);
                if inside.is_empty() {
                    return;
                }
                for pid in inside {
                    let _ = kill_process(pid, Signal::KILL);
                }
                std::thread::yield_now();
            }
        }
    }

    impl Drop for Group {
        fn drop(&mut self) {
            self.kill();
            self.remove();
        }
    }

    impl Group {
        pub(super) fn path(&self) -> Option<&Path> {
            self.0.as_deref()
        }

        pub(super) fn remove(&self) {
            let Some(folder) = &self.0 else { return };
            for _ in 0..MAX_POLLS {
                // The folder can be removed once the last process is gone; a folder that is left is
                // swept later.
                match fs::remove_dir(folder) {
                    Ok(()) => return,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return,
                    Err(_) => std::thread::yield_now(),
                }
            }
        }
    }

    fn members(folder: &Path) -> Vec<Pid> {
        let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)).collect()
    }

    fn limit(pid: Pid, resource: Resource, most: u64) -> io::Result<()> {
        let most = Some(most);
        prlimit(Some(pid), resource, Rlimit { current: most, maximum: most })?;
        Ok(())
    }

    /// Returns the number of tasks of our user: `RLIMIT_NPROC` limits all of them together.
    fn tasks_of_user() -> u64 {
        let own = getuid().as_raw();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let of_user = entries.filter(|entry| {
            let is_process =
                entry.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit());
            is_process && entry.metadata().is_ok_and(|found| found.uid() == own)
        });
        let tasks =
            of_user.map(|entry| fs::read_dir(entry.path().join("task")).map_or(0, Iterator::count));
        tasks.sum::<usize>() as u64
    }

    /// Returns the folder in which control groups can be created. It is searched and tried once.
    fn cgroup_parent() -> Option<&'static CgroupParent> {
        static PARENT: OnceLock<Option<CgroupParent>> = OnceLock::new();
        let find = || {
            let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
            let own = fs::read_to_string("/proc/self/cgroup").ok()?;
            let mut places =
                [unified(&mounts, &own), separate(&mounts, &own)].into_iter().flatten();
            places.find_map(probe)
        };
        PARENT.get_or_init(find).as_ref()
    }

    /// Returns the folder for groups in a hierarchy that all controllers share (cgroup v2): next to
    /// our own group, since a group that contains processes cannot have limited groups below it.
    fn unified(mounts: &str, own: &str) -> Option<PathBuf> {
        let own = own.lines().find_map(|line| line.strip_prefix("0::"))?;
        let root = mounts.lines().find_map(|line| mounted(line, "cgroup2", ""))?;
        let above = own.rsplit_once('/').map_or("", |(above, _)| above);
        Some(root.join(above.trim_start_matches('/')))
    }

    /// Returns the folder for groups if each controller has its own hierarchy (cgroup v1): below
    /// our own group.
    fn separate(mounts: &str, own: &str) -> Option<PathBuf> {
        let own = own.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            controllers.split(',').any(|name| name == "pids").then_some(path)
        })?;
        let root = mounts.lines().find_map(|line| mounted(line, "cgroup", "pids"))?;
        Some(root.join(own.trim_start_matches('/')))
    }

    fn mounted(line: &str, kind: &str, option: &str) -> Option<PathBuf> {
        let mut words = line.split(' ').skip(1);
        let (path, found, options) = (words.next()?, words.next()?, words.next()?);
        let has = option.is_empty() || options.split(',').any(|one| one == option);
        (found == kind && has).then(|| PathBuf::from(path))
    }

    /// Creates a control group to find out which limits it supports, and removes the group.
    fn probe(folder: PathBuf) -> Option<CgroupParent> {
        sweep(&folder);
        let own = getpid().as_raw_nonzero();
        let trial = folder.join(format!("{NAME}{own}-trial"));
        fs::create_dir(&trial).ok()?;
        let (processes, memory) =
            (trial.join("pids.max").exists(), trial.join("memory.max").exists());
        let _ = fs::remove_dir(&trial);
        processes.then_some(CgroupParent { folder, memory })
    }

    /// Removes the groups that killed processes of assay left.
    fn sweep(folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').next());
            let pid = number.and_then(|number| Pid::from_raw(number.parse().ok()?));
            if pid.is_some_and(|pid| test_kill_process(pid).is_err()) {
                Group(Some(entry.path())).kill();
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::io;
    use std::path::Path;

    use rustix::process::Pid;

    use super::{Enforcement, ResourceLimits};

    #[derive(Debug)]
    pub(super) struct Group;

    pub(super) fn enforcement() -> (Enforcement, Enforcement) {
        (Enforcement::None, Enforcement::None)
    }

    impl Group {
        pub(super) fn for_child(_bounds: ResourceLimits, _pid: Pid) -> io::Result<Group> {
            Ok(Group)
        }

        pub(super) fn kill(&self) {}

        pub(super) fn remove(&self) {}

        pub(super) fn path(&self) -> Option<&Path> {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, Write};
    use std::time::Duration;

    use assay_testenv::not_run;

    use crate::tests::shell;
    use crate::{Command, Enforcement, RunError, Stream, limits};

    /// Runs a command and returns its exit code and its output.
    fn watched(command: &Command) -> Result<(Option<i32>, String), RunError> {
        let mut text = Vec::new();
        let status = command.watch(|_, piece| text.extend_from_slice(piece))?;
        Ok((status.code(), String::from_utf8_lossy(&text).into_owned()))
    }

    #[test]
    fn a_bounded_command_runs_as_any_other() {
        let echo = Command::new("printf").args(["%s|", "a b", "'c'", "$d"]).processes(50);
        assert_eq!(watched(&echo).unwrap(), (Some(0), "a b|'c'|$d|".to_owned()));
        let reads = shell("cat").input(*b"hello").processes(50).memory(1 << 30);
        assert_eq!(watched(&reads).unwrap(), (Some(0), "hello".to_owned()));
        let mut echo = shell("cat").processes(50).spawn_piped().unwrap();
        echo.write_all(b"hello\n").unwrap();
        let mut answer = String::new();
        echo.read_line(&mut answer).unwrap();
        assert_eq!(answer, "hello\n");
        assert_eq!(watched(&shell("cat; exit 3").processes(50)).unwrap().0, Some(3));
        let error = Command::new("no-such-program").processes(9).run().unwrap_err();
        assert_eq!(error.to_string(), "cannot start `no-such-program`");
    }

    #[test]
    fn a_fork_bomb_is_contained() {
        if limits().processes == Enforcement::None {
            not_run::record("this system bounds no processes");
            return;
        }
        // Each bomb tries to start a hundred sleepers, and prints `all` if it succeeds.
        let script = "i=0; while [ $i -lt 100 ]; do sleep 600 & i=$((i+1)); done; echo all";
        let bomb = shell(script).processes(20).time(Duration::from_secs(20));
        let (_, printed) = watched(&bomb).unwrap();
        assert!(!printed.contains("all"), "{printed}");
    }

    #[test]
    fn a_command_that_takes_too_much_memory_is_ended() {
        if limits().memory == Enforcement::None {
            not_run::record("this system bounds no memory");
            return;
        }
        let greedy = shell("head -c 300000000 /dev/zero | tail -c 299999999 | wc -c");
        let free = watched(&greedy.clone()).unwrap();
        assert_eq!(free.1.trim(), "299999999");
        let limited_run = watched(&greedy.memory(50 << 20).time(Duration::from_secs(20))).unwrap();
        assert_ne!(limited_run.1.trim(), "299999999");
    }

    #[test]
    fn a_process_that_leaves_the_process_group_is_killed_with_its_cgroup() {
        if limits().processes != Enforcement::Full {
            not_run::record("this system has no control groups for us");
            return;
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = format!(
            "setsid sh -c 'echo $$ > {0}; exec sleep 600' >/dev/null 2>&1 & while ! [ -s {0} ]; do :; done",
            file.path().display()
        );
        assert_eq!(watched(&shell(&script).processes(50)).unwrap().0, Some(0));
        let pid: u32 = std::fs::read_to_string(file.path()).unwrap().trim().parse().unwrap();
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{state}");
    }

    #[test]
    fn stdout_and_stderr_are_passed_on_separately() {
        let (mut printed, mut complained) = (Vec::new(), Vec::new());
        let noisy = shell("printf out; printf err >&2");
        let status = noisy.watch(|stream, piece| match stream {
            Stream::Stdout => printed.extend_from_slice(piece),
            Stream::Stderr => complained.extend_from_slice(piece),
        });
        assert!(status.unwrap().success());
        assert_eq!((&printed[..], &complained[..]), (&b"out"[..], &b"err"[..]));
    }

    #[test]
    fn the_output_limit_of_a_watched_command_applies_to_stdout_and_to_stderr() {
        for flood in ["yes", "yes >&2"] {
            let error = watched(&shell(flood).output(100_000)).unwrap_err();
            assert!(matches!(error, RunError::TooMuchOutput { .. }), "{error}");
        }
    }

    #[test]
    fn background_processes_of_a_watched_command_are_not_waited_for() {
        let leaves = shell("sleep 600 & echo done").time(Duration::from_secs(60));
        assert_eq!(watched(&leaves).unwrap(), (Some(0), "done\n".to_owned()));
    }

    #[test]
    fn a_watched_command_has_a_time_limit() {
        let error = watched(&shell("sleep 600").time(Duration::from_millis(50))).unwrap_err();
        assert!(matches!(error, RunError::TimedOut { .. }), "{error}");
        let error =
            watched(&shell("yes").time(Duration::from_millis(50)).processes(20)).unwrap_err();
        assert!(matches!(error, RunError::TimedOut { .. }), "{error}");
        let error = shell("yes").time(Duration::from_millis(20)).run().unwrap_err();
        assert!(matches!(error, RunError::TimedOut { .. }), "{error}");
    }
}
