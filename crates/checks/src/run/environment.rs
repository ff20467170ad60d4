//! What a check gets of the machine: variables, programs, and places to write to.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use assay_sandbox::Command;

use super::Runner;
use crate::check::RequiredCheck;

/// Variables that say where tools and their settings are. None of them holds a secret.
const PASSED_ON: [&str; 24] = [
    "LANG", "LC_ALL", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "JAVA_HOME", "MAVEN_HOME",
    "GOROOT", "GOPATH", "GOMODCACHE", "GOTOOLCHAIN", "VIRTUAL_ENV", "PYTHONPATH", "PYENV_ROOT",
    "PYENV_VERSION", "NODE_PATH", "NVM_DIR", "DOTNET_ROOT", "NUGET_PACKAGES", "RBENV_ROOT",
    "GEM_HOME", "GEM_PATH", "BUNDLE_PATH", "PLAYWRIGHT_BROWSERS_PATH",
];

/// What tools are told in every run: that nobody watches, and what is not wanted.
const ALWAYS: [(&str, &str); 8] = [
    ("CI", "true"),
    ("NO_COLOR", "1"),
    ("CARGO_TERM_COLOR", "never"),
    ("PYTHONUNBUFFERED", "1"),
    // What it would write lies beside the code, and is not ignored everywhere.
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("npm_config_update_notifier", "false"),
    ("npm_config_fund", "false"),
    ("npm_config_audit", "false"),
];

/// What tools are told that have no network, so that they do not wait for one.
const OFFLINE: [(&str, &str); 4] = [
    ("CARGO_NET_OFFLINE", "true"),
    ("npm_config_offline", "true"),
    ("PIP_NO_INDEX", "1"),
    ("GOPROXY", "off"),
];

/// Caches that tools write to as they run, each in a folder of its own. What they installed, such as
/// crates and modules, they read where it is.
const CACHES: [(&str, &str); 5] = [
    ("GOCACHE", "go-build"),
    ("npm_config_cache", "npm"),
    ("GRADLE_USER_HOME", "gradle"),
    ("PIP_CACHE_DIR", "pip"),
    ("COMPOSER_HOME", "composer"),
];

/// Devices that tests write to: shared memory, and terminals of their own.
const DEVICES: [&str; 4] = ["/dev/shm", "/dev/ptmx", "/dev/pts", "/dev/tty"];

/// Where projects keep programs that they installed for themselves.
const OWN_PROGRAMS: [&str; 4] = ["node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin"];

impl Runner {
    /// Gives a command its environment, and the places that it may write to.
    pub(super) fn placed(
        &self,
        command: Command,
        check: &RequiredCheck,
        folder: &Path,
        scratch: &Path,
    ) -> io::Result<Command> {
        let caches = self.caches.clone().unwrap_or_else(|| scratch.join("caches"));
        let temporary = scratch.join("tmp");
        let java = format!("-Djava.io.tmpdir={}", temporary.display());
        let mut command =
            command.pass_on(PASSED_ON).env("TMPDIR", &temporary).env("JAVA_TOOL_OPTIONS", java);
        if let Some(home) = &self.home {
            // Some that find their settings there do not go on if they cannot read them.
            let no_settings = temporary.join("no-npmrc");
            command = command.env("HOME", home).env("npm_config_userconfig", no_settings);
        }
        if let Some(path) = self.programs(folder) {
            command = command.env("PATH", path);
        }
        let offline: &[_] = if check.network { &[] } else { &OFFLINE };
        for (name, value) in ALWAYS.iter().chain(offline) {
            command = command.env(name, value);
        }
        for (name, below) in CACHES {
            let cache = caches.join(below);
            fs::create_dir_all(&cache)?;
            command = command.env(name, cache);
        }
        let devices = DEVICES.iter().map(PathBuf::from).filter(|path| path.exists());
        let command = command.hidden(&self.hidden);
        let own = [self.root.clone(), scratch.to_owned(), caches];
        Ok(command.writable(own.into_iter().chain(devices).chain(self.writable.iter().cloned())))
    }

    /// Gives where programs are looked for: first what the project installed, next to where the
    /// check runs and at the root.
    fn programs(&self, folder: &Path) -> Option<OsString> {
        let known = self.search_path.as_ref()?;
        let own = [folder, &self.root].into_iter().flat_map(|folder| {
            OWN_PROGRAMS.iter().map(move |name| folder.join(name)).filter(|path| path.is_dir())
        });
        std::env::join_paths(own.chain(std::env::split_paths(known))).ok()
    }
}
