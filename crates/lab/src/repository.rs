//! Throw-away git repositories below `target/`, without the git settings of the user.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// A repository for temporary use.
pub(crate) struct Repository {
    folder: PathBuf,
}

impl Repository {
    /// Creates a repository with an empty first commit, and replaces its folder.
    pub(crate) fn new(folder: PathBuf) -> anyhow::Result<Repository> {
        if folder.exists() {
            std::fs::remove_dir_all(&folder)
                .with_context(|| format!("could not empty `{}`", folder.display()))?;
        }
        std::fs::create_dir_all(&folder)?;
        let repository = Repository { folder };
        repository.git(&["init", "--quiet", "--initial-branch=main"])?;
        repository.git(&["commit", "--quiet", "--allow-empty", "--message", "start"])?;
        Ok(repository)
    }

    /// Returns the folder of the work tree.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file into the work tree.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, content)
            .with_context(|| format!("could not write `{}`", path.display()))
    }

    /// Commits all files of the work tree.
    pub(crate) fn commit(&self, message: &str) -> anyhow::Result<()> {
        self.git(&["add", "--all", "--force"])?;
        self.git(&["commit", "--quiet", "--message", message])
    }

    fn git(&self, args: &[&str]) -> anyhow::Result<()> {
        let who =
            ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
        let output = Command::new("git")
            .args(["-c", "core.autocrlf=false", "-c", "gc.auto=0"])
            .args(args)
            .current_dir(&self.folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(who.map(|name| (name, "nobody@example.org")))
            .stdin(Stdio::null())
            .output()
            .context("could not start `git`")?;
        if !output.status.success() {
            bail!("`git {}`: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }
}
