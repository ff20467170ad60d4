//! Ids that the client chooses for the objects that it creates: [`LinearId`].

use std::fmt;

use serde::{Serialize, Serializer};

/// An id in the form of a random UUID, as Linear requires it, that is derived from the spec or the
/// message that it represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearId([u8; 16]);

impl LinearId {
    /// Creates an id from a digest.
    pub const fn from_digest(mut digest: [u8; 16]) -> LinearId {
        digest[6] = digest[6] & 0x0f | 0x40;
        digest[8] = digest[8] & 0x3f | 0x80;
        LinearId(digest)
    }
}

impl fmt::Display for LinearId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl Serialize for LinearId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_of_the_fourth_version() {
        assert_eq!(
            LinearId::from_digest([0xff; 16]).to_string(),
            "ffffffff-ffff-4fff-bfff-ffffffffffff"
        );
        assert_eq!(
            LinearId::from_digest([0; 16]).to_string(),
            "00000000-0000-4000-8000-000000000000"
        );
    }
}
