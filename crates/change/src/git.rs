//! Asking git: one place that knows its command line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assay_sandbox::{Command, RunError};

use crate::diff::{self, FileDiff};

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The folder belongs to no repository.
    #[error("`{folder}` is not in a git repository")]
    NotARepository {
        /// The folder.
        folder: PathBuf,
    },
    /// There is no such commit or branch.
    #[error("`{name}` is no commit or branch of this repository")]
    UnknownRevision {
        /// What was asked for.
        name: String,
    },
    /// There is no such file or folder.
    #[error("`{path}` is no file or folder of this repository")]
    UnknownPath {
        /// What was asked for.
        path: String,
    },
    /// The history ends too early to compare with.
    #[error(
        "this clone ends at `{commit}`: its parent is not there; `git fetch --deepen 1` gets it"
    )]
    CutOff {
        /// The commit whose parent is not there.
        commit: String,
    },
    /// Git could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Git refused.
    #[error("git {command} failed: {message}")]
    Failed {
        /// The sub-command.
        command: String,
        /// What git said.
        message: String,
    },
}

/// A repository.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    pub(crate) root: PathBuf,
    /// The tree without files.
    pub(crate) empty_tree: String,
    /// Where git is run, so that paths mean what they mean there.
    folder: PathBuf,
    /// Settings that keep git from running the repository's filters.
    quiet_filters: Vec<(String, &'static str)>,
}

impl Git {
    /// Finds the repository around a folder.
    pub(crate) fn find(folder: &Path) -> Result<Git, GitError> {
        let mut git = Git {
            root: folder.to_owned(),
            empty_tree: String::new(),
            folder: folder.to_owned(),
            quiet_filters: Vec::new(),
        };
        git.root = match git.run(&["rev-parse", "--show-toplevel"]) {
            Ok(root) => PathBuf::from(text(&root).trim_end_matches('\n')),
            Err(GitError::Failed { .. }) => {
                return Err(GitError::NotARepository { folder: folder.to_owned() });
            }
            Err(other) => return Err(other),
        };
        git.empty_tree = git.line(&["hash-object", "-t", "tree", "/dev/null"])?;
        git.quiet_filters = git.filters().iter().flat_map(|name| quieted(name)).collect();
        Ok(git)
    }

