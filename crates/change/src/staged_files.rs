//! Writes to the index: [`StagedFiles`] replaces the content of staged files, and merges an edit of
//! a staged file into the text of the work tree, which may have unstaged edits.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use assay_findings::path::RepoPath;
use assay_sandbox::ScratchFolder;

use crate::GitError;
use crate::file_name::to_raw_name;
use crate::git::{Git, argument, check, text};

/// The exit codes of `git merge-file` that are numbers of conflicts.
const CONFLICTS: std::ops::RangeInclusive<i32> = 1..=127;

/// The modes of entries that are files, and neither links nor submodules.
const FILE_MODES: [&str; 2] = ["100644", "100755"];

/// The index of a repository, whose files can be replaced.
#[derive(Debug)]
pub struct StagedFiles {
    git: Git,
}

/// The entry of a file in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    name: Vec<u8>,
    mode: String,
    id: String,
}

impl StagedFiles {
    /// Opens the index of the repository around a folder, or the one that git names to a hook by
    /// `GIT_INDEX_FILE`.
    pub fn open(folder: &Path, index: Option<&Path>) -> Result<StagedFiles, GitError> {
        let git = Git::find_without_filters(folder)?;
        let git = match index {
            Some(index) => git.with_index_of_hook(index)?,
            None => git,
        };
        Ok(StagedFiles { git })
    }

    /// Returns the entry of a file; `None` if the path is not staged, or is a link, a submodule or
    /// in a merge conflict.
    pub fn entry(&self, path: &RepoPath) -> Result<Option<IndexEntry>, GitError> {
        let name = to_raw_name(path.as_str()).into_owned();
        let args = ["ls-files", "--stage", "-z", "--"];
        let all = args.iter().map(OsStr::new).chain([argument(&name)]);
        let command = self.git.command(&all.collect::<Vec<_>>());
        let finished = command.folder(&self.git.root).run()?;
        check(&args, finished.status, &finished.stderr)?;
        let listed = text(&finished.stdout);
        let parsed = listed.split('\t').next().map(|about| about.split(' ').collect::<Vec<_>>());
        let Some([mode, id, "0"]) = parsed.as_deref() else { return Ok(None) };
        let is_file = FILE_MODES.contains(mode);
        Ok(is_file.then(|| IndexEntry { name, mode: (*mode).to_owned(), id: (*id).to_owned() }))
    }

    /// Stores a text in git, and returns the entry of a file with that text.
    pub fn with_text(&self, entry: &IndexEntry, text: &str) -> Result<IndexEntry, GitError> {
        let args = ["hash-object", "-w", "--stdin", "--no-filters"];
        let finished = self.git.command(&args).input(text.as_bytes()).run()?;
        check(&args, finished.status, &finished.stderr)?;
        let id = crate::git::text(&finished.stdout).trim().to_owned();
        Ok(IndexEntry { id, ..entry.clone() })
    }

    /// Replaces entries of the index, all in one step.
    pub fn replace(&self, entries: &[IndexEntry]) -> Result<(), GitError> {
        let mut input = Vec::new();
        for IndexEntry { name, mode, id } in entries {
            input.extend_from_slice(format!("{mode} {id}\t").as_bytes());
            input.extend_from_slice(name);
            input.push(0);
        }
        let args = ["update-index", "-z", "--index-info"];
        let command = self.git.command(&args).folder(&self.git.root);
        let finished = command.input(input).run()?;
        check(&args, finished.status, &finished.stderr)
    }

    /// Merges the edit of a staged file into another text of the file, such as that of the work
    /// tree, with its line ends; `None` if the edit and the other text change the same lines.
    pub fn merge(
        &self,
        before: &str,
        after: &str,
        other: &str,
    ) -> Result<Option<String>, GitError> {
        if other == before {
            return Ok(Some(after.to_owned()));
        }
        // Git may convert line ends between the index and the work tree.
        let plain = other.replace("\r\n", "\n");
        let is_converted = !before.contains("\r\n") && to_crlf(&plain) == other && plain != other;
        if !is_converted {
            return self.merge_texts(before, after, other);
        }
        Ok(self.merge_texts(before, after, &plain)?.map(|merged| to_crlf(&merged)))
    }

    fn merge_texts(
        &self,
        before: &str,
        after: &str,
        other: &str,
    ) -> Result<Option<String>, GitError> {
        let layout = |source| GitError::Layout { source };
        let scratch = ScratchFolder::new("assay-merge-").map_err(layout)?;
        for (name, text) in [("other", other), ("before", before), ("after", after)] {
            fs::write(scratch.path().join(name), text).map_err(layout)?;
        }
        let args = ["merge-file", "--stdout", "--quiet"];
        let paths = ["other", "before", "after"].map(|name| scratch.path().join(name));
        let all = args.iter().map(OsStr::new).chain(paths.iter().map(|path| path.as_os_str()));
        let finished = self.git.command(&all.collect::<Vec<_>>()).run()?;
        if finished.status.code().is_some_and(|code| CONFLICTS.contains(&code)) {
            return Ok(None);
        }
        check(&args, finished.status, &finished.stderr)?;
        Ok(String::from_utf8(finished.stdout).ok())
    }
}

fn to_crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}
