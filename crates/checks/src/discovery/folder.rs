//! The files of a project on disk: [`Folder`].

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Files;
use super::survey::is_left_out;

/// The maximum number of files that are listed, their depth, and the bytes that are read of one.
const MOST_FILES: usize = 200_000;
const DEEPEST: usize = 32;
const MOST_READ: u64 = 1 << 20;

/// A folder on disk. Links are not followed; installed packages, build output and test data are
/// left out.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Creates a view of the folder at `root`.
    pub fn new(root: &Path) -> Folder {
        Folder { root: root.to_owned() }
    }
}

impl Files for Folder {
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
                if kind.is_dir() && depth < DEEPEST && !is_left_out(&name) {
                    waiting.push((path, depth + 1));
                } else if kind.is_file() && found.len() < MOST_FILES {
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
        fs::File::open(path).ok()?.take(MOST_READ).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}
