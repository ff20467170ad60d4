//! A change that the caller gives as a unified diff: [`open`].
//!
//! Git applies the diff to a separate index, byte for byte, and commits the result on no branch. So
//! the change has the same trees as any other change, and neither the work tree nor the index of
//! the repository is touched. If git refuses the diff, [`crate::unified`] finds the place and the
//! reason.

use std::sync::Arc;

use assay_sandbox::ScratchFolder;

use crate::diff::{self, Content, FileDiff};
use crate::file_name::unquote;
use crate::git::{Git, check, text};
use crate::snapshot::IDENTITY;
use crate::tree::{GitTree, TreeKind};
use crate::unified::{self, DiffFault, DiffFaultKind, PatchedTree, UnifiedDiff};
use crate::{Change, GitError};

/// The title of the change.
const TITLE: &str = "the given diff";

/// The maximum length of a quoted line, in bytes. A longer line is not quoted in part, since a part
/// of a credential would not be recognised as one.
const MAX_QUOTE: usize = 120;

/// The command that applies a diff, whatever the settings of the repository say about blanks.
const APPLY_ARGS: [&str; 5] = [
    "apply", "--cached", "--whitespace=nowarn", "--no-ignore-whitespace",
    "--no-ignore-space-change",
];

/// The date of the commit, so that the same diff is always the same commit.
const DATE: &str = "@0 +0000";

/// Opens a diff as a change of a branch or commit, the last commit if `base` is `None`.
pub(crate) fn open(
    git: Git,
    given: &[u8],
    base: Option<&str>,
    paths: &[String],
) -> Result<Change, GitError> {
    let from = match base {
        Some(base) => git.resolve(base)?,
        None => git.head_or_empty()?,
    };
    let to = match given.trim_ascii().is_empty() {
        true => from.clone(),
        false => commit(&git, given, &from)?,
    };
    git.check_paths_in(paths, &to)?;
    let mut files = git.diff(&[&from, &to], paths)?;
    // A diff does not have the content of binary files, so the commit lacks them.
    files.extend(binary_files(given).filter(|file| is_selected(file, paths)));
    let tree = TreeKind::Git(Arc::new(GitTree::revision(git.clone(), to)));
    Change::new(git, TITLE.to_owned(), from, files, tree)
}

/// Applies a diff to a commit, and returns the commit that results.
fn commit(git: &Git, given: &[u8], from: &str) -> Result<String, GitError> {
    let folder = ScratchFolder::new("assay-index-");
    let folder = folder.map_err(|source| GitError::Layout { source })?;
    let index = folder.path().join("index");
    git.run_with_index(&["read-tree", from], &index)?;
    let shown = text(given);
    let parsed = unified::parse(&shown, 1);
    let excluded: Vec<String> = binary_files(given).map(|file| exclusion(file.path())).collect();
    let mut args = APPLY_ARGS.to_vec();
    args.push(strip_option(&shown, &parsed));
    if is_without_context(&parsed) {
        args.push("--unidiff-zero");
    }
    args.extend(excluded.iter().map(String::as_str));
    let command = git.command(&args).env("GIT_INDEX_FILE", &index).folder(&git.root);
    let finished = command.input(given.to_vec()).run()?;
    match check(&args, finished.status, &finished.stderr) {
        Err(GitError::Failed { message, .. }) => Err(explain(git, from, &parsed, message)),
        checked => checked,
    }?;
    let tree = text(&git.run_with_index(&["write-tree"], &index)?).trim().to_owned();
    commit_tree(git, &tree, from)
}

fn commit_tree(git: &Git, tree: &str, parent: &str) -> Result<String, GitError> {
    let mut args = IDENTITY.to_vec();
    args.extend(["commit-tree", tree, "-m", TITLE]);
    if parent != git.empty_tree {
        args.extend(["-p", parent]);
    }
    let command = git.command(&args).env("GIT_AUTHOR_DATE", DATE).env("GIT_COMMITTER_DATE", DATE);
    let finished = command.run()?;
    check(&args, finished.status, &finished.stderr)?;
    Ok(text(&finished.stdout).trim().to_owned())
}

