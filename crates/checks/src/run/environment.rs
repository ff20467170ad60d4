//! The environment of a check: variables, programs, and writable paths.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use assay_sandbox::Command;

use super::Runner;
use crate::check::RequiredCheck;
use crate::programs::without_tree_folders;

/// Variables with the paths of tools and their settings. None of them holds a secret.
const PASSED_VARIABLES: [&str; 24] = [
    "LANG", "LC_ALL", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "JAVA_HOME", "MAVEN_HOME",
    "GOROOT", "GOPATH", "GOMODCACHE", "GOTOOLCHAIN", "VIRTUAL_ENV", "PYTHONPATH", "PYENV_ROOT",
    "PYENV_VERSION", "NODE_PATH", "NVM_DIR", "DOTNET_ROOT", "NUGET_PACKAGES", "RBENV_ROOT",
    "GEM_HOME", "GEM_PATH", "BUNDLE_PATH", "PLAYWRIGHT_BROWSERS_PATH",
];

/// Variables of every run: tools do not prompt, and print neither colours nor advertisements.
const FIXED_VARIABLES: [(&str, &str); 7] = [
    ("CI", "true"),
    ("NO_COLOR", "1"),
    ("CARGO_TERM_COLOR", "never"),
    ("PYTHONUNBUFFERED", "1"),
    ("npm_config_update_notifier", "false"),
    ("npm_config_fund", "false"),
    ("npm_config_audit", "false"),
];

/// Variables for tools without a network, so that they do not wait for one.
const OFFLINE_VARIABLES: [(&str, &str); 4] = [
    ("CARGO_NET_OFFLINE", "true"),
    ("npm_config_offline", "true"),
    ("PIP_NO_INDEX", "1"),
    ("GOPROXY", "off"),
];

/// Caches that tools write to as they run, each in a folder of its own. Installed crates and
/// modules are read from their usual location.
const CACHES: [(&str, &str); 5] = [
    ("GOCACHE", "go-build"),
    ("npm_config_cache", "npm"),
    ("GRADLE_USER_HOME", "gradle"),
    ("PIP_CACHE_DIR", "pip"),
    ("COMPOSER_HOME", "composer"),
];

/// Devices that tests write to: shared memory, and terminals of their own.
const DEVICES: [&str; 4] = ["/dev/shm", "/dev/ptmx", "/dev/pts", "/dev/tty"];

/// The folder of Python byte code, in the temporary folder of a check. A `__pycache__` of the tree
/// is never read: it can contain byte code of another source.
const BYTE_CODE_FOLDER: &str = "pycache";

/// The folder, in the scratch folder of a check, with a script for each program of the tree that
/// the check may use.
const PROGRAMS_FOLDER: &str = "programs";

impl Runner {
    /// Sets the environment of a command, and the paths that it may write to.
    pub(super) fn with_environment(
        &self,
        command: Command,
        check: &RequiredCheck,
        scratch: &Path,
    ) -> io::Result<Command> {
        let caches = self.caches.clone().unwrap_or_else(|| scratch.join("caches"));
        let temporary = scratch.join("tmp");
        let java = format!("-Djava.io.tmpdir={}", temporary.display());
        let mut command = command
            .inherit_env(PASSED_VARIABLES)
            .env("TMPDIR", &temporary)
            .env("JAVA_TOOL_OPTIONS", java);
        if let Some(home) = &self.home {
            // Some tools that find their settings in the home fail if they cannot read them.
            let no_settings = temporary.join("no-npmrc");
            command = command.env("HOME", home).env("npm_config_userconfig", no_settings);
        }
        if let Some(path) = self.programs(check, &scratch.join(PROGRAMS_FOLDER))? {
            command = command.env("PATH", path);
        }
        command = command.env("PYTHONPYCACHEPREFIX", temporary.join(BYTE_CODE_FOLDER));
        let offline: &[_] = if check.network { &[] } else { &OFFLINE_VARIABLES };
        for (name, value) in FIXED_VARIABLES.iter().chain(offline) {
            command = command.env(name, value);
        }
        for (name, below) in CACHES {
            let cache = caches.join(below);
            fs::create_dir_all(&cache)?;
            command = command.env(name, cache);
        }
        let devices = DEVICES.iter().map(PathBuf::from).filter(|path| path.exists());
        let command = command.hidden(&self.hidden);
        // Our own reporters are read-only.
        let own = [self.root.clone(), scratch.join("reports"), temporary, caches];
        Ok(command.writable(own.into_iter().chain(devices).chain(self.writable.iter().cloned())))
    }

    /// Returns the search path of a check: first the programs of the tree that checks may use, then
    /// the search path without the folders of the tree. Each program of the tree is called by a
    /// script, so that no other program of its folder is found.
    fn programs(&self, check: &RequiredCheck, scripts: &Path) -> io::Result<Option<OsString>> {
        let Some(known) = self.search_path.as_deref() else { return Ok(None) };
        let outside = without_tree_folders(&self.root, known);
        let own = self.own_programs(&check.folder);
        if own.used.is_empty() {
            return Ok(Some(outside));
        }
        fs::create_dir_all(scripts)?;
        for program in &own.used {
            let script = scripts.join(&program.name);
            let path = program.path.to_string_lossy().replace('\'', r"'\''");
            fs::write(&script, format!("#!/bin/sh\nexec '{path}' \"$@\"\n"))?;
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        }
        let folders = [scripts.to_owned()].into_iter().chain(std::env::split_paths(&outside));
        std::env::join_paths(folders).map(Some).map_err(io::Error::other)
    }
}
