//! Untracked files, as diffs that add a whole file: `new_file`.

use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::diff::{Content, FileDiff, Mode, Unread};
use crate::file_name::to_raw_name;
use crate::git::argument;
use crate::tree::BINARY_CHECK_BYTES;

/// Returns the diff of an untracked file, which adds all of its lines.
pub(crate) fn new_file(root: &Path, path: String) -> FileDiff {
    // Git lists a nested repository as a folder.
    if let Some(path) = path.strip_suffix('/') {
        return FileDiff::all_new(path.to_owned(), Mode::Submodule, 0);
    }
    let file = root.join(argument(&to_raw_name(&path)));
    match fs::symlink_metadata(&file) {
        Ok(metadata) if metadata.is_symlink() => FileDiff::all_new(path, Mode::Link, 1),
        Ok(metadata) if metadata.is_file() => match lines(&file) {
            Ok(Some(count)) => FileDiff::all_new(path, mode(&metadata), count),
            Ok(None) => {
                let binary = FileDiff::all_new(path, mode(&metadata), 0);
                FileDiff { content: Content::Binary, ..binary }
            }
            Err(_) => unreadable(path),
        },
        Ok(_) | Err(_) => unreadable(path),
    }
}

/// Returns the diff of an unreadable file, which is distinct from that of a file without text.
fn unreadable(path: String) -> FileDiff {
    let file = FileDiff::all_new(path, Mode::File, 0);
    FileDiff { content: Content::Unread(Unread::Unreadable), ..file }
}

/// Returns the mode of a regular file.
pub(crate) fn mode(metadata: &Metadata) -> Mode {
    match metadata.permissions().mode() & 0o100 {
        0 => Mode::File,
        _ => Mode::Executable,
    }
}

/// Counts the lines of a file of any size; returns `None` if it is not text.
fn lines(file: &Path) -> io::Result<Option<u32>> {
    let mut reader = BufReader::with_capacity(64 << 10, File::open(file)?);
    let mut count = 0u32;
    let mut last = b'\n';
    let mut seen = 0;
    loop {
        let piece = reader.fill_buf()?;
        let Some(end) = piece.last() else { break };
        let peeked = BINARY_CHECK_BYTES.saturating_sub(seen).min(piece.len());
        if piece[..peeked].contains(&0) {
            return Ok(None);
        }
        let ends = piece.iter().filter(|byte| **byte == b'\n').count();
        count = count.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
        last = *end;
        let length = piece.len();
        seen += length;
        reader.consume(length);
    }
    // The last line may have no line end.
    Ok(Some(count.saturating_add(u32::from(last != b'\n'))))
}
