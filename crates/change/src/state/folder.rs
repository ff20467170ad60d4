//! The content of `.assay/`: authored files, state, and the ignore file that hides state from git.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Files and folders below `.assay/` that people write and commit. All others are state.
const AUTHORED_PATHS: [&str; 8] = [
    "rules", "personas", "prompts", "templates", "baseline.json", "flows.yaml", "config.yaml",
    ".gitignore",
];

/// The first line of the ignore file, in every version.
const IGNORE_FILE_HEADER: &str = "# Written by assay:";

/// Returns true if a path, relative to the root of a work tree, is state: it is below `.assay/`, or
/// is `.assay` itself, and is not authored.
pub fn is_state(path: &str) -> bool {
    let mut parts = path.split('/');
    let is_below = parts.next() == Some(super::FOLDER);
    is_below && parts.next().is_none_or(|name| !AUTHORED_PATHS.contains(&name))
}

/// Returns true if a path is `place` or below it. Whole names are compared: `rules-disabled` is not
/// below `rules`.
pub fn is_at_or_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the text of the ignore file: it hides all except authored files, so that a later kind of
/// state is covered too.
fn ignore_rules() -> String {
    let authored = AUTHORED_PATHS.iter().filter(|name| **name != ".gitignore");
    let authored: String = authored.map(|name| format!("!/{name}\n")).collect();
    format!(
        "{IGNORE_FILE_HEADER} state of this machine, which is not meant for git.\n/*\n{authored}"
    )
}

/// Creates the folder with its ignore file, or updates the file of an older version. A file that a
/// person wrote stays unchanged.
pub(super) fn create(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let path = folder.join(".gitignore");
    let text = ignore_rules();
    match fs::read_to_string(&path) {
        Ok(found) if found.starts_with(IGNORE_FILE_HEADER) && found != text => {
            write_atomically(&path, text.as_bytes())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            write_atomically(&path, text.as_bytes())
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Writes a file atomically and durably.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().suffix(".tmp").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    fs::File::open(folder)?.sync_all()
}
