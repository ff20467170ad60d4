//! Limits on files and network, if the kernel offers them. [`limits`] returns how far it does, for
//! these and for the limits on processes and memory.
//!
//! The limits are those of Landlock. Landlock restricts a thread and the processes that the thread
//! starts, so a limited command is started from its own thread and the rest of this process stays
//! unrestricted.

use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};

use crate::enforcement::Enforcement;

/// The degree to which this machine can enforce each limit on a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The enforcement of [`writable`](crate::Command::writable).
    pub files: Enforcement,
    /// The enforcement of [`hidden`](crate::Command::hidden).
    pub reading: Enforcement,
    /// The enforcement of [`offline`](crate::Command::offline).
    pub network: Enforcement,
    /// The enforcement of [`processes`](crate::Command::processes).
    pub processes: Enforcement,
    /// The enforcement of [`memory`](crate::Command::memory).
    pub memory: Enforcement,
}

/// The files and the network that a command may reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AccessRules {
    /// The writable paths; `None` for all.
    pub(crate) writable: Option<Vec<PathBuf>>,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) offline: bool,
}

impl AccessRules {
    /// Starts a command with these restrictions.
    pub(crate) fn start(&self, command: &mut Command) -> io::Result<Child> {
        if *self == AccessRules::default() {
            return command.spawn();
        }
        std::thread::scope(|scope| {
            let start = || {
                kernel::restrict(self)?;
                command.spawn()
            };
            let thread = std::thread::Builder::new().spawn_scoped(scope, start)?;
            thread
                .join()
                .map_err(|_| io::Error::other("the thread that starts processes panicked"))?
        })
    }
}