/// Returns the files of a diff whose content the diff does not have.
fn binary_files(given: &[u8]) -> impl Iterator<Item = FileDiff> {
    diff::parse(given).into_iter().filter(|file| file.content == Content::Binary)
}

/// Returns true if a file is one of some paths, or below one; with no paths, always.
fn is_selected(file: &FileDiff, paths: &[String]) -> bool {
    let is_at = |path: &String| {
        let path = path.trim_end_matches('/');
        let rest = file.path().strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    paths.is_empty() || paths.iter().any(is_at)
}

/// Returns the option of `git apply` that leaves one file out.
fn exclusion(path: &str) -> String {
    let literal: String = path
        .chars()
        .flat_map(|c| ['\\'].into_iter().filter(move |_| "*?[\\".contains(c)).chain([c]))
        .collect();
    format!("--exclude={literal}")
}

/// Returns the option of `git apply` that removes the prefixes of names, such as `a/`.
fn strip_option(given: &str, parsed: &UnifiedDiff<'_>) -> &'static str {
    let lines: Vec<&str> = given.lines().collect();
    let has_prefix = parsed.files.iter().find_map(|file| {
        let start = (file.line as usize).saturating_sub(1);
        let end = file.hunks.first().map_or(lines.len(), |hunk| hunk.line as usize);
        let mut header = lines.get(start..end.min(lines.len()))?.iter();
        header.find_map(|line| written_name(line)).map(|name| name != file.path())
    });
    if has_prefix.unwrap_or(true) { "-p1" } else { "-p0" }
}

/// Returns the name that a line `+++ NAME` states; `None` for any other line and for no file.
fn written_name(line: &str) -> Option<String> {
    let name = line.strip_prefix("+++ ")?;
    let name = match unquote(name.as_bytes()) {
        Some((name, _)) => text(&name),
        None => name.split('\t').next().unwrap_or(name).to_owned(),
    };
    (name != "/dev/null").then_some(name)
}

/// Returns true if no hunk of a diff has context, as in the output of `git diff -U0`.
fn is_without_context(parsed: &UnifiedDiff<'_>) -> bool {
    let mut hunks = parsed.files.iter().flat_map(|file| &file.hunks);
    hunks.all(|hunk| hunk.lines.iter().all(|line| line.mark != unified::Mark::Context))
}

/// Returns the reason that git refused a diff, with its place in the diff.
fn explain(git: &Git, from: &str, parsed: &UnifiedDiff<'_>, refusal: String) -> GitError {
    if let Some(fault) = first_fault(parsed) {
        let reason = fault.kind.describe(&quote);
        return GitError::BadDiff { line: fault.line, reason };
    }
    let tree = GitTree::revision(git.clone(), from.to_owned());
    let patched = PatchedTree::of(&tree, &parsed.files);
    let misfit = parsed.files.iter().find_map(|file| {
        let misfit = patched.misfits(file.path()).first()?;
        let reason = misfit.kind.describe(&|line| format!("line {line} of the diff"), &quote);
        let (file, line) = (file.path().to_owned(), misfit.line);
        Some(GitError::DiffMisfit { file, line, reason })
    });
    misfit.unwrap_or(GitError::DiffRefused { refusal })
}

fn first_fault<'d, 't>(parsed: &'d UnifiedDiff<'t>) -> Option<&'d DiffFault<'t>> {
    let faults = parsed.files.iter().flat_map(|file| &file.faults);
    let mut faults = parsed.faults.iter().chain(faults);
    faults.find(|fault| !matches!(fault.kind, DiffFaultKind::Binary(_) | DiffFaultKind::Link(_)))
}

fn quote(text: &str) -> String {
    match text.len() > MAX_QUOTE {
        true => "a long line".to_owned(),
        false => format!("`{text}`"),
    }
}
