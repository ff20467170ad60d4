//! A repository in a temporary folder: [`ThrowawayRepository`].

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_sandbox::{Command, ScratchFolder};

use crate::environment::{Environment, StateHomeGuard};

/// The folders of a repository that has its own state home.
const WORK_TREE: &str = "repository";
const STATE_HOME: &str = "state";

/// A repository in a temporary folder, removed when it is dropped.
pub struct ThrowawayRepository {
    root: PathBuf,
    /// Dropped before the folder is removed.
    _state_home: Option<StateHomeGuard>,
    folder: ScratchFolder,
}

impl ThrowawayRepository {
    /// Creates an empty repository; the name of its folder begins with `prefix`.
    pub fn new(prefix: &str) -> anyhow::Result<ThrowawayRepository> {
        let folder = ScratchFolder::new(prefix).context("cannot create a temporary folder")?;
        let root = folder.path().to_owned();
        ThrowawayRepository { root, _state_home: None, folder }.init()
    }

    /// Creates an empty repository that leaves no state in the user's state home.
    pub(crate) fn with_own_state(
        environment: &Environment,
        prefix: &str,
    ) -> anyhow::Result<ThrowawayRepository> {
        let folder = ScratchFolder::new(prefix).context("cannot create a temporary folder")?;
        let (root, home) = (folder.path().join(WORK_TREE), folder.path().join(STATE_HOME));
        for folder in [&root, &home] {
            fs::create_dir(folder)
                .with_context(|| format!("cannot create `{}`", folder.display()))?;
        }
        let state_home = Some(environment.use_state_home(&root, &home));
        ThrowawayRepository { root, _state_home: state_home, folder }.init()
    }

    fn init(self) -> anyhow::Result<ThrowawayRepository> {
        self.git(&["init", "--quiet", "--template=", "--initial-branch=main"])?;
        Ok(self)
    }

    /// Returns the root of the repository.
    pub(crate) fn path(&self) -> &Path {
        &self.root
    }

    /// Writes a file, by its path in the repository.
    pub fn write(&self, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let path = self.path().join(path);
        let written = match path.parent() {
            Some(parent) => fs::create_dir_all(parent).and_then(|()| fs::write(&path, bytes)),
            None => fs::write(&path, bytes),
        };
        written.with_context(|| format!("cannot write `{}`", path.display()))
    }

    /// Commits all files as they are, ignored ones included.
    pub fn commit(&self, message: &str) -> anyhow::Result<()> {
        self.git(&["add", "--all", "--force", "."])?;
        let author = ["-c", "user.name=assay", "-c", "user.email=assay@localhost"];
        let plain = ["-c", "commit.gpgSign=false", "commit", "--quiet", "--allow-empty"];
        let message = ["--cleanup=verbatim", "--message", message];
        self.git(&[&author[..], &plain[..], &message[..]].concat())?;
        Ok(())
    }

    /// Runs git in the repository, without hooks, and returns its output.
    pub fn git(&self, args: &[&str]) -> anyhow::Result<Vec<u8>> {
        let finished = Command::new("git")
            .args(["-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false"])
            .args(args)
            .folder(self.path())
            .run()
            .context("cannot run git")?;
        if !finished.status.success() {
            bail!("git failed: {}", String::from_utf8_lossy(&finished.stderr).trim());
        }
        Ok(finished.stdout)
    }

    /// Keeps the folder on disk, and returns its path.
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}