/// Returns the degree to which this machine can enforce each limit on a command.
pub fn limits() -> Limits {
    let (processes, memory) = crate::cgroup::enforcement();
    Limits {
        files: kernel::files(),
        reading: kernel::reading(),
        network: kernel::network(),
        processes,
        memory,
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::io;
    use std::path::{Path, PathBuf};

    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
        Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
    };
    use rustix::fs::{Mode, OFlags, open};
    use rustix::process::geteuid;
    use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};

    use super::{AccessRules, Enforcement};
    use crate::path_trie;

    /// The newest Landlock version that this crate knows; an older kernel applies the rules that it
    /// knows.
    const NEWEST_ABI: ABI = ABI::V7;

    /// The first Landlock version with a rule for truncating a file.
    const TRUNCATE_ABI: ABI = ABI::V3;

    /// The devices that even a command without writable paths needs.
    const ALWAYS_WRITABLE: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

    /// The capabilities by which root reads hidden files all the same: through the memory of other
    /// processes, with their variables, or of the kernel, and by opening files by handle.
    const BYPASS_CAPABILITIES: [CapabilitySet; 4] = [
        CapabilitySet::SYS_ADMIN,
        CapabilitySet::PERFMON,
        CapabilitySet::SYS_RAWIO,
        CapabilitySet::DAC_READ_SEARCH,
    ];

    pub(super) fn files() -> Enforcement {
        let files = |abi| is_supported(strict().handle_access(AccessFs::from_write(abi)));
        match (files(TRUNCATE_ABI), files(ABI::V1)) {
            (true, _) => Enforcement::Full,
            (false, true) => Enforcement::Partial,
            (false, false) => Enforcement::None,
        }
    }

    pub(super) fn reading() -> Enforcement {
        match is_supported(strict().handle_access(AccessFs::from_read(NEWEST_ABI))) {
            // Root can still read disks directly.
            true if geteuid().is_root() => Enforcement::Partial,
            true => Enforcement::Full,
            false => Enforcement::None,
        }
    }

    pub(super) fn network() -> Enforcement {
        // Landlock has rules for TCP, and none for UDP.
        match is_supported(strict().handle_access(AccessNet::from_all(NEWEST_ABI))) {
            true => Enforcement::Partial,
            false => Enforcement::None,
        }
    }

    /// Returns true if a command can be prevented from sending signals to other processes.
    #[cfg(test)]
    pub(super) fn signals() -> bool {
        is_supported(strict().scope(Scope::Signal))
    }

    fn is_supported(ruleset: Result<Ruleset, RulesetError>) -> bool {
        ruleset.and_then(Ruleset::create).is_ok()
    }

    fn strict() -> Ruleset {
        Ruleset::default().set_compatibility(CompatLevel::HardRequirement)
    }

    /// Restricts this thread for the rest of its life.
    pub(super) fn restrict(access: &AccessRules) -> io::Result<()> {
        let mut ruleset = Ruleset::default();
        let (reading, writing) =
            (AccessFs::from_read(NEWEST_ABI), AccessFs::from_write(NEWEST_ABI));
        let readable = readable(access)?;
        if readable.is_none() && access.writable.is_none() && !access.offline {
            return Ok(());
        }
        if readable.is_some() {
            // Moving a file between folders is forbidden unless a rule allows it.
            ruleset = ruleset.handle_access(reading | AccessFs::Refer).map_err(io::Error::other)?;
        }
        if access.writable.is_some() {
            // A command that could kill other processes could interrupt their writes.
            let ruled = ruleset.handle_access(writing).and_then(|it| it.scope(Scope::Signal));
            ruleset = ruled.map_err(io::Error::other)?;
        }
        if access.offline {
            ruleset = offline(ruleset).map_err(io::Error::other)?;
        }
        let mut rules = ruleset.create().map_err(io::Error::other)?;
        if let Some(writable) = &access.writable {
            rules = allow(rules, writable, writing)?;
            rules = allow(rules, &sinks(), writing)?;
        } else if readable.is_some() {
            // The kernel itself forbids a move to a folder with more rights.
            rules = allow(rules, &["/".into()], AccessFs::Refer.into())?;
        }
        if let Some(readable) = readable {
            rules = allow_reading(rules, &readable)?;
        }
        rules.restrict_self().map_err(io::Error::other)?;
        Ok(())
    }

    /// Allows reading, and drops the capabilities that would open the other paths.
    fn allow_reading(mut rules: RulesetCreated, paths: &[PathBuf]) -> io::Result<RulesetCreated> {
        for path in paths {
            // A path that was removed since then needs no rule.
            if let Ok(place) = open(path, OFlags::PATH | OFlags::NOFOLLOW, Mode::empty()) {
                let rule = PathBeneath::new(place, AccessFs::from_read(NEWEST_ABI));
                rules = rules.add_rule(rule).map_err(io::Error::other)?;
            }
        }
        for capability in BYPASS_CAPABILITIES {
            // A thread that may not drop the capability does not have it.
            let _ = remove_capability_from_bounding_set(capability);
        }
        Ok(rules)
    }

    /// Returns the paths that stay readable. Returns `None` if no path is hidden, or the kernel
    /// cannot hide paths.
    fn readable(access: &AccessRules) -> io::Result<Option<Vec<PathBuf>>> {
        if access.hidden.is_empty() || reading() == Enforcement::None {
            return Ok(None);
        }
        path_trie::readable_paths(&access.hidden, access.writable.as_deref().unwrap_or_default())
    }

    fn offline(ruleset: Ruleset) -> Result<Ruleset, RulesetError> {
        ruleset.handle_access(AccessNet::from_all(NEWEST_ABI))?.scope(Scope::AbstractUnixSocket)
    }

    fn sinks() -> Vec<PathBuf> {
        ALWAYS_WRITABLE.iter().map(PathBuf::from).filter(|path| path.exists()).collect()
    }

    /// Allows an access below each of the paths.
    fn allow(
        mut rules: RulesetCreated,
        paths: &[PathBuf],
        access: BitFlags<AccessFs>,
    ) -> io::Result<RulesetCreated> {
        for path in paths {
            // Rights that apply only to folders cannot be granted on a file.
            let fits =
                if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST_ABI) };
            let rule = PathBeneath::new(open_path(path)?, fits);
            rules = rules.add_rule(rule).map_err(io::Error::other)?;
        }
        Ok(rules)
    }

    fn open_path(path: &Path) -> io::Result<PathFd> {
        PathFd::new(path).map_err(|error| {
            io::Error::new(io::ErrorKind::NotFound, format!("`{}`: {error}", path.display()))
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::io;

    use super::{AccessRules, Enforcement};

    pub(super) fn files() -> Enforcement {
        Enforcement::None
    }

    pub(super) fn reading() -> Enforcement {
        Enforcement::None
    }

    pub(super) fn network() -> Enforcement {
        Enforcement::None
    }

    pub(super) fn restrict(_access: &AccessRules) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::shell;
    use assay_testenv::not_run;
    use std::net::TcpListener;

    /// Runs a script with limits and returns true if it succeeds.
    fn succeeds(command: crate::Command) -> bool {
        command.run().unwrap().status.success()
    }

    #[test]
    fn a_command_writes_only_into_its_folders() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |folder: &tempfile::TempDir| {
            shell(&format!("echo x > {}/file", folder.path().display()))
        };
        assert!(succeeds(write(&outside)), "without limits it may");
        assert!(succeeds(write(&inside).writable([inside.path()])));
        assert!(succeeds(shell("echo x > /dev/null").writable([inside.path()])));
        if limits().files == Enforcement::None {
            not_run::record("this kernel limits no files");
            return;
        }
        assert!(!succeeds(write(&outside).writable([inside.path()])));
        let none: [PathBuf; 0] = [];
        assert!(!succeeds(write(&inside).writable(none)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_write_restricted_command_cannot_signal_processes_other_than_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let ours = shell(&format!("kill -0 {}", std::process::id()));
        assert!(succeeds(ours.clone()), "without limits it may");
        let own = shell("sleep 600 & kill $!");
        assert!(succeeds(own.writable([folder.path()])), "its own it may");
        if !kernel::signals() {
            not_run::record("this kernel limits no signals");
            return;
        }
        assert!(!succeeds(ours.writable([folder.path()])));
    }

    #[test]
    fn an_offline_command_cannot_connect() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let script =
            format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
        let connect = crate::Command::new("bash").args(["-c", &script]);
        assert!(succeeds(connect.clone()), "without limits it may");
        if limits().network == Enforcement::None {
            not_run::record("this kernel limits no network");
            return;
        }
        assert!(!succeeds(connect.offline()));
    }

    #[test]
    fn limits_hold_for_the_command_alone() {
        let folder = tempfile::tempdir().unwrap();
        let none: [PathBuf; 0] = [];
        assert!(succeeds(shell("true").writable(none).offline()));
        std::fs::write(folder.path().join("file"), "x").unwrap();
        TcpListener::bind("127.0.0.1:0").unwrap();
    }

    #[test]
    fn a_missing_writable_folder_is_named_in_the_error() {
        let error = shell("true").writable(["/no/such/folder"]).run();
        match limits().files {
            Enforcement::None => not_run::record("this kernel limits no files"),
            Enforcement::Full | Enforcement::Partial => {
                let source = std::error::Error::source(&error.unwrap_err()).unwrap().to_string();
                assert!(source.contains("`/no/such/folder`"), "{source}");
            }
        }
    }
}
