//! Attachment files.

use std::fs;
use std::io;
use std::path::PathBuf;

/// Returns true if the name is allowed for an attachment.
pub fn is_valid_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && !name.starts_with('.')
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// The attachments of one tenant.
pub struct Blobs {
    folder: PathBuf,
}

impl Blobs {
    pub fn new(folder: PathBuf) -> Self {
        Blobs { folder }
    }

    /// Returns the file of an attachment. The caller has checked the name with
    /// `is_valid_name`.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Stores an attachment; the caller has checked the name with `is_valid_name`.
    pub fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        fs::write(self.path_of(name), content)
    }
}
