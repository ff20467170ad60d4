//! Files of a work tree that git ignores, and those that only new rules hide.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::git::{check, text};
use crate::{GitError, StoredFiles};

/// The name of a file with ignore rules.
const IGNORE_FILE: &str = ".gitignore";

/// The maximum number of files that are listed below ignored folders.
const MAX_FILES: usize = 50_000;

/// Folders of a virtual environment of Python.
const VIRTUAL_ENV_FOLDERS: [&str; 5] = ["bin", "include", "lib", "lib64", "share"];

impl StoredFiles {
    /// Returns the files that git ignores, sorted. Folders whose name satisfies `skips` are not
    /// entered.
    pub fn ignored_files(&self, skips: &dyn Fn(&str) -> bool) -> Result<Vec<String>, GitError> {
        let args = [
            "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory",
            "--no-empty-directory",
        ];
        let listed = self.git.command(&args).folder(&self.git.root).run()?;
        check(&args, listed.status, &listed.stderr)?;
        let mut files = Vec::new();
        for name in listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let Ok(name) = std::str::from_utf8(name) else { continue };
            match name.strip_suffix('/') {
                Some(folder) if folder.split('/').any(skips) => {}
                Some(folder) => self.add_below(folder, skips, &mut files),
                None => files.push(name.to_owned()),
            }
        }
        files.sort();
        Ok(files)
    }

    fn add_below(&self, folder: &str, skips: &dyn Fn(&str) -> bool, files: &mut Vec<String>) {
        let mut waiting = vec![folder.to_owned()];
        while let Some(folder) = waiting.pop() {
            let is_environment = self.git.root.join(&folder).join("pyvenv.cfg").is_file();
            let skips =
                |name: &str| skips(name) || (is_environment && VIRTUAL_ENV_FOLDERS.contains(&name));
            // A folder that cannot be read here cannot be read by a check either.
            let entries = fs::read_dir(self.git.root.join(&folder)).into_iter().flatten();
            for entry in entries.flatten() {
                let Ok(name) = entry.file_name().into_string() else { continue };
                let path = format!("{folder}/{name}");
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !skips(&name) => waiting.push(path),
                    Ok(kind) if !kind.is_dir() && files.len() < MAX_FILES => files.push(path),
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }

    /// Returns those of some ignored files that the ignore rules of a commit do not hide: only
    /// rules that were added since hide them. Rules outside of the tree are applied as they are
    /// now.
    pub fn newly_ignored_files(
        &self,
        commit: &str,
        files: &[String],
    ) -> Result<Vec<String>, GitError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        // A work tree with the rules of the commit, in which the files are empty.
        let layout = |source| GitError::Layout { source };
        let folder = tempfile::tempdir().map_err(layout)?;
        let tree = folder.path().join("tree");
        for path in files.iter().filter(|path| !is_ignore_file(path)) {
            write(&tree.join(path), b"").map_err(layout)?;
        }
        for (path, file) in self.files_of_revision(commit)?.files {
            if is_ignore_file(&path) {
                write(&tree.join(&path), &self.read(&file)?).map_err(layout)?;
            }
        }
        let git = self.git.clone().pin(&self.git_folder()?, &tree);
        let args = ["ls-files", "-z", "--others", "--exclude-standard"];
        let command = git.command(&args).folder(&tree);
        let listed = command.env("GIT_INDEX_FILE", folder.path().join("index")).run()?;
        check(&args, listed.status, &listed.stderr)?;
        let shown = listed.stdout.split(|byte| *byte == 0);
        let shown: BTreeSet<String> = shown.map(text).collect();
        Ok(files.iter().filter(|path| shown.contains(*path)).cloned().collect())
    }
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, content)
}

fn is_ignore_file(path: &str) -> bool {
    path.rsplit('/').next() == Some(IGNORE_FILE)
}
