//! Short hashes for names and keys: [`short_hash`].

/// Returns the first hexadecimal digits of the BLAKE3 hash of a value, 64 at most.
///
/// Names on disk and on services are built from the hash, so a caller never changes its number of
/// digits.
pub fn short_hash(value: impl AsRef<[u8]>, digits: usize) -> String {
    let hash = blake3::hash(value.as_ref()).to_hex();
    hash[..digits.min(hash.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_has_a_fixed_value_and_the_requested_length() {
        assert_eq!(short_hash("", 8), "af1349b9");
        assert_eq!(short_hash(b"", 12), "af1349b9f5f9");
        assert_eq!(short_hash("a", 0), "");
        assert_eq!(short_hash("a", 99).len(), 64);
    }
}
