//! The files of a project on disk: [`ProjectFolder`].

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::ProjectFiles;
use super::file_index::is_excluded_folder;

/// The maximum number of files that are listed, their depth, and the bytes that are read of one.
const MAX_FILES: usize = 200_000;
const MAX_DEPTH: usize = 32;
const MAX_FILE_BYTES: u64 = 1 << 20;

/// A folder on disk. Links are not followed; installed packages, build output and test data are
/// left out.
#[derive(Debug, Clone)]
pub struct ProjectFolder {
    root: PathBuf,
}

impl ProjectFolder {
    /// Creates a view of the folder at `root`.
    pub fn new(root: &Path) -> ProjectFolder {
        ProjectFolder { root: root.to_owned() }
    }
}

impl ProjectFiles for ProjectFolder {
    fn paths(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut waiting = vec![(String::new(), 0)];
        while let Some((folder, depth)) = waiting.pop() {
            let Ok(entries) = fs::read_dir(self.root.join(&folder)) else { continue };
            for entry in entries.flatten() {
                let Ok(name) = entry.file_name().into_string() else { continue };
                let Ok(kind) = entry.file_type() else { continue };
                let path = match folder.is_empty() {
                    true => name.clone(),
                    false => format!("{folder}/{name}"),
                };
                if kind.is_dir() && depth < MAX_DEPTH && !is_excluded_folder(&name) {
                    waiting.push((path, depth + 1));
                } else if kind.is_file() && found.len() < MAX_FILES {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }

    fn read(&self, path: &str) -> Option<String> {
        let path = self.root.join(path);
        path.symlink_metadata().ok().filter(|found| found.is_file())?;
        let mut bytes = Vec::new();
        fs::File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}
