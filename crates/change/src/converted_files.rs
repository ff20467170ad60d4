//! Files of a work tree whose bytes differ from those in git, although git reports no change:
//! [`ConvertedFile`].
//!
//! A filter, an encoding, or a flag in the index makes the bytes of a commit differ from those of
//! the work tree: checks see one file, and a clone of the repository has another. This module runs
//! no filter.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::git::{Git, check, text};
use crate::{GitError, StoredFile, StoredFiles};

/// The attributes by which git converts a file.
const ATTRIBUTES: [&str; 2] = ["filter", "working-tree-encoding"];

/// The first bytes of the pointer that is committed instead of a large file.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// A file that git converts, or considers unchanged, and whose bytes differ from those in git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvertedFile {
    /// The path, relative to the root.
    pub path: String,
    /// The attribute by which git converts the file, such as `filter=name`; `None` if git does not
    /// compare the file.
    pub attribute: Option<String>,
    /// True if git has a pointer to a large file instead of the file.
    pub is_large_file: bool,
}

impl StoredFiles {
    /// Returns the tracked files of the work tree that git converts or considers unchanged, and
    /// whose bytes differ from those in git. Differences in line ends do not count.
    pub fn converted_files(&self) -> Result<Vec<ConvertedFile>, GitError> {
        let index = self.index()?;
        let is_file = |path: &str| {
            fs::symlink_metadata(self.git.root.join(path)).is_ok_and(|about| about.is_file())
        };
        let tracked = index.keys().filter(|path| !path.contains('\n') && is_file(path));
        let paths: Vec<String> = tracked.cloned().collect();
        let ids = self.object_ids(&paths)?;
        let differing = paths.into_iter().zip(ids).filter(|(path, id)| index.get(path) != Some(id));
        let differing: Vec<String> = differing.map(|(path, _)| path).collect();
        if differing.is_empty() {
            return Ok(Vec::new());
        }
        let changed = self.changed_since_index()?;
        let attributes = self.attributes(&differing)?;
        let mut converted = Vec::new();
        for path in differing {
            let attribute = attributes.get(&path).cloned();
            if attribute.is_none() && changed.contains(&path) {
                continue;
            }
            let file = StoredFile { id: index[&path].clone(), is_executable: false };
            let (stored, now) = (self.read(&file)?, fs::read(self.git.root.join(&path)));
            if now.is_ok_and(|now| normalize(&now) == normalize(&stored)) {
                continue;
            }
            let is_large_file = stored.starts_with(LFS_POINTER);
            converted.push(ConvertedFile { path, attribute, is_large_file });
        }
        Ok(converted)
    }

    /// Returns the object ids of the files in the index, by path.
    fn index(&self) -> Result<BTreeMap<String, String>, GitError> {
        let listed = self.list(&["ls-files", "-z", "--stage"])?;
        let entries = listed.iter().filter_map(|entry| {
            let (about, path) = entry.split_once('\t')?;
            let mut about = about.split(' ');
            let is_file = about.next()?.starts_with("100");
            is_file.then(|| Some((path.to_owned(), about.next()?.to_owned())))?
        });
        Ok(entries.collect())
    }

    /// Returns the paths of the files that git reports as changed.
    fn changed_since_index(&self) -> Result<BTreeSet<String>, GitError> {
        Ok(self.list(&["diff-files", "--name-only", "-z"])?.into_iter().collect())
    }

    fn list(&self, args: &[&str]) -> Result<Vec<String>, GitError> {
        let listed = self.git.command(args).folder(&self.git.root).run()?;
        check(args, listed.status, &listed.stderr)?;
        let entries = listed.stdout.split(|byte| *byte == 0).filter(|it| !it.is_empty());
        Ok(entries.map(text).collect())
    }

    /// Returns the attributes that convert files, by path. A filter that is not configured converts
    /// nothing.
    fn attributes(&self, paths: &[String]) -> Result<BTreeMap<String, String>, GitError> {
        let args = [&["check-attr", "-z", "--stdin"], &ATTRIBUTES[..]].concat();
        let names: String = paths.iter().map(|path| format!("{path}\0")).collect();
        // The attributes of the work tree apply here; all other commands prevent git from reading
        // them.
        let mut git: Git = self.git.clone();
        git.empty_tree = String::new();
        let command = git.command(&args).folder(&self.git.root);
        let finished = command.input(names.into_bytes()).run()?;
        check(&args, finished.status, &finished.stderr)?;
        let fields: Vec<String> = finished.stdout.split(|byte| *byte == 0).map(text).collect();
        let mut found = BTreeMap::new();
        for field in fields.chunks_exact(3) {
            let (path, attribute, value) = (&field[0], &field[1], &field[2]);
            let is_set = !["unspecified", "unset", "set", ""].contains(&value.as_str());
            if is_set && (attribute != "filter" || self.git.has_filter(value)) {
                found.insert(path.clone(), format!("{attribute}={value}"));
            }
        }
        Ok(found)
    }
}

/// Removes carriage returns at line ends, and the text that git expands in `$Id$`.
fn normalize(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(byte) = rest.first() {
        let is_return = *byte == b'\r' && rest.get(1) == Some(&b'\n');
        let id = rest.strip_prefix(b"$Id: ").and_then(|id| {
            let end = id.iter().position(|byte| [b'$', b'\n'].contains(byte))?;
            (id[end] == b'$').then(|| &id[end..])
        });
        match id {
            Some(behind) => {
                out.extend_from_slice(b"$Id");
                rest = behind;
            }
            None => {
                out.extend((!is_return).then_some(*byte));
                rest = &rest[1..];
            }
        }
    }
    out
}
