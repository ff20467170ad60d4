//! Short digests of verified content: [`Digest`].

use serde::{Deserialize, Serialize};

/// The digest of some content.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// Returns the first 16 digits, for file names.
    pub(crate) fn short(&self) -> String {
        self.0.chars().take(16).collect()
    }
}

/// Computes a digest of several parts, whose boundaries count.
#[derive(Debug, Default)]
pub struct Digester(blake3::Hasher);

impl Digester {
    /// Adds the bytes of a part.
    pub fn part(mut self, bytes: impl AsRef<[u8]>) -> Digester {
        let bytes = bytes.as_ref();
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Returns the digest of all parts.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().to_hex()[..32].to_owned())
    }
}