    /// Gives the names of the filters that are set up, wherever that may be.
    fn filters(&self) -> BTreeSet<String> {
        let args = ["config", "--null", "--name-only", "--get-regexp", r"^filter\."];
        // No filter at all is a failure to git.
        let listed = self.run(&args).unwrap_or_default();
        let keys = listed.split(|byte| *byte == 0).map(text);
        keys.filter_map(|key| Some(key.rsplit_once('.')?.0.to_owned())).collect()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Result<Vec<u8>, GitError> {
        let command = Command::new("git")
            .args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"])
            .args(["-c", "core.quotePath=true", "--no-pager", "--literal-pathspecs"])
            .args(args)
            .folder(&self.folder)
            .env("LC_ALL", "C")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            // What is missing from a partial clone is not fetched: that would run its remote.
            .env("GIT_NO_LAZY_FETCH", "1");
        let finished = self.without_attributes(self.with_quiet_filters(command)).run()?;
        if finished.status.success() {
            return Ok(finished.stdout);
        }
        let message = text(&finished.stderr);
        Err(GitError::Failed {
            command: args.first().copied().unwrap_or_default().to_owned(),
            message: message.lines().next().unwrap_or("no reason given").to_owned(),
        })
    }

    fn with_quiet_filters(&self, command: Command) -> Command {
        let count = self.quiet_filters.len().to_string();
        let settings = self.quiet_filters.iter().enumerate();
        settings.fold(command.env("GIT_CONFIG_COUNT", count), |command, (at, (key, value))| {
            command
                .env(format!("GIT_CONFIG_KEY_{at}"), key)
                .env(format!("GIT_CONFIG_VALUE_{at}"), value)
        })
    }

    /// Keeps git from reading attributes, which could call code binary and so hide it.
    fn without_attributes(&self, command: Command) -> Command {
        match self.empty_tree.as_str() {
            "" => command,
            tree => command.env("GIT_ATTR_SOURCE", tree).env("GIT_ATTR_NOSYSTEM", "1"),
        }
    }

    fn line(&self, args: &[&str]) -> Result<String, GitError> {
        Ok(text(&self.run(args)?).trim().to_owned())
    }

    /// Gives the commit that a name stands for.
    pub(crate) fn resolve(&self, name: &str) -> Result<String, GitError> {
        let unknown = || GitError::UnknownRevision { name: name.to_owned() };
        if name.starts_with('-') {
            return Err(unknown());
        }
        let peeled = format!("{name}^{{commit}}");
        match self.line(&["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled]) {
            Ok(id) if !id.is_empty() => Ok(id),
            Ok(_) | Err(GitError::Failed { .. }) => Err(unknown()),
            Err(other) => Err(other),
        }
    }

    /// Checks that each path leads to something, now or in the last commit.
    pub(crate) fn check_paths(&self, paths: &[String]) -> Result<(), GitError> {
        for path in paths {
            let tracked = || {
                let listed = self.run(&["ls-tree", "--name-only", "HEAD", "--", path]);
                listed.is_ok_and(|names| !names.is_empty())
            };
            if !self.folder.join(path).exists() && !tracked() {
                return Err(GitError::UnknownPath { path: path.clone() });
            }
        }
        Ok(())
    }

    /// Gives the commit at which this branch left another.
    pub(crate) fn fork_point(&self, base: &str) -> Result<String, GitError> {
        self.merge_base(base, "HEAD")
    }

    /// Gives the commit at which two histories parted.
    pub(crate) fn merge_base(&self, base: &str, tip: &str) -> Result<String, GitError> {
        let base = self.resolve(base)?;
        match self.line(&["merge-base", &base, tip]) {
            Ok(fork) if !fork.is_empty() => Ok(fork),
            // Histories that never met are compared as they are.
            Ok(_) | Err(GitError::Failed { .. }) => Ok(base),
            Err(other) => Err(other),
        }
    }

    /// Gives the branch that changes are made against, if HEAD is not on it.
    pub(crate) fn default_branch(&self) -> Option<String> {
        let remote = self.line(&["symbolic-ref", "--short", "--quiet", "refs/remotes/origin/HEAD"]);
        let known = ["origin/main", "origin/master", "main", "master"].map(str::to_owned);
        let mut candidates = remote.into_iter().filter(|name| !name.is_empty()).chain(known);
        let branch = candidates.find(|name| self.resolve(name).is_ok())?;
        let current = self.line(&["symbolic-ref", "--short", "--quiet", "HEAD"]).ok();
        (current.as_deref() != Some(branch.as_str())).then_some(branch)
    }

    fn is_shallow(&self) -> bool {
        self.line(&["rev-parse", "--is-shallow-repository"]).is_ok_and(|answer| answer == "true")
    }

    /// Gives a commit's first parent, or the empty tree for the first commit of all.
    pub(crate) fn parent_or_empty(&self, commit: &str) -> Result<String, GitError> {
        let commit = self.resolve(commit)?;
        match self.resolve(&format!("{commit}^")) {
            Ok(parent) => Ok(parent),
            Err(GitError::UnknownRevision { .. }) if self.is_shallow() => {
                Err(GitError::CutOff { commit })
            }
            Err(GitError::UnknownRevision { .. }) => Ok(self.empty_tree.clone()),
            Err(other) => Err(other),
        }
    }

    /// Gives the files that git neither tracks nor ignores.
    pub(crate) fn untracked(&self, paths: &[String]) -> Result<Vec<String>, GitError> {
        let mut args =
            vec!["ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--"];
        args.extend(paths.iter().map(String::as_str));
        let listed = self.run(&args)?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(text).collect())
    }

    pub(crate) fn diff(&self, what: &[&str], paths: &[String]) -> Result<Vec<FileDiff>, GitError> {
        let mut args = vec![
            "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames",
            "--submodule=short", "--unified=3", "--src-prefix=a/", "--dst-prefix=b/",
        ];
        args.extend(what);
        args.push("--");
        args.extend(paths.iter().map(String::as_str));
        Ok(diff::parse(&self.run(&args)?))
    }
}

/// Gives the settings that switch a filter off.
fn quieted(filter: &str) -> [(String, &'static str); 4] {
    [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")]
        .map(|(key, value)| (format!("{filter}.{key}"), value))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
