//! The renames of a change: [`Change::renames`].

use assay_findings::path::RepoPath;

use crate::diff::{self, Renames};
use crate::file_name::display_name;
use crate::git::Git;
use crate::tree::TreeKind;
use crate::{Change, GitError};

/// The options of git that list names only.
const RENAME_ARGS: [&str; 10] = [
    "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "-l1000", "--no-relative",
    "--ignore-submodules=all", "--name-status", "--diff-filter=R", "-z",
];

impl Change {
    /// Returns all renames, whether or not the files are under review: between base and tip, in one
    /// of the commits, and since the last commit.
    pub fn renames(&self) -> Result<Renames, GitError> {
        let mut renames = diff::renames(&self.files);
        let TreeKind::Git(base) = &self.base.kind else { return Ok(renames) };
        let (git, Some(from)) = base.source() else { return Ok(renames) };
        if git.head_or_empty()? == git.empty_tree {
            return Ok(renames);
        }
        let (to, uncommitted): (&str, &[&str]) = match &self.tree.kind {
            TreeKind::Dir(_) => ("HEAD", &["HEAD"]),
            TreeKind::Git(tree) => match tree.source().1 {
                None => ("HEAD", &["--cached", "HEAD"]),
                Some(commit) => (commit, &[]),
            },
            TreeKind::Recorded(_) => return Ok(renames),
        };
        let commits = match from == git.empty_tree {
            true => to.to_owned(),
            false => format!("{from}..{to}"),
        };
        let log = ["log", "--reverse", "--format=", "--no-show-signature"];
        let mut steps = list_renames(git, &log, &[&commits])?;
        if !uncommitted.is_empty() {
            steps.extend(list_renames(git, &["diff"], uncommitted)?);
        }
        for (old, new) in steps {
            renames.values_mut().filter(|name| **name == old).for_each(|name| *name = new.clone());
            renames.insert(old, new);
        }
        Ok(renames)
    }
}

/// Runs git for renames, oldest first.
fn list_renames(
    git: &Git,
    command: &[&str],
    what: &[&str],
) -> Result<Vec<(RepoPath, RepoPath)>, GitError> {
    let listed = git.run(&[command, &RENAME_ARGS, what, &["--"]].concat())?;
    let mut words = listed.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let mut renames = Vec::new();
    while let (Some(_), Some(old), Some(new)) = (words.next(), words.next(), words.next()) {
        let path = |name| RepoPath::exact(&display_name(name)).ok();
        renames.extend(path(old).zip(path(new)));
    }
    Ok(renames)
}
