//! The options that select the change of a review: [`ChangeArgs`].

use std::path::{Path, PathBuf};

use anyhow::bail;
use assay_change::{Scope, Selection};
use assay_engine::next_steps::ReviewCaller;
use assay_findings::read::MAX_TEXT;

use crate::input::{read_file, read_stdin};

/// Options that select the change.
#[derive(clap::Args)]
pub(crate) struct ChangeArgs {
    /// Compare the branch and the work tree with their merge base with this branch or commit; with
    /// `--diff`, the commit that the diff applies to
    #[arg(long, value_name = "REF", conflicts_with_all = ["staged", "commit", "pr", "all"])]
    base: Option<String>,
    /// Review the staged changes
    #[arg(long, conflicts_with_all = ["commit", "pr"])]
    staged: bool,
    /// Review the staged changes for a git hook: print one line if there is nothing to fix, and the
    /// next commands if the commit is refused
    #[arg(long, conflicts_with_all = [
        "base", "commit", "pr", "diff", "all", "untracked", "mode", "roster", "dry_run",
    ])]
    hook: bool,
    /// Review a commit, or a range such as `main..topic`
    #[arg(long, value_name = "RANGE", conflicts_with = "pr")]
    commit: Option<String>,
    /// Review a pull request, fetched from its remote
    #[arg(long, value_name = "OWNER/REPO#N", value_parser = pull_request, group = "request")]
    pr: Option<Scope>,
    /// Review a merge request of GitLab, fetched from its remote
    #[arg(
        long, value_name = "GROUP/NAME!N", value_parser = merge_request, group = "request",
        conflicts_with_all = [
            "base", "staged", "hook", "commit", "pr", "diff", "all", "untracked",
        ],
    )]
    mr: Option<Scope>,
    /// Review a unified diff, applied to the last commit or to `--base`; `-` reads stdin
    #[arg(
        long, value_name = "FILE",
        conflicts_with_all = ["staged", "commit", "pr", "all", "untracked"],
    )]
    diff: Option<PathBuf>,
    /// Review all files of the work tree, or of the given paths, as if they were new
    #[arg(long, conflicts_with_all = ["staged", "commit", "pr"])]
    all: bool,
    /// Include untracked files
    #[arg(long, conflicts_with_all = ["staged", "commit", "pr"])]
    untracked: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Review only these paths
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
}

/// Parses `owner/repo#7`.
fn pull_request(text: &str) -> Result<Scope, String> {
    Scope::pull_request(text)
        .ok_or_else(|| format!("`{text}` is not a pull request such as `owner/repo#7`"))
}

/// Parses `group/name!7`.
fn merge_request(text: &str) -> Result<Scope, String> {
    Scope::merge_request(text)
        .ok_or_else(|| format!("`{text}` is not a merge request such as `group/name!7`"))
}

impl ChangeArgs {
    /// Returns the scope, and reads a diff for that.
    pub(crate) fn scope(&self) -> anyhow::Result<Scope> {
        if let Some(file) = &self.diff {
            return Ok(Scope::Diff { text: read_diff(file)?, base: self.base.clone() });
        }
        if self.all {
            return Ok(Scope::WholeTree);
        }
        let request = self.pr.as_ref().or(self.mr.as_ref());
        Ok(match (&self.base, self.is_staged(), &self.commit, request) {
            (Some(base), _, _, _) => Scope::Against(base.clone()),
            (None, true, _, _) => Scope::Staged,
            (None, false, Some(range), _) => Scope::Commits(range.clone()),
            (None, false, None, Some(pull)) => pull.clone(),
            (None, false, None, None) => Scope::Automatic,
        })
    }

    /// Returns true if the change is what is staged.
    pub(crate) fn is_staged(&self) -> bool {
        self.staged || self.hook
    }

    /// Returns the caller, which decides which commands are printed as the next ones.
    pub(crate) fn caller(&self) -> ReviewCaller {
        match (self.hook, self.staged) {
            (true, _) => ReviewCaller::CommitHook,
            (false, true) => ReviewCaller::UserOnStaged,
            (false, false) => ReviewCaller::User,
        }
    }

    /// Returns the part of the scope that belongs to the change.
    pub(crate) fn selection(&self) -> Selection {
        Selection { paths: self.paths.clone(), untracked: self.untracked }
    }
}

/// Reads a diff from a file, or from stdin if the file is `-`.
fn read_diff(file: &Path) -> anyhow::Result<Vec<u8>> {
    let text = match file == Path::new("-") {
        true => read_stdin()?,
        false => read_file(file)?,
    };
    if text.len() > MAX_TEXT {
        bail!("the diff is larger than {} MiB; split it, or commit it", MAX_TEXT >> 20);
    }
    Ok(text)
}
