//! The digest of a change: [`Change::digest`], equal for equal changes.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;

use crate::Change;
use crate::file_name::to_raw_name;
use crate::git::argument;
use crate::tree::TreeKind;

impl Change {
    /// Returns the digest of the base commit and of every touched file, byte for byte and for any
    /// content.
    pub fn digest(&self) -> String {
        let mut digest = blake3::Hasher::new();
        update_part(&mut digest, self.base_revision().unwrap_or_default().as_bytes());
        for file in &self.files {
            let modes = format!("{:?} {:?}", file.old_mode, file.new_mode);
            for text in [file.old_path.as_deref(), file.new_path.as_deref(), Some(&modes)] {
                update_part(&mut digest, text.unwrap_or_default().as_bytes());
            }
            if let Some(path) = &file.new_path {
                self.content(&mut digest, path);
            }
        }
        digest.finalize().to_hex()[..32].to_owned()
    }

    /// Returns the digest of every touched file, before and after the change, byte for byte.
    /// Commits that touch none of these files do not change the digest.
    pub fn content_digest(&self) -> String {
        let mut digest = blake3::Hasher::new();
        for file in &self.files {
            let modes = format!("{:?} {:?}", file.old_mode, file.new_mode);
            for text in [file.old_path.as_deref(), file.new_path.as_deref(), Some(&modes)] {
                update_part(&mut digest, text.unwrap_or_default().as_bytes());
            }
            if let Some(path) = &file.old_path {
                text(&mut digest, &self.base, path);
            }
            if let Some(path) = &file.new_path {
                match &self.tree.kind {
                    TreeKind::Dir(_) => self.content(&mut digest, path),
                    TreeKind::Git(_) | TreeKind::Recorded(_) => {
                        text(&mut digest, &self.tree, path);
                    }
                }
            }
        }
        digest.finalize().to_hex()[..32].to_owned()
    }

    /// Adds the content of a file after the change.
    fn content(&self, digest: &mut blake3::Hasher, path: &str) {
        match &self.tree.kind {
            TreeKind::Dir(_) => {
                let file = self.root.join(argument(&to_raw_name(path)));
                // An unreadable file differs from every readable one.
                let read = file_digest(&file).unwrap_or_else(|_| blake3::hash(b"unreadable"));
                digest.update(read.as_bytes());
            }
            TreeKind::Git(tree) => match &tree.revision {
                // A commit never changes.
                Some(revision) => update_part(digest, revision.as_bytes()),
                None => text(digest, &self.tree, path),
            },
            TreeKind::Recorded(_) => text(digest, &self.tree, path),
        }
    }
}

fn text(digest: &mut blake3::Hasher, tree: &dyn Tree, path: &str) {
    // A path that the tree cannot represent names no text.
    let read = RepoPath::exact(path).map_or(Ok(None), |path| tree.read(&path));
    match read {
        Ok(text) => update_part(digest, text.unwrap_or_default().as_bytes()),
        // An unreadable file differs from every readable one; the change records the error.
        Err(_) => {
            digest.update(blake3::hash(b"unreadable").as_bytes());
        }
    }
}

/// Returns the digest of a file of any size, or of the target of a link.
pub(crate) fn file_digest(file: &Path) -> io::Result<blake3::Hash> {
    let about = fs::symlink_metadata(file)?;
    if about.is_symlink() {
        return Ok(blake3::hash(fs::read_link(file)?.as_os_str().as_bytes()));
    }
    if !about.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut digest = blake3::Hasher::new();
    let mut reader = BufReader::with_capacity(64 << 10, File::open(file)?);
    loop {
        let piece = reader.fill_buf()?;
        if piece.is_empty() {
            return Ok(digest.finalize());
        }
        digest.update(piece);
        let length = piece.len();
        reader.consume(length);
    }
}

/// Adds bytes with their length, so that adjacent parts cannot be confused.
fn update_part(digest: &mut blake3::Hasher, bytes: &[u8]) {
    digest.update(&(bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
}
