//! A change that the caller gives as a unified diff: [`open`].
//!
//! Git applies the diff to a separate index, byte for byte, and commits the result on no branch. So
//! the change has the same trees as any other change, and neither the work tree nor the index of
//! the repository is touched. If git refuses the diff, [`crate::unified`] finds the place and the
//! reason. A part of the diff that git would skip is an error, and a note that a binary file differs
//! makes the file a part of the change without content.

use std::collections::BTreeSet;
use std::sync::Arc;

use assay_sandbox::ScratchFolder;

use crate::diff::{self, Content, FileDiff, StrictDiff};
use crate::file_name::{to_raw_name, unquote};
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
    let strict = diff::parse_strictly(given);
    let to = match given.trim_ascii().is_empty() {
        true => from.clone(),
        false => commit(&git, given, &strict, &from)?,
    };
    git.check_paths_in(paths, &to)?;
    let mut files = git.diff(&[&from, &to], paths)?;
    add_noted(&git, &strict, paths, &mut files)?;
    let tree = TreeKind::Git(Arc::new(GitTree::revision(git.clone(), to)));
    Change::new(git, TITLE.to_owned(), from, files, tree)
}

/// Applies a diff to a commit, and returns the commit that results.
fn commit(git: &Git, given: &[u8], strict: &StrictDiff, from: &str) -> Result<String, GitError> {
    let folder = ScratchFolder::new("assay-index-");
    let folder = folder.map_err(|source| GitError::Layout { source })?;
    let index = folder.path().join("index");
    git.run_with_index(&["read-tree", from], &index)?;
    let shown = text(given);
    let parsed = unified::parse(&shown, 1);
    let mut args = APPLY_ARGS.to_vec();
    args.push(strip_option(&shown, &parsed));
    if is_without_context(&parsed) {
        args.push("--unidiff-zero");
    }
    if !strict.notes.is_empty() {
        args.push("--allow-empty");
    }
    let command = git.command(&args).env("GIT_INDEX_FILE", &index).folder(&git.root);
    let finished = command.input(without_notes(given, strict)).run()?;
    match check(&args, finished.status, &finished.stderr) {
        Err(GitError::Failed { message, .. }) => Err(explain(git, from, &parsed, message)),
        checked => checked,
    }?;
    // Git skips a part that it cannot parse.
    if let Some(fault) = &strict.fault {
        return Err(bad_diff(fault.line, fault.reason.to_owned()));
    }
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

/// Replaces the notes on binary files, which git refuses to apply, by empty lines.
fn without_notes(given: &[u8], strict: &StrictDiff) -> Vec<u8> {
    let noted: BTreeSet<usize> = strict.notes.iter().flat_map(|note| note.lines.clone()).collect();
    let lines = (1..).zip(given.split_inclusive(|byte| *byte == b'\n'));
    let kept = lines.map(|(number, line)| if noted.contains(&number) { &b"\n"[..] } else { line });
    kept.flatten().copied().collect()
}

/// Adds the binary files to the files of a change of which the diff has only a note, since the
/// applied diff lacks them. Fails if the diff also changes such a file as text.
fn add_noted(
    git: &Git,
    strict: &StrictDiff,
    paths: &[String],
    files: &mut Vec<FileDiff>,
) -> Result<(), GitError> {
    let selected = match strict.notes.is_empty() {
        true => Vec::new(),
        false => paths.iter().map(|path| git.path_from_root(path)).collect::<Result<_, _>>()?,
    };
    for note in &strict.notes {
        let Some(noted) = strict.files.get(note.file).filter(|file| is_selected(file, &selected))
        else {
            continue;
        };
        let has_path = |file: &&FileDiff| {
            let known = [&file.old_path, &file.new_path];
            known.iter().any(|path| path.as_deref() == Some(noted.path()))
        };
        match files.iter().find(has_path) {
            None => files.push(noted.clone()),
            Some(file) if file.content == Content::Binary => {}
            Some(_) => {
                let reason = format!("{} is both binary and text in the diff", quote(noted.path()));
                return Err(bad_diff(*note.lines.end(), reason));
            }
        }
    }
    Ok(())
}

/// Returns true if a file is at one of some paths from the root, or below one; with no paths,
/// always. `None` is a path that could not be resolved, and selects every file.
fn is_selected(file: &FileDiff, paths: &[Option<Vec<u8>>]) -> bool {
    let is_below = |name: &str, path: &[u8]| {
        let name = to_raw_name(name);
        let rest = name.strip_prefix(path);
        path.is_empty() || rest.is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
    };
    let names = || [&file.old_path, &file.new_path].into_iter().flatten();
    let is_at = |path: &Option<Vec<u8>>| {
        path.as_ref().is_none_or(|path| names().any(|name| is_below(name, path)))
    };
    paths.is_empty() || paths.iter().any(is_at)
}

fn bad_diff(line: usize, reason: String) -> GitError {
    GitError::BadDiff { line: u32::try_from(line).unwrap_or(u32::MAX), reason }
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
